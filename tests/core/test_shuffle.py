"""Random orders of very many coordinates: a permutation, whose slices can be written piece by piece."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.aims import Inward
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.moves import Few, Move, Moves, Wave, moved, rows_of
from gracezo.core.places import Place
from gracezo.core.shuffle import BLOCK, Shuffle
from gracezo.core.types import FloatArray


def draw(random: np.random.Generator, count: int) -> FloatArray:
    return np.asarray(random.uniform(0.7, 1.3, count) * random.choice([-1.0, 1.0], count))


@dataclass(frozen=True)
class Rising:
    by: float
    linear: bool = False

    @property
    def line(self) -> tuple[float, float] | None:
        return (self.by, 0.0) if self.linear else None

    def __call__(self, positions: FloatArray) -> FloatArray:
        return self.by * positions


def by_hand(
    order: Shuffle, start: int, stop: int, label: Rising | None, x: FloatArray, aim: Inward | None
) -> FloatArray:
    """Write a slice down, position by position."""
    step = np.zeros(len(order))
    where = order.coordinates(start, stop)
    weights = order.weights(where)
    step[where] = 0.5 * (weights if aim is None else aim(x, where, weights))
    if label is not None:
        step[where] *= label(np.arange(start, stop, dtype=np.float64))
    return step


@pytest.mark.parametrize("d", [1, 2, 1000, BLOCK, 3 * BLOCK + 1, 300_007])
def test_an_order_is_a_permutation_and_knows_its_inverse(d: int) -> None:
    order = Shuffle(d, Key(3), draw)
    coordinates = order.coordinates(0, d)
    assert np.array_equal(np.sort(coordinates), np.arange(d))
    assert np.array_equal(order.positions(coordinates), np.arange(d))
    assert np.abs(order.weights(coordinates)).min() >= 0.7


@settings(max_examples=60, deadline=None)
@given(
    st.integers(BLOCK, 5 * BLOCK + 17),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([None, False, True]),
    st.lists(st.floats(0, 1, exclude_max=True), max_size=12),
    st.sampled_from([None, 0.1, 4.0]),
)
def test_pieces_are_the_slice(
    d: int, one: float, two: float, linear: bool | None, out: list[float], width: float | None
) -> None:
    order, x = Shuffle(d, Key(11), draw), np.linspace(0.0, 1.0, d) ** 2
    box = None if width is None else Box.of(0.0, width, d)
    x = x if box is None else box.clip(x)
    start, stop = sorted((int(one * d), int(two * d)))
    label = None if linear is None else Rising(1.0 / d, linear)
    without = sorted({int(share * d) for share in out})
    instead = 0.3 * (np.arange(len(without)) % 2).astype(np.float64)
    aim = None if box is None else Inward(box, 0.5)
    wave = Wave(order, start, stop, 0.5, label, 1.0, np.array(without, np.int64), instead, aim)
    written, times = np.zeros(d), np.zeros(d, np.int64)
    for where, values in wave.pieces(x):
        written[where] += values
        times[where] += 1
    expected = by_hand(order, start, stop, label, x, aim)
    expected[without] = instead
    assert np.allclose(written, expected, rtol=1e-13, atol=0.0)
    assert times.max() <= 1  # no coordinate is in two of them
    assert np.array_equal(wave.at(np.arange(d), x), written)
    if box is not None:
        ends = np.delete(x + written, without)
        assert ends.min(initial=0.0) >= -1e-15
        assert ends.max(initial=0.0) <= box.upper[0] + 1e-15
    room, again = np.full(d, np.nan), np.zeros(d)
    for where, values in wave.pieces(x, room):
        again[where] += values
    assert np.array_equal(again, written)
    assert np.abs(written).max(initial=0.0) <= wave.reach * (1.0 + 1e-12)


def test_a_slice_of_half_parts_neighbours_as_chance_does() -> None:
    d = 10 * BLOCK
    half = np.zeros(d, bool)
    half[Shuffle(d, Key(5), draw).coordinates(0, d // 2)] = True
    for distance in (1, 2, 64, 4096, BLOCK, 2 * BLOCK):
        together = float(np.mean(half[distance:] == half[:-distance]))
        assert abs(together - 0.5) < 0.03, distance


def test_an_order_travels_as_its_key() -> None:
    order = Shuffle(10**6, Key(5, (2, 3)), np.random.Generator.standard_normal)
    aim, base = Inward(Box.of(0.0, 1.0, 10**6), 0.1), Place.constant(0.0, 10**6).stand_in
    sent = pickle.dumps(Wave(order, 10, 900_000, 0.1, indices=np.array([5]), values=np.zeros(1), aim=aim))
    assert len(sent) < 1_200
    there = pickle.loads(sent)
    coordinates = np.arange(0, 10**6, 1234)
    assert np.array_equal(
        there.at(coordinates, base),
        Wave(order, 10, 900_000, 0.1, indices=np.array([5]), values=np.zeros(1), aim=aim).at(
            coordinates, base
        ),
    )


def test_rows_of_any_kind_are_written_alike() -> None:
    d = 2 * BLOCK + 5
    base = Place.constant(1.0, d).replaced(np.array([7, 3]), np.array([2.0, -1.0]))
    order = Shuffle(d, Key(1), draw)
    moves: tuple[Move, ...] = (
        Few(np.array([3, 9]), np.array([0.5, 0.25])),
        Wave(order, 0, d // 2, 0.1, indices=np.array([9]), values=np.zeros(1)),
    )
    rows = rows_of(moves)
    assert isinstance(rows, Moves)
    for row, move in enumerate(moves):
        out = np.empty(d)
        rows.write(row, base.stand_in, out)
        assert np.array_equal(out, base.dense() + move.at(np.arange(d), base.stand_in))
        assert np.array_equal(np.asarray(moved(base.dense(), move)), out)
    assert rows.times(2.0).take(np.array([1])).rows[0].reach == 2.0 * moves[1].reach
