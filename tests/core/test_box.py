"""The box and the clip: whatever is asked, what goes out is inside, exactly."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, DenseRows, Role, SparseRows
from gracezo.core.box import Box, Clipped, ClipToBox, SparsePoints
from gracezo.core.keys import Key
from gracezo.core.moves import Moves, Wave
from gracezo.core.places import Place, dense, replaced
from gracezo.core.shuffle import Shuffle
from gracezo.core.types import FloatArray
from gracezo.evaluators.priced import parts


def numbers(*magnitudes: float) -> st.SearchStrategy[float]:
    return st.builds(lambda m, u: m * u, st.sampled_from(magnitudes), st.floats(-1.0, 1.0))


NUMBERS = numbers(1e-300, 1e-20, 1e-9, 0.1, 1.0, 3.0, 1e6, 1e300)


@st.composite
def boxes(draw: st.DrawFn, bounds: st.SearchStrategy[float] = NUMBERS, d: int = 5) -> tuple[Box, FloatArray]:
    """Return a box, of any width down to a few units in the last place, and a point of it."""
    lower, upper, x = np.empty(d), np.empty(d), np.empty(d)
    for i in range(d):
        a = draw(bounds)
        kind = draw(st.sampled_from(["fixed", "ulps", "wide", "below", "above", "open"]))
        if kind == "ulps":
            b = a
            for _ in range(draw(st.integers(1, 4))):
                b = float(np.nextafter(b, np.inf))
        else:
            b = a if kind == "fixed" else draw(bounds)
        lower[i], upper[i] = min(a, b), max(a, b)
        middle = 0.5 * lower[i] + 0.5 * upper[i]
        x[i] = draw(st.sampled_from([lower[i], upper[i], min(max(middle, lower[i]), upper[i])]))
        lower[i] = -np.inf if kind in ("below", "open") else lower[i]
        upper[i] = np.inf if kind in ("above", "open") else upper[i]
    return Box.of(lower, upper, d), x


def strictly_inside(box: Box, x: FloatArray) -> bool:
    return all(lo <= v <= hi for lo, v, hi in zip(box.lower, x, box.upper, strict=True))


@given(boxes(), st.lists(NUMBERS, min_size=5, max_size=5), st.floats(1.0, 1e6))
def test_inward_steps_stay_inside_and_use_the_room(
    drawn: tuple[Box, FloatArray], steps: list[float], stretch: float
) -> None:
    box, x = drawn
    wanted = np.array(steps)
    held = box.inward(x, np.arange(5), wanted, stretch)
    assert (np.abs(held) <= np.abs(wanted)).all()
    for i in range(5):
        room = {-1.0: x[i] - box.lower[i], 1.0: box.upper[i] - x[i]}
        # Next to nothing, below the normal numbers, a quotient is rounded by more; the clip holds it.
        least = stretch * float(np.nextafter(0.0, 1.0))
        assert abs(held[i]) * stretch <= room[np.copysign(1.0, held[i])] * (1 + 1e-15) + least
        if room[np.copysign(1.0, wanted[i])] >= abs(wanted[i]) * stretch:
            assert held[i] == wanted[i]  # what fits is left alone
        else:
            assert abs(held[i]) == pytest.approx(
                min(abs(wanted[i]), max(room.values()) / stretch), rel=1e-12, abs=1e-322
            )
    assert all(held[i] == 0.0 for i in range(5) if box.lower[i] == box.upper[i])


@given(boxes(), st.lists(NUMBERS, min_size=10, max_size=10), st.booleans())
def test_nothing_gets_over_the_fence(drawn: tuple[Box, FloatArray], steps: list[float], dense: bool) -> None:
    box, x = drawn
    rows = np.array(steps).reshape(2, 5)
    offsets = (
        DenseRows(rows) if dense else SparseRows(np.array([0, 5, 10]), np.tile(np.arange(5), 2), rows.ravel())
    )
    plain = Ask(x, offsets, Role.PROBE, 3)
    clipped = ClipToBox(box)(plain)
    assert (clipped.base is x, clipped.role, clipped.reserve, len(clipped)) == (True, Role.PROBE, 3, 2)
    sent = pickle.loads(pickle.dumps(clipped.offsets))  # as a worker gets it
    for row in range(2):
        point = clipped.point(row)
        assert strictly_inside(box, point)
        assert point.tobytes() == np.clip(plain.point(row), box.lower, box.upper).tobytes()
        assert point.tobytes() == Ask(x, sent, Role.PROBE).point(row).tobytes()
        assert point.tobytes() == clipped.take(np.array([row])).point(0).tobytes()
    assert clipped.head(1).point(0).tobytes() == clipped.point(0).tobytes()


@pytest.mark.parametrize("lean", [False, True])
def test_sets_of_very_many_coordinates_are_cut_where_they_would_leave(lean: bool) -> None:
    d = 40_000
    x = np.full(d, 0.25) if lean else np.linspace(0.0, 1.0, d)
    base = (Place.constant(0.25, d) if lean else Place.at(x)).replaced(np.array([7]), np.array([1.5]))
    x[7] = 1.0  # it is outside, and brought in
    order = Shuffle(d, Key(1), np.random.Generator.standard_normal)
    moves = tuple(Wave(order, 0, stop, factor) for stop in (50, d // 2, d) for factor in (1e-3, 0.5))
    box = Box.of(0.0, 1.0, d)
    asked = ClipToBox(box)(Ask(base.stand_in, Moves(moves), Role.PROBE))
    sent = pickle.loads(pickle.dumps(asked.offsets))
    assert len(pickle.dumps(asked.offsets)) < 2_000  # not the bounds of each coordinate
    for row, move in enumerate(moves):
        expected = np.clip(x + move.at(np.arange(d), x), 0.0, 1.0)
        assert np.array_equal(asked.point(row), expected)
        assert np.array_equal(Ask(asked.base, sent, Role.PROBE).point(row), expected)
        assert np.array_equal(asked.take(np.array([row])).point(0), expected)
        assert np.array_equal(dense(asked.reached(row)), expected)
        priced = x.copy()
        for where, values in parts(asked, row):
            priced[where] += values
        assert np.allclose(priced, expected, rtol=0.0, atol=1e-15)
    assert asked.base[np.array([6, 7])].tolist() == [x[6], 1.0]


def test_sets_that_cannot_leave_are_left_alone() -> None:
    base = Place.constant(0.5, 40_000).stand_in
    move = Wave(Shuffle(40_000, Key(1), np.random.Generator.standard_normal), 0, 40_000)
    clip = ClipToBox(Box.of(0.0, 1.0, 40_000))
    for reach, cut in ((0.499, False), (0.501, True)):
        rows = Moves((move.times(reach / move.reach),))
        asked = clip(Ask(base, rows, Role.PROBE))
        assert (asked.offsets is not rows) == cut
        assert asked.base is base


def test_a_rounded_sum_does_not_leave() -> None:
    x, step = np.array([-1.0]), np.array([-1e-20 - -1.0])
    assert x[0] + step[0] > -1e-20  # the way to the bound is rounded, and its end lies beyond
    clipped = ClipToBox(Box.of(-2.0, -1e-20, 1))(Ask(x, SparseRows.single(np.array([0]), step), Role.STEP))
    assert clipped.point(0)[0] == -1e-20
    assert isinstance(clipped.offsets, SparsePoints)


def test_a_base_outside_is_brought_in_and_looked_at_once() -> None:
    clip = ClipToBox(Box.of(0.0, 1.0, 2))
    base = np.array([2.0, 0.5])
    first = clip(Ask.at(base, Role.STEP))
    assert first.point(0).tolist() == [1.0, 0.5]
    assert clip(Ask.at(base, Role.STEP)).base is first.base


def test_rows_of_any_kind_are_cut_once() -> None:
    clip = ClipToBox(Box.of(0.0, 1.0, 2))
    offsets = Clipped(DenseRows(np.ones((1, 2))), Box.of(0.0, 1.0, 2))
    assert clip(Ask(np.zeros(2), offsets, Role.STEP)).offsets is offsets


def test_one_number_for_all_takes_no_room() -> None:
    box = Box.of(-np.inf, np.ones(10**6), 10**6)
    assert box.lower.strides == box.upper.strides == (0,)
    assert box.as_json() == {"lower": None, "upper": 1.0}
    mixed = Box.of(np.array([0.0, -np.inf]), np.array([1.0, 1.0]), 2)
    assert mixed.as_json() == {"lower": [0.0, None], "upper": 1.0}


def test_the_free_coordinates() -> None:
    box = Box.of(np.array([0.0, 1.0, -np.inf]), np.array([0.0, 2.0, np.inf]), 3)
    assert box.free.tolist() == [1, 2]
    assert box.inside(np.array([[0.0, 1.5, 9.0], [0.1, 1.5, 9.0]])).tolist() == [True, False]


def test_a_box_may_have_places_for_bounds() -> None:
    # The walls of a run without bounds are such: infinite, but where a kink was met.
    lower, upper = (Place.constant(end, 1000).stand_in for end in (-np.inf, np.inf))
    kinks, at = np.array([3, 700]), np.array([-2.0, 0.5])
    box = Box(replaced(lower, kinks, at), upper)
    down, up = box.room(np.ones(1000), np.array([3, 4, 700]))
    assert down.tolist() == [3.0, np.inf, 0.5]
    assert np.all(up == np.inf)
