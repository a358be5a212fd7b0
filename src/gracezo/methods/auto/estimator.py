"""The search alone: one gradient, for `estimate_gradient`."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import OutOfQueries, Point, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.request import changes
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support import outside
from gracezo.methods.auto.walls import Walls


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
        bounds: Box | None = None,
    ) -> None:
        self._d = d
        self._batch = batch
        self._constants = constants or Constants()
        self._eps = eps
        self._walls = Walls(bounds)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Search until what is left cannot be told from rounding, or is negligible, or cannot be paid.

        What two coordinates cancel in a sum stays hidden under these weights, so the end is checked with
        fresh ones: one more query, which measures the residual and begins the search again if it is large.
        """
        found: dict[int, tuple[float, float, float]] = {}
        norm2 = 0.0

        def note(coordinate: int, slope: float, curvature: float, error: float) -> None:
            nonlocal norm2
            found[coordinate] = (slope, curvature, error)
            norm2 += slope**2

        differences = Differences(self._constants, self._eps)
        density = Density(self._d - len(self._walls.fixed), self._constants.forget)
        search = Search(self._constants, differences, density, note, self._walls)
        search.centre(at)
        residual = math.nan
        plantings = 0
        settled = False
        try:
            while not settled:
                taken = np.array([*found, *search.kinks], np.int64)
                search.plant(outside(self._d, taken, self._walls.fixed), key.child(plantings).generator())
                plantings += 1
                settled = plantings > 1  # unless the fresh sum opens a set that is worth a query
                while requests := search.requests(self._batch):
                    settled = settled and not search.rooted
                    measured = yield from changes(at, requests)
                    for request, change in zip(requests, measured, strict=True):
                        request.absorb(float(change))
                    search.floor = self._constants.negligible * float(np.sqrt(norm2))
                    residual = search.unexplained
                settled = settled or search.flat
        except OutOfQueries:
            pass
        indices = np.array(sorted(found), dtype=np.int64)
        slopes, curvatures, errors = np.array([found[j] for j in indices.tolist()]).reshape(-1, 3).T
        return GradientEstimate(
            self._d,
            indices,
            slopes,
            errors=errors,
            confirmed=~np.isnan(curvatures),  # found without, a coordinate was never asked alone
            residual=residual,
            flat=search.flat,
        )
