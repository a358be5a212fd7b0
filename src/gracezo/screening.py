"""The entry point for screening: which coordinates matter."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo import bounds as box
from gracezo import checks, coordinates
from gracezo.api import minimize
from gracezo.conduct import Call
from gracezo.core.box import Box
from gracezo.core.keys import Key, SeedLike
from gracezo.core.names import Names
from gracezo.core.types import BoolArray, FloatArray
from gracezo.documented import like
from gracezo.evaluators.choose import Workers
from gracezo.journal.settings import Journal
from gracezo.sensitivity.screening import Screening

_UNIFORM = ("unif", "uniform")  # what a SALib problem may say of a distribution


@like(minimize)
def screen(
    fun: Callable[..., Any],
    x0: npt.ArrayLike | None = None,
    args: tuple[Any, ...] = (),
    *,
    bounds: object = None,
    points: int | npt.ArrayLike | None = None,
    interactions: bool = False,
    f0: npt.ArrayLike | None = None,
    noise: float | None = None,
    names: Sequence[object] | None = None,
    groups: object = None,
    scale: npt.ArrayLike | None = None,
    tol: float | None = None,
    max_queries: int | None = None,
    vectorized: bool = False,
    workers: Workers = None,
    batch: int = 1,
    copy: bool = True,
    on_failure: str | tuple[str, int] = "raise",
    timeout: float | None = None,
    seed: SeedLike | None = None,
    rng: SeedLike | None = None,
    progress: bool = False,
    journal: str | os.PathLike[str] | Journal | None = None,
) -> Screening:
    """Find which of many coordinates matter, at one point or over a box.

    At the first point they are searched for; at each further one those known are measured, and one query
    over all others tells whether there is more. Where few coordinates matter that takes a few queries for
    each of them, where Morris' method takes r·(d + 1).

    Parameters
    ----------
    fun
        Gets a float64 array in x0's shape, then `args`, and returns one finite number, or m of them, always
        as many; with `vectorized`, gets (k, *x0.shape) and returns k numbers or (k, m).
    x0
        A point, of any shape: the first one. If not given, one is drawn in the box, which then has to be
        bounded on all sides.
    bounds
        The box, as in `minimize`; or a SALib problem, a dictionary of "num_vars", "bounds" and maybe "names"
        and "groups", with uniform distributions. Effects are counted over its width.
    points
        At how many points: 1 for the effects right at x0. Or the points themselves, one a row, which come
        after x0 if that is given. If not given, one where there is no bounded box, and otherwise as many
        as it takes until two in a row have changed the shares by less than a tenth and shown no new
        coordinate; at most 20, and all of these where no coordinate was found.
    interactions
        Whether to look for pairs of the important coordinates that act together, at the same points, by steps
        of 0.35 to 0.5 of the widths; then every coordinate needs two finite bounds. Of k coordinates without
        any, that takes k + 1 queries a point, with p pairs some 2k + 2p·log₂ k at the first one.
    f0
        What the function returns at x0, when that is known.
    noise
        The standard deviation of the noise of the outputs; 0: exact; None: it is looked for.
    scale
        What effects are counted over where there are no bounds: one number, or one for each coordinate; 1 if
        not given.
    tol
        Share of the squared effects that is not worth a query. If not given, 1e-3 over a box (a coordinate
        with a thirtieth of the effect of all) and 1e-6 at one point.
    max_queries
        Never more than so many calls; what is known by then is the answer.

    Returns
    -------
    Screening
        The coordinates found, the most important first, with `mu`, `mu_star`, `sigma`, `mu_star_conf`,
        `important` and `share`, and what is left. Ctrl-C returns what is known so far.

    Raises
    ------
    ValueError, TypeError
        Wrong input, before any query.
    EvaluationError
        `fun` raised an exception or returned no finite number (see `on_failure`), or the workers are gone.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> def f(x):  # three of 10,000 parameters matter, one of them together with another
    ...     return 4.0 * x[12] + 10.0 * (x[345] - 0.5) * x[6789]
    >>> found = gracezo.screen(f, bounds=[(0, 1)] * 10_000, seed=0)
    >>> sorted(found.indices.tolist()), bool(found.queries < 80)
    ([12, 345, 6789], True)
    >>> bool(found.sigma[found.indices == 12] < 1e-3 < found.sigma[found.indices == 345])
    True

    At one point, by the unit of each coordinate:

    >>> found = gracezo.screen(f, np.zeros(10_000), points=1, seed=0)
    >>> found.indices.tolist(), found.mu.round(4).tolist()
    ([6789, 12], [-5.0, 4.0])
    """
    given = _problem(bounds) if isinstance(bounds, Mapping) and "num_vars" in bounds else {"bounds": bounds}
    told = {"bounds": given["bounds"], "names": names, "groups": groups}
    for name in ("names", "groups"):
        told[name] = given.get(name) if told[name] is None else told[name]
    if x0 is None and f0 is not None:
        raise ValueError("f0 is what the function returns at x0, which must be given, too")
    if not isinstance(interactions, bool):
        raise ValueError(f"interactions must be True or False; given: {interactions!r}")
    drawn = checks.seed(seed, rng)
    start, count, further = _points(x0, points, told["bounds"], told["names"], drawn)
    if interactions:
        _closed(start, told["bounds"], told["names"])
    call = Call(locals() | told | {"seed": drawn, "rng": None})  # a generator gives another one each time
    setup = call.setup(
        method="screen",
        x0=start,
        f0=None if f0 is None else np.atleast_1d(f0),
        limits=checks.limits(max_queries),
        options={"points": count, "further": further} | ({"interactions": True} if interactions else {}),
    )
    return Screening.of(call.carry_out(setup))


def _problem(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a SALib problem says: bounds, names and groups."""
    count, pairs = given["num_vars"], given.get("bounds")
    try:
        shape = np.shape(pairs) if pairs is not None else ()
    except ValueError:  # rows of different lengths
        shape = ()
    if shape != (count, 2):
        found = "none" if pairs is None else f"an array of shape {shape}" if shape else "no pairs"
        raise ValueError(
            f"bounds: a SALib problem with num_vars={count!r} must have {count!s} pairs (low, high) in "
            f"'bounds'; given: {found}"
        )
    dists = _each(given, "dists", count) or []
    others = [(place, dist) for place, dist in enumerate(dists) if dist not in _UNIFORM]
    if others:
        place, dist = others[0]
        raise ValueError(
            f"bounds: only uniform distributions can be screened, over the box that they fill; the SALib "
            f"problem has {dist!r} for variable {place}, and {len(others)} of {count} that are not uniform"
        )
    said = {name: _each(given, name, count) for name in ("names", "groups")}
    return {"bounds": pairs} | {name: value for name, value in said.items() if value is not None}


def _each(given: Mapping[str, Any], name: str, count: int) -> list[Any] | None:
    """Return what a SALib problem says of each variable under a name; None if it says nothing."""
    value = given.get(name)
    if value is None:
        return None
    try:
        listed = None if isinstance(value, str) else list(value)
    except TypeError:
        listed = None
    if listed is None or (len(listed) != count and (listed or name != "dists")):
        raise ValueError(
            f"bounds: a SALib problem with num_vars={count!r} must have as many {name}, or none; "
            f"given: {repr(value) if listed is None else len(listed)}"
        )
    return listed


def _points(
    x0: npt.ArrayLike | None,
    points: object,
    bounds: object,
    names: object,
    seed: int | None,
) -> tuple[npt.ArrayLike, int | None, FloatArray | None]:
    """Return the first point, how many there are to be, and those after the first if they are given."""
    rows = None
    if points is not None and not np.isscalar(points):
        rows = np.asarray(points)
        if rows.dtype.kind not in "biuf" or rows.ndim < 2 or len(rows) == 0:
            raise ValueError(
                f"points must be a whole number, or points one a row; given: an array of shape {rows.shape}"
            )
    shape = _shape(x0, rows, bounds)
    called = coordinates.names(names, x0, shape)
    if rows is not None and rows.shape[1:] not in {shape, (int(np.prod(shape)),)}:
        raise ValueError(f"points must be of shape (k, {', '.join(map(str, shape))}); given: {rows.shape}")
    if rows is not None:
        for number, row in enumerate(rows):  # all are looked at before a query is spent
            box.checked(
                bounds, coordinates.point(f"point {number}", row.reshape(shape)), called, f"point {number}"
            )
        rows = rows.reshape(len(rows), -1).astype(np.float64)
        if x0 is None:
            return rows[0].reshape(shape), len(rows), rows[1:]
        return x0, len(rows) + 1, rows
    count = None if points is None else checks.whole("points", points, 1)
    middle = box.checked(
        bounds, np.zeros(shape) if x0 is None else coordinates.point("x0", x0, called), called, None
    )
    bounded = middle is not None and bool(_finite(middle).all())
    if x0 is None:
        if middle is None or not bounded:
            raise ValueError(_open("without x0", middle, called))
        drawn = Key(seed or 0).child(0).generator().random(middle.d)
        x0 = middle.clip(middle.lower + drawn * (middle.upper - middle.lower)).reshape(shape)
    if not bounded and count is not None and count > 1:
        raise ValueError(_open(f"for points={count}", middle, called))
    return x0, count if bounded else 1, None


def _closed(x0: npt.ArrayLike, bounds: object, names: object) -> None:
    """See that every coordinate has two finite bounds."""
    called = coordinates.names(names, x0, np.shape(x0))
    given = box.checked(bounds, coordinates.point("x0", x0, called), called, None)
    if given is None or not _finite(given).all():
        raise ValueError(_open("for interactions", given, called))


def _shape(x0: npt.ArrayLike | None, rows: Any, bounds: object) -> tuple[int, ...]:
    """Return the shape of a point, as what is given shows it."""
    if x0 is not None:
        return np.shape(x0)
    lower: Any = getattr(bounds, "lb", None)
    pairs: Any = bounds
    shape: tuple[int, ...] = ()
    if pairs is not None:
        shape = np.shape(pairs)[:-1] if lower is None else np.shape(lower)
    if lower is not None and shape == (1,):
        shape = ()  # SciPy makes it of a number: one pair for all, however many there are
    if rows is not None and shape in {(), (0,), (rows[0].size,)}:
        return tuple(rows.shape[1:])
    if not shape or shape == (0,):
        raise ValueError(
            "without x0, bounds must give a pair (low, high) for each coordinate; "
            f"given: {'none' if bounds is None else str(bounds)[:60]}"
        )
    return shape


def _open(when: str, given: Box | None, names: Names) -> str:
    """Say that a box is not bounded on all sides."""
    said = f"{when}, every coordinate must have a lower and an upper bound"
    if given is None:
        return f"{said}; there are none"
    where = np.flatnonzero(~_finite(given))
    return f"{said}; {len(where):,} of {given.d:,} have not, the first at {names.at(int(where[0]))}"


def _finite(given: Box) -> BoolArray:
    """Return which coordinates have bounds that are a finite width apart."""
    with np.errstate(over="ignore"):
        return np.asarray(np.isfinite(given.upper - given.lower))
