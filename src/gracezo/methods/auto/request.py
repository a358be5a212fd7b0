"""One wanted query: where to look, and who wants to know; and a round of them, asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.types import FloatArray, IntArray

_SHORTER = 0.99  # another point, whose change of f is that of the first up to 1 % of the curvature's share


@dataclass(frozen=True, eq=False)
class Request:
    """A displacement from the present point and what to do with the change of f there."""

    indices: IntArray
    steps: FloatArray
    role: Role
    absorb: Callable[[float], None]


def ask_for(base: FloatArray, requests: Sequence[Request]) -> Ask:
    """Return the ask for all requests; a mixed one goes out as probes."""
    roles = {request.role for request in requests}
    role = roles.pop() if len(roles) == 1 else Role.PROBE
    rows = SparseRows.stack([SparseRows.single(request.indices, request.steps) for request in requests])
    return Ask(base, rows, role)


def changes(at: Point, requests: Sequence[Request]) -> Steps[FloatArray]:
    """Ask all requests, and return the changes of f.

    One whose evaluation failed and was skipped is asked again a little shorter, until it has an answer:
    sets are known by what their parts leave, so that none can be left out.
    """
    found: FloatArray = (yield ask_for(at.x, requests)) - at.value
    share = 1.0
    while len(missing := np.flatnonzero(np.isnan(found))):
        share *= _SHORTER
        again = [replace(requests[row], steps=share * requests[row].steps) for row in missing.tolist()]
        found[missing] = ((yield ask_for(at.x, again)) - at.value) / share
    return found
