"""The columns of a Jacobian that are not zero: group MUSIC.

The decoding is in `sparse/music.py`: probes of a set of coordinates that holds k ≤ m columns are decoded
as soon as there are a few more than k of them. So the whole space is asked, probe after probe, and decoded
after each, which costs nothing. If m + 2 probes do not decode it, it holds more than m columns. Then a part
is split off and asked with the same weights:

- A part that decodes is known, and what it would answer to further probes is predicted, not asked: the rest
  of the set has the answers Y − J_part W_partᵀ.
- From a part that does not decode with m + 2 probes, the rest is known too, Y − Y_part, and both go on.

For s columns and m outputs that takes about s + (1 to 2.5)·s/m + 4 queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gracezo.core.asks import OutOfQueries, Point, Steps
from gracezo.core.types import FloatArray
from gracezo.sparse.music import Decoded
from gracezo.vectors.accuracy import Accuracy, accuracy
from gracezo.vectors.density import Density
from gracezo.vectors.found import Columns, End
from gracezo.vectors.reading import SPARE, VISIBLE, Reading
from gracezo.vectors.sets import Set
from gracezo.vectors.space import Probe, Space, slopes
from gracezo.vectors.summary import Summary

_SIGNIFICANT = 5.0  # times its error: what a space answers that has begun to matter
_TAIL_SPARE = 8  # probes beyond the columns before what they leave is called a dense tail
_TAIL_PART = 1000  # times smaller than a set is the part whose answer shows that it has a dense tail
_ALIKE = 3.0  # times at most what the answer of a part says is left of the whole, if it is a dense tail
_PATIENCE = 40  # queries in which no column was found
_PATIENCE_SETS = 5  # and at least as many as so many sets take that do not decode
_KINK = 0.1  # of the answers: if they differ by more from side to side, they have kinks
_TINY_PARTS = 3  # sets that are looked at when the whole space does not decode
_DENSE = (
    5e-3  # of what such a part would answer if all coordinates mattered as much: more is a dense Jacobian
)
_TINY = 20  # each has so many times fewer coordinates than there would be to a column, were there m of them


class Search:
    """One search for columns around a point.

    Parameters
    ----------
    at
        Where, with the outputs there.
    space
        What may move.
    batch
        How many probes may go out together.
    tol
        What is left is not looked at if it is smaller than this share of the answers of the whole space.
    noise
        The standard deviation of each output; None where it is not known.
    cautious
        Whether to ask first if the Jacobian is dense when the whole space does not decode, and not only
        when a part of it does not either; of noisy outputs, whose parts say little, it is then taken to be.
    """

    def __init__(
        self,
        at: Point,
        space: Space,
        batch: int = 1,
        tol: float = 1e-6,
        noise: FloatArray | None = None,
        *,
        cautious: bool = False,
    ) -> None:
        assert at.outputs is not None
        self._at = at
        self._space = space
        self._batch = batch
        self._tol = tol
        self._noise = noise
        self._cautious = cautious
        self._m = len(at.outputs)
        self._known: Reading | None = None  # what answers say, once their errors are known
        self._root = Set(0, len(space), np.zeros(0, np.int64), np.zeros((self._m, 0)))
        self._open: list[Set] = []
        self._positions: list[int] = []
        self._columns: list[FloatArray] = []
        self._seen = 0  # positions whose columns are known
        self._dry = 0  # probes since a column was found
        self._paid: dict[Probe, FloatArray] = {}  # answers that were asked for besides those of sets
        self._asked = self._doubted = 0  # probes of sets: in all, and when the Jacobian seemed to be dense
        self._tiny: list[FloatArray] = []  # what single coordinates have answered
        self._tail: FloatArray | None = None  # and how large all others are by that, by output
        self._overlooked = False  # whether the answers of sets do not add up
        self._unit = np.ones(self._m)  # of the outputs: their errors at the beginning

    # ------------------------------------------------------------ the search

    def run(self) -> Steps[Columns | None]:
        """Search until all is decoded; return what was found, or None where not even a distance was."""
        try:
            if self._known is None:
                yield from self._begin()
            end = yield from self._search()
        except OutOfQueries:
            end = End.SPENT
            if self._known is None:
                return None
        return self._summary().columns(end)

    @property
    def _reading(self) -> Reading:
        assert self._known is not None
        return self._known

    @property
    def _accuracy(self) -> Accuracy:
        return self._reading.accuracy

    def _read(self, known: Accuracy) -> None:
        self._known = Reading(self._space, known, self._root, self._cautious)

    def _summary(self) -> Summary:
        columns: FloatArray = np.array(self._columns).T.reshape(self._m, len(self._columns))
        at = np.array(self._positions, np.int64)
        dense_tail = bool(self._reading.background) or self._accuracy.noisy
        return Summary(self._root, self._space, self._accuracy, at, columns, dense_tail)

    def glance(self, known: Accuracy) -> Steps[bool]:
        """Ask one probe, at a distance known from before; return whether it answers.

        Of an exact function it answers if it shows more than rounding: what bent when the distance was found
        may have been columns that are no longer in the space. By how much this bends is then looked at anew.
        """
        self._read(known)
        root = self._root
        yield from self._ask(root, [0])
        if not root.answers.size:
            return False
        errors = known.errors(root.answers, len(root)) if known.noisy else known.least_errors(len(root))
        if np.sqrt(np.mean((root.answers[:, 0] / errors) ** 2)) < _SIGNIFICANT:
            return False
        if not known.noisy:
            far = yield from slopes(self._at, self._space, [Probe(0, 0, len(root), 4.0 * known.distance)])
            if np.isfinite(far).all():  # else it failed and was skipped
                self._read(known.looked_anew(root.answers[:, 0], far[:, 0]))
        self._unit = self._accuracy.errors(root.answers, len(root))
        return True

    def _begin(self) -> Steps[None]:
        further = max(0, min(self._batch - 2, self._m + SPARE - 1, len(self._space) - 1))
        found = yield from accuracy(self._at, self._space, self._noise, further)
        known, self._root.probes, self._root.answers = found
        self._read(known)
        self._unit = self._accuracy.errors(self._root.answers, len(self._root))

    def _search(self) -> Steps[End]:
        root = self._root
        self._open = [root]
        decoded = yield from self._grow(root)
        self._density = Density(len(root), max(1, self._reading.rank(root)[0]))
        if decoded is None:
            self._density.full(len(root))
        doubtful = self._cautious
        while True:
            if decoded is not None:
                self._keep(decoded, self._open.pop())
            else:
                if self._cautious and not self._seen and (yield from self._has_kinks()):
                    return End.KINKED
                if doubtful and (yield from self._is_dense()):
                    new = self._tail is None
                    if not self._stands_out():
                        return End.DENSE
                    if new:
                        self._open, doubtful = [root], False
                        decoded = yield from self._grow(root)
                        continue
                doubtful = not (yield from self._split(self._open.pop())) and not self._cautious
            if self._dry > max(_PATIENCE, _PATIENCE_SETS * (self._m + SPARE), len(self._columns)):
                return (yield from self._ended(End.GIVEN_UP))
            # The largest answer goes last, and is next. As long as no set was small enough to decode, the
            # smallest is: how many columns there are is learned from one that is.
            self._open.sort(key=self._reading.norm if self._seen else lambda some: -len(some))
            while (
                self._open
                and self._columns
                and self._reading.norm(self._open[-1]) < self._tol * self._reading.norm(root)
            ):
                self._open.pop()
            if not self._open:
                return (yield from self._ended())
            decoded = self._reading.decoded(self._open[-1])
            doubt = decoded is not None and (yield from self._is_doubtful(decoded, self._open[-1]))
            if doubt and self._reading.background is False:
                decoded = None

    def _grow(self, some: Set) -> Steps[Decoded | None]:
        """Ask probe after probe of a set until it decodes; None if it does not with more than m of them."""
        number = 0
        while True:
            most = self._reading.enough(some) - len(some.probes)
            decoded = None
            if len(some.probes) and not (most > 0 and some.grows(self._unit)):
                decoded = self._reading.decoded(some)
                most = self._reading.most(some) - len(some.probes)
            if decoded is not None and not (yield from self._is_doubtful(decoded, some)):
                return decoded
            if most <= 0:
                return None if self._reading.background is False else decoded
            wanted: list[int] = []
            while len(wanted) < min(self._batch, most):
                if number not in some.probes:
                    wanted.append(number)
                number += 1
            yield from self._ask(some, wanted)

    def _is_doubtful(self, decoded: Decoded, some: Set) -> Steps[bool]:
        """Whether what a set leaves, beside its columns, may be further columns that are much smaller.

        As long as there are not more probes than those, they look like a dense tail.
        """
        if not self._reading.leaves_more(decoded, some):
            return False
        if self._reading.background is None and (yield from self._has_tail(decoded, some)):
            return False
        return self._reading.background is False or decoded.spare < _TAIL_SPARE

    def _has_tail(self, decoded: Decoded, some: Set) -> Steps[bool]:
        """Ask a small part of a set, once, whether what its columns leave is a dense tail.

        That answers by the root of its size. Further columns, however small, are hardly ever in that part.
        """
        size = max(1, len(some) // _TAIL_PART)
        predicted = decoded.rest * self._reading.errors(some) * math.sqrt(size / len(some))
        if self._typical(predicted / self._accuracy.errors(some.answers, size)) < VISIBLE:
            return False  # the answer of so small a part would not be seen
        start = some.start + len(some) // 2
        probe = Probe(0, start, start + size, self._accuracy.distance)
        answer = yield from self._aside(probe)
        inside = (decoded.positions >= start) & (decoded.positions < start + size)
        weights = self._space.weights.columns(decoded.positions[inside], np.zeros(1, np.int64))
        answer = answer - decoded.columns[:, inside] @ weights[0]
        errors = self._accuracy.errors(answer[:, None], size)
        self._reading.background = self._typical(np.abs(answer) / errors) > VISIBLE
        return self._reading.background and bool(_ALIKE * np.linalg.norm(answer) > np.linalg.norm(predicted))

    def _typical(self, ratios: FloatArray) -> float:
        """Return the median over the outputs that answer at all: constants say nothing."""
        answers = self._root.answers.any(axis=1)
        return float(np.median(ratios[answers])) if answers.any() else 0.0

    def _ask(self, some: Set, numbers: Sequence[int]) -> Steps[None]:
        """Ask further probes of a set; those that failed and were skipped are left out."""
        probes = [Probe(number, some.start, some.stop, self._accuracy.distance) for number in numbers]
        known = {probe: self._paid[probe] for probe in probes if probe in self._paid}
        if wanted := [probe for probe in probes if probe not in known]:
            answers = yield from slopes(self._at, self._space, wanted)
            known.update(zip(wanted, answers.T, strict=True))
        there = [probe for probe in probes if np.isfinite(known[probe][0])]
        some.probes = np.append(some.probes, np.array([probe.number for probe in there], np.int64))
        some.answers = np.column_stack([some.answers, *(known[probe] for probe in there)])
        self._dry += len(wanted)
        self._asked += len(wanted)

    def _aside(self, probe: Probe) -> Steps[FloatArray]:
        """Ask a probe that is of none of the sets; should one come to it, its answer is paid for."""
        if probe not in self._paid:
            self._paid[probe] = (yield from slopes(self._at, self._space, [probe]))[:, 0]
        return self._paid[probe]

    def _single(self, some: Set) -> None:
        """Take what a single coordinate answers for its column, though it leaves more than errors.

        Then either its errors are larger than said, or columns elsewhere were overlooked or are wrong.
        """
        decoded = self._reading.decode(some)
        if decoded is not None:
            self._keep(decoded, some)
        if decoded is None or decoded.rest > VISIBLE:
            self._overlooked = True

    def _keep(self, decoded: Decoded, some: Set) -> None:
        """Note the columns of a set; what they leave beyond its errors is a dense tail from now on."""
        if decoded.rest > VISIBLE and decoded.spare > 1:
            self._accuracy.leave(self._reading.left_by(decoded, some), len(some))
        self._positions += decoded.positions.tolist()
        self._columns += list(decoded.columns.T)
        self._seen += len(some)
        self._density.decoded(len(some), len(decoded.positions))
        if len(decoded.positions):
            self._dry = 0

    def _split(self, some: Set) -> Steps[bool]:
        """Split off a part that should hold about m/2 columns; return whether it is decoded."""
        n = len(some)
        if n <= 1:
            self._single(some)
            return True
        size = self._density.part(n)
        part = Set(some.start, some.start + size, np.zeros(0, np.int64), np.zeros((self._m, 0)))
        self._open += [some]  # what is left open if the queries end here
        decoded = yield from self._grow(part)
        if decoded is None:
            self._density.full(size)
            missing = some.probes[~np.isin(some.probes, part.probes)].tolist()
            for first in range(0, len(missing), self._batch):
                yield from self._ask(part, missing[first : first + self._batch])
        self._open.pop()
        if decoded is None:
            self._open += [part]
        else:
            self._keep(decoded, part)
        self._open += [some.without(part, decoded, self._space, noisy=self._accuracy.noisy)]
        return decoded is not None

    def _is_dense(self) -> Steps[bool]:
        """Whether sets that should hold hardly a column all answer.

        Single coordinates, if columns are to be named at any price; where a fit would do without, sets in
        which there would be one if there were some twenty times as many as outputs.
        """
        if self._cautious and self._accuracy.noisy:
            return True
        n = len(self._root)
        size = max(1, n // (_TINY * self._m)) if self._cautious else 1
        errors = self._accuracy.errors(self._root.answers, size)
        share = self._reading.norm(self._root) * np.sqrt(
            size / n
        )  # of a part, if all coordinates matter as much
        for place in range(1, _TINY_PARTS + 1):
            start = n * place // (_TINY_PARTS + 1)
            probe = Probe(0, start, start + size, self._accuracy.distance)
            answer = yield from self._aside(probe)
            self._tiny.append(answer)
            unit = self._accuracy.errors(self._root.answers, n)
            significant = float(np.sqrt(np.mean((answer / unit) ** 2))) > _DENSE * share
            if not (significant and self._typical(np.abs(answer) / errors) > 5.0):
                return False
        return True

    def _stands_out(self) -> bool:
        """Whether columns stand out of a background on all coordinates, as single ones have shown it.

        Its size is then part of all errors. Columns that stand out are looked for as long as it took until
        then, or as others are.
        """
        reading = self._reading
        if self._cautious:
            return False
        if self._tail is None:
            self._doubted = self._asked
            whole = np.sqrt(np.mean(self._root.answers**2, axis=1))
            there = whole > 0.0
            share = np.sqrt(np.mean((np.array(self._tiny)[:, there] / whole[there]) ** 2))
            self._tail = share * whole
            reading.accuracy.leave(self._tail, 1)
            reading.background = reading.rank(self._root)[0] > 0
        if reading.background and (
            self._columns or self._asked < self._doubted + max(_PATIENCE, self._doubted)
        ):
            return True
        reading.accuracy.tail = 0.0 * self._tail  # of single coordinates it is no error
        return False

    def _ended(self, given_up: End | None = None) -> Steps[End]:
        """Return how a search has ended that has nothing left to look into, or was given up."""
        if self._tail is not None and not self._columns:
            self._accuracy.tail = 0.0 * self._tail
            return End.DENSE
        missing = self._overlooked or self._summary().is_missing or self._leaves_columns()
        if given_up is None and not missing:
            return End.COMPLETE
        return End.KINKED if (yield from self._has_kinks()) else given_up or End.MISSED

    def _leaves_columns(self) -> bool:
        """Whether the columns leave more than the background that single coordinates have shown."""
        if self._tail is None:
            return False
        there = self._tail > 0.0
        left = np.sqrt(np.mean(self._summary().left ** 2, axis=1))[there]
        more = np.sqrt(np.mean((left / self._tail[there]) ** 2) / len(self._root))
        return bool(more > 1.0 + VISIBLE / math.sqrt(2.0 * len(self._tiny) * there.sum()))

    def _has_kinks(self) -> Steps[bool]:
        """Whether the first probe is answered by other slopes to the other side, and not for a bend."""
        root = self._root
        if self._accuracy.noisy or self._space.weights.side is not None or self._accuracy.look.off > _KINK:
            return False
        answer = yield from self._aside(Probe(int(root.probes[0]), 0, len(root), -self._accuracy.distance))
        change = (answer - root.answers[:, 0]) / self._accuracy.errors(root.answers, len(root))
        return bool(np.sqrt(np.mean(change**2)) > _KINK * self._reading.norm(root))
