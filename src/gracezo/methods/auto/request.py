"""One wanted query: where to look, and who wants to know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gracezo.core.asks import Ask, Role, SparseRows
from gracezo.core.types import FloatArray, IntArray


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
