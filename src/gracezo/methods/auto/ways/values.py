"""Two ways by values alone, where slopes are a poor guide: a sweep, and moves to the far end of a box.

**A sweep**: one coordinate after the other, each as far as f falls along it. Each is tried to one side and
the other; the step is doubled for as long as that helps, and the parabola through the last three values ends
it. A coordinate keeps the length of its last move. After all of them, those that moved are swept again, for
as long as that pays more per query than all have.

**The far end** of the box: where f is straight, or saturates, slopes tell little and bounds much.
A set of n coordinates, drawn at random, is set outright to the bounds that are farther away; what is lower is
kept. Of slopes with a root mean square g and curvatures H, such a move of reach r changes f by N(m, σ²) with
m = ½·H·n·r² and σ = g·r·√n, and what is kept brings

    σ·φ(m/σ) − m·Φ(−m/σ)

a query (the expected improvement: Mockus, *On Bayesian methods for seeking the extremum*, 1974), if the set
holds any of the coordinates that matter, of which the search says how dense they are. That is what the way
offers: more than slopes do where many coordinates matter, and most of all where f bends downwards; nothing
where it bends upwards within the box. Probabilities of a classifier that is sure, and all that saturates,
bend downwards wherever one looks: slopes are next to zero there, and what lies behind is seen from afar (so
moves Croce et al., *Sparse-RS*, AAAI 2022, for a given number of pixels).

The sets have √d coordinates, so that √d of them are as many as all. Every other one should be lower if slopes
are all that there is. When `TRUST` in a row are not, sets are too large, and halved: the more were kept, the
more may fail in a row; and so they are when each coordinate was tried once: those refused are worse than by
chance. A set that leaves f as it is says that few coordinates matter: these the search finds, and the way has
nothing more to offer. No coordinate is moved twice. A run that begins on a plateau of a box (a probability of
exactly one, a capped resource) leaves it the same way, by halves of the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gracezo.core.aims import FarEnd
from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.moves import Few, Wave, moved, rows_of
from gracezo.core.places import dense, differing, replaced
from gracezo.core.precision import ROOT, SHOWN, ULP
from gracezo.core.rest import Deck, Rest, written
from gracezo.core.steps import noting
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import BEYOND, Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.ways import Offer
from gracezo.methods.auto.ways.sparse import Sparse

_NONE: IntArray = np.zeros(0, np.int64)
_NOTHING: FloatArray = np.zeros(0)


@dataclass(eq=False)
class _Pass:
    """One pass: those still to come, and what the others have brought.

    Attributes
    ----------
    queue
        The coordinates still to come, the next one last.
    whole
        Whether it goes over all.
    """

    queue: list[int]
    whole: bool
    moved: list[int] = field(default_factory=list)
    brought: float = 0.0
    queries: int = 0

    def spend(self, queries: int) -> None:
        """Note queries."""
        self.queries += queries

    def bring(self, coordinate: int, before: float, after: float) -> None:
        """Note the values of f before and after a coordinate was tried."""
        self.brought = self.brought + before - after
        if after < before:
            self.moved.append(coordinate)

    @property
    def rate(self) -> float:
        """The decrease per query."""
        return self.brought / max(self.queries, 1)


class Coordinates:
    """Goes along single coordinates, by values alone.

    Parameters
    ----------
    walls
        The bounds.
    coordinates
        All that can move.
    start
        Where the run began: how far others have moved is how far to try.
    noise
        The standard deviation of f's noise.
    rng
        Where their order is drawn from.
    """

    name = "along single coordinates, one after the other"

    def __init__(
        self,
        walls: Walls,
        coordinates: IntArray | Rest,
        start: FloatArray,
        noise: float,
        rng: np.random.Generator,
    ) -> None:
        self._walls = walls
        self._all = coordinates
        self._start = start
        self._noise = noise
        self._rng = rng
        self._lengths: FloatArray | None = None
        self._first = 0.0  # the longest of them, at first
        self._pass = _Pass([], whole=True)
        self._pays = 0.0  # decrease per query of the last pass over all
        self._here = Point(start, math.inf)

    @cached_property
    def _coordinates(self) -> IntArray:
        """All that can move, once each of them is tried."""
        return written(self._all)

    @property
    def fine(self) -> bool:
        """Whether all coordinates have been tried as finely as is of use."""
        return self._lengths is not None and bool(
            np.all(self._own(self._lengths) <= constants.NEGLIGIBLE * self._first)
        )

    def offer(self, here: Point) -> Offer | None:
        """Return what a pass over all has brought, and its queries; None if all were tried finely enough."""
        if self.fine:
            return None
        queries = 2.0 * len(self._all)
        return Offer(self._pays * queries, queries)

    def leg(self, here: Point) -> Steps[Point]:
        """Go along the next coordinates; return the present point."""
        at = here
        self._here = at
        if self._lengths is None:
            self._lengths = self._first_lengths(at.x)
            self._first = float(np.max(self._own(self._lengths)))
        try:
            for _ in range(max(len(self._coordinates) // (2 * constants.PARTS), 1)):
                yield from self._next(self._lengths)
        except OutOfQueries:
            if self._here.value == at.value:
                raise
        lower = self._here.value < at.value
        return Point(self._here.x, self._here.value, self._noise) if lower else at

    def _next(self, lengths: FloatArray) -> Steps[None]:
        """Go along the next coordinate."""
        if not self._pass.queue:
            self._next_pass(lengths)
        coordinate, before = self._pass.queue.pop(), self._here.value
        yield from noting(self._along(coordinate, lengths), self._pass.spend)
        self._pass.bring(coordinate, before, self._here.value)

    def _own(self, each: FloatArray) -> FloatArray:
        return np.asarray(each[self._coordinates])

    def _first_lengths(self, x: FloatArray) -> FloatArray:
        x = dense(x)
        ways = np.abs(x - dense(self._start))
        moved = ways[ways > 0.0]
        return np.full(len(x), np.median(moved)) if len(moved) else (1.0 + np.abs(x)) / constants.PARTS

    def _least(self, i: int) -> float:
        return min(SHOWN * (1.0 + abs(float(self._here.x[i]))), constants.NEGLIGIBLE * self._first)

    def _next_pass(self, lengths: FloatArray) -> None:
        last = self._pass
        if last.moved:
            for i in np.flatnonzero(lengths == 0.0).tolist():
                lengths[i] = self._least(i)
        if last.whole:
            self._pays = last.rate
        whole = not last.moved or (not last.whole and last.rate < self._pays)
        following = self._coordinates if whole else np.array(last.moved)
        self._pass = _Pass(self._rng.permutation(following).tolist(), whole)

    # ------------------------------------------------------------ one coordinate

    def _along(self, i: int, lengths: FloatArray) -> Steps[None]:
        """Go along one coordinate."""
        start, first, length = float(self._here.x[i]), self._here.value, float(lengths[i])
        if length == 0.0:
            return
        ahead = yield from self._try(i, start + length)
        if ahead[1] < first:
            yield from self._expand(i, (start, first), ahead)
        else:
            behind = yield from self._try(i, start - length)
            if behind[1] < first:
                yield from self._expand(i, (start, first), behind)
            else:
                yield from self._vertex(i, behind, (start, first), ahead)
        length = max(abs(float(self._here.x[i]) - start), constants.CLEARLY * length)
        # So short a step has been tried: until others have moved it would be the same again.
        lengths[i] = length if length >= self._least(i) else 0.0

    def _expand(self, i: int, start: tuple[float, float], best: tuple[float, float]) -> Steps[None]:
        """Double a step that helps, for as long as it does, and try the vertex."""
        before = start
        self._accept(i, best)
        for _ in range(round(-math.log2(ULP))):
            beyond = yield from self._try(i, 2.0 * best[0] - start[0])
            if beyond[0] == best[0]:  # a wall
                return
            if not beyond[1] < best[1]:
                yield from self._vertex(i, before, best, beyond)
                return
            before, best = best, beyond
            self._accept(i, best)

    def _vertex(
        self, i: int, one: tuple[float, float], best: tuple[float, float], two: tuple[float, float]
    ) -> Steps[None]:
        """Try the minimum of the parabola through three places, the middle one being the best."""
        (a, fa), (b, fb), (c, fc) = one, best, two
        left, right = (b - a) * (fb - fc), (b - c) * (fb - fa)
        bend = left - right
        if not math.isfinite(bend) or bend == 0.0:
            return
        place = b - 0.5 * ((b - a) * left - (b - c) * right) / bend
        if abs(place - b) <= ROOT * abs(c - a):
            return
        vertex = yield from self._try(i, place)
        if vertex[1] < self._here.value:
            self._accept(i, vertex)

    def _accept(self, i: int, place: tuple[float, float]) -> None:
        x = replaced(self._here.x, np.array([i]), np.array([place[0]]))  # the last one may still be in use
        self._here = Point(x, place[1])

    def _try(self, i: int, place: float) -> Steps[tuple[float, float]]:
        """Ask with one coordinate elsewhere; return where it came to, and f there."""
        here = float(self._here.x[i])
        step = place - here
        place = here + step  # as it is rounded
        if (box := self._walls.box) is not None and not box.lower[i] < place < box.upper[i]:
            place = min(max(place, float(box.lower[i])), float(box.upper[i]))
            step = BEYOND * (place - here)  # the bounds cut it
        if place == here:
            return here, self._here.value
        row = SparseRows.coordinates(np.array([i]), np.array([step]))
        values = yield Ask(self._here.x, row, Role.TRIAL if self._noise else Role.STEP)
        if not len(values):
            raise OutOfQueries
        value = float(values[0])
        return place, math.inf if math.isnan(value) else value


# ---------------------------------------------------------------- the far end


def improvement(mean: float, deviation: float) -> float:
    """Return by how much a change N(mean, deviation²) lowers f on average, if it is kept only when it does.

    >>> round(improvement(0.0, 1.0), 4), improvement(1e3, 1.0), improvement(1.0, 0.0)
    (0.3989, 0.0, 0.0)
    """
    if deviation == 0.0:
        return max(-mean, 0.0)
    ratio = mean / deviation
    density = math.exp(-0.5 * ratio * ratio) / math.sqrt(2.0 * math.pi)
    return deviation * density - mean * 0.5 * math.erfc(ratio / math.sqrt(2.0))


def to_the_far_end(at: Point, box: Box, sets: Sequence[IntArray | Wave]) -> Steps[tuple[Point, FloatArray]]:
    """Move sets of coordinates, each by itself, to their farther bounds; very large ones are waves.

    Return where the best of them leads, which need not be lower, and by how much each has changed f.
    """
    far = FarEnd(box)
    moves = [some if isinstance(some, Wave) else Few(some, far(at.x, some, _NOTHING)) for some in sets]
    values = yield Ask(at.x, rows_of(moves), Role.STEP)
    best = lowest(values)
    move, value = moves[best], float(values[best])
    if isinstance(move, Few):
        ends = np.where(move.values >= 0.0, box.upper[move.indices], box.lower[move.indices])
        x = replaced(at.x, move.indices, ends)
    else:
        x = box.clip(moved(at.x, move))
    return Point(x, math.inf if math.isnan(value) else value), values - at.value


def off_the_plateau(sparse: Sparse, at: Point, rng: np.random.Generator) -> Steps[tuple[Point, bool]]:
    """Leave a plateau of a box by long moves: halves of the coordinates, each to their farther bounds.

    Return the lowest point, and whether f has changed at all.
    """
    box, free = sparse.walls.box, sparse.free
    if box is None or not math.isfinite(sparse.walls.reach):
        return at, False
    sets: list[IntArray | Wave] = []
    for _ in range(constants.PATIENCE):
        sets += _halves(free, box, rng)
    lower, changes = yield from to_the_far_end(at, box, sets)
    return lower if lower.value < at.value else at, bool((changes != 0.0).any())


def _halves(free: IntArray | Rest, box: Box, rng: np.random.Generator) -> list[IntArray | Wave]:
    """Return both halves of coordinates at random; of very many, what moves them to their farther bounds."""
    if isinstance(free, Rest):
        out, middle = free.without, free.d // 2
        whole = Wave(free.shuffled(rng), 0, free.d, indices=out, values=np.zeros(len(out)), aim=FarEnd(box))
        return [whole.part(0, middle), whole.part(middle, free.d)]
    return [np.sort(half) for half in np.array_split(rng.permutation(free), 2) if len(half)]


class Far:
    """Sets of coordinates, moved to their farther bounds.

    Parameters
    ----------
    sparse
        What is known of slopes, curvatures and bounds.
    batch
        Sets that are tried at once.
    rng
        Where they are drawn from.
    """

    name = "of sets of coordinates to the far end of the box"

    def __init__(self, sparse: Sparse, batch: int, rng: np.random.Generator) -> None:
        self._sparse = sparse
        self._batch = batch
        self._size = math.isqrt(len(sparse.free)) if math.isfinite(sparse.walls.reach) else 0
        self._kept = 0  # sets
        self._deck = Deck(sparse.free if self._size else _NONE, rng)  # not tried yet in sets of this size

    def offer(self, here: Point) -> Offer | None:
        """Return what all sets promise; None where there is no far end, or sets were tried in vain."""
        sparse, n, reach = self._sparse, self._size, self._sparse.walls.reach
        if n < 2 or (sparse.noise and not sparse.differences.values.coarse) or math.isinf(reach):
            return None
        mean = 0.5 * sparse.differences.curvatures.expected(sparse.size) * n * reach**2
        holds = -math.expm1(-sparse.share * n)
        sets = math.ceil(sparse.size / n)
        return Offer(sets * holds * improvement(mean, sparse.slope * reach * math.sqrt(n)), sets)

    def leg(self, here: Point) -> Steps[Point]:
        """Try sets until one is kept; return the present point."""
        for _ in range(round(constants.TRUST) + self._kept):
            while len(self._deck) < self._batch * self._size:
                self._halve()
            if self._size < 2:
                return here
            moved = yield from self._tried(here)
            if moved.value < here.value:
                return moved
            differences = self._sparse.differences
            if not differences.noise and abs(moved.value - here.value) <= differences.rounding:
                self._size = 0  # few coordinates matter, and none of them is in the set
                return here
        self._halve()
        return here

    def _halve(self) -> None:
        """Go on with sets of half the size, of all that was not moved."""
        self._size //= 2
        self._deck.shuffle()

    def _tried(self, at: Point) -> Steps[Point]:
        """Move some sets, each by itself; return where the best of them leads."""
        box = self._sparse.walls.box
        assert box is not None, "it has offered nothing without bounds"
        drawn = self._deck.draw(self._batch * self._size)
        sets = [np.sort(some) for some in np.array_split(drawn, self._batch)]
        reached, _ = yield from to_the_far_end(at, box, sets)
        if reached.value < at.value:
            self._kept += 1
            self._deck.remove(differing(at.x, reached.x)[0])
        return reached
