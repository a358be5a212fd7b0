"""ZO-BCD: block coordinate descent, each block's gradient recovered by CoSaMP.

Cai, Lou, McKenzie & Yin, *A zeroth-order block coordinate descent algorithm
for huge-scale black-box optimization*, ICML 2021 (its variant with random-sign
measurements).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.zobcd import ZOBCD
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, positive, required_sparsity, sketch_size, whole
from gracezo.sparse.cosamp import CoSaMP
from gracezo.updates import plain


def zo_bcd(
    problem: Problem,
    *,
    step_size: float = 0.5,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int | None = None,
    blocks: int = 5,
    iterations: int = 10,
    tolerance: float = 0.5,
) -> Descent:
    """ZO-BCD: ZORO within one random block of coordinates a step.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size
        η.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the measurements of a step; by default ⌈2·b·(1 + ln(m/b))⌉ for b of the m coordinates of a block.
    blocks
        Into how many random blocks J the coordinates are dealt, b = ⌈1.1·s/J⌉ being looked for in each.
    iterations
        The most iterations of CoSaMP.
    tolerance
        The relative residual at which CoSaMP stops.
    """
    s = required_sparsity(problem, "zo-bcd")
    parts = min(whole("blocks", blocks), problem.d)
    in_block = math.ceil(1.1 * s / parts - 1e-9)  # 1.1·s/J may be whole, and above it by rounding alone
    recovery = CoSaMP(in_block, whole("iterations", iterations), positive("tolerance", tolerance))
    q = sketch_size(queries, in_block, math.ceil(problem.d / parts))
    return Descent(ZOBCD(difference(eps), q, parts, recovery), plain(positive("step_size", step_size)))
