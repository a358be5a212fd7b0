"""GraCe: the few large coordinates of a gradient in O(s log log(d/s)) queries.

Qiu & Tong, *Gradient Compressed Sensing: A Query-Efficient Gradient Estimator
for High-Dimensional Zeroth-Order Optimization*, ICML 2024, Algorithm 1.

The coordinates are cut into random groups of n. Within a group S, every
coordinate i has a random sign σ_i and the label h_i of its block. Two queries,

    u_i = ε·σ_i,    v_i = ε·σ_i·h_i        (i in S; zero elsewhere),

give the label of the block with the one large coordinate as the ratio of
their differences (Eq. 4). The block becomes the group, and so on until at most
two coordinates are left; these are then measured one by one.

Two variants. *Printed* is Algorithm 1. *Published* is what produced the
paper's figures: the first block is one short (and labels begin at 2 when
blocks have one element), and a ratio outside the labels is clamped into
0…last.

Algorithm 1 draws a fresh permutation of the group in every round (line 9). We
keep the order that the group has: it was cut out of a uniform permutation,
and the queries so far depend only on which block a coordinate was in, not on
its place in the block, so the order is still uniform given all that is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.gather import gather
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.types import FloatArray, IntArray
from gracezo.estimators.fdsa import differences


def printed_labels(size: int, divisions: int) -> IntArray:
    """Return ⌈(k+1)/B⌉ for k = 0…size−1, with blocks of B = ⌈size/D⌉ (Algorithm 1, lines 10 and 14)."""
    block = -(-size // divisions)
    return np.arange(block, size + block) // block


def published_labels(size: int, divisions: int) -> IntArray:
    """Return ⌊(B+1+k)/B⌋ for k = 0…size−1, with B = ⌈size/D⌉: the first block is one short."""
    block = -(-size // divisions)
    return np.arange(block + 1, size + block + 1) // block


def dealt_in_order(random: np.random.Generator, d: int, size: int) -> list[IntArray]:
    """Return the groups of consecutive positions in a random permutation (Algorithm 1, lines 3 to 5)."""
    order = random.permutation(d)
    return [order[start : start + size] for start in range(0, d, size)]


@dataclass(frozen=True)
class Variant:
    """The choices in which the algorithms of this family differ.

    Parameters
    ----------
    labels
        (random, |S|, D) to the block labels of a group whose order is random.
    clamp
        Whether a ratio outside the labels counts as the nearest of 0…last.
    deal
        (random, d, n) to the groups, none of them empty.
    """

    labels: Callable[[np.random.Generator, int, int], IntArray]
    clamp: bool
    deal: Callable[[np.random.Generator, int, int], list[IntArray]] = dealt_in_order


VARIANTS = {
    "printed": Variant(lambda random, size, divisions: printed_labels(size, divisions), clamp=False),
    "published": Variant(lambda random, size, divisions: published_labels(size, divisions), clamp=True),
}


_ATTEMPTS = 2  # at a pair of queries, where failed evaluations are skipped


@dataclass(frozen=True)
class _Found:
    """What a group's search leaves: at most two coordinates, and whether no probe changed f."""

    left: IntArray
    flat: bool


def search(
    at: Point,
    group: IntArray,
    eps: float,
    schedule: Iterable[int],
    variant: Variant,
    random: np.random.Generator,
    bounds: Box | None = None,
) -> Steps[_Found]:
    """Shrink one group to at most two coordinates (Algorithm 1, lines 6 to 20): two queries a round.

    A group that does not answer the first of its two queries is empty, and the second is not spent.
    When one of them fails and is skipped, both are asked once more, with new signs; then the group is
    left alone.
    """
    if len(group) <= 2:
        return _Found(group, flat=False)
    for divisions in schedule:
        labels = variant.labels(random, len(group), divisions)
        for _ in range(_ATTEMPTS):
            u = _signs(random, len(group), eps)
            if bounds is not None:  # the ratio of v to u is h_i whatever their sign and length
                u = bounds.inward(at.x, group, u, stretch=float(labels.max()))
            # Neither query is of use without what follows: v, and the measurement of what is left.
            (value_u,) = yield Ask(at.x, SparseRows.single(group, u), Role.PROBE, reserve=2)
            if value_u == at.value:
                return _Found(group[:0], flat=True)
            if math.isnan(value_u):
                continue
            (value_v,) = yield Ask(at.x, SparseRows.single(group, u * labels), Role.PROBE, reserve=1)
            if not math.isnan(value_v):
                break
        else:
            return _Found(group[:0], flat=False)
        target = np.rint((value_v - at.value) / (value_u - at.value))
        if variant.clamp:
            target = min(max(target, 0.0), float(labels[-1]))
        group = group[labels == target]
        if len(group) <= 2:
            break
    return _Found(group, flat=False)


def _signs(random: np.random.Generator, count: int, eps: float) -> FloatArray:
    """Return ±ε at random, from one raw random bit each: the cheapest way there is."""
    words = np.asarray(random.bit_generator.random_raw(-(-count // 64)))
    bits = np.unpackbits(words.view(np.uint8), count=count)
    return np.array([-eps, eps]).take(bits)


@dataclass(frozen=True)
class GraCe:
    """The estimator.

    Parameters
    ----------
    eps
        ε for step t = 1, 2, ….
    group_size
        n, the size of a group, at least 1.
    repeats
        m, how often the search is repeated with fresh groups.
    schedule
        D_1, D_2, …: into how many blocks a group is divided in each round; the last one is kept when
        it ends.
    variant
        See the top of this file.
    bounds
        What no query may leave; coordinates that are fixed by it are not searched.
    """

    eps: Callable[[int], float]
    group_size: int
    repeats: int
    schedule: tuple[int, ...]
    variant: Variant
    bounds: Box | None = None

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Find the large coordinates and measure them."""
        d, n, bounds = len(at.x), self.group_size, self.bounds
        eps = self.eps(step)
        searches = []
        for repetition in range(self.repeats):
            random = key.child(repetition).generator()  # shared by its groups, which advance in a fixed order
            groups = self.variant.deal(random, d if bounds is None else len(bounds.free), n)
            for group in groups if bounds is None else [bounds.free[places] for places in groups]:
                schedule = chain(self.schedule, repeat(self.schedule[-1]))
                searches.append(search(at, group, eps, schedule, self.variant, random, bounds))
        found = yield from gather(*searches)
        candidates = np.unique(np.concatenate([one.left for one in found]))  # J
        if len(candidates) == 0:
            return GradientEstimate(d, candidates, np.zeros(0), flat=all(one.flat for one in found))
        return (yield from differences(at, candidates, eps, bounds))
