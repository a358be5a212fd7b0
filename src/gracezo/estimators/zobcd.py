"""ZO-BCD's estimator: ZORO's measurement of one random block of coordinates a step.

Cai, Lou, McKenzie & Yin, *A zeroth-order block coordinate descent algorithm
for huge-scale black-box optimization*, ICML 2021. The coordinates are dealt
into random blocks once a run; one matrix of random signs, with as many columns
as the largest block, serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.answers import answered
from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.types import IntArray
from gracezo.estimators.flatness import FlatGround
from gracezo.estimators.rows import RowBlock, batches, placed, signs
from gracezo.sparse.cosamp import CoSaMP


@dataclass
class ZOBCD:
    """The estimator.

    Parameters
    ----------
    eps
        ε for step t = 1, 2, ….
    queries
        q, the number of rows.
    blocks
        Into how many blocks the coordinates are dealt.
    recovery
        How the gradient of a block is found in the slopes.
    """

    eps: Callable[[int], float]
    queries: int
    blocks: int
    recovery: CoSaMP
    _fixed: tuple[list[IntArray], RowBlock] | None = field(default=None, init=False)
    _ground: FlatGround = field(default_factory=FlatGround, init=False)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the large coordinates of one random block."""
        d, eps = len(at.x), self.eps(step)
        random = key.generator()
        if self._fixed is None:
            dealt = np.array_split(random.permutation(d), self.blocks)  # the first is the largest
            self._fixed = dealt, signs(random, self.queries, len(dealt[0]))
        blocks, matrix = self._fixed
        block = blocks[random.integers(len(blocks))]
        rows = matrix[:, : len(block)]
        values = []
        start = 0
        for count, after in batches(
            self.queries, 4 * len(block)
        ):  # a row that is placed takes 16 bytes a number
            part = placed(rows[start : start + count], block, eps)
            values.append((yield Ask(at.x, part, Role.PROBE, reserve=after)))
            start += count
        slopes = (np.concatenate(values) - at.value) / eps
        if not slopes.any():  # a gap is not flat
            return GradientEstimate.nothing(d, flat=self._ground.everywhere(at, block))
        slopes, rows = answered(slopes, rows)
        support, found = self.recovery.recover(rows, slopes)
        return GradientEstimate(d, block[support], found)
