"""The search at one point after another, for a screening: what was learned at one serves at the next.

How f is to be looked at is learned at the first point. At the others the coordinates that mattered before are
looked at alone, and one sum over the rest tells whether there is more.
"""

from __future__ import annotations

from gracezo.core.asks import Point, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import GradientEstimate
from gracezo.core.steps import in_batches
from gracezo.core.types import IntArray
from gracezo.core.units import Units
from gracezo.methods.auto.method import sizes_of
from gracezo.methods.auto.search.alone import Slope
from gracezo.methods.auto.search.estimator import Estimation, TreeEstimator, Wanted


class Points:
    """Estimates at several points of one function.

    Parameters
    ----------
    problem
        What is known.
    leave
        Share of the squared norm that is not worth a query.
    """

    def __init__(self, problem: Problem, leave: float) -> None:
        self._problem = problem
        self._leave = leave
        self._units: Units | None = None
        self._last: Estimation | None = None
        self._now: Estimation | None = None

    def go_on_from(self, other: Points) -> None:
        """Take what was learned of the same function along other coordinates."""
        self._units, self._last = other._units, other._last
        if self._last is not None:
            self._last.widen(self._problem.d)

    @property
    def noise(self) -> float:
        """The standard deviation of f's noise, as far as it is known."""
        seen = max((made.noise for made in (self._last, self._now) if made is not None), default=0.0)
        return max(self._problem.noise or 0.0, self._units.value(seen) if self._units is not None else 0.0)

    @property
    def lost(self) -> bool:
        """Whether the last search was lost, or had to end."""
        return self._now is not None and self._now.lost

    def estimate(
        self,
        at: Point,
        key: Key,
        known: IntArray,
        here: GradientEstimate | None = None,
        *,
        whole: bool = True,
    ) -> Steps[GradientEstimate]:
        """Estimate the gradient at a point, the coordinates known first; those found `here` are taken so.

        Where the search is lost, all is measured if `whole` says so.
        """
        units, of = self._begin(at, whole)
        taken: dict[int, Slope] = {}
        if here is not None:
            values, errors = (units.slopes(here.indices, one) for one in (here.values, here.errors))
            slopes = (Slope(*both, True) for both in zip(values.tolist(), errors.tolist(), strict=True))
            taken = dict(zip(here.indices.tolist(), slopes, strict=True))
        made = self._now = Estimation(of, units.inward(at), key, self._last, known, taken)
        found = yield from units.estimated(in_batches(made.counted(), of.batch))
        if not found.flat:
            self._last = made
        elif not made.noise:
            self._units = None  # nothing was learned
        return found

    def measure(self, at: Point, coordinates: IntArray) -> Steps[GradientEstimate]:
        """Measure the derivatives of some coordinates alone."""
        units, of = self._begin(at)
        made = Estimation(of, units.inward(at), Key(0), self._last)
        return (yield from units.estimated(in_batches(made.measured(coordinates), of.batch)))

    def _begin(self, at: Point, whole: bool = True) -> tuple[Units, TreeEstimator]:
        if self._units is None:
            self._units = Units.of(self._problem, at, sizes_of(self._problem, at.x))
        problem = self._units.problem(self._problem)
        return self._units, TreeEstimator(
            problem.d,
            batch=problem.batch,
            noise=problem.noise,
            bounds=problem.bounds,
            wanted=Wanted(leave=self._leave, background=True, whole=whole),
        )
