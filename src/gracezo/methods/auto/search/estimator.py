"""The search alone: one gradient, for `estimate_gradient`.

It ends when what is unexplained looks like background, or is below the tolerance. What two coordinates cancel
in a sum stays hidden under these weights, so the end is checked with others: those of K, if it was asked of
all coordinates and is precise enough; or fresh ones. The first search stops while some spikes may be left,
and that is all that the second one has to look for: one query, or a few, where background blurs its sums. A
third one looks for what cancelled twice, if something is still expected.

If most of the gradient is still outside then, or more than the tolerance, it is not sparse, and the rest is
measured by plain differences (`alone.py`). So only labels and looks at the wrong coordinate are lost, and
before these come to a tenth of a gradient by plain differences, the search gives up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy.special import ndtri, stdtrit

from gracezo.core.asks import Ask, OutOfQueries, Point, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.rest import outside
from gracezo.core.result import GradientEstimate
from gracezo.core.steps import in_batches, relayed
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.estimators.noise import POINTS
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import answered
from gracezo.methods.auto.search.alone import Slope, Slopes
from gracezo.methods.auto.search.to_the_end import Allowance, TooDear, WholeSearch

# The noise is measured with some five degrees of freedom: by so much errors have to be wider for 95 % of
# the values to lie within two of them (the quantile of Student's t over that of the normal distribution).
_STUDENT = float(stdtrit(POINTS - 2, 0.975) / ndtri(0.975))
R = TypeVar("R")
_NONE: IntArray = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Wanted:
    """How much of a gradient is wanted.

    Attributes
    ----------
    tol
        Share of the squared norm that may stay unfound; None: what looks like background may, if it is not
        most of it.
    leave
        Share of the squared norm that is not worth a query.
    background
        Whether background may stay unfound also if it is most of the gradient.
    whole
        Whether all is measured by plain differences where the search has lost as much as it may.
    """

    tol: float | None = None
    leave: float = constants.NEGLIGIBLE**2
    background: bool = False
    whole: bool = True

    def negligible(self, share: float) -> bool:
        """Whether so much outside is not worth a query."""
        return share <= (self.leave if self.tol is None else self.tol)

    def enough(self, share: float) -> bool:
        """Whether so much may stay outside where the search has ended; all of it is no background."""
        return (self.background and share < 1.0) or share <= (0.5 if self.tol is None else self.tol)


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
    unit
        What a value of one is in the user's f; 0 if that is not known.
    wanted
        How much of the gradient is wanted.
    """

    d: int
    batch: int = 1
    eps: float | None = None
    noise: float | None = None
    bounds: Box | None = None
    places: bool = False
    unit: float = 0.0
    wanted: Wanted = field(default_factory=Wanted)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Search, with asks no larger than the batch."""
        return in_batches(Estimation(self, at, key).counted(), self.batch)

    def differences(self) -> Differences:
        """Return looks at f, of which nothing is known."""
        return Differences(self.eps, unit=self.unit)


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
        self._noise = of.noise  # as far as it is known before a look
        self._known = known
        self._again = before is not None
        differences = of.differences() if before is None else before._slopes.differences
        self._slopes: Slopes = Slopes(differences, Walls(of.bounds), found)
        belief = Belief(self._size) if before is None else before._search.belief
        self._search: WholeSearch = WholeSearch(differences, belief, self._slopes.take, self._slopes.walls)
        self._allowance = Allowance(self._size)
        self.lost = False
        """Whether the search was given up, or had to end, before it had read f."""

    @property
    def _size(self) -> int:
        """Number of coordinates that can move."""
        return self._of.d if self._of.bounds is None else self._of.bounds.count

    @property
    def noise(self) -> float:
        """The standard deviation of f's noise, as far as it has turned out."""
        return max(self._slopes.differences.noise, self._noise or 0.0)

    def widen(self, size: int) -> None:
        """Turn to more coordinates, along which f is taken to bend by no more in all."""
        curvatures = self._slopes.differences.curvatures
        curvatures.assume(curvatures.mean * self._size / size)

    def counted(self) -> Steps[GradientEstimate]:
        """Make the estimate, and count what it asks."""
        return self._allowance.ledger.keep(self._made())

    def _made(self) -> Steps[GradientEstimate]:
        """Search, measure the rest if that is most of it, and refine where f is noisy."""
        try:
            settled = yield from self._afforded(self._searched())
            yield from self._refined()
            self.lost = not settled
            if self.lost and self._of.wanted.whole and self._plain:
                yield from self._measure_all()
        except OutOfQueries:
            self.lost = True
        return self._estimate

    def _afforded(self, steps: Steps[R]) -> Steps[R | None]:
        """Run steps as long as they leave enough for plain differences; return None if they did not."""

        def asked(ask: Ask) -> Steps[FloatArray]:
            if len(ask) > self._left:
                raise TooDear
            return (yield ask)

        try:
            return (yield from relayed(steps, asked))
        except TooDear:
            return None

    @property
    def _plain(self) -> bool:
        return self._allowance.plain(self._search, self._slopes.differences)

    @property
    def _left(self) -> float:
        """The queries that may be asked still, but for plain differences and looks at what is blurred."""
        left = self._allowance.left(self._search, self._slopes.differences)
        return left - len(self._slopes.blurred(self._search.belief.tau))

    def _refined(self) -> Steps[None]:
        """Look once more at what was found: all of it where f is noisy, what is blurred where it is not."""
        pairs, slopes = self._slopes.differences.pairs, self._slopes
        if pairs is not None:
            found = slopes.found.keys() - set(self._known.tolist())
            yield from self._afforded(slopes.refine(self._at, pairs, found))
            return
        blurred = slopes.blurred(self._search.belief.tau)
        yield from slopes.look_again(self._at, blurred[: int(min(self._left, 0.0)) or None])

    @property
    def _estimate(self) -> GradientEstimate:
        """What is known."""
        differences = self._slopes.differences
        indices, values, errors, alone = self._slopes.listed(0.5 * differences.curvatures.unmet * self._size)
        return GradientEstimate(
            self._of.d,
            indices,
            values,
            errors=_STUDENT * errors if differences.noise and self._of.noise is None else errors,
            confirmed=alone,
            residual=self._slopes.share,
            background=self._search.belief.tau if len(indices) < self._size else 0.0,
            flat=self._search.flat,
        )

    # ------------------------------------------------------------ when to end

    @property
    def _negligible(self) -> bool:
        return self._of.wanted.negligible(self._slopes.share)

    def _searched(self) -> Steps[bool]:
        """Search; return whether what was found is enough."""
        search = self._search
        search.centre(self._at)
        searches, idle, hidden, reached = 0, 0, 1.0, self._again
        told: list[float] = []  # squared norms of what is left, by sums with weights of their own
        if self._again:
            search.go_on()
            yield from self._measure(self._known)
            self._allowance.begin()
            searches = 1
        while True:
            yield from self._sum_of_all(searches)
            if searches == 0 and self._surprised:
                search = self._begin_anew()
                continue
            if searches == 0:
                self._allowance.begin()
            self._look_back()
            if search.flat:
                return True
            searches += 1
            if self._of.wanted.tol is not None and searches > 1:
                # Groups that the search has left are small: it has chosen. Fresh weights choose nothing.
                told.append(search.square)
                self._slopes.leave(sum(told) / len(told), least=True)
            if reached and self._negligible:
                if self._of.wanted.tol is None or self._again or len(told) >= constants.FEW:
                    return True  # by other weights, too
                continue
            noisy = bool(self._slopes.differences.noise)
            few = constants.UNFOUND if searches == 1 or noisy else constants.RULED_OUT
            if searches > 1 and (search.quiet if self._again or noisy else self._ended(few)):
                # Noise hides more than background does, and what cancels beside it: several sums tell.
                hidden *= search.hiding
                if not noisy or self._again or hidden <= constants.UNSEEN:
                    return self._enough
                continue
            hidden, found = 1.0, len(self._slopes)
            yield from self._search_on(few)
            reached = self._negligible
            idle = idle + 1 if searches > 1 and not noisy and len(self._slopes) == found else 0
            told = told if idle else []
            wanted = self._of.wanted
            claims = wanted.tol is not None and reached and self._slopes.share > wanted.leave
            # Weights under which nothing more was found tell what others hide, but for what cancels again.
            believed = idle >= (1 if search.expected < few else constants.PATIENCE)
            if not claims and (believed or self._checked):
                return self._enough
            if searches == 1 and search.blurred and self._allowance.ledger.queries > self._left:
                return False  # with other weights it would take as many again

    def _search_on(self, few: float) -> Steps[None]:
        """Search under these weights."""
        search = self._search
        while not (self._ended(few) or (self._negligible and not search.busy)):
            requests = search.requests(self._of.batch)
            if not requests:
                break
            yield from answered(self._at, requests)
            self._look_back()
            if self._negligible and not search.asking:
                break

    @property
    def _surprised(self) -> bool:
        """Whether noise was met that nobody expected, and walls are near that hold up sums for it."""
        met = self._slopes.differences.noise and self._noise is None
        return bool(met and self._of.wanted.background and self._slopes.walls.box is not None)

    def _begin_anew(self) -> WholeSearch:
        """Begin with noise that is known now."""
        self._noise = self._slopes.differences.noise
        differences, walls = self._of.differences(), self._slopes.walls
        self._slopes = Slopes(differences, walls, self._slopes.found)
        self._search = WholeSearch(differences, Belief(self._size), self._slopes.take, walls)
        self._search.centre(self._at)
        return self._search

    def _sum_of_all(self, searches: int) -> Steps[None]:
        """Take the sum over all coordinates that are not known, with weights of its own."""
        search = self._search
        taken = np.array([*self._slopes.found, *search.kinks.all], np.int64)
        coordinates = outside(self._of.d, taken, box=self._of.bounds, places=self._of.places)
        rng = self._key.child(searches).generator()
        if searches == 0:
            self._slopes.walls.look_to_both_sides(self._of.wanted.background and bool(self._noise))
            self._at = yield from search.begin(self._at, self._noise, coordinates, rng)
            return
        search.restart(coordinates, rng)
        if requests := search.requests(self._of.batch):
            yield from answered(self._at, requests)

    def _look_back(self) -> None:
        """Estimate what is outside: U² of the groups that hold a spike, and background in the others."""
        self._slopes.leave(self._search.outside)

    def _ended(self, few: float) -> bool:
        """Whether what is left looks like background, but for so few spikes, and may stay where it is."""
        return self._of.wanted.tol is None and self._search.ended(few)

    @property
    def _enough(self) -> bool:
        """Whether what was found holds as much of the gradient as is wanted."""
        return bool(self._slopes.differences.noise) or self._of.wanted.enough(self._slopes.share)

    @property
    def _checked(self) -> bool:
        """Whether K of all coordinates shows nothing left but an error; what cancels in U does not in K.

        It counts if it is no more blurred than U with fresh weights. But a coordinate may hide beside one
        found, whose value then makes up for it in U, and nearly in K: the more likely, the more were found
        and the more K is blurred; above a background fresh weights have to tell.
        """
        partition = self._search.partition
        if partition is None:
            return True
        n = len(partition.order)
        moment, blur = partition.moment
        left, error = abs(moment) / n, self._slopes.differences.met * blur / n
        if math.isnan(left):
            return False
        squares = partition.order.whole.squares
        fresh = self._slopes.differences.across(squares, 0.0).fixed
        seen = self._search.belief.deviation(squares / 3.0, constants.TRUST * error)
        hiding = len(self._slopes) ** 2 * seen > constants.SMALL * math.sqrt(self._slopes.squares)
        if left > seen or error > fresh or hiding:
            return False
        self._slopes.leave(3.0 * left**2, least=True)  # labels k/n have the mean square 1/3
        return True

    # ------------------------------------------------------------ single coordinates

    def _measure_all(self) -> Steps[None]:
        """Measure all that was not found, each coordinate alone.

        If queries run out, what was measured by then counts, and is a sample of what was not.
        """
        search, slopes, twice = self._search, self._slopes, self._allowance.twice(self._search)
        known, bought = set(slopes.found), search.bought()
        try:
            yield from slopes.complete(self._at, *bought, search.belief.tau, twice, self._of.batch)
        except OutOfQueries:
            sample = [slope.value for j, slope in slopes.found.items() if j not in known]
            if sample:
                slopes.leave((self._size - len(slopes)) * float(np.square(sample).mean()))
            raise
        slopes.leave(0.0)

    def measured(self, coordinates: IntArray) -> Steps[GradientEstimate]:
        """Look at some coordinates alone, and at nothing else."""
        self._search.centre(self._at)
        yield from self._measure(coordinates)
        return self._estimate

    def _measure(self, coordinates: IntArray) -> Steps[None]:
        return self._slopes.measure(self._at, coordinates, self._search.belief.tau)
