"""Two looks in one query, to make sure that the gradient is as foreseen outside the support and on it.

What either look shows is foreseen. Displaced by both at once, f changes by the sum of what they show, and if
that is the sum of what is foreseen, one query has answered for two. If it is not, one of them is asked alone,
and the other is the difference: no more than both would have cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gracezo.core.asks import Role
from gracezo.methods.auto.request import BOTH, CHECKED, Change, Request


def together(first: Request, second: Request, follow: Callable[[Request], None]) -> Request | None:
    """Return one request for both, if they look alike; `follow` is called with one to be asked next.

    A small miss is put down to the second.
    """
    if first.shares is not second.shares or first.shares is CHECKED:
        return None

    def absorb(change: Change) -> None:
        missed = change.odd - first.expected - second.expected
        if abs(missed) <= first.allowed + second.allowed:
            first.absorb(_foreseen(first))
            second.absorb(change.less(_foreseen(first)))
            return

        def part(own: Change) -> None:
            second.absorb(own)
            first.absorb(change.less(own))

        follow(replace(second, absorb=part))

    return Request(
        np.concatenate([first.indices, second.indices]),
        np.concatenate([first.steps, second.steps]),
        Role.PROBE,
        absorb,
        first.shares,
        max(first.repeats, second.repeats),
    )


def _foreseen(request: Request) -> Change:
    expected = request.expected
    return Change(expected, -expected) if request.shares is BOTH else Change(expected)
