"""The parts of a page, each as HTML: what a journal says, as text and pictures.

Every number stands in `<data value="...">`, the value being the number itself and the text its short form.
Whatever comes from outside (names, messages, file names) goes through `text`.
"""

from __future__ import annotations

import math
from collections import Counter
from html import escape

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.report import picture, words
from gracezo.report.svg import Chart, Line, duration
from gracezo.report.view import View

ROWS = 1000
"""So many coordinates are listed."""
_FAILURES = 100
_SAMPLES = 12  # rows of the table beside a picture
_ROLES = {
    "start": ("start", "f at x0"),
    "probe": ("search", "which coordinates have a slope"),
    "set": ("search in sets", "which sets of coordinates have a slope"),
    "confirm": ("confirmation", "whether those found have one by themselves"),
    "refresh": ("refresh", "slopes measured anew"),
    "step": ("steps", "trying where to go"),
    "trial": ("trial steps", "trying where to go, on a noisy function"),
    "again": ("checks", "a value measured again"),
}


_UNKNOWN = "<p>Not known without a journal.</p>"
_ALONE = (
    "Made of the result alone, which does not hold all: times, roles of queries, slopes, noise and failures "
    'are in a journal. Run with <code>journal="run.db"</code>, then '
    '<code>result.report(path, journal="run.db")</code>.'
)


def text(said: str) -> str:
    """Return what comes from outside as text that is nothing but text."""
    return escape(words.plain(said))


def number(value: float | int | None, shown: str | None = None) -> str:
    """Return a number: exact for machines, short for people."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return '<span class="none" title="not known">–</span>'
    short = f"{value:,}" if isinstance(value, int) else words.number(value)
    return f'<data value="{value!r}">{shown or short}</data>'


def small(html: str) -> str:
    """Return something less important."""
    return f'<span class="small">{html}</span>'


def table(name: str, head: list[str], rows: list[str], caption: str = "") -> str:
    """Return a table that scrolls by itself where there is no room."""
    top = "".join(f"<th>{word}</th>" for word in head)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>'
        + (f"<caption>{caption}</caption>" if caption else "")
        + (f"<thead><tr>{top}</tr></thead>" if head else "")
        + f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def figure(content: str, caption: str) -> str:
    """Return a picture with its words."""
    return f"<figure>{content}<figcaption>{caption}</figcaption></figure>"


# ---------------------------------------------------------------- the parts


def head(view: View) -> str:
    """Return the verdict and whose it is."""
    state = "over" if view.over else "running"
    less = f'<p class="title">{_ALONE}</p>' if view.alone else ""
    return f'<h1 class="{state}">{text(view.verdict)}</h1><p class="title">{text(view.title)}</p>{less}'


def numbers(view: View) -> str:
    """Return the figures that people look for first."""
    best = number(view.best) + (small(f" ± {number(view.error, f'{view.error:.2g}')}") if view.error else "")
    spent = number(view.queries) + (small(f" of {number(view.budget)}") if view.budget is not None else "")
    moved = number(len(view.change[0])) + small(f" of {number(len(view.x))}")
    facts = {
        "f-start": ("f at the start", number(view.start)),
        "f-best": ("f at the end" if view.over else "f now", best),
        "queries": ("queries", spent),
        "steps": ("steps", number(view.steps)),
        "changed": ("coordinates changed", moved),
    }
    if view.failures:
        facts["failed"] = "failed", number(len(view.failures))
    if view.in_flight:
        facts["in-flight"] = "without an answer" if view.over else "being evaluated", number(view.in_flight)
    if view.seconds is not None:
        facts["seconds"] = "time", number(view.seconds, duration(view.seconds))
    return "".join(
        f'<div><dt>{name}</dt><dd id="{key}">{said}</dd></div>' for key, (name, said) in facts.items()
    )


def convergence(view: View) -> str:
    """Return how f fell, against queries and against time."""
    values = view.trace_values
    if len(values) == 0:
        return "<p>No iterate yet.</p>"
    span = f"from {words.number(float(values[0]))} to {words.number(float(values[-1]))}"
    axes = {"queries": view.trace_queries, "time since the first answer": view.trace_seconds}
    drawn = [
        figure(
            Chart(
                f"f at the iterates against {label}: {span}",
                label,
                "f",
                [Line(places, values, "f at each iterate", stairs=True)],
                seconds=label != "queries",
            ).svg(),
            f"f against {label}",
        )
        for label, places in axes.items()
        if len(places) == len(values)
    ]
    return f'<div class="pair">{"".join(drawn)}</div>{_trace_table(view)}'


def _trace_table(view: View) -> str:
    count = len(view.trace_values)
    places = sorted({round(place) for place in np.linspace(0, count - 1, min(count, _SAMPLES)).tolist()})
    seconds = view.trace_seconds if len(view.trace_seconds) == count else np.full(count, np.nan)
    rows = [
        f"<tr><td>{number(place)}</td><td>{number(int(view.trace_queries[place]))}</td>"
        f"<td>{number(float(view.trace_values[place]))}</td><td>{number(float(seconds[place]))}</td></tr>"
        for place in places
    ]
    caption = "every iterate" if count <= _SAMPLES else f"{len(places)} of {count:,} iterates"
    inside = table("iterates", ["step", "queries", "f", "seconds"], rows, caption)
    return f"<details><summary>As a table</summary>{inside}</details>"


def roles(view: View) -> str:
    """Return where the queries went."""
    if not view.roles:
        return _UNKNOWN if view.alone else "<p>No query is on record.</p>"
    total, left, bars, rows = sum(view.roles.values()), 0.0, [], []
    known = [role for role in _ROLES if role in view.roles] + [r for r in view.roles if r not in _ROLES]
    for place, role in enumerate(known):
        count = view.roles[role]
        name, meaning = _ROLES.get(role, (role, ""))
        width, ink = 1000.0 * count / total, f"role r{place % 7}"
        bars.append(
            f'<rect class="{ink}" x="{left:.2f}" width="{width:.2f}" height="28">'
            f"<title>{text(name)}: {count:,}</title></rect>"
        )
        left += width
        square = f'<rect class="{ink}" width="10" height="10"/>'
        key = f'<svg class="key" viewBox="0 0 10 10" aria-hidden="true">{square}</svg>'
        rows.append(
            f'<tr data-role="{text(role)}"><th scope="row">{key} {text(name)}</th><td>{number(count)}</td>'
            f'<td>{100.0 * count / total:.1f} %</td><td class="wide">{text(meaning)}</td></tr>'
        )
    said = ", ".join(f"{_ROLES.get(role, (role,))[0]} {view.roles[role]:,}" for role in known)
    bar = (
        f'<svg class="bar" viewBox="0 0 1000 28" preserveAspectRatio="none" role="img">'
        f"<title>{text(said)}</title>{''.join(bars)}</svg>"
    )
    return bar + table("queries by role", ["for", "queries", "share", "what that is"], rows)


def note(view: View) -> str:
    """Say which coordinates are listed, and what their slopes are."""
    count = len(set(view.change[0].tolist()) | view.looks.keys())
    listed = words.counted(count, "coordinate")
    which = "changed, or were looked at alone" if view.looks else "changed"
    said = f"{listed} {which}." if count else "None has changed."
    if count > ROWS:
        said = f"{listed} {which}; these are the {ROWS:,} that changed most, or else are the steepest."
    slopes = (
        " A slope is a difference of recorded values over the step named, as it was measured last. Where "
        "two steps were made from one point, it is that of the parabola, and has an error: of rounding, of "
        "noise, and of the correction. Over one step alone it is the slope of a chord."
    )
    return f"<p>{said}{slopes if view.looks else ''}</p>"


def rows(view: View) -> str:
    """Return the rows of the coordinates that matter: those that changed most, then the steepest."""
    changes = dict(zip(view.change[0].tolist(), view.change[1].tolist(), strict=True))
    steep = sorted((i for i in view.looks if i not in changes), key=lambda i: -abs(view.looks[i].slope))
    parts = []
    for index in [*changes, *steep][:ROWS]:
        look = view.looks.get(index)
        cells = [
            None if view.x0 is None else float(view.x0[index]),
            float(view.x[index]),
            changes.get(index, 0.0),
            *((None,) * 4 if look is None else (look.slope, look.error, look.step, look.query)),
        ]
        inside = "".join(f"<td>{number(cell)}</td>" for cell in cells)
        name = text(view.names[index])
        parts.append(f'<tr data-index="{index}"><th scope="row">{name}</th>{inside}</tr>')
    return "".join(parts)


def matrix(view: View) -> str:
    """Return a picture of x and of its change, where x has two dimensions."""
    if len(view.shape) != 2 or min(view.shape) < 2:
        return ""
    change = np.zeros(len(view.x))
    change[view.change[0]] = view.change[1]
    drawn = []
    for what, values in (("change since x0", change), ("x", view.x)):
        most = words.number(float(np.abs(values).max()))
        said = f"{what}, {view.shape[0]:,} × {view.shape[1]:,}: white 0, full red {most}, full blue −{most}"
        source = picture.data_url(values.reshape(view.shape))
        drawn.append(figure(f'<img src="{source}" alt="{text(said)}">', text(said)))
    return f'<h2>Picture</h2><div class="pair">{"".join(drawn)}</div>'


def scales(view: View) -> str:
    """Return step sizes and noise over the queries."""
    moved = np.flatnonzero(np.nan_to_num(view.trace_lengths) > 0.0)
    curves = {
        "Length of the steps of x": (view.trace_queries[moved], view.trace_lengths[moved], "‖Δx‖", "a"),
        "Steps of finite differences along one coordinate": (*_sampled(*view.probes), "|h|", "b"),
        "Noise: standard deviation among values asked again": (*_sampled(*view.noise), "σ", "a"),
    }
    drawn = "".join(
        figure(
            Chart(f"{title}, against queries", "queries", label, [Line(x, y, title, ink, dots=True)]).svg(),
            title,
        )
        for title, (x, y, label, ink) in curves.items()
        if len(x)
    )
    if view.looks and not len(view.noise[0]):
        drawn += "<p>No point was asked twice, so the record says nothing of noise.</p>"
    notes = "".join(f"<p>{text(said)}</p>" for said in view.missing)
    if not drawn and not notes:
        return _UNKNOWN if view.alone else "<p>Nothing yet.</p>"
    return f'<div class="pair">{drawn}</div>{notes}'


def _sampled(x: FloatArray, y: FloatArray, most: int = 2000) -> tuple[FloatArray, FloatArray]:
    stride = max(1, -(-len(x) // most))
    return x[::stride], y[::stride]


def failures(view: View) -> str:
    """Return the evaluations that failed, the same ones together."""
    if not view.failures:
        return _UNKNOWN if view.alone else "<p>None.</p>"
    counts = Counter(message for _, message in view.failures)
    first: dict[str, int] = {}
    for query, message in view.failures:
        first.setdefault(message, query)
    listed = "".join(
        f"<li>{number(count)} × {text(message[:500])} "
        + small(f"(first at query {number(first[message])})")
        + "</li>"
        for message, count in counts.most_common(_FAILURES)
    )
    more = f"<p>and {len(counts) - _FAILURES:,} other messages</p>" if len(counts) > _FAILURES else ""
    failed = f"{number(len(view.failures))} of {number(view.queries)} evaluations gave no value:"
    return f"<p>{failed}</p><ul>{listed}</ul>{more}"


def settings(view: View) -> str:
    """Return what the run was told."""
    told = [
        f'<tr><th scope="row">{text(name)}</th><td class="wide">{text(said)}</td></tr>'
        for name, said in view.settings.items()
    ]
    return table("settings", [], told)


PARTS = {
    "head": head,
    "numbers": numbers,
    "convergence": convergence,
    "roles": roles,
    "note": note,
    "rows": rows,
    "matrix": matrix,
    "scales": scales,
    "failures": failures,
    "settings": settings,
}
