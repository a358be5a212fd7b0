"""The search alone: one gradient, for `estimate_gradient`."""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import OutOfQueries, Point, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.request import changes
from gracezo.methods.auto.search import Search


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
    """

    def __init__(
        self, d: int, *, batch: int = 1, constants: Constants | None = None, eps: float | None = None
    ) -> None:
        self._d = d
        self._batch = batch
        self._constants = constants or Constants()
        self._eps = eps

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Search until what is left cannot be told from rounding, or is negligible, or cannot be paid."""
        found: dict[int, tuple[float, float]] = {}
        norm2 = 0.0

        def note(coordinate: int, slope: float, curvature: float) -> None:
            nonlocal norm2
            found[coordinate] = (slope, curvature)
            norm2 += slope**2

        differences = Differences(self._constants, self._eps)
        search = Search(self._constants, differences, Density(self._d, self._constants.forget), note)
        search.centre(at)
        search.plant(np.arange(self._d), key.child(step).generator())
        queries = 0
        try:
            while requests := search.requests(self._batch):
                measured = yield from changes(at, requests)
                queries += len(requests)
                for request, change in zip(requests, measured, strict=True):
                    request.absorb(float(change))
                search.floor = self._constants.negligible * float(np.sqrt(norm2))
        except OutOfQueries:
            pass
        assert search.tree is not None
        indices = np.array(sorted(found), dtype=np.int64)
        slopes = np.array([found[j][0] for j in indices.tolist()])
        return GradientEstimate(
            self._d,
            indices,
            slopes,
            errors=np.full(len(indices), differences.error(1.0, 0.0, 0.0)),
            confirmed=np.array([not np.isnan(found[j][1]) for j in indices.tolist()], dtype=np.bool_),
            residual=search.tree.unexplained if search.rooted else float("nan"),
            queries=queries,
            flat=search.flat,
        )
