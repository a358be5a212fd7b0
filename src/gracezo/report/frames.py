"""`to_dataframe()`: results as pandas tables. pandas is imported here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gracezo.core.names import Names

if TYPE_CHECKING:
    from gracezo.core.result import GradientEstimate, Result
    from gracezo.sensitivity.interactions import Interactions
    from gracezo.sensitivity.screening import Screening

TABLES = ("coordinates", "trace")


def result(result: Result, table: str) -> Any:
    """Return a table of a result; the parameters are those of `Result.to_dataframe`."""
    if table not in TABLES:
        raise ValueError(f"table must be one of {', '.join(TABLES)}; given: {table!r}")
    pandas = _pandas()
    if table == "trace":
        columns = {"queries": result.trace.queries, "value": result.trace.values}
        return pandas.DataFrame(columns, index=pandas.RangeIndex(len(result.trace.values), name="step"))
    indices, amounts = result.change
    index = pandas.Index(result.names.of(indices), name="name", dtype=object)
    return pandas.DataFrame(
        {"index": indices, "x": result.x.ravel()[indices], "change": amounts}, index=index
    )


def gradient(found: GradientEstimate) -> Any:
    """Return the coordinates of an estimate, ascending."""
    pandas = _pandas()
    names = found.names or Names(found.shape or (found.size,))
    columns = {
        "index": found.indices,
        "derivative": found.values,
        "error": found.errors,
        "confirmed": found.confirmed,
    }
    return pandas.DataFrame(columns, index=pandas.Index(names.of(found.indices), name="name", dtype=object))


def screening(found: Screening, output: int | None) -> Any:
    """Return the effects of a screening; the parameters are those of `Screening.to_df`."""
    pandas = _pandas()
    outputs = found.effects.shape[1]
    if output is not None and not 0 <= output < outputs:
        raise ValueError(f"output must be from 0 to {outputs - 1}; given: {output!r}")
    index = pandas.Index(found.names.of(found.indices), dtype=object)
    if outputs > 1 and output is None:
        return pandas.DataFrame({"overall": found.overall, "important": found.important.any(axis=0)}, index)
    names = ("mu", "mu_star", "sigma", "mu_star_conf", "share", "important")
    table = {name: np.atleast_2d(getattr(found, name))[output or 0] for name in names}
    return pandas.DataFrame(table, index=index)


def interactions(found: Interactions, output: int | None) -> Any:
    """Return the pairs of a screening that act together; `output` is that of `Interactions.to_df`."""
    pandas = _pandas()
    place = _output(found, output)
    index = pandas.MultiIndex.from_arrays([found.names.of(side) for side in found.pairs.T])
    names = ("mu", "mu_star", "sigma", "mu_star_conf", "important")
    return pandas.DataFrame({name: np.atleast_2d(getattr(found, name))[place] for name in names}, index=index)


def interaction_matrix(found: Interactions, output: int | None) -> Any:
    """Return `mu_star` of all pairs; `output` is that of `Interactions.to_matrix`."""
    pandas = _pandas()
    star = np.atleast_2d(found.mu_star)[_output(found, output)]
    place = {int(j): number for number, j in enumerate(found.coordinates)}
    table = np.zeros((len(place), len(place)))
    for (one, other), value in zip(found.pairs.tolist(), star.tolist(), strict=True):
        table[place[one], place[other]] = table[place[other], place[one]] = value
    names = found.names.of(found.coordinates)
    return pandas.DataFrame(table, index=names, columns=names)


def _output(found: Interactions, output: int | None) -> int:
    outputs = found.effects.shape[1]
    if output is not None and not 0 <= output < outputs:
        raise ValueError(f"output must be from 0 to {outputs - 1}; given: {output!r}")
    return output or 0


def _pandas() -> Any:
    try:
        import pandas  # noqa: PLC0415  # not required
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas: pip install pandas") from error
    return pandas
