"""What a screening gives back. How it is shown to people is in `gracezo.report`, imported when it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gracezo.core.names import Names
from gracezo.core.types import BoolArray, FloatArray, IntArray, record
from gracezo.sensitivity.interactions import Interactions
from gracezo.sensitivity.table import RATE, Table, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEN = ("indices", "effects", "effect_errors", "outside", "backgrounds", "free")
"""What a run says of a screening: the fields of its result that `Screening.of` reads."""


@record
class Screening:
    """Which coordinates matter, the most important first.

    An effect is what an output would change by over the whole width of a coordinate (its `scale` where there
    are no bounds), so that units do not matter. Along `indices` lie the arrays below; a function with m > 1
    outputs has a row in them for each.

    Attributes
    ----------
    size : int
        The dimension d.
    indices : ndarray of int
        The coordinates found, counted in the flattened point; those not listed have no effect that could be
        told from background.
    mu, mu_star, sigma : ndarray
        Mean of the effects over the points, mean of their magnitudes, and standard deviation (NaN at a single
        point), as in SALib's Morris method.
    mu_star_conf : ndarray
        Half of the 95 % confidence interval of `mu_star`.
    important : ndarray of bool
        Whether the effects are more than background and errors would show.
    rate : float
        The chance that any coordinate of the screening is called important and is not.
    share : ndarray
        Share of the squared `mu_star` of all coordinates; with `residual` these add up to one.
    overall : ndarray
        Root mean square of `mu_star` over the outputs, each in units of its own: the norm of all its effects.
    residual : float
        Share of the squared effects outside of `indices`, estimated.
    background : float or ndarray
        Root mean square of an effect outside of `indices`, estimated, by output.
    effects : ndarray
        All that was measured: points × outputs × coordinates; NaN where nothing was.
    points : int
        At how many points.
    queries, rounds : int
        What it cost: evaluations, and batches of them.
    seed : int
        The seed used, also when it was drawn.
    message : str
        How it ended.
    complete : bool
        Whether it ended of its own accord.
    names : Names
        What the coordinates are called.
    interactions : Interactions or None
        Which pairs act together, where that was asked for.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> def f(x):
    ...     return 5.0 * x[123] + 3.0 * x[456] ** 2
    >>> found = gracezo.screen(f, bounds=[(-1, 1)] * 1000, seed=0)
    >>> found.indices.tolist(), found.important.tolist(), bool(found.queries < 60)
    ([123, 456], [True, True], True)
    >>> float(found.mu[0].round(4)), float(found.mu_star[0].round(4)), bool(found.sigma[0] < 1e-4)
    (10.0, 10.0, True)
    """

    size: int
    indices: IntArray
    mu: FloatArray
    mu_star: FloatArray
    sigma: FloatArray
    mu_star_conf: FloatArray
    important: BoolArray
    share: FloatArray
    overall: FloatArray
    residual: float
    background: float | FloatArray
    effects: FloatArray
    points: int
    queries: int
    rounds: int
    seed: int
    message: str
    complete: bool
    names: Names
    rate: float = RATE
    interactions: Interactions | None = None

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Screening:
        """Return the screening that a run has made."""
        nothing = Table(result["x"].size).fields()  # where not even one point was looked at
        seen = {name: result.get(name, nothing[name]) for name in SEEN}
        said = summary(seen)
        many = seen["effects"].shape[1] > 1
        rows = ("mu", "mu_star", "sigma", "mu_star_conf", "important", "share")
        arrays = {name: said[name] if many else said[name][0] for name in rows}
        order = np.argsort(seen["indices"])[np.argsort(np.argsort(said["indices"]))]
        return cls(
            size=result["x"].size,
            indices=said["indices"],
            **arrays,
            overall=said["overall"] if many else arrays["mu_star"],
            residual=said["residual"],
            background=said["background"] if many else float(said["background"][0]),
            effects=seen["effects"][:, :, order],
            points=len(seen["effects"]),
            queries=result["nfev"],
            rounds=result["rounds"],
            seed=result["seed"],
            message=result["message"],
            complete=result["status"] == 0,
            names=result["names"],
            interactions=Interactions.of(result),
        )

    def __repr__(self) -> str:
        from gracezo.report import words  # noqa: PLC0415

        return words.screening(self)

    def _repr_html_(self) -> str:
        from gracezo.report import notebook  # noqa: PLC0415

        return notebook.screening(self)

    def to_df(self, output: int | None = None) -> Any:
        """Return a pandas DataFrame with SALib's column names, the most important coordinate first.

        Parameters
        ----------
        output
            Which of several outputs; if not given, the only one, or all of them together: `overall` alone.

        Examples
        --------
        >>> import gracezo
        >>> found = gracezo.screen(lambda x: 2.0 * x[1], bounds=[(0, 1)] * 3, names=["a", "b", "c"], seed=0)
        >>> found.to_df().loc["b", ["mu", "mu_star"]].astype(float).round(6).tolist()
        [2.0, 2.0]
        """
        from gracezo.report import frames  # noqa: PLC0415

        return frames.screening(self, output)

    def plot(
        self, kind: str = "both", axes: Axes | Sequence[Axes] | None = None, *, output: int | None = None
    ) -> Figure:
        """Draw the effects. Needs matplotlib (``gracezo[plots]``).

        Parameters
        ----------
        kind
            "bars" (`mu_star` of the 20 most important, with their intervals), "covariance" (`mu_star` against
            `sigma`: what is far below the lines acts linearly, what is above does not, or interacts),
            or "both".
        axes
            Where to draw: one, or two for "both". New ones, if not given.
        output
            Which of several outputs; if not given, the first.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Examples
        --------
        >>> import gracezo
        >>> found = gracezo.screen(lambda x: x[0] + x[1] ** 2, bounds=[(0, 1)] * 3, seed=0)
        >>> figure = found.plot()  # figure.savefig("effects.png")
        """
        from gracezo.report import plots  # noqa: PLC0415

        return plots.screening(self, kind, axes, output)
