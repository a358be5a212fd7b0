"""What a run gives back.

How it is shown to people (words, HTML, plots, tables, pages) is in `gracezo.report`, which the methods that
show something import when they are called: nothing here depends on it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import OptimizeResult

from gracezo.core.asks import Point
from gracezo.core.names import Names
from gracezo.core.places import Place, differing
from gracezo.core.types import BoolArray, FloatArray, IntArray, record

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Status(enum.IntEnum):
    """Why a run ended."""

    CONVERGED = 0
    SPENT = 1
    STOPPED = 2
    FAILED = 3
    NOTHING_TO_FIND = 4
    STUCK = 5


@dataclass(frozen=True)
class Finish:
    """How an algorithm, of its own accord, ended its run.

    Attributes
    ----------
    status, message
        Why, as a number and in words. Where the queries are spent, the ledger says how many, and the message
        is what there is to add, if anything.
    answer
        Where, with a value measured anew, when f is noisy; if not given, the best point of the run.
    """

    status: Status
    message: str = ""
    answer: Point | None = None

    def adding(self, *remarks: str) -> Finish:
        """Return the same, with remarks behind the message; empty ones are none.

        Examples
        --------
        >>> Finish(Status.CONVERGED, "the residual is zero").adding("", "f is noisy").message
        'the residual is zero; f is noisy'
        """
        return replace(self, message="; ".join(filter(None, (self.message, *remarks))))


@dataclass(frozen=True, eq=False)
class Trace:
    """The iterates of a run, x0 first.

    Attributes
    ----------
    queries : ndarray of int
        How many queries had been spent when the iterate was reached.
    values : ndarray
        The objective at the iterate.
    """

    queries: IntArray
    values: FloatArray


class Result(OptimizeResult):  # type: ignore[misc]  # SciPy has no type hints
    """The outcome of `minimize`, a `scipy.optimize.OptimizeResult`.

    Attributes
    ----------
    x : ndarray
        The best point that the method moved to or tried as a step, in x0's shape; from a sparse x0, made when
        it is asked for. With `auto`, where f is
        exact: the lowest paid for that moves coordinates it has found, or a whole set of them if that is
        lower by more than 1 % of the decrease.
    fun : float
        The objective at `x`. Where the method knows it to be noisy: measured anew, not the luckiest draw.
    fun_error : float
        The standard error of `fun`; 0 for a method that takes f as exact.
    nfev : int
        Distinct queries spent.
    nit : int
        Steps made.
    success : bool
        Whether the run converged or reached its target.
    status : int
        0 converged or target reached; 1 queries, steps or seconds spent;
        2 stopped by a callback or an interrupt; 3 an evaluation failed;
        4 nothing to find (f is flat up to the scales of the coordinates); 5 stuck, though lower values may
        be near: f is coarse, rough, has kinks or no lower bound, or noise hides it; the message says which.
    message : str
        The same in words.
    support : ndarray of int
        Flat indices where `x` differs from x0, the largest change first.
    change : (ndarray of int, ndarray)
        The same indices, and by how much `x` differs from x0 there.
    names : Names
        What the coordinates are called, by flat index: as given, or by their place in x0's shape.
    trace : Trace
        `queries` and `values` at each iterate, x0 first.
    rounds : int
        Batches of queries sent.
    seed : int
        The seed used, also when it was drawn.
    reasked : int
        Queries repeated after a crash.

    Examples
    --------
    >>> import gracezo
    >>> result = gracezo.minimize(lambda x: float(x @ x), [1.0, 2.0], method="fdsa", max_queries=13,
    ...                           options={"step_size": 0.1})
    >>> result.nfev, result.nit, result.success
    (13, 4, False)
    """

    x: FloatArray
    fun: float
    fun_error: float
    nfev: int
    nit: int
    success: bool
    status: int
    message: str
    support: IntArray
    change: tuple[IntArray, FloatArray]
    names: Names
    trace: Trace
    rounds: int
    seed: int
    reasked: int

    def __missing__(self, name: str) -> FloatArray:
        # From a sparse start nothing of length d is made, unless somebody asks for it.
        reached = self.get("_reached") if name == "x" else None
        if not isinstance(reached, Place):
            raise KeyError(name)
        x = self["x"] = reached.dense()
        return x

    def __repr__(self) -> str:
        from gracezo.report import words  # noqa: PLC0415

        return words.result(self) if self.keys() >= _COMPLETE else str(super().__repr__())

    def _repr_html_(self) -> str | None:
        from gracezo.report import notebook  # noqa: PLC0415

        return notebook.result(self) if self.keys() >= _COMPLETE else None

    def plot(self, kind: str = "both", axes: Axes | Sequence[Axes] | None = None) -> Figure:
        """Draw how f fell, and which coordinates changed. Needs matplotlib (``gracezo[plots]``).

        Parameters
        ----------
        kind
            "convergence", "coordinates" (the 20 that changed most), or "both".
        axes
            Where to draw: one, or two for "both". New ones, if not given.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Examples
        --------
        >>> import gracezo
        >>> result = gracezo.minimize(lambda x: float(x @ x), [1.0, 2.0], max_queries=20)
        >>> figure = result.plot()  # figure.savefig("run.png")
        """
        from gracezo.report import plots  # noqa: PLC0415

        return plots.result(self, kind, axes)

    def report(self, path: str | os.PathLike[str], *, journal: str | os.PathLike[str] | None = None) -> Path:
        """Write a page about the run, one HTML file that needs nothing else.

        Parameters
        ----------
        path
            Where to, ending in .html.
        journal
            The journal of the run, for all that the result itself does not hold: time, what the queries
            were for, slopes, noise, failures, settings.

        Returns
        -------
        Path
            The page.

        Examples
        --------
        >>> import gracezo, tempfile
        >>> result = gracezo.minimize(lambda x: float(x @ x), [1.0, 2.0], max_queries=20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(result.report(folder + "/run.html").name)
        run.html
        """
        from gracezo.report import page  # noqa: PLC0415

        return page.result_report(self, path, journal)

    def to_dataframe(self, table: str = "coordinates") -> Any:
        """Return a pandas DataFrame: where x has changed, or the iterates. Needs pandas.

        Parameters
        ----------
        table
            "coordinates": name, flat index, x and change, the largest change first; or
            "trace": queries and value of each iterate.

        Examples
        --------
        >>> import gracezo
        >>> result = gracezo.minimize(
        ...     lambda x: (x[1] - 3.0) ** 2, [0.0, 0.0], names=["a", "b"], max_queries=20)
        >>> result.to_dataframe().round(3).loc["b"].tolist()
        [1.0, 3.0, 3.0]
        """
        from gracezo.report import frames  # noqa: PLC0415

        return frames.result(self, table)


_COMPLETE = {"fun", "nfev", "nit", "message", "status", "support", "change", "names", "trace", "rounds"}


@record
class GradientEstimate:
    """An estimate of the gradient at one point; coordinates not listed are taken as zero.

    Attributes
    ----------
    size : int
        The dimension d.
    indices : ndarray of int
        The coordinates found, ascending, counted in the flattened point.
    values : ndarray
        Their estimated partial derivatives.
    errors : ndarray
        Standard errors of the values; NaN where the method does not know them.
    confirmed : ndarray of bool
        Whether the value was measured on that coordinate alone.
    residual : float
        Share of the squared gradient norm that is outside `indices`, 0 to 1, estimated; NaN when it is not
        known.
    background : float
        Root mean square of a derivative outside `indices`, estimated; NaN when it is not known.
    queries : int
        What the estimate cost.
    flat : bool
        Whether every probe left the objective unchanged.
    shape : tuple of int or None
        The shape of the point, when it is not a flat vector.
    names : Names or None
        What the coordinates are called.
    message : str
        Why there is no estimate, where it was interrupted or the queries did not reach for one.

    Examples
    --------
    >>> import gracezo
    >>> g = gracezo.estimate_gradient(lambda x: 3 * x[1], [0.0] * 4, method="fdsa")
    >>> g.queries, g.toarray().round(6).tolist()
    (5, [0.0, 3.0, 0.0, 0.0])
    """

    size: int
    indices: IntArray
    values: FloatArray
    errors: FloatArray = field(default_factory=lambda: _NO_FLOATS)
    confirmed: BoolArray = field(default_factory=lambda: _NO_BOOLS)
    residual: float = np.nan
    background: float = np.nan
    queries: int = 0
    flat: bool = False
    shape: tuple[int, ...] | None = None
    names: Names | None = None
    message: str = ""

    def __post_init__(self) -> None:
        count = len(self.indices)
        if len(self.errors) != count:
            object.__setattr__(self, "errors", _constant(count, np.nan))
        if len(self.confirmed) != count:
            object.__setattr__(self, "confirmed", _constant(count, np.False_))

    @classmethod
    def full(cls, values: FloatArray, *, flat: bool = False) -> GradientEstimate:
        """Return an estimate that names every coordinate."""
        d = len(values)
        indices, errors, confirmed = _everything(d)
        return cls(d, indices, values, errors, confirmed, flat=flat)

    @classmethod
    def nothing(cls, size: int, *, flat: bool = False) -> GradientEstimate:
        """Return an estimate that names no coordinate."""
        return cls(size, np.zeros(0, np.int64), np.zeros(0), flat=flat)

    @property
    def found(self) -> float:
        """The norm of what was found."""
        return float(np.linalg.norm(self.values))

    def toarray(self) -> FloatArray:
        """Return the estimate as a dense array, in the shape of the point."""
        out = np.zeros(self.size)
        out[self.indices] = self.values
        return out if self.shape is None else out.reshape(self.shape)

    def __repr__(self) -> str:
        from gracezo.report import words  # noqa: PLC0415

        return words.gradient(self)

    def _repr_html_(self) -> str:
        from gracezo.report import notebook  # noqa: PLC0415

        return notebook.gradient(self)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Draw the 20 steepest coordinates with their errors. Needs matplotlib (``gracezo[plots]``)."""
        from gracezo.report import plots  # noqa: PLC0415

        return plots.gradient(self, axes)

    def to_dataframe(self) -> Any:
        """Return name, flat index, derivative, error and confirmed of what was found. Needs pandas."""
        from gracezo.report import frames  # noqa: PLC0415

        return frames.gradient(self)


def changed(start: FloatArray, x: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return where x differs from the start, and by how much: the largest change first, ties by index."""
    where, change = differing(start, x)
    keys = -np.abs(change)
    order = np.argsort(keys)  # much faster than a stable sort, which is needed for ties alone
    ordered = keys[order]
    same = ordered[1:] == ordered[:-1]
    if np.count_nonzero(same):
        tied = np.append(same, False)
        tied[1:] |= same
        order[tied] = order[tied][np.lexsort((order[tied], ordered[tied]))]
    return where[order], change[order]


# A dense method makes an estimate of all d coordinates at every step; what is the same in all of them is
# made once and shared, read-only.


_NO_FLOATS: FloatArray = np.zeros(0)
_NO_BOOLS: BoolArray = np.zeros(0, np.bool_)


@lru_cache(maxsize=4)
def _everything(size: int) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return all coordinates, with no errors known and none confirmed."""
    indices = np.arange(size)
    indices.flags.writeable = False
    return indices, _constant(size, np.nan), _constant(size, np.False_)


def _constant(size: int, value: Any) -> Any:
    return np.broadcast_to(value, size)
