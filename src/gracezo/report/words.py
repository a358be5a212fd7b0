"""A result in words: what a person reads first, in a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gracezo.core.names import Names
from gracezo.core.result import GradientEstimate, Result, Status
from gracezo.sensitivity.interactions import Interactions
from gracezo.sensitivity.screening import Screening
from gracezo.vectors.estimate import JacobianEstimate

COORDINATES = 8
"""So many coordinates are listed in a terminal or a notebook."""

_VERDICTS: dict[int, str] = {
    Status.CONVERGED: "converged",
    Status.SPENT: "budget spent",
    Status.STOPPED: "stopped",
    Status.FAILED: "failed",
    Status.NOTHING_TO_FIND: "nothing found",
    Status.STUCK: "stuck",
}


def verdict(status: int | None, message: str, *, moved: bool = True) -> str:
    """Return in a sentence how a run ended; a status of None is a run that goes on.

    Examples
    --------
    >>> verdict(1, "all 90 queries are spent", moved=False)
    'Budget spent, nothing moved: all 90 queries are spent'
    >>> verdict(0, "converged: no slope is left above the rounding error of f")
    'Converged: no slope is left above the rounding error of f'
    """
    word = "running" if status is None else _VERDICTS[status]
    if not moved and status in (Status.SPENT, Status.STOPPED, Status.FAILED):
        word += ", nothing moved"
    says_so = message.startswith((word, "the target", "nothing", "still running"))
    said = message if says_so else f"{word}: {message}"
    return plain(said[:1].upper() + said[1:])


def status(result: Result) -> int | None:
    """Return the status of a result, or None if its run is not over."""
    return None if result.message.startswith("still running") else result.status


def value_of(result: Result) -> float:
    """Return the number that was minimised: f, or the cost of a fit."""
    return float(result.get("cost", result["fun"]))


def result(result: Result) -> str:
    """Return a result in at most 15 lines."""
    support = result.support
    lines = [
        verdict(status(result), result.message, moved=bool(len(support))),
        f"  f        {fall(result)}",
        f"  cost     {cost(result)}",
        f"  changed  {changed(result)}",
    ]
    indices, amounts = result.change
    shown = [int(index) for index in indices[:COORDINATES]]
    flat = result.x.ravel()
    rows = [
        (shortened(name), number(float(flat[index])), f"({signed(float(amount))})")
        for index, name, amount in zip(shown, result.names.of(shown), amounts, strict=False)
    ]
    return "\n".join(lines + [f"    {row}" for row in columns(rows)])


def fall(result: Result) -> str:
    """Return f before and after, with the error where there is one."""
    after, error = value_of(result), float(result.get("fun_error", 0.0))
    said = number(after) + (f" ± {error:.2g}" if error else "")
    values = result.trace.values
    if len(values) == 0 or math.isnan(after):
        return "no value is known"
    before = float(values[0])
    return f"{said}, as at the start" if before == after else f"{number(before)} at the start, {said} now"


def cost(result: Result) -> str:
    """Return what a run has cost."""
    again = f" (and {result.reasked:,} asked again after a crash)" if result.reasked else ""
    return (
        f"{counted(result.nfev, 'query', 'queries')}{again} in {counted(result.rounds, 'round')}, "
        f"{counted(result.nit, 'step')}; seed {result.seed}"
    )


def changed(result: Result) -> str:
    """Return how much of x has changed."""
    count, size = len(result.support), result.x.size
    if count == 0:
        return f"none of {counted(size, 'coordinate')}"
    most = f"; the {COORDINATES} that did most:" if count > COORDINATES else ":"
    return f"{count:,} of {counted(size, 'coordinate')}{most}"


def gradient(found: GradientEstimate) -> str:
    """Return an estimate of a gradient in at most 15 lines."""
    count = len(found.indices)
    if count == 0 and found.flat:
        head = "Flat: every probe left f unchanged"
    elif count == 0 and found.message:
        head = f"No estimate: {plain(found.message)}"
    elif count == 0:
        head = "Nothing found: no coordinate has a slope that could be measured"
    else:
        head = f"Gradient: {count:,} of {counted(found.size, 'coordinate')} found"
    lines = [
        head,
        f"  cost      {counted(found.queries, 'query', 'queries')}",
        f"  norm      {number(found.found)}",
        f"  residual  {_outside(found)}",
    ]
    order = abs(found.values).argsort()[::-1][:COORDINATES].tolist()
    names = found.names or Names(found.shape or (found.size,))
    rows = [
        (
            shortened(names[int(found.indices[i])]),
            number(float(found.values[i])),
            "" if math.isnan(found.errors[i]) else f"± {found.errors[i]:.2g}",
            "" if found.confirmed[i] else "not confirmed",
        )
        for i in order
    ]
    if count > COORDINATES:
        lines.append(f"  the {COORDINATES} steepest:")
    return "\n".join(lines + [f"    {row}" for row in columns(rows)])


def jacobian(found: JacobianEstimate) -> str:
    """Return an estimate of a Jacobian in at most 15 lines."""
    outputs, size = found.shape
    count = len(found.columns)
    head = f"Jacobian: {count:,} of {counted(size, 'column')} found, of {counted(outputs, 'output')}"
    cost = f"{counted(found.queries, 'query', 'queries')} in {counted(found.rounds, 'round')}"
    left = "not measured" if math.isnan(found.residual) else f"{percent(found.residual)} of the squares"
    lines = [
        head if found.complete else f"{head}; not all that matter",
        f"  {plain(found.message)}",
        f"  cost      {cost}",
        f"  residual  {left}",
    ]
    names = found.names or Names((size,))
    rows = [
        (
            shortened(names[int(found.columns[i])]),
            number(float(np.linalg.norm(found.values[:, i]))),
            f"± {np.linalg.norm(found.errors[:, i]):.2g}",
        )
        for i in range(min(count, COORDINATES))
    ]
    if rows:
        lines.append(
            "  norms of the columns:"
            if count <= COORDINATES
            else f"  norms of the first {COORDINATES} columns:"
        )
    return "\n".join(lines + [f"    {row}" for row in columns(rows)])


def screening(found: Screening) -> str:
    """Return a screening in a few lines."""
    count, outputs = len(found.indices), found.effects.shape[1]
    lines = [
        screened(found),
        f"  cost      {screening_cost(found)}; seed {found.seed}",
        f"  residual  {left_out(found)}",
    ]
    if not found.complete:
        lines.append(f"  {plain(found.message)}")
    if outputs > 1:
        lines.append(f"  {outputs:,} outputs; below: their root mean square, each in units of its own")
    if count > COORDINATES:
        lines.append(f"  the {COORDINATES} of most effect:")
    head = ("", "mu_star", "", "share", "")
    rows = [head, *effects_of(found, COORDINATES)] if count else []
    lines += [f"    {row}" for row in columns(rows)]
    if found.interactions is not None:
        lines += [f"  {line}" for line in pairs_of(found.interactions, COORDINATES)]
    return "\n".join(lines)


def pairs_of(found: Interactions, most: int) -> list[str]:
    """Return the pairs that act together, a line each, under a line that says how many there are."""
    count = len(found.pairs)
    names = [" × ".join(shortened(found.names[j]) for j in pair) for pair in found.pairs[:most].tolist()]
    if found.effects.shape[1] == 1:
        rows = [(name, number(float(star))) for name, star in zip(names, found.mu_star, strict=False)]
    else:
        rows = [(name, "") for name in names]  # outputs have units of their own
    said = f"{counted(count, 'pair')} of {counted(len(found.coordinates), 'coordinate')} act together"
    some = f", the {most} strongest" if count > most else ""
    return [f"{said}{some}", *(f"  {row}" for row in columns(rows))]


def screened(found: Screening) -> str:
    """Return in a sentence what a screening has found."""
    count = len(found.indices)
    if count == 0:
        return f"Nothing found: no effect of {counted(found.size, 'coordinate')} could be measured"
    plainly = int(np.atleast_2d(found.important).any(axis=0).sum())
    return f"Screening: {count:,} of {counted(found.size, 'coordinate')} found, {plainly:,} important"


def screening_cost(found: Screening) -> str:
    """Return what a screening has cost."""
    return f"{counted(found.queries, 'query', 'queries')} at {counted(found.points, 'point')}"


def left_out(found: Screening) -> str:
    """Return what is known of the effects that were not found."""
    if math.isnan(found.residual):
        return "not measured"
    return f"{percent(found.residual)} of the squared effects"


def effects_of(found: Screening, most: int) -> list[tuple[str, ...]]:
    """Return the first coordinates of a screening in words: name, effect, its interval, share, importance."""
    many = found.effects.shape[1] > 1
    star = found.overall
    share = found.overall**2 if many else found.share
    important: list[bool] = np.atleast_2d(found.important).max(axis=0, initial=False).tolist()
    return [
        (
            shortened(found.names[int(found.indices[i])]),
            number(float(star[i])),
            "" if many else f"± {found.mu_star_conf[i]:.2g}",
            f"{100.0 * share[i]:.3g} %",
            "" if important[i] else "not told from background",
        )
        for i in range(min(most, len(found.indices)))
    ]


# ---------------------------------------------------------------- small things


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of text with their columns aligned."""
    if not rows:
        return []
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _outside(found: GradientEstimate) -> str:
    """Return what is known of the derivatives that were not found."""
    if math.isnan(found.residual):
        return "not measured"
    share = f"{percent(found.residual)} of the squared norm"
    if not found.background > 0.0:
        return share
    return f"{share}: a background of {found.background:.2g} a coordinate"


def number(value: float) -> str:
    """Return a number as people read it."""
    return f"{value:.6g}"


def signed(value: float) -> str:
    """Return a number with its sign."""
    return f"{value:+.3g}"


def percent(share: float) -> str:
    """Return a share in percent, to two digits.

    Examples
    --------
    >>> percent(1.0), percent(0.996), percent(0.0123), percent(1e-15)
    ('100 %', '99.6 %', '1.2 %', '1e-13 %')
    """
    return f"{100.0 * share:.{3 if share >= 0.995 else 2}g} %"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "step"), counted(2_000, "query", "queries")
    ('1 step', '2,000 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shortened(name: str, width: int = 32) -> str:
    """Return a name that fits a column: many differ in their ends, so that the middle is left out.

    Examples
    --------
    >>> shortened("pressure in segment 199", 15)
    'pressur…ent 199'
    """
    text = plain(name)
    left = (width - 1) // 2
    return text if len(text) <= width else f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


def plain(text: str) -> str:
    r"""Return text without characters that a terminal would obey.

    Examples
    --------
    >>> plain("a\x1b[2Jb\nc")
    'a?[2Jb c'
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else "?" for char in text)
