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

Of very many coordinates (`core/places.py`) the first round, in which groups are
large, is asked along slices of an order that is never written down
(`core/shuffle.py`); the signs are the weights of that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

from gracezo.core.aims import Inward
from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.gather import gather
from gracezo.core.keys import Key
from gracezo.core.moves import Moves, Wave
from gracezo.core.places import Place
from gracezo.core.result import GradientEstimate
from gracezo.core.shuffle import Shuffle
from gracezo.core.types import FloatArray, IntArray
from gracezo.estimators.fdsa import differences


@lru_cache(maxsize=64)
def printed_labels(size: int, divisions: int) -> IntArray:
    """Return ⌈(k+1)/B⌉ for k = 0…size−1, with blocks of B = ⌈size/D⌉ (Algorithm 1, lines 10 and 14)."""
    return _labels(size, divisions, 0)


@lru_cache(maxsize=64)
def published_labels(size: int, divisions: int) -> IntArray:
    """Return ⌊(B+1+k)/B⌋ for k = 0…size−1, with B = ⌈size/D⌉: the first block is one short."""
    return _labels(size, divisions, 1)


def _labels(size: int, divisions: int, ahead: int) -> IntArray:
    block = -(-size // divisions)
    labels = np.arange(block + ahead, size + block + ahead) // block
    labels.flags.writeable = False  # the same for all groups of that size
    return labels


@dataclass(frozen=True)
class Blocks:
    """The same labels by position, of the slice of an order that begins at `start`."""

    start: int
    block: int
    ahead: int
    line: None = None  # they rise in steps

    def __call__(self, positions: FloatArray) -> FloatArray:
        """Return the labels of positions, written over them."""
        positions += self.block + self.ahead - self.start
        positions /= self.block
        return np.floor(positions, out=positions)

    def span(self, label: float, stop: int) -> tuple[int, int]:
        """Return the positions before `stop` that have a label."""
        first = self.start + (int(label) - 1) * self.block - self.ahead
        return max(first, self.start), max(min(first + self.block, stop), self.start)


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
    ahead
        By how much the first block is short, where blocks follow each other in the order of the group; None
        where they do not.
    """

    labels: Callable[[np.random.Generator, int, int], IntArray]
    clamp: bool
    ahead: int | None = None
    deal: Callable[[np.random.Generator, int, int], list[IntArray]] = dealt_in_order


VARIANTS = {
    "printed": Variant(lambda random, size, divisions: printed_labels(size, divisions), False, 0),
    "published": Variant(lambda random, size, divisions: published_labels(size, divisions), True, 1),
}


_NONE: IntArray = np.zeros(0, np.int64)
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
    sides = np.array([-eps, eps])
    for divisions in schedule:
        labels = variant.labels(random, len(group), divisions)
        for _ in range(_ATTEMPTS):
            u = sides.take(_bits(random, len(group)))
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


def search_along(
    at: Point,
    order: Shuffle,
    start: int,
    stop: int,
    eps: float,
    schedule: Iterator[int],
    variant: Variant,
    random: np.random.Generator,
    bounds: Box | None = None,
) -> Steps[_Found]:
    """Shrink a slice of an order: the first round along the order, the others as `search` does."""
    size = stop - start
    if size > 2:
        block = -(-size // next(schedule))
        assert variant.ahead is not None
        labels = Blocks(start, block, variant.ahead)
        last = float(labels(np.array([stop - 1.0]))[0])
        aim = None if bounds is None else Inward(bounds, eps * last)
        if aim is not None and aim.idle(at.x, order.heaviest):
            aim = None
        for factor in (eps, -eps):  # a second attempt is at other points
            u = Wave(order, start, stop, factor, aim=aim)
            (value_u,) = yield Ask(at.x, Moves((u,)), Role.PROBE, reserve=2)
            if value_u == at.value:
                return _Found(_NONE, flat=True)
            if math.isnan(value_u):
                continue
            v = Wave(order, start, stop, factor, labels, last, aim=aim)
            (value_v,) = yield Ask(at.x, Moves((v,)), Role.PROBE, reserve=1)
            if not math.isnan(value_v):
                break
        else:
            return _Found(_NONE, flat=False)
        target = float(np.rint((value_v - at.value) / (value_u - at.value)))
        if variant.clamp:
            target = min(max(target, 0.0), last)
        start, stop = labels.span(target, stop) if abs(target) <= last else (stop, stop)
    return (yield from search(at, order.coordinates(start, stop), eps, schedule, variant, random, bounds))


def _signs(random: np.random.Generator, count: int, eps: float = 1.0) -> FloatArray:
    """Return ±ε at random, from one raw random bit each: the cheapest way there is."""
    return np.array([-eps, eps]).take(_bits(random, count))


def _bits(random: np.random.Generator, count: int) -> npt.NDArray[np.uint8]:
    words: npt.NDArray[np.uint64] = random.bit_generator.random_raw(-(-count // 64))
    return np.unpackbits(words.view(np.uint8), count=count)


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
        along = isinstance(at.x, Place) and self.variant.ahead is not None
        for repetition in range(self.repeats):
            random = key.child(repetition).generator()  # shared by its groups, which advance in a fixed order
            if along:  # over those that are fixed, too: groups hold n others in the mean
                order = Shuffle(d, key.child(repetition, 0), _signs)
                span_size = n if bounds is None else round(n * d / bounds.count)
                for start in range(0, d, span_size):
                    schedule = chain(self.schedule, repeat(self.schedule[-1]))
                    span = start, min(start + span_size, d)
                    searches.append(
                        search_along(at, order, *span, eps, schedule, self.variant, random, bounds)
                    )
                continue
            groups = self.variant.deal(random, d if bounds is None else bounds.count, n)
            for group in groups if bounds is None else [bounds.free[places] for places in groups]:
                schedule = chain(self.schedule, repeat(self.schedule[-1]))
                searches.append(search(at, group, eps, schedule, self.variant, random, bounds))
        found = yield from gather(*searches)
        candidates = np.unique(np.concatenate([one.left for one in found]))  # J
        if along and bounds is not None:  # an order goes over those that are fixed, too
            candidates = candidates[bounds.moves(candidates)]
        if len(candidates) == 0:
            return GradientEstimate(d, candidates, np.zeros(0), flat=all(one.flat for one in found))
        return (yield from differences(at, candidates, eps, bounds))
