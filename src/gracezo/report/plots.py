"""`result.plot()`: convergence and coordinates with matplotlib, an extra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gracezo.report import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gracezo.core.result import GradientEstimate, Result
    from gracezo.sensitivity.screening import Screening

KINDS = ("both", "convergence", "coordinates")
SCREENS = ("both", "bars", "covariance")
_BARS = 20
_NAMED = 8


def result(result: Result, kind: str, axes: Axes | Sequence[Axes] | None) -> Figure:
    """Draw a result; the parameters are those of `Result.plot`."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; given: {kind!r}")
    wanted = ["convergence", "coordinates"] if kind == "both" else [kind]
    drawn = _axes(len(wanted), axes)
    for what, where in zip(wanted, drawn, strict=True):
        if what == "convergence":
            _convergence(result, where)
        else:
            indices, amounts = result.change
            _bars(where, result.names.of(indices[:_BARS]), amounts[:_BARS], None, "change since x0")
            where.set_title(f"{len(indices):,} of {words.counted(result.x.size, 'coordinate')} changed")
    return _figure(drawn[0])


def gradient(found: GradientEstimate, axes: Axes | None) -> Figure:
    """Draw the steepest coordinates of a gradient."""
    from gracezo.core.names import Names  # noqa: PLC0415  # only its type is needed elsewhere

    (where,) = _axes(1, axes)
    order = np.argsort(-np.abs(found.values), kind="stable")[:_BARS]
    names = found.names or Names(found.shape or (found.size,))
    errors = np.where(np.isnan(found.errors[order]), 0.0, found.errors[order])
    _bars(where, names.of(found.indices[order]), found.values[order], errors, "derivative")
    where.set_title(f"{len(found.indices):,} of {words.counted(found.size, 'coordinate')} found")
    return _figure(where)


def screening(found: Screening, kind: str, axes: Axes | Sequence[Axes] | None, output: int | None) -> Figure:
    """Draw the effects of a screening; the parameters are those of `Screening.plot`."""
    if kind not in SCREENS:
        raise ValueError(f"kind must be one of {', '.join(SCREENS)}; given: {kind!r}")
    outputs = found.effects.shape[1]
    row = output or 0
    if not 0 <= row < outputs:
        raise ValueError(f"output must be from 0 to {outputs - 1}; given: {output!r}")
    wanted = ["bars", "covariance"] if kind == "both" else [kind]
    drawn = _axes(len(wanted), axes)
    star, sigma, conf, important = (
        np.atleast_2d(getattr(found, name))[row] for name in ("mu_star", "sigma", "mu_star_conf", "important")
    )
    first = np.argsort(-star, kind="stable")[:_BARS]
    names = found.names.of(found.indices[first])
    of = f" of output {row}" if outputs > 1 else ""
    for what, where in zip(wanted, drawn, strict=True):
        if what == "bars":
            _bars(where, names, star[first], conf[first], f"mu_star{of}: effect over the width")
            where.set_title(words.screened(found).partition(": ")[2])
        else:
            _covariance(where, names, star[first], np.nan_to_num(sigma[first]), important[first])
    return _figure(drawn[0])


def _covariance(axes: Axes, names: list[str], star: Any, sigma: Any, important: Any) -> None:
    """Draw sigma against mu_star, with the lines at one, a half and a tenth of it, as SALib does."""
    axes.scatter(star[important], sigma[important], color="C0", zorder=3)
    axes.scatter(star[~important], sigma[~important], facecolors="none", edgecolors="C0", zorder=3)
    longest = 1.1 * float(max(star.max(initial=0.0), 1e-300))
    for slope, style in ((1.0, "-"), (0.5, "--"), (0.1, "-.")):
        line = f"sigma = {slope:g} mu_star" if slope < 1.0 else "sigma = mu_star"
        axes.plot([0.0, longest], [0.0, slope * longest], style, color="0.6", linewidth=0.8, label=line)
    for name, x, y in list(zip(names, star, sigma, strict=True))[:_NAMED]:
        label = words.shortened(name, 16).replace("$", r"\$")
        axes.annotate(label, (x, y), textcoords="offset points", xytext=(4, 4), fontsize="small")
    axes.set(xlabel="mu_star", ylabel="sigma", title="linear below, curved or interacting above")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)


def _axes(count: int, given: Any) -> list[Axes]:
    if given is None:
        try:
            import matplotlib.pyplot as plt  # noqa: PLC0415  # an extra
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'gracezo[plots]'") from error
        _, made = plt.subplots(1, count, figsize=(5.5 * count, 3.6), layout="constrained", squeeze=False)
        return list(made.ravel())
    flat: list[Any] = list(np.array(given, dtype=object).ravel())
    if len(flat) != count:
        raise ValueError(f"axes must be {count} for this plot; given: {len(flat)}")
    return flat


def _figure(axes: Axes) -> Figure:
    figure = axes.figure
    while hasattr(figure, "figure") and figure.figure is not figure:  # a subfigure
        figure = figure.figure
    return figure  # type: ignore[return-value]


def _convergence(result: Result, axes: Axes) -> None:
    trace = result.trace
    axes.step(trace.queries, trace.values, where="post", color="C0")
    axes.plot(trace.queries, trace.values, "o", color="C0", markersize=3)
    positive = len(trace.values) and trace.values.min() > 0.0
    if positive and trace.values.max() >= 30.0 * trace.values.min():
        axes.set_yscale("log")
    axes.set(
        xlabel="queries", ylabel="f at the iterate", title=f"{words.counted(result.nfev, 'query', 'queries')}"
    )
    axes.grid(alpha=0.3)


def _bars(axes: Axes, names: list[str], values: Any, errors: Any, what: str) -> None:
    places = np.arange(len(names))[::-1]
    axes.barh(places, values, xerr=errors, color="C0", ecolor="0.4")
    axes.set_yticks(places, [words.shortened(name, 24).replace("$", r"\$") for name in names])
    axes.axvline(0.0, color="0.4", linewidth=0.8)
    axes.set_xlabel(what)
    axes.grid(axis="x", alpha=0.3)
