"""The choice among the ways down, a bandit problem: each leg goes to the way that brings the most per round.

- *Sparse* (`sparse.py`), *dense* and *across kinks* (`gradients.py`), *working sets* (`working.py`), *along
  coordinates* and *to the far end* of a box (`values.py`): each makes an `Offer`, or none. Slopes promise the
  same to the sparse and to the dense way; what differs is what it takes to measure them. So the run begins
  sparse, and the dense way has its turn as soon as the search says that a gradient is cheaper coordinate by
  coordinate; that of working sets instead, where most coordinates have kinks at the start; and neither, where
  most have kinks elsewhere: values alone take more queries a coordinate than the search ever does.
- Moves to the far end are tried, in the middle of a leg of the sparse way too, when they promise as much per
  round as slopes do and as that way has brought of late; they end when they bring less than slopes promise.
- A way that is tried is on trial: at first it is to bring a share of what its rival has brought per round, in
  the end as much, unless slopes gave the reason to try it. A rate that lasted for less than the trial counts
  for less. Who loses waits, twice as long each time.
- Where slopes are no guide (steps bring far less than they promise, or next to nothing), and after a while in
  any case, the others are tried: a discounted bandit, since all rates fade as f falls. While few coordinates
  matter, nothing of this costs a query.
- Where kinks have stopped the sparse way, or nearly so, and couple coordinates, there is the way across them.
  To look whether they do takes queries: after a look that shows nothing it waits, as whoever loses.
- When nobody else has anything to offer, the sparse way has the last word.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gracezo.core.asks import Decided, Moved, OutOfQueries, Point, Steps
from gracezo.core.precision import ROOT
from gracezo.methods.auto import constants
from gracezo.methods.auto.ways import Account, Ledger, Offer, Way
from gracezo.methods.auto.ways.gradients import Dense, Nonsmooth
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.auto.ways.values import Coordinates, Far
from gracezo.methods.auto.ways.working import WorkingSets


class Turn(NamedTuple):
    """Whose turn it is, and against which rival it is on trial, if it is."""

    account: Account
    rival: Account | None = None
    reasoned: bool = False
    """Whether the search, or a gradient, has told to try it."""


class Ways(NamedTuple):
    """The ways down, each of which is told from the others."""

    sparse: Sparse
    dense: Dense
    coordinates: Coordinates
    nonsmooth: Nonsmooth
    far: Far
    working: WorkingSets


class Bandit:
    """Goes down, by one way or another.

    Parameters
    ----------
    ways
        The ways.
    ledger
        Counts what they ask.
    """

    def __init__(self, ways: Ways, ledger: Ledger) -> None:
        self._ways = ways
        self._ledger = ledger
        # The rounds that a gradient takes.
        self._window = max(ledger.rounds_of(ways.sparse.size), constants.WINDOW)
        # In gradients: two for a pair; a working set is chosen by one on both sides, and then once again.
        spans: dict[Way, int] = {ways.dense: 2, ways.working: 4}
        self._accounts: dict[Way, Account] = {
            way: Account(way, spans.get(way, 1) * self._window) for way in ways
        }
        self._turn = Turn(self._accounts[ways.sparse])
        self._swept = math.inf  # f where the sparse way has ended among kinks, and all coordinates were swept

    def over(self, at: Point) -> bool:
        """Whether nothing is left to ask from this point."""
        return self._at_its_end(at) and not (self._stopped(at) or self._unswept(at))

    @property
    def _contested(self) -> bool:
        """Whether f is exact enough for all ways."""
        return self._ways.sparse.noise <= ROOT * abs(self._ways.sparse.first)

    @property
    def dense(self) -> bool:
        """Whether plain differences went on after the first gradient."""
        return self._ways.dense.gradients > 1

    def _at_its_end(self, at: Point) -> bool:
        return self._sparse_alone and self._ways.sparse.ended(at)

    @property
    def _sparse_alone(self) -> bool:
        """Whether it is the turn of the sparse way, and not as a trial."""
        return self._turn.account.way is self._ways.sparse and self._turn.rival is None

    def leg(self, at: Point) -> Steps[Point]:
        """Go on for a while; return the present point."""
        last, self._turn = self._turn, self._next(at)
        account, before = self._turn.account, self._ledger.rounds
        way, rival = account.way, self._turn.rival
        if account is not last.account:
            trial = "" if rival is None else f", on trial against that {rival.way.name}"
            yield Decided(f"from here on the way {way.name}{trial}")
        try:
            if isinstance(way, Sparse):
                moved = yield from way.leg(at, lambda: self._breaks_off(at, self._ledger.rounds - before))
            else:
                moved = yield from way.leg(at)
        except OutOfQueries:
            if way not in (self._ways.dense, self._ways.working):
                raise
            account.retire()  # the budget does not reach for a gradient, but another way may go on
            self._turn = self._begin(self._accounts[self._ways.sparse])
            return at
        account.record.note(self._ledger.rounds - before, at.value, moved.value)
        if moved is not at:
            yield Moved(moved)
        return moved

    # ------------------------------------------------------------ the choice

    def _next(self, at: Point) -> Turn:
        """Return whose turn it is now: that of another way, if there is reason to."""
        turn = self._turn
        way, record = turn.account.way, turn.account.record
        if self._stopped(at):
            if self.dense:
                self._ways.nonsmooth.widen()
            return self._begin(self._accounts[self._ways.nonsmooth])
        if self._unswept(at):
            self._swept = at.value
            self._accounts[self._ways.dense].discredit()
            return self._begin(self._accounts[self._ways.coordinates])
        if not record or not (self._contested or way is self._ways.far or self._far_pays(at)):
            return turn
        if way is self._ways.nonsmooth or record.idle or self._ended(turn.account, at):
            return self._closed(turn, at)
        if turn.rival is not None:
            return self._tried(turn, turn.rival, at)
        return self._challenged(turn, at)

    def _begin(self, account: Account, rival: Account | None = None, reasoned: bool = False) -> Turn:
        """Begin a turn of a way; on trial, if it is to be compared with another one."""
        account.begin()
        return Turn(account, rival, reasoned)

    def _closed(self, turn: Turn, at: Point) -> Turn:
        """Return who goes on where a way has nothing left to do."""
        closed, sparse = turn.account, self._accounts[self._ways.sparse]
        closed.end()
        across = closed.way is self._ways.nonsmooth  # along those met: so are its gradients
        met = self._ledger.rounds_of(len(self._ways.sparse.met))
        closed.wait(self._ledger.rounds, met if across else self._window)
        coordinates, working = (self._accounts[way] for way in (self._ways.coordinates, self._ways.working))
        others = [
            account
            for account in self._accounts.values()
            if account not in (closed, coordinates) and self._goes_on(account, at)
        ]
        best = turn.rival or max(others, key=lambda account: account.rate, default=sparse)
        if closed is working:  # which has looked at all of them
            coordinates.wait(self._ledger.rounds, self._window)
        if (kinks := self._ways.working.held(at)) is not None:
            self._ways.sparse.agree(at, kinks)
            best = sparse
        if across:
            if (held := self._ways.nonsmooth.held(at)) is not None:
                self._ways.sparse.settle(at, held)
            return self._begin(sparse)
        if closed.way is self._ways.dense and self._ways.working.kinked and self._may_be_tried(working, at):
            return self._begin(working)
        if closed.way is self._ways.dense and self._may_be_tried(coordinates, at):
            return self._begin(coordinates, best, reasoned=True)
        return self._begin(best)

    def _ended(self, account: Account, at: Point) -> bool:
        """Whether a way has nothing to offer; what that would be, takes time in two of them."""
        way = account.way
        if isinstance(way, (Sparse, Dense, WorkingSets)):
            return way.ended(at)
        offer = way.offer(at)
        return offer is None or (
            account is self._turn.account and way is self._ways.far and self._wanes(offer)
        )

    def _offers(self, account: Account, at: Point) -> bool:
        return account.due < math.inf and not self._ended(account, at)

    def _may_be_tried(self, account: Account, at: Point) -> bool:
        return self._ledger.rounds >= account.due and self._offers(account, at)

    def _goes_on(self, account: Account, at: Point) -> bool:
        """Whether a way has something to offer, and has brought something when it was made last."""
        return self._offers(account, at) and account.rate > self._least

    @property
    def _least(self) -> float:
        """A rate that is none."""
        return self._ways.sparse.differences.negligible / self._window

    def _tried(self, turn: Turn, rival: Account, at: Point) -> Turn:
        """Return who goes on where a way is on trial."""
        tried, record = turn.account, turn.account.record
        rate, over = record.rate(tried.span), record.rounds >= tried.span
        bar = rival.rate * min(1.0, rival.lasted / tried.span)
        bar *= 1.0 if over and not turn.reasoned else constants.CLEARLY
        if rate >= bar if not over else rate >= max(bar, self._least):
            if not over:
                return turn
            rival.wait(self._ledger.rounds, self._window)
            return Turn(tried)
        # Who has brought nothing yet may be about to, for as long as a gradient takes. Without a pair, the
        # first step along a gradient says little of those that follow.
        brief = max(self._window // constants.PARTS, constants.WINDOW) if rate > 0.0 else self._window
        brief = tried.span if turn.reasoned and rate > 0.0 else brief
        if record.rounds < brief:
            return turn
        tried.end()
        tried.wait(self._ledger.rounds, self._window)
        if rival.way.offer(at) is None:
            return self._begin(self._accounts[self._ways.sparse])
        return Turn(rival)  # its turn goes on

    def _challenged(self, turn: Turn, at: Point) -> Turn:
        """Return the turn of another way, on trial, if it has something to offer and there is reason to."""
        present, rounds, ways = turn.account, self._ledger.rounds, self._ways
        if self._far_pays(at):
            present.end()
            return self._begin(self._accounts[ways.far], present)
        # Where few coordinates matter, a gradient is not worth its queries, unless so few are those of it.
        # Plain differences bring what slopes promise, unless f has kinks.
        plain = present.way is ways.dense
        well = ways.dense.realised >= constants.CLEARLY if plain else not self._cheaper(at)
        patience = self._window / constants.CLEARLY
        if present.way is ways.working or (well and present.way in (ways.sparse, ways.dense)):
            patience = constants.CLEARLY**-2 * self._ledger.rounds_of(ways.sparse.size)
        for account in self._accounts.values():
            if account is present or rounds < account.due or account.way in (ways.nonsmooth, ways.far):
                continue
            reason = self._reason(account, at)
            late = rounds >= max(account.due, patience) and account.way is not ways.working
            if (reason or late) and self._offers(account, at):
                present.end()
                if present.way is ways.dense and account.way is ways.coordinates:
                    reason = ways.dense.realised < 2.0 * constants.CLEARLY
                # What others have brought says nothing of kinks.
                return self._begin(account, None if account.way is ways.working else present, reason)
        return turn

    def _breaks_off(self, at: Point, since: int) -> bool:
        """Whether the sparse way, on a leg since so many rounds, is to make room for another one at once."""
        if self._far_pays(at, since):
            return True
        if not self._contested or self._turn.rival is not None or not self._searched_enough(at, since):
            return False
        fit = self._fit
        return fit is not None and self._may_be_tried(self._accounts[fit], at)

    def _searched_enough(self, at: Point, since: int = 0) -> bool:
        """Whether the sparse way has searched long enough to know that another one is cheaper."""
        return self._turn.account.record.rounds + since >= constants.WINDOW and self._cheaper(at)

    def _reason(self, account: Account, at: Point) -> bool:
        """Whether there is reason to try a way now."""
        present = self._turn.account
        if present.way is self._ways.sparse:
            return account.way is self._fit and self._searched_enough(at)
        dense, working = self._ways.dense, self._ways.working
        if present.way in (self._ways.coordinates, working) or account.way in (dense, working):
            return False
        if account.way is self._ways.sparse:
            return self._ways.dense.few
        brought = present.record.rate(1) * self._window
        little = brought <= constants.SMALL * (self._ways.sparse.first - at.value)
        return little or self._ways.dense.realised < constants.CLEARLY

    def _far_pays(self, at: Point, since: int = 0) -> bool:
        """Whether moves to the bounds promise as much as slopes, and as the sparse way has brought.

        It is on a leg since so many rounds.
        """
        present, far = self._turn.account, self._ways.far
        offer = (
            far.offer(at) if self._sparse_alone and self._ledger.rounds >= self._accounts[far].due else None
        )
        if offer is None or self._ways.sparse.ended(at):
            return False
        brought = present.record.rate(math.ceil(offer.rounds), since)
        return offer.promise / offer.rounds >= max(self._promised, brought)

    def _wanes(self, offer: Offer) -> bool:
        """Whether the present way brings less, in the rounds of its offer, than slopes promise."""
        record, rounds = self._turn.account.record, math.ceil(offer.rounds)
        return record.rounds >= rounds and record.rate(rounds) < self._promised

    @property
    def _promised(self) -> float:
        """What slopes promise per round, where the sparse way was last."""
        return self._ways.sparse.promise / max(self._ways.sparse.rounds, 1)

    def _cheaper(self, at: Point) -> bool:
        """Whether a gradient is cheaper coordinate by coordinate than by the search for those that matter."""
        open_ = not self._ways.sparse.ended(at) and not self._ways.dense.ended(at)
        return open_ and self._fit is not None and self._ways.dense.rounds < self._ways.sparse.rounds

    @property
    def _fit(self) -> Way | None:
        """The way that a gradient coordinate by coordinate is of use to; none where slopes jump.

        Then values along single coordinates are the guide. A pass over all takes two queries for each, as
        they lead uphill on both sides: more than the search takes, however many of them matter.
        """
        working, sparse = self._ways.working, self._ways.sparse
        if working.kinked or (sparse.begun_on_kinks and working.kinked is None):
            return working
        unkinked = working.kinked is False and sparse.begun_on_kinks  # as samples have shown
        return None if sparse.mostly_kinked and not unkinked else self._ways.dense

    # ------------------------------------------------------------ kinks

    def _stopped(self, at: Point) -> bool:
        """Whether kinks have stopped the sparse way, or nearly so, and no way across was tried from here."""
        sparse, record = self._ways.sparse, self._turn.account.record
        if not (self._contested and self._turn.account.way is sparse and sparse.kinked):
            return False
        fallen, n = sparse.first - sparse.value, len(sparse.met)
        untried = self._ways.nonsmooth.untried(sparse.value, constants.NEGLIGIBLE * fallen)
        if not (untried and 1 < n <= self._ledger.rounds):
            return False
        shown = max(constants.PARTS * n, constants.WINDOW)
        stalled = record.rounds >= shown and record.rate(shown) * shown <= constants.SMALL * fallen
        due = self._ledger.rounds >= self._accounts[self._ways.nonsmooth].due
        return self._at_its_end(at) or (stalled and due)

    def _unswept(self, at: Point) -> bool:
        """Whether the sparse way has ended among kinks, and single coordinates may lead down behind them."""
        sparse = self._ways.sparse
        if not (self._contested and self._at_its_end(at) and sparse.kinked):
            return False
        # Three queries a coordinate and pass; each pass leaves a quarter of its length to what stays.
        passes = 3.0 * math.log(constants.NEGLIGIBLE) / math.log(constants.CLEARLY)
        new = self._swept - sparse.value > constants.NEGLIGIBLE * (sparse.first - sparse.value)
        return new and sparse.size * passes <= self._ledger.rounds
