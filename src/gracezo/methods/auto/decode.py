"""Reading labels: what the ratio K/U says about a set."""

from __future__ import annotations

import math

from gracezo.core.types import FloatArray
from gracezo.methods.auto.tree import Node

SHARP = 0.2  # an error of this many positions still names one of them
_NEAR = 0.1  # positions off an integer at which it is still named


def read(node: Node, weights: FloatArray, trust: float, met: float = 1.0) -> None:
    """Give a set whose K is known a candidate, a window to ask again, or the mark that it holds several.

    Errors are bounds; of them, the share `met` has been met so far.

    >>> import numpy as np
    >>> node = Node(0, 8, 2.0, 0.0, moment=10.0)
    >>> read(node, np.ones(8), 4.0)
    >>> node.candidate
    5
    """
    place, bound = node.position
    error = met * bound
    lo, hi = node.window or (node.start, node.stop)
    span = hi - lo
    node.window = node.inner = None
    tolerance = max(trust * error, 1e-6 * span)
    position = round(place)
    near = error <= SHARP and abs(place - position) <= max(min(tolerance, _NEAR), 2.0 * error)
    if near and lo <= position < hi and weights[position] != 0.0:
        node.candidate = position
        # Further off, an integer may well be chance.
        node.doubtful = abs(place - position) > min(2.0 * error, bound)
        return
    if tolerance > _NEAR:
        # Labels again, inside a window, when it excludes at least three quarters.
        first, last = max(lo, math.floor(place - tolerance)), min(hi, math.ceil(place + tolerance) + 1)
        if last - first == 1 and weights[first] != 0.0:
            node.candidate = first
            return
        if 0 < last - first <= span // 4:
            node.window = (first, last)
            return
        if last > first and span == node.size:
            node.moment = None  # too blurred to say anything: better asked anew on a part
    node.several = True
