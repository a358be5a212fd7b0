"""What a screening says of pairs of coordinates that act together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gracezo.core.names import Names
from gracezo.core.types import BoolArray, FloatArray, IntArray, record
from gracezo.sensitivity.table import summary

_OF = "pair_"  # before the names of the fields of a result


@record
class Interactions:
    """Which pairs of the important coordinates act together, the strongest first.

    The interaction of two coordinates is by how much the effect of one changes over the whole width of the
    other: zero where f is a sum of functions of one coordinate each. Along `pairs` lie the arrays below; a
    function with m > 1 outputs has a row in them for each.

    Attributes
    ----------
    coordinates : ndarray of int
        The coordinates whose pairs were looked at: those that are important.
    pairs : ndarray of int
        The pairs found, two coordinates a row; those not listed show no interaction that is more than errors,
        or worth a query.
    mu, mu_star, sigma : ndarray
        Mean of the interactions over the points, mean of their magnitudes, and standard deviation.
    mu_star_conf : ndarray
        Half of the 95 % confidence interval of `mu_star`.
    important : ndarray of bool
        Whether the interactions are more than errors would show, at the error rate of the screening.
    effects : ndarray
        All that was measured: points × outputs × pairs; NaN where nothing was.
    names : Names
        What the coordinates are called.

    Examples
    --------
    >>> import gracezo
    >>> def f(x):
    ...     return 8.0 * x[3] * x[50] + 5.0 * x[70] ** 2 + x[90]
    >>> found = gracezo.screen(f, bounds=[(0, 1)] * 100, interactions=True, seed=0)
    >>> found.interactions.pairs.tolist(), found.interactions.mu.round(6).tolist()
    ([[3, 50]], [8.0])
    """

    coordinates: IntArray
    pairs: IntArray
    mu: FloatArray
    mu_star: FloatArray
    sigma: FloatArray
    mu_star_conf: FloatArray
    important: BoolArray
    effects: FloatArray
    names: Names

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Interactions | None:
        """Return what a run has seen of pairs, if it has looked."""
        seen = {name.removeprefix(_OF): value for name, value in result.items() if name.startswith(_OF)}
        if not seen:
            return None
        said = summary(seen)
        many = seen["effects"].shape[1] > 1
        rows = ("mu", "mu_star", "sigma", "mu_star_conf", "important")
        order = _order(seen["indices"], said["indices"])
        return cls(
            coordinates=seen["coordinates"],
            pairs=said["indices"],
            **{name: said[name] if many else said[name][0] for name in rows},
            effects=seen["effects"][:, :, order],
            names=result["names"],
        )

    def __len__(self) -> int:
        return len(self.pairs)

    def to_df(self, output: int | None = None) -> Any:
        """Return a pandas DataFrame, the strongest pair first, its two coordinates as the index.

        Parameters
        ----------
        output
            Which of several outputs; if not given, the first.

        Examples
        --------
        >>> import gracezo
        >>> f = lambda x: 2.0 * x[0] * x[1] + x[2]
        >>> found = gracezo.screen(f, bounds=[(0, 1)] * 3, names=list("abc"), interactions=True, seed=0)
        >>> found.interactions.to_df().round(6).loc[("a", "b"), ["mu", "mu_star"]].tolist()
        [2.0, 2.0]
        """
        from gracezo.report import frames  # noqa: PLC0415

        return frames.interactions(self, output)

    def to_matrix(self, output: int | None = None) -> Any:
        """Return `mu_star` of all pairs as a pandas DataFrame, the important coordinates on both sides.

        Parameters
        ----------
        output
            Which of several outputs; if not given, the first.

        Examples
        --------
        >>> import gracezo
        >>> f = lambda x: 2.0 * x[0] * x[1] + x[2]
        >>> found = gracezo.screen(f, bounds=[(0, 1)] * 3, names=list("abc"), interactions=True, seed=0)
        >>> table = found.interactions.to_matrix().round(6)
        >>> float(table.loc["a", "b"]), float(table.loc["b", "a"]), float(table.loc["a", "c"])
        (2.0, 2.0, 0.0)
        """
        from gracezo.report import frames  # noqa: PLC0415

        return frames.interaction_matrix(self, output)


def _order(before: IntArray, after: IntArray) -> IntArray:
    """Return where each row of `after` is in `before`."""
    place = {tuple(row): number for number, row in enumerate(before.tolist())}
    return np.array([place[tuple(row)] for row in after.tolist()], np.int64)
