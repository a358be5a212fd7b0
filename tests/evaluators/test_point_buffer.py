"""One buffer for all points: whatever was shown before, what is shown is the point."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.aims import FarEnd, Inward, Roomy
from gracezo.core.asks import Ask, DenseRows, Role, SparseRows
from gracezo.core.box import Box, ClippedMoves, SparsePoints
from gracezo.core.keys import Key
from gracezo.core.moves import Few, Move, PieceRows, Wave
from gracezo.core.places import Place
from gracezo.core.shuffle import Shuffle
from gracezo.core.types import FloatArray
from gracezo.evaluators.point_buffer import PointBuffer

D = 70_003
ORDER = Shuffle(D, Key(2), np.random.Generator.standard_normal)
DENSE = np.random.default_rng(1).standard_normal(D)
NONE = np.zeros(0, np.int64)


def bases() -> list[FloatArray]:
    origin = Place.at(DENSE)
    lean = Place.constant(0.0, D)
    moved = [origin.displaced(np.array([5, k]), np.array([1.0, 2.0])) for k in (9, 69_999)]
    return [DENSE, DENSE + 1.0, *(place.stand_in for place in (origin, lean, *moved))]


BASES = bases()
FEW = [Few(np.array([5, 70_002, 9]), np.array([0.1, -0.2, 0.3])), Few(NONE, np.zeros(0))]
WAVES = [
    Wave(ORDER, start, stop, 0.01, indices=np.array([5, 9]), values=np.array([0.0, other]))
    for start, stop in ((0, D), (0, D // 2), (1, D // 30), (D // 3, D // 3 + 70), (D - 4, D))
    for other in (0.0, 3.0)
]
BOX = Box.of(-6.0, 6.0, D)
AIMED = [
    replace(wave, factor=1.0, aim=aim)
    for wave in WAVES
    for aim in (Inward(BOX, 1.0), Roomy(BOX, 1.0), FarEnd(BOX))
]
MOVES: list[Move] = [*FEW, *WAVES, *AIMED]


def offsets(kind: int, place: bool) -> SparseRows | DenseRows | PieceRows:
    rows: list[SparseRows | DenseRows | PieceRows] = [
        SparseRows.single(FEW[0].indices, FEW[0].values),
        SparseRows.single(NONE, np.zeros(0)),
        SparseRows.single(np.arange(0, D, 2), DENSE[::2]),  # so many that all is written again
        SparsePoints(np.array([0, 2]), np.array([3, 5]), np.array([8.0, 9.0])),
        *(PieceRows((move,)) for move in MOVES),
        *(ClippedMoves((move,), BOX) for move in MOVES),
    ]
    if not place:
        rows.append(DenseRows(DENSE[np.newaxis], 0.5))
    return rows[kind % len(rows)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(BASES) - 1), st.integers(0, 2 * len(MOVES) + 4)), min_size=1, max_size=8
    )
)
def test_what_is_shown_is_the_point(shown: list[tuple[int, int]]) -> None:
    buffer = PointBuffer()
    for place, kind in shown:
        base = BASES[place]
        ask = Ask(base, offsets(kind, isinstance(base, Place)), Role.PROBE)
        assert np.array_equal(buffer.show(ask, 0), ask.point(0))


def test_a_point_that_is_shown_cannot_be_written_to() -> None:
    assert not PointBuffer().show(Ask.at(DENSE, Role.START), 0).flags.writeable
