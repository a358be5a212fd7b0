"""A result in a notebook: a table, and a small picture of how f fell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from gracezo.core.names import Names
from gracezo.core.result import GradientEstimate, Result
from gracezo.report import words
from gracezo.report.svg import Chart, Line
from gracezo.sensitivity.screening import Screening

_LEFT = 'style="text-align:left"'


def result(result: Result) -> str:
    """Return a result as HTML that needs nothing but itself."""
    head = words.verdict(words.status(result), result.message, moved=bool(len(result.support)))
    facts = {"f": words.fall(result), "cost": words.cost(result), "changed": words.changed(result)}
    indices, amounts = result.change
    shown = [int(index) for index in indices[: words.COORDINATES]]
    flat = result.x.ravel()
    rows = [
        (name, words.number(float(flat[index])), words.signed(float(amount)))
        for index, name, amount in zip(shown, result.names.of(shown), amounts, strict=False)
    ]
    table = _table(("coordinate", "x", "change"), rows) if rows else ""
    return _whole(head, facts, table, convergence(result))


def gradient(found: GradientEstimate) -> str:
    """Return an estimate of a gradient as HTML."""
    head, *lines = words.gradient(found).splitlines()
    facts = dict(line.split(maxsplit=1) for line in lines[:3])
    names = found.names or Names(found.shape or (found.size,))
    order = np.argsort(-np.abs(found.values), kind="stable")[: words.COORDINATES].tolist()
    rows = [
        (
            names[int(found.indices[i])],
            words.number(float(found.values[i])),
            "?" if math.isnan(found.errors[i]) else f"{found.errors[i]:.2g}",
        )
        for i in order
    ]
    return _whole(head, facts, _table(("coordinate", "derivative", "error"), rows) if rows else "", "")


def screening(found: Screening) -> str:
    """Return a screening as HTML."""
    facts = {
        "cost": words.screening_cost(found),
        "residual": words.left_out(found),
        "ended": found.message,
    }
    rows = words.effects_of(found, words.COORDINATES)
    head = ("coordinate", "mu_star", "", "share", "")
    return _whole(words.screened(found), facts, _table(head, rows) if rows else "", "")


def convergence(result: Result) -> str:
    """Return a small picture of f at the iterates."""
    trace = result.trace
    if len(trace.values) < 2:
        return ""
    line = Line(trace.queries.astype(np.float64), trace.values, "f at each iterate", stairs=True)
    return Chart("f against queries", "queries", "f", [line], width=420, height=200).svg()


def _whole(head: str, facts: dict[str, str], table: str, picture: str) -> str:
    said = "".join(
        f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(text.rstrip(':'))}</td></tr>"
        for name, text in facts.items()
    )
    side = f'<div style="flex:0 1 420px;min-width:260px">{picture}</div>' if picture else ""
    return (
        f'<div class="gracezo"><p><strong>{escape(head)}</strong></p>'
        f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">'
        f"<div><table><tbody>{said}</tbody></table>{table}</div>{side}</div></div>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th {_LEFT}>{escape(word)}</th>" for word in head)
    body = "".join(
        f"<tr><td {_LEFT}>{escape(words.shortened(row[0]))}</td>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
