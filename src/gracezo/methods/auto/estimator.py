"""The search alone: one gradient, for `estimate_gradient`."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.steps import in_batches
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.pairs import Pairs
from gracezo.methods.auto.request import Change, Request, answered
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support import outside
from gracezo.methods.auto.tree import Tree
from gracezo.methods.auto.walls import Walls

# The noise is measured with some five degrees of freedom: by so much errors have to be wider for 95 % of
# the values to lie within two of them (the quantile of Student's t over that of the normal distribution).
_STUDENT = 2.57 / 1.96
_HIDING = 1e-4  # times the norm found: what may hide beside any of so many, summed over all pairs of them


class TreeEstimator:
    """Finds the large coordinates of a gradient, with no sparsity given.

    Parameters
    ----------
    d
        Number of coordinates.
    batch
        Queries an ask may carry.
    constants
        The constants of the method.
    eps
        A fixed ε, when the user wants one.
    bounds
        What no query may leave.
    """

    def __init__(
        self,
        d: int,
        *,
        batch: int = 1,
        constants: Constants | None = None,
        eps: float | None = None,
        noise: float | None = None,
        bounds: Box | None = None,
    ) -> None:
        self._d = d
        self._batch = batch
        self._constants = constants or Constants()
        self._eps = eps
        self._noise = noise
        self._walls = Walls(bounds)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Search, with asks no larger than the batch."""
        return in_batches(self._estimate(at, key), self._batch)

    def _estimate(self, at: Point, key: Key) -> Steps[GradientEstimate]:
        """Search until what is left cannot be told from rounding, or is negligible, or cannot be paid.

        What two coordinates cancel in a sum stays hidden under these weights, so the end is checked with
        others: those of K, if it was asked of all coordinates and is precise enough; or fresh ones, which
        take one more query. That measures the residual, and begins the search again if it is large.
        Where f is noisy, each coordinate found is then looked at once more, alone and near, for a slope with
        an error that can be relied on.
        """
        found: dict[int, tuple[float, float, bool]] = {}  # slope, its error, whether it was asked alone
        norm2 = 0.0

        def note(coordinate: int, slope: float, curvature: float, error: float) -> None:
            nonlocal norm2
            found[coordinate] = (slope, error, not math.isnan(curvature))
            norm2 += slope**2

        differences = Differences(self._constants, self._eps)
        density = Density(self._d - len(self._walls.fixed), self._constants.forget)
        search = Search(self._constants, differences, density, note, self._walls, complete=True)
        search.centre(at)
        residual = math.nan
        plantings = 0
        settled = False
        try:
            while not settled:
                taken = np.array([*found, *search.kinks], np.int64)
                search.plant(outside(self._d, taken, self._walls.fixed), key.child(plantings).generator())
                if plantings == 0:
                    at = yield from search.begin(at, self._noise)
                plantings += 1
                settled = plantings > 1  # unless the fresh sum opens a set that is worth a query
                while requests := search.requests(self._batch):
                    settled = settled and not search.rooted
                    yield from answered(at, requests)
                    search.floor = self._constants.negligible * float(np.sqrt(norm2))
                    residual = search.unexplained
                trust = self._constants.trust
                left = checked(search.tree, differences, trust, len(found), math.sqrt(norm2))
                if not math.isnan(left):
                    residual, settled = max(residual, left), True
                settled = settled or search.flat
            if differences.pairs is not None:
                yield from self._refine(at, differences, differences.pairs, found)
        except OutOfQueries:
            pass
        indices = np.array(sorted(found), dtype=np.int64)
        slopes, errors, confirmed = np.array([found[j] for j in indices.tolist()]).reshape(-1, 3).T
        if differences.noise and self._noise is None:
            errors = _STUDENT * errors
        return GradientEstimate(
            self._d,
            indices,
            slopes,
            errors=errors,
            confirmed=confirmed.astype(np.bool_),
            residual=residual,
            flat=search.flat,
        )

    def _refine(
        self, at: Point, differences: Differences, pairs: Pairs, found: dict[int, tuple[float, float, bool]]
    ) -> Steps[None]:
        """Look at each coordinate found alone, to both sides, as far as noise and cubic term balance."""

        def look_at(coordinate: int) -> Request | None:
            slope = found[coordinate][0]
            room = min(self._walls.room(coordinate, slope), self._walls.room(coordinate, -slope))
            look = pairs.look(min(differences.length(1.0), room), slope)
            if look.eps <= 0.0:
                return None  # at a wall

            def absorb(change: Change) -> None:
                found[coordinate] = (*pairs.read(look, change), True)

            return look.request(np.array([coordinate]), np.ones(1), Role.PROBE, absorb)

        requests = [request for j in sorted(found) if (request := look_at(j)) is not None]
        if requests:
            yield from answered(at, requests)


def checked(tree: Tree | None, differences: Differences, trust: float, number: int, norm: float) -> float:
    """Return what K of all coordinates shows to be left, if that is nothing but an error; else NaN.

    What cancels in U does not cancel in K. It counts if it is no more blurred than U with fresh weights.
    But a coordinate may hide beside one found, whose value then makes up for it in U, and nearly in K: the
    more likely, the more were found and the more K is blurred. That is decided by their `number` and `norm`.
    """
    if tree is None or math.isnan(tree.moment):
        return math.nan
    n = len(tree.order)
    left, error = abs(tree.moment) / n, differences.met * tree.blur / n
    fresh = differences.across(tree.squares(0, n), 0.0).fixed
    seen = trust * error
    if left > seen or error > fresh or number**2 * seen > _HIDING * norm:
        return math.nan
    return math.sqrt(3.0) * left  # labels k/n have the mean square 1/3
