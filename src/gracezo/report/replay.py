"""What a journal does not hold but a replay knows: where each query was asked.

The method is run again and given the recorded values; no function is called. From the points that it asks,
whatever the method is, follow the slopes along single coordinates (a row that displaces one of them alone,
around a point whose value is known), the steps of these differences, and the noise (values asked at one
point more than once).

A difference over one step alone is the slope of a chord: nothing says how far it is from the derivative. With
two steps from one point, the parabola through the three values gives the derivative, and the correction that
this makes stands for the error.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from gracezo import checks
from gracezo.core.asks import Ask, Point, SparseRows
from gracezo.core.errors import EvaluationError
from gracezo.core.moves import Few, PieceRows
from gracezo.core.places import Place
from gracezo.core.run import Answer, Run
from gracezo.core.sampling import Seeded
from gracezo.core.types import FloatArray, IntArray
from gracezo.journal.digest import Digest
from gracezo.journal.reading import Query, Record
from gracezo.journal.store import failed
from gracezo.setup import Setup

_ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Look:
    """The slope along one coordinate, as it was measured last.

    Attributes
    ----------
    query, step
        When, and over which step.
    slope, error
        The slope, and its error: NaN where it is that of a chord alone.
    """

    query: int
    step: float
    slope: float
    error: float


@dataclass(frozen=True)
class _Difference:
    """A step along one coordinate from a point, and the slope of the chord."""

    query: int
    base: int  # the hash of the point
    step: float
    slope: float
    size: float  # of the values, for their rounding


class Replay:
    """A recorded run that is run again; `follow` lets it catch up with its record."""

    def __init__(self, record: Record) -> None:
        self._left = 0  # the query at which it has left the record
        self._begin(record, random=False)

    def _begin(self, record: Record, *, random: bool) -> None:
        """Start at the beginning; the record does not say whether the function took a seed (`random`)."""
        self._random = random
        self.trouble: str | None = None
        self.replayed = 0  # queries
        self.behind = 0  # queries that it has had no time for
        self._place = 0  # asks
        self._digest = Digest()
        self._values: dict[int, list[float]] = {}  # f at points themselves, by their hash
        self._base: FloatArray | None = None
        self._base_hash = 0
        self._last: dict[int, list[_Difference]] = {}  # of each coordinate, those around the last point
        self._probes: list[tuple[int, float]] = []
        self._noise: list[tuple[int, float]] = []
        self._squares, self._freedom = 0.0, 0  # of deviations among values asked again
        self._run: Run | None = None
        self._over = False
        try:
            self._run = begun(record, random, self._on_move)
        except (TypeError, ValueError, ImportError) as error:
            self.trouble = f"This run cannot be replayed here: {error}."

    def follow(self, record: Record, seconds: float) -> None:
        """Go on with the replay, for at most so long."""
        run, queries, until = self._run, record.queries, time.monotonic() + seconds
        if run is None or self.trouble is not None or self._over:
            return
        late = False
        while not late and (ask := run.next()) is not None:
            given = queries[self.replayed : self.replayed + len(ask)]
            if len(given) < len(ask) or given[-1].query != self.replayed + len(ask):
                break  # not answered yet
            if self._digest(ask) != record.digests[self._place]:
                self._left = max(self._left, self.replayed + 1)
                if not self._random:
                    self._begin(record, random=True)
                    self.follow(record, seconds)
                    return
                at = f"at query {self._left:,}"
                self.trouble = f"The replay leaves the record {at}: another version must have written it."
                return
            self._place += 1
            self._take(run, ask, given)
            late = time.monotonic() > until
        self.behind = len(queries) - self.replayed if late else 0
        self._over = run.finish is not None or (record.finish is not None and self.replayed == len(queries))

    @property
    def note(self) -> str | None:
        """What a reader must know of what the replay tells."""
        if self.trouble is None and self.behind:
            return (
                f"Slopes, noise and steps of differences are those of the first {self.replayed:,} queries: "
                f"the replay has still to come to the other {self.behind:,}."
            )
        return self.trouble

    def looks(self) -> dict[int, Look]:
        """Return the last slope of each coordinate that was looked at alone."""
        return {index: _look(differences, self._sd) for index, differences in self._last.items()}

    def probes(self) -> tuple[FloatArray, FloatArray]:
        """Return the queries of such looks, and the lengths of their steps."""
        return _columns(self._probes)

    def noise(self) -> tuple[FloatArray, FloatArray]:
        """Return the queries at which points were asked again, and the standard deviation known by then."""
        return _columns(self._noise)

    # ------------------------------------------------------------ inside

    def _on_move(self, run: Run, to: Point) -> None:
        self._values.setdefault(_hash(to.x), [to.value])

    def _take(self, run: Run, ask: Ask, given: list[Query]) -> None:
        answers: list[Answer] = []
        for row, query in enumerate(given):
            value = query.value
            if isinstance(value, float):
                answers.append((row, value))
                self._note(ask, row, query.query, value)
            elif value is None:
                answers.append((row, failed(query.failure or "failed", query.lost)))
            else:
                answers.append((row, np.array(value)))
        self.replayed += len(given)
        try:
            run.record(answers)
        except EvaluationError:
            self._over = True

    def _note(self, ask: Ask, row: int, query: int, value: float) -> None:
        """Learn from one value where it was asked."""
        displaced = _displaced(ask, row)
        if displaced is None or len(displaced[0]) > 1:
            return
        if ask.base is not self._base:
            self._base, self._base_hash = ask.base, _hash(ask.base)
        if len(displaced[0]) == 0:
            self._again(self._values.setdefault(self._base_hash, []), query, value)
            return
        known, step = self._values.get(self._base_hash), float(displaced[1][0])
        if not known or step == 0.0:
            return
        self._probes.append((query, abs(step)))
        at = sum(known) / len(known)
        new = _Difference(query, self._base_hash, step, (value - at) / step, max(abs(value), abs(at)))
        around = self._last.setdefault(int(displaced[0][0]), [])
        if around and around[0].base != new.base:
            around.clear()
        around.append(new)

    def _again(self, values: list[float], query: int, value: float) -> None:
        """Note a value at a point itself; with others there, it tells of noise."""
        if values:
            mean = sum(values) / len(values)
            self._squares += (value - mean) ** 2 * len(values) / (len(values) + 1)
            self._freedom += 1
            self._noise.append((query, self._sd))
        values.append(value)

    @property
    def _sd(self) -> float:
        return math.sqrt(self._squares / self._freedom) if self._freedom else 0.0


def _look(differences: list[_Difference], noise: float) -> Look:
    """Return the slope that differences around one point give."""
    last = differences[-1]
    others = [other for other in differences if other.step != last.step]
    if not others:
        return Look(last.query, last.step, last.slope, math.nan)
    other = others[-1]
    weight = other.step / (other.step - last.step)  # of the parabola through the point and both steps
    slope = weight * last.slope + (1.0 - weight) * other.slope
    nearest = min(last, other, key=lambda each: abs(each.step)).slope
    wide = [math.sqrt(2.0) * max(noise, _ROUNDING * d.size) / abs(d.step) for d in (last, other)]
    error = math.hypot(weight * wide[0], (1.0 - weight) * wide[1], slope - nearest)
    return Look(last.query, last.step, slope, error)


def begun(record: Record, random: bool, on_move: Callable[[Run, Point], None]) -> Run:
    """Return the recorded run at its beginning."""
    identity = record.identity
    functions = identity.functions()
    if functions:
        raise ValueError(f"{', '.join(functions)} is a function, which no file can give back")
    given = record.header.get("limits") or {}
    known = {name: given.get(name) for name in ("max_queries", "max_steps", "max_seconds", "target")}
    limits = checks.limits(**known).or_default()
    names, told = record.names, identity.arguments
    setup = Setup.checked(identity.x0, limits=limits, names=names, random=random, **told)
    return setup.run(on_move, lambda: 0.0)


def _displaced(ask: Ask, row: int) -> tuple[IntArray, FloatArray] | None:
    """Return the coordinates that a row displaces and by how much, where it is one of a few."""
    offsets = ask.offsets.rows if isinstance(ask.offsets, Seeded) else ask.offsets
    if isinstance(offsets, SparseRows):
        there = slice(int(offsets.indptr[row]), int(offsets.indptr[row + 1]))
        return offsets.indices[there], offsets.values[there]
    if isinstance(offsets, PieceRows) and isinstance(offsets.rows[row], Few):
        few = cast(Few, offsets.rows[row])
        return few.indices, few.values
    return None


def _hash(x: FloatArray) -> int:
    if isinstance(x, Place):  # of one run, which all have the same origin
        return hash((x.indices.tobytes(), x.values.tobytes()))
    return hash(x.tobytes())


def _columns(rows: list[tuple[int, float]]) -> tuple[FloatArray, FloatArray]:
    table = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
