"""Which way down, chosen by what was measured.

- The *hunt* for the few coordinates that matter (`hunt.py`) begins. It goes on alone until it has spent as
  much as one gradient by differences costs, and for as long as it brings more than that gradient could: a few
  times what all slopes together promise.
- Then the gradient is measured (`plain.py`). If few coordinates hold what it promises, and few have been met,
  the hunt goes on. Otherwise to look for them buys nothing, and *plain* differences go on.
- Where steps bring far less than they promise, or next to nothing, f has kinks or ripples that slopes do not
  show, and a *sweep* along one coordinate after the other (`sweep.py`) is tried. From then on the way that
  has brought more per query, when it was made last, is the next one.
- Where kinks have stopped the others, or nearly so, and couple coordinates, there is a way *across* them
  (`across.py`).
- When nothing else brings anything, the hunt has the last word.

Queries that go out together take the time of one: all is counted in rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gracezo.core.asks import Moved, OutOfQueries, Point, Steps
from gracezo.core.steps import counting
from gracezo.methods.auto.across import Across
from gracezo.methods.auto.hunt import Hunt
from gracezo.methods.auto.plain import Plain
from gracezo.methods.auto.root import QUIET
from gracezo.methods.auto.sweep import Sweep
from gracezo.methods.auto.verdict import FORGONE

_HOPE = 4.0  # times what slopes promise: what a gradient may bring, at the most
_FEW = 1.0 / 8.0  # share of the coordinates: if fewer hold the promise, to hunt for them pays
_MET = 1.0 / 4.0  # share of the coordinates: a hunt that has met more of them is none
_REDEEMED = 0.25  # share of its promises below which the slopes of plain differences are no guide
_LITTLE = 1e-3  # of the decrease so far: next to nothing
_LOST = 0.25  # of the other's rate: a way that brings less has clearly lost
_AGAIN = 4  # windows of a lost way's rival before it is tried again; twice as many each time
_STALLED = 10  # gradients along the coordinates met, in which a hunt among kinks is to bring something
_PASSES = 25  # queries along each coordinate that show that none leads down: ten passes, ever finer
_LEAST = 50  # rounds in which a way shows what it brings, however few coordinates there are


class Record:
    """What a way has brought since it was begun: leg by leg, the rounds and f before and after."""

    def __init__(self) -> None:
        self._legs: list[tuple[int, float, float]] = []

    def __len__(self) -> int:
        return len(self._legs)

    def note(self, rounds: int, before: float, after: float) -> None:
        """Take in one leg."""
        self._legs.append((rounds, before, after))

    @property
    def asking(self) -> bool:
        """Whether the last leg has asked anything."""
        return self._legs[-1][0] > 0

    @property
    def rounds(self) -> int:
        """The rounds of all legs."""
        return sum(rounds for rounds, _, _ in self._legs)

    def rate(self, window: int) -> float:
        """Return the decrease per round over the last legs, so many rounds of them.

        >>> record = Record()
        >>> for leg in ((10, 9.0, 4.0), (5, 4.0, 3.0), (5, 3.0, 2.0)):
        ...     record.note(*leg)
        >>> record.rate(10), record.rate(20)
        (0.2, 0.35)
        """
        took, high = 0, 0.0
        for rounds, before, _ in reversed(self._legs):
            took, high = took + rounds, before
            if took >= window:
                break
        return (high - self._legs[-1][2]) / max(took, 1) if self._legs else 0.0


class Contest:
    """Goes down, by one way or another.

    Parameters
    ----------
    hunt, plain, sweep, across
        The ways.
    batch
        How many queries may go out at once.
    """

    def __init__(self, hunt: Hunt, plain: Plain, sweep: Sweep, across: Across, batch: int) -> None:
        self._hunt, self._plain, self._sweep, self._across = hunt, plain, sweep, across
        self._batch = batch
        self._size = len(hunt.free)
        self._window = max(-(-self._size // batch), _LEAST)  # rounds that a gradient takes
        self._contested = hunt.noise <= QUIET * abs(hunt.first)
        self._present: Callable[[Point], Steps[Point]] = self._hunting
        self._record = Record()  # of the present way
        self._rates = [0.0, 0.0]  # of plain differences and of the sweep, when they were made last
        self._rounds = 0
        # Rounds after which a gradient, and a sweep, may be tried.
        self._due = [self._window if self._contested else math.inf, 0.0]
        self._patience = _AGAIN
        self._swept = math.inf  # f where a hunt has ended among kinks, and all coordinates were swept
        self.dense = False
        """Whether plain differences went on after the first gradient."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to ask."""
        return self._at_its_end and not (self._stopped or self._unswept)

    @property
    def _at_its_end(self) -> bool:
        return self._present == self._hunting and self._hunt.done

    def leg(self, at: Point) -> Steps[Point]:
        """Go on for a while; return the present point."""
        if self._stopped:
            self._turn(self._crossing)
        elif self._unswept:
            self._swept = at.value
            self._rates[0] = 0.0
            self._turn(self._sweeping)
        return (yield from self._present(at))

    @property
    def _stopped(self) -> bool:
        """Whether kinks have stopped the hunt, or nearly so, and no way across was tried from here."""
        hunt = self._hunt
        if not (self._contested and self._present == self._hunting and hunt.kinked):
            return False
        fallen, n = hunt.first - hunt.value, len(hunt.met)
        if not 0 < n <= self._rounds or not self._across.untried(hunt.value, FORGONE * fallen):
            return False
        stalled = self._record.rate(_STALLED * n) * _STALLED * n <= _LITTLE * fallen
        return hunt.done or (self._record.rounds >= _STALLED * n and stalled)

    @property
    def _unswept(self) -> bool:
        """Whether the hunt has ended among kinks, and single coordinates may still lead down behind them."""
        hunt = self._hunt
        if not (self._contested and self._at_its_end and hunt.kinked):
            return False
        new = self._swept - hunt.value > FORGONE * (hunt.first - hunt.value)
        return new and self._size * _PASSES <= self._rounds

    # ------------------------------------------------------------ the ways

    def _crossing(self, at: Point) -> Steps[Point]:
        coordinates = self._hunt.free if self.dense else self._hunt.met
        moved = yield from self._go(self._across.leg(at, coordinates), at)
        self._turn(self._hunting)
        return moved

    def _hunting(self, at: Point) -> Steps[Point]:
        if self._rounds >= self._due[0]:
            if _HOPE * self._hunt.promise > self._record.rate(self._window // 2) * self._window:
                self._turn(self._plainly)
                return at
            self._due[0] = self._rounds + self._window // 2
        return (yield from self._go(self._hunt.leg(at, self._window), at))

    def _plainly(self, at: Point) -> Steps[Point]:
        try:
            moved = yield from self._go(self._plain.leg(at), at)
        except OutOfQueries:  # a hunt may still be affordable
            self._due[0] = math.inf
            self._turn(self._hunting)
            return at
        self.dense = self.dense or len(self._record) > 1
        self._rates[0] = self._record.rate(2 * self._window)
        idle = at.value - moved.value <= self._hunt.differences.negligible
        few = self._plain.spread < _FEW and len(self._hunt.met) < _MET * self._size
        outdone = self._rates[0] < self._rates[1] and (idle or len(self._record) > 1)
        if few:
            self._resume()
        elif outdone or (self._rounds >= self._due[1] and self._poor(at.value, moved.value)):
            self._turn(self._sweeping)
        elif idle:
            self._resume()
        return moved

    def _poor(self, before: float, after: float) -> bool:
        """Whether a step by plain differences shows that slopes are no guide here."""
        little = before - after <= _LITTLE * (self._hunt.first - before)
        return little or self._plain.redeemed < _REDEEMED

    def _sweeping(self, at: Point) -> Steps[Point]:
        moved = yield from self._go(self._sweep.leg(at), at)
        record, least = self._record, self._hunt.differences.negligible / self._window
        rate, other = record.rate(self._window) if record.asking else 0.0, self._rates[0]
        lost = len(record) > 2 and rate < _LOST * other
        done = record.rounds >= self._window and (other > 0.0 or self._sweep.fine)
        if lost or not record.asking or (done and rate <= max(other, least)):
            self._rates[1] = rate
            self._due[1] = self._rounds + self._patience * self._window
            self._patience *= 2
            if other > least:
                self._turn(self._plainly)
            else:
                self._resume()
        elif record.rounds >= self._patience * self._window:
            self._rates[1] = rate
            self._patience *= 2
            self._turn(self._plainly)
        return moved

    def _resume(self) -> None:
        """Go on hunting, for a while."""
        self._due[0] = self._rounds + _AGAIN * self._window
        self._turn(self._hunting)

    def _turn(self, way: Callable[[Point], Steps[Point]]) -> None:
        self._present, self._record = way, Record()

    def _go(self, leg: Steps[Point], at: Point) -> Steps[Point]:
        """Go one leg of the present way."""
        moved, rounds = yield from counting(leg, self._batch)
        self._rounds += rounds
        self._record.note(rounds, at.value, moved.value)
        if moved is not at:
            if self._present != self._hunting:
                self._hunt.done = False
            yield Moved(moved)
        return moved
