"""The search alone: one gradient, for `estimate_gradient`.

It ends when what is unexplained looks like background, or is below the tolerance. What two coordinates cancel
in a sum stays hidden under these weights, so the end is checked with others: those of K, if it was asked of
all coordinates and is precise enough; or fresh ones. The first search stops while some spikes may be left,
and that is all that the second one has to look for: one query, or a few, where background blurs its sums.

If most of the gradient is still outside then, or more than the tolerance, it is not sparse, and the rest is
measured by plain differences. What the search has bought by then is not bought again: the sum of a group
gives its last coordinate by subtraction. So only labels and looks at the wrong coordinate are lost, and
before these come to a tenth of a gradient by plain differences, the search gives up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.moves import Few
from gracezo.core.result import GradientEstimate
from gracezo.core.steps import in_batches
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request, Room, answered
from gracezo.methods.auto.search.confirm import Found
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.order import Order, outside
from gracezo.methods.auto.search.to_the_end import WholeSearch
from gracezo.methods.auto.ways import Ledger

# The noise is measured with some five degrees of freedom: by so much errors have to be wider for 95 % of
# the values to lie within two of them (the quantile of Student's t over that of the normal distribution).
_STUDENT = 2.57 / 1.96
_HIDING = 1e-4  # times the norm found: what may hide beside any of so many, summed over all pairs of them
_TOGETHER = 4096  # looks at single coordinates that are prepared at once


_NONE: IntArray = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Slope:
    """A derivative, its standard error, and whether its coordinate was asked alone.

    It was read from a sum in which the weights of `others` have that norm over its own, or by a look at it
    alone of that `length`, whose error is right if it bends as those that were met do.
    """

    value: float
    error: float
    alone: bool
    others: float = 0.0
    length: float = 0.0


@dataclass(frozen=True, eq=False)
class TreeEstimator:
    """Finds the large coordinates of a gradient, with no sparsity given.

    Attributes
    ----------
    d
        Number of coordinates.
    batch
        Queries an ask may carry.
    eps
        A fixed ε, when the user wants one.
    noise
        The standard deviation of f's noise, if it is given.
    bounds
        What no query may leave.
    places
        Whether points are places.
    tol
        Share of the squared norm that may stay unfound; None: what looks like background may, if it is not
        most of it.
    leave
        Share of the squared norm that is not worth a query.
    background
        Whether background may stay unfound also if it is most of the gradient.
    unit
        What a value of one is in the user's f; 0 if that is not known.
    whole
        Whether all is measured by plain differences where the search has lost as much as it may.
    """

    d: int
    batch: int = 1
    eps: float | None = None
    noise: float | None = None
    bounds: Box | None = None
    tol: float | None = None
    leave: float = constants.NEGLIGIBLE**2
    background: bool = False
    places: bool = False
    unit: float = 0.0
    whole: bool = True

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Search, with asks no larger than the batch."""
        return in_batches(Estimation(self, at, key).counted(), self.batch)


class Estimation:
    """One estimation.

    Parameters
    ----------
    of, at, key
        What is wanted, where, and the random stream.
    before
        The estimation at another point, if there was one. How f is to be looked at is known from there.
    known
        Coordinates that mattered elsewhere: they are looked at first, each alone. Then one sum over all
        others tells whether there is more.
    found
        Those that were found right here, in another way.
    """

    def __init__(
        self,
        of: TreeEstimator,
        at: Point,
        key: Key,
        before: Estimation | None = None,
        known: IntArray = _NONE,
        found: Mapping[int, Slope] | None = None,
    ) -> None:
        self._of, self._at, self._key = of, at, key
        self._ledger = Ledger(of.batch)
        self._walls = Walls(of.bounds)
        self._size = of.d - len(self._walls.fixed)  # number of coordinates that can move
        self._differences: Differences = (
            Differences(of.eps, unit=of.unit) if before is None else before._differences
        )
        belief = Belief(self._size) if before is None else before._search.belief
        self._search: WholeSearch = WholeSearch(self._differences, belief, self._note, self._walls)
        self._again = before is not None
        self._noise = of.noise  # as far as it is known before a look
        self._known = known
        self._found: dict[int, Slope] = dict(found or {})
        self._residual = math.nan  # squared norm of what was not found
        self.lost = False
        """Whether the search was given up, or had to end, before it had read f."""

    @property
    def noise(self) -> float:
        """The standard deviation of f's noise, as far as it has turned out."""
        return max(self._differences.noise, self._noise or 0.0)

    def widen(self, size: int) -> None:
        """Turn to more coordinates, along which f is taken to bend by no more in all."""
        curvatures = self._differences.curvatures
        curvatures.assume(curvatures.mean * self._size / size)

    def _note(self, found: Found) -> None:
        self._found[found.coordinate] = Slope(
            found.slope, found.error, found.alone, found.others, found.length
        )

    @property
    def _squares(self) -> float:
        """The squared norm of what was found."""
        return sum(slope.value**2 for slope in self._found.values())

    def counted(self) -> Steps[GradientEstimate]:
        """Make the estimate, and count what it asks."""
        return self._ledger.keep(self._made())

    def _made(self) -> Steps[GradientEstimate]:
        """Search, measure the rest if that is most of it, and refine where f is noisy."""
        try:
            settled = yield from self._searched()
            pairs = self._differences.pairs
            if pairs is not None:
                yield from self._refine(pairs, self._found.keys() - set(self._known.tolist()))
            else:
                yield from self._look_again()
            self.lost = not settled
            if self.lost and self._of.whole:
                yield from self._measure_all()
        except OutOfQueries:
            self.lost = True
        return self._estimate

    @property
    def _estimate(self) -> GradientEstimate:
        """What is known."""
        indices = np.array(sorted(self._found), dtype=np.int64)
        slopes = [self._found[j] for j in indices.tolist()]
        unmet = 0.5 * self._differences.curvatures.unmet * self._size
        errors = np.array([math.hypot(slope.error, unmet * slope.length) for slope in slopes])
        if self._differences.noise and self._of.noise is None:
            errors = _STUDENT * errors
        return GradientEstimate(
            self._of.d,
            indices,
            np.array([slope.value for slope in slopes]),
            errors=errors,
            confirmed=np.array([slope.alone for slope in slopes], np.bool_),
            residual=self._share,
            background=self._search.belief.tau if len(indices) < self._size else 0.0,
            flat=self._search.flat,
        )

    # ------------------------------------------------------------ when to end

    @property
    def _share(self) -> float:
        """The share of the squared norm that is outside of what was found."""
        if math.isnan(self._residual):
            return math.nan
        return self._residual / (self._residual + self._squares) if self._residual else 0.0

    @property
    def _negligible(self) -> bool:
        return self._share <= (self._of.leave if self._of.tol is None else self._of.tol)

    def _searched(self) -> Steps[bool]:
        """Search; return whether what was found is enough."""
        search = self._search
        search.centre(self._at)
        searches, hidden, reached = 0, 1.0, self._again
        told: list[float] = []  # squared norms of what is left, by sums with weights of their own
        if self._again:
            search.go_on()
            yield from self._measure(self._known)
            searches = 1
        while True:
            yield from self._sum_of_all(searches)
            if searches == 0 and self._surprised:
                search = self._begin_anew()
                continue
            self._look_back()
            if search.flat:
                return True
            searches += 1
            if self._of.tol is not None and searches > 1:
                # Groups that the search has left are small: it has chosen. Fresh weights choose nothing.
                told.append(search.square)
                self._residual = max(self._residual, sum(told) / len(told))
            if reached and self._negligible:
                if self._of.tol is None or self._again or len(told) >= constants.FEW:
                    return True  # by other weights, too
                continue
            noisy = bool(self._differences.noise)
            few = constants.UNFOUND if searches == 1 or noisy else constants.RULED_OUT
            if searches > 1 and (search.quiet if self._again or noisy else self._ended(few)):
                # Noise hides more than background does, and what cancels beside it: several sums tell.
                hidden *= search.hiding
                if not noisy or self._again or hidden <= constants.UNSEEN:
                    return self._enough
                continue
            hidden, found = 1.0, len(self._found)
            if (yield from self._lost(few)):
                return False
            reached, idle = self._negligible, searches > 1 and not noisy and len(self._found) == found
            told = told if idle else []
            claims = self._of.tol is not None and reached and self._share > self._of.leave
            # Weights under which nothing more was found have told what others hide.
            if not claims and (idle or self._checked):
                return self._enough

    def _lost(self, few: float) -> Steps[bool]:
        """Search under these weights; return whether plain differences have become cheaper."""
        search = self._search
        while not (self._ended(few) or (self._negligible and not search.busy)):
            spent = self._ledger.queries + search.left + len(self._blurred)
            lost = spent > self._size + constants.LOST * (self._size + 100)
            if lost and not self._differences.noise:  # noise makes plain differences dearer by far
                return True
            requests = search.requests(self._of.batch)
            if not requests:
                break
            yield from answered(self._at, requests)
            self._look_back()
            if self._negligible and not search.asking:
                break
        return False

    @property
    def _surprised(self) -> bool:
        """Whether noise was met that nobody expected, and walls are near that hold up sums for it."""
        met = self._differences.noise and self._noise is None
        return bool(met and self._of.background and self._walls.box is not None)

    def _begin_anew(self) -> WholeSearch:
        """Begin with noise that is known now."""
        self._noise = self._differences.noise
        self._differences = Differences(self._of.eps, unit=self._of.unit)
        self._search = WholeSearch(self._differences, Belief(self._size), self._note, self._walls)
        self._search.centre(self._at)
        return self._search

    def _sum_of_all(self, searches: int) -> Steps[None]:
        """Take the sum over all coordinates that are not known, with weights of its own."""
        search = self._search
        taken = np.array([*self._found, *search.kinks], np.int64)
        coordinates = outside(self._of.d, taken, self._walls.fixed, places=self._of.places)
        rng = self._key.child(searches).generator()
        if searches == 0:
            search.look_to_both_sides(self._of.background and bool(self._noise))
            self._at = yield from search.begin(self._at, self._noise, coordinates, rng)
            return
        search.restart(coordinates, rng)
        if requests := search.requests(self._of.batch):
            yield from answered(self._at, requests)

    def _look_back(self) -> None:
        """Estimate what is outside: U² of the groups that hold a spike, and background in the others."""
        self._residual = self._search.outside

    def _ended(self, few: float) -> bool:
        """Whether what is left looks like background, but for so few spikes, and may stay where it is."""
        return self._of.tol is None and self._search.ended(few)

    @property
    def _enough(self) -> bool:
        """Whether what was found holds as much of the gradient as is wanted."""
        if self._differences.noise or self._of.background:
            return True
        return self._share <= (0.5 if self._of.tol is None else self._of.tol)

    @property
    def _checked(self) -> bool:
        """Whether K of all coordinates shows nothing left but an error; what cancels in U does not in K.

        It counts if it is no more blurred than U with fresh weights. But a coordinate may hide beside one
        found, whose value then makes up for it in U, and nearly in K: the more likely, the more were found
        and the more K is blurred.
        """
        partition = self._search.partition
        if partition is None:
            return True
        n = len(partition.order)
        moment, blur = partition.moment
        left, error = abs(moment) / n, self._differences.met * blur / n
        if math.isnan(left):
            return False
        squares = partition.order.whole.squares
        fresh = self._differences.across(squares, 0.0).fixed
        seen = self._search.belief.deviation(squares / 3.0, constants.TRUST * error)
        hiding = len(self._found) ** 2 * seen > _HIDING * math.sqrt(self._squares)
        if left > seen or error > fresh or hiding:
            return False
        self._residual = max(self._residual, 3.0 * left**2)  # labels k/n have the mean square 1/3
        return True

    # ------------------------------------------------------------ single coordinates

    def _measure_all(self) -> Steps[None]:
        """Measure all that was not found, each coordinate alone; the last of a group by subtraction.

        Not of one that something was taken out of: what is wrong of that would be found in the last one.
        """
        bought, groups = self._search.bought()
        order = bought.written()
        known = np.isin(order.coordinates, list(self._found)) | (order.weights == 0.0)
        single: list[IntArray] = []
        last: list[tuple[Group, int]] = []
        covered = np.zeros(len(order), np.bool_)
        for group in groups:
            covered[group.start : group.stop] = True
            positions = group.start + np.flatnonzero(~known[group.start : group.stop])
            if len(positions) == group.size:
                positions = positions[:-1]
                last.append((group, group.stop - 1))
            single.append(positions)
        # What was asked alone and was not it is in no group any more.
        positions = np.concatenate([*single, np.flatnonzero(~known & ~covered)])
        slopes: FloatArray = np.zeros(len(order))
        errors: FloatArray = np.zeros(len(order))
        about = self._search.belief.tau
        for start in range(0, len(positions), _TOGETHER):
            some = positions[start : start + _TOGETHER]
            yield from answered(
                self._at, [self._single(order, i, about, slopes, errors) for i in some.tolist()]
            )
        for group, position in last:
            weights = order.weights[group.start : group.stop]
            inside = slice(group.start, group.stop)
            rest = group.u - float(weights @ slopes[inside])
            weight = float(order.weights[position])
            slopes[position] = rest / weight
            blur = math.hypot(group.error, float(np.linalg.norm(weights * errors[inside])))
            errors[position] = blur / abs(weight)
        alone = set(positions.tolist())
        for position in np.flatnonzero(~known).tolist():
            coordinate = int(order.coordinates[position])
            value, error = float(slopes[position]), float(errors[position])
            self._found[coordinate] = Slope(value, error, position in alone)
        self._residual = 0.0

    def _single(
        self, order: Order, position: int, about: float, slopes: FloatArray, errors: FloatArray
    ) -> Request:
        weight = float(order.weights[position])
        look = self._differences.across(weight**2, weight * about, room=order.room(position, position + 1))

        def absorb(change: Change) -> None:
            value, error = self._differences.read(look, change)
            slopes[position], errors[position] = value / weight, error / abs(weight)

        return look.request(order.move(position, position + 1), Role.REFRESH, absorb)

    def measured(self, coordinates: IntArray) -> Steps[GradientEstimate]:
        """Look at some coordinates alone, and at nothing else."""
        self._search.centre(self._at)
        yield from self._measure(coordinates)
        return self._estimate

    def _measure(self, coordinates: IntArray) -> Steps[None]:
        """Look at some coordinates, each alone; one whose evaluation failed is not known."""
        about = Slope(self._search.belief.tau, math.nan, True)
        pairs = self._differences.pairs
        for start in range(0, len(coordinates), _TOGETHER):
            some = coordinates[start : start + _TOGETHER].tolist()
            self._found |= dict.fromkeys(some, about)
            if pairs is not None:
                yield from self._refine(pairs, set(some))
            near = [j for j in some if math.isnan(self._found[j].error)]
            if requests := [request for j in near if (request := self._near(j)) is not None]:
                yield from answered(self._at, requests)
            self._found = {j: slope for j, slope in self._found.items() if not math.isnan(slope.error)}

    def _look_again(self) -> Steps[None]:
        """Look at those alone whose derivative was read from a sum that is more blurred than was known."""
        if requests := [request for j in sorted(self._blurred) if (request := self._near(j)) is not None]:
            yield from answered(self._at, requests)

    @property
    def _blurred(self) -> list[int]:
        tau = self._search.belief.tau
        return [j for j, slope in self._found.items() if tau * slope.others > 2.0 * slope.error]

    def _near(self, coordinate: int) -> Request | None:
        """Return the look at a coordinate near by, on its way down if there is room; None between walls."""
        differences, slope = self._differences, self._found[coordinate]
        sides = (-math.copysign(1.0, slope.value), math.copysign(1.0, slope.value))
        rooms = [self._walls.room(coordinate, -side) for side in sides]
        side, room = (sides[0], rooms[0]) if rooms[0] > 0.0 else (sides[1], rooms[1])
        look = differences.across(1.0, slope.value, room=Room(room, min(rooms)))
        if not look.eps > 0.0:
            return None

        def absorb(change: Change) -> None:
            value, error = differences.read(look, change)
            bias = 0.5 * look.eps * differences.curvatures.largest
            self._found[coordinate] = Slope(side * value, math.hypot(error, bias), True, length=look.eps)

        return look.request(Few(np.array([coordinate]), np.array([side])), Role.CONFIRM, absorb)

    def _refine(self, pairs: Pairs, which: Set[int]) -> Steps[None]:
        """Look at coordinates alone, to both sides, as far as noise and cubic term balance."""
        found, walls = self._found, self._walls

        def look_at(coordinate: int) -> Request | None:
            slope = found[coordinate].value
            room = min(walls.room(coordinate, slope), walls.room(coordinate, -slope))
            look = pairs.look(min(self._differences.length(1.0), room), slope)
            if look.eps <= 0.0:
                return None  # at a wall

            def absorb(change: Change) -> None:
                found[coordinate] = Slope(*pairs.read(look, change), True)

            return look.request(Few(np.array([coordinate]), np.ones(1)), Role.PROBE, absorb)

        requests = [request for j in sorted(which) if (request := look_at(j)) is not None]
        if requests:
            yield from answered(self._at, requests)
