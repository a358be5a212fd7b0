"""A method on some coordinates, or on groups of them, asks points of the whole space."""

from __future__ import annotations

import pickle
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, DenseRows, Point, Role, SparseRows
from gracezo.core.box import Box, ClipToBox
from gracezo.core.drive import drive
from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Problem
from gracezo.core.moves import PieceRows
from gracezo.core.places import Place
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.subspace import Subspace
from gracezo.core.types import FloatArray, IntArray
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.point_buffer import PointBuffer
from gracezo.evaluators.serial import Serial
from gracezo.methods import catalog

FINITE = st.floats(-100, 100)
Grouped: TypeAlias = tuple[Subspace, FloatArray, IntArray, Box, FloatArray]


@st.composite
def grouped(draw: st.DrawFn) -> Grouped:
    d = draw(st.integers(1, 8))
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=d, max_size=d)))
    present = np.unique(labels[labels >= 0])
    labels = np.where(labels >= 0, np.searchsorted(present, labels), -1)
    x = np.array(draw(st.lists(FINITE, min_size=d, max_size=d)))
    lengths = np.array(draw(st.lists(st.floats(0.1, 10), min_size=d, max_size=d)))
    room = np.array(draw(st.lists(st.floats(0, 5), min_size=2 * d, max_size=2 * d)))
    box = Box.of(x - room[:d], x + room[d:], d)
    return Subspace.grouped(x, labels, box, lengths), x, labels, box, lengths


@given(grouped(), st.data())
def test_a_displacement_of_groups_is_one_of_their_coordinates(case: Grouped, data: st.DataObject) -> None:
    space, x, labels, box, lengths = case
    assert len(space) == labels.max(initial=-1) + 1
    if space.bounds is None:
        return
    assert np.array_equal(space.place(space.z), x)
    first, second = (
        np.array(data.draw(st.lists(FINITE, min_size=len(space), max_size=len(space)))) for _ in "ab"
    )
    z = space.bounds.clip(space.z + first)
    moved = labels >= 0

    def point(where: FloatArray) -> FloatArray:
        shift = lengths * np.where(moved, (where - space.z)[np.maximum(labels, 0)], 0.0)
        return np.asarray(np.where(moved, box.clip(x + shift), x))

    assert space.place(z) == pytest.approx(point(z), abs=1e-9)
    columns = np.flatnonzero(second)
    sparse = ClipToBox(box)(space.ask(Ask(z, SparseRows.single(columns, second[columns]), Role.PROBE))).point(
        0
    )
    dense = ClipToBox(box)(space.ask(Ask(z, DenseRows(second[None]), Role.PROBE))).point(0)
    assert sparse == pytest.approx(point(z + second), abs=1e-9)
    assert dense == pytest.approx(point(z + second), abs=1e-9)
    assert box.inside(sparse)
    assert box.inside(dense)


def test_a_group_has_the_room_of_the_member_that_has_most() -> None:
    box = Box.of(0.0, 1.0, 4)
    space = Subspace.grouped(np.array([0.0, 1.0, 0.25, 0.25]), np.array([0, 0, 1, 1]), box)
    assert space.bounds is not None
    assert space.bounds.lower.tolist() == [0.0, 0.0]  # 1 down for the second, 1 up for the first
    assert space.bounds.upper.tolist() == [2.0, 1.0]
    assert space.place(np.array([0.5, 0.25])).tolist() == [0.0, 0.5, 0.25, 0.25]


def test_a_run_on_some_coordinates_is_the_run_of_these_alone() -> None:
    """Same values, same count, same trace, whatever lies beside: bit for bit."""
    chosen = np.array([7, 2, 31, 16])
    goal = np.array([0.5, -1.0, 0.75, 3.0])
    x = np.linspace(-1.0, 1.0, 40)

    def small(z: FloatArray) -> float:
        return float((np.array([1.0, 3.0, 0.5, 2.0]) * (z - goal) ** 2).sum())

    def large(whole: FloatArray) -> float:
        rest = np.delete(np.arange(40), chosen)
        assert np.array_equal(whole[rest], x[rest])
        return small(whole[chosen])

    def run(steps: object, start: FloatArray, fun: object) -> Run:
        made = Run(steps, start, Limits(max_queries=60), 5)  # type: ignore[arg-type]
        drive(made, Serial(Objective(fun, (), start.shape)))  # type: ignore[arg-type]
        return made

    problem = Problem(40, bounds=Box.of(-5.0, 5.0, 40))
    space = Subspace.of(x, chosen, problem.bounds)
    inner = catalog.make("auto", space.problem(problem), {})
    f0 = large(x)
    lifted = run(space.minimised(inner.run(space.inward(Point(x, f0)), Key(5))), x, large)
    alone = catalog.make("auto", Problem(4, bounds=Box.of(-5.0, 5.0, 4)), {})
    direct = run(whole_run(alone, x[chosen], f0, Key(5)), x[chosen], small)
    assert lifted.nfev == direct.nfev
    assert lifted.result().fun == direct.result().fun
    assert np.array_equal(lifted.result().x[chosen], direct.result().x)


def test_what_is_known_is_known_of_columns() -> None:
    labels = np.array([1, 0, 0, -1])
    space = Subspace.grouped(np.zeros(4), labels, None, np.array([1.0, 2.0, 4.0, 8.0]))
    known = Problem(
        4, support=np.array([2, 3]), scale=np.array([1.0, 2.0, 2.0, 1.0]), tol=0.1, groups=labels,
        known=(np.zeros((1, 4)), np.zeros(1)),
    )  # fmt: skip
    inner = space.problem(known)
    assert inner.d == 2
    assert inner.support is not None
    assert inner.support.tolist() == [0]
    assert inner.scale is not None
    assert inner.scale.tolist() == [1.0, 1.0]
    assert (inner.known, inner.groups, inner.tol) == (None, None, 0.1)
    assert space.inside(np.array([1, 0])).tolist() == [0, 1, 2]


def test_an_estimate_of_some_coordinates_names_them() -> None:
    def fun(x: FloatArray) -> float:
        return float(3.0 * x[9] - 2.0 * x[4] + 100.0 * x[0])

    x = np.ones(10)
    space = Subspace.of(x, np.array([9, 4, 5]), None)
    inner = catalog.make("auto", space.problem(Problem(10)), {})
    steps = space.estimated(inner.estimate(space.inward(Point(x, fun(x))), 1, Key(0)))  # type: ignore[attr-defined]
    said = next(steps)
    try:
        while True:
            assert isinstance(said, Ask)
            said = steps.send(np.array([fun(said.point(row)) for row in range(len(said))]))
    except StopIteration as end:
        found = end.value
    assert found.size == 10
    assert found.indices.tolist() == [4, 9]
    assert found.values == pytest.approx([-2.0, 3.0], rel=1e-6)


@pytest.mark.parametrize("box", [None, Box.of(-1.0, 1.0, 80_000)])
@pytest.mark.parametrize("lengths", [None, np.random.default_rng(3).uniform(0.5, 2.0, 80_000)])
def test_a_displacement_of_very_many_coordinates_is_the_one_that_is_written_down(
    box: Box | None, lengths: FloatArray | None
) -> None:
    d, rng = 80_000, np.random.default_rng(4)
    x, labels = rng.uniform(-0.9, 0.9, d), np.where(rng.random(d) < 0.1, -1, rng.integers(0, 50, d))
    labels[:50], labels[1_000:60_000] = np.arange(50), 7  # one group is larger than what is said at a time
    written = Subspace.grouped(x, labels, box, lengths)
    places = Subspace.grouped(Place.at(x).stand_in, labels, box, lengths)
    assert np.array_equal(written.z, places.z)
    first, second = rng.normal(size=(2, 50)) * (rng.random((2, 50)) < 0.7)
    z = written.z + first
    columns = rng.permutation(np.flatnonzero(second))
    rows = SparseRows.stack(
        [SparseRows.single(some, second[some]) for some in (columns, columns[:1], columns[:25])]
    )
    here, there = ([space.ask(Ask(z, rows, Role.PROBE)) for _ in range(2)] for space in (written, places))
    assert isinstance(there[0].offsets, PieceRows)
    sent = pickle.loads(pickle.dumps(there[1].offsets))
    buffer = PointBuffer()
    for row in range(3):
        point = here[0].point(row)
        assert not np.array_equal(point, x)
        assert np.array_equal(there[0].point(row), point)
        assert np.array_equal(buffer.show(there[0], row), point)
        assert np.array_equal(Ask(there[1].base, sent, Role.PROBE).point(row), point)
        assert np.max(np.abs(point - here[0].base)) <= there[0].offsets.rows[row].reach * (1.0 + 1e-12)
    assert len({part.name() for part in there[0].offsets.rows}) == 3
