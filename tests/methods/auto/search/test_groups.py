"""Groups: sums that add up, whatever is cut, labelled and taken out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.auto.rooms import World

from gracezo.methods.auto.search.groups import Family, Group, Row, Several
from gracezo.methods.auto.search.order import Order


def test_a_cut_shares_the_value_by_subtraction() -> None:
    one, two = Group(10, 30, 5.0, 3e-9, 20.0, 1e-3).parts([(14, 2.0, 4e-9, 1e-4)], [4.0, 16.0])
    assert (one.start, one.stop, two.start, two.stop) == (10, 14, 14, 30)
    assert one.u + two.u == 5.0
    assert (one.squares, two.squares) == (4.0, 16.0)
    assert one.error == 4e-9
    assert two.error == pytest.approx(5e-9)
    assert (one.eps, two.eps) == (1e-4, 1e-3)


def families(groups: list[Group]) -> list[Family]:
    return list({id(group.family): group.family for group in groups if group.family is not None}.values())


@settings(max_examples=80)
@given(n=st.integers(2, 40), seed=st.integers(0, 10**6), moves=st.lists(st.integers(0, 10**6), max_size=25))
def test_sums_are_true_through_cuts_labels_and_takes(n: int, seed: int, moves: list[int]) -> None:
    world = World(np.random.default_rng(seed).normal(size=n), seed)
    order, open_ = world.order, [world.labelled(error=0.0)]
    for move in moves:
        kind, choice = move % 4, np.random.default_rng(move)
        group = open_[int(choice.integers(len(open_)))]
        inside = slice(group.start, group.stop)
        if kind == 0 and group.size > 2:  # into two or three
            stops = np.sort(
                choice.choice(np.arange(group.start + 1, group.stop), choice.integers(1, 3), False)
            )
            edges = [group.start, *stops.tolist(), group.stop]
            sums = [float(world.shares[a:b].sum()) for a, b in itertools.pairwise(edges)]
            squares = [order.left(a, b) for a, b in itertools.pairwise(edges)]
            cuts = [(stop, u, 0.0, 0.0) for stop, u in zip(edges[1:-1], sums, strict=False)]
            open_.remove(group)
            open_ += group.parts(cuts, squares)
        elif kind == 1:
            group.label(float(np.arange(n)[inside] @ world.shares[inside]), 0.0)
            assert group.direct
        elif kind == 2:
            group.doubt()
            assert group.family is None
        elif len(left := np.flatnonzero(order.weights[inside])):
            position = group.start + int(choice.choice(left))
            share = float(world.shares[position])
            weight = order.remove(position)
            group.take(position, share, 0.0, weight**2)
    covered = sorted((group.start, group.stop) for group in open_)
    assert [start for start, _ in covered] == [0, *(stop for _, stop in covered[:-1])]
    for group in open_:
        inside = slice(group.start, group.stop)
        assert group.u == pytest.approx(world.shares[inside].sum(), abs=1e-10)
        assert group.squares == pytest.approx(order.left(group.start, group.stop), abs=1e-10)
        assert group.error == 0.0
    for family in families(open_):
        assert all(member.family is family for member in family.members)
        assert all(any(member is group for group in open_) for member in family.members)
        true = sum(
            np.arange(group.start, group.stop) @ world.shares[group.start : group.stop]
            for group in family.members
        )
        assert family.total == pytest.approx(true, abs=1e-8)


def test_k_of_one_part_gives_k_of_the_other() -> None:
    world = World(np.array([1.0, -2.0, 0.5, 3.0]))
    one, two = world.labelled().parts([(2, float(world.shares[:2].sum()), 0.0, 0.0)], [1.0, 1.0])
    one.label(float(np.arange(2) @ world.shares[:2]), 3e-9)
    assert two.family is not None
    assert two.family.members == [two]
    assert two.family.total == pytest.approx(np.arange(2, 4) @ world.shares[2:])
    assert two.family.blur == pytest.approx(math.hypot(4e-9, 3e-9))
    assert one.direct
    assert not two.direct


def test_what_is_taken_out_leaves_its_error_and_forgets_what_one_spike_said() -> None:
    group = Group(
        0, 9, 5.0, 3e-9, 9.0, 0.0, rows=(Row(2, np.ones(3), 1.0, 1e-9, 0.0),), several=Several.SURE, streak=3
    )
    group.label(20.0, 1e-9)
    assert group.family is not None
    group.take(7, 2.0, 4e-9, 1.5)
    assert (group.u, group.squares) == (3.0, 7.5)
    assert group.error == pytest.approx(5e-9)
    assert (group.rows, group.several, group.streak) == ((), Several.NO, 0)
    # An error of the coordinate moves K about the centre by how far it is from there.
    assert group.family.total == 6.0
    assert group.family.blur == pytest.approx(math.hypot(1e-9, 3.0 * 4e-9))


@pytest.mark.parametrize(
    ("several", "streak", "left", "keeps"),
    [
        (Several.NO, 0, Several.NO, True),
        (Several.UNSURE, 1, Several.UNSURE, True),
        (Several.UNSURE, 2, Several.NO, False),  # after two cuts in a row a wrong candidate is forgiven
        (Several.SURE, 5, Several.SURE, True),
    ],
)
def test_a_part_that_holds_everything_inherits(
    several: Several, streak: int, left: Several, keeps: bool
) -> None:
    one, two = World(np.ones(6)).labelled().parts([(3, 1.0, 0.0, 0.0)], [3.0, 3.0])
    family = one.family
    assert family is not None
    two.inherit(streak, several)
    assert (two.streak, two.several) == (streak, left)
    assert (two.family is family) == keeps
    assert (two in family.members) == keeps
    assert two.spread == max(1.0, 3 / 2.0**streak)


def test_a_refutation_that_is_sure_stays() -> None:
    group = Group(0, 4, 1.0, 0.0, 4.0, 0.0)
    group.refute(Several.SURE)
    group.refute(Several.UNSURE)
    assert group.several is Several.SURE


def test_an_order_knows_its_squares_its_room_and_what_was_taken() -> None:
    order = Order(np.array([4, 2, 9]), np.array([1.0, -2.0, 0.5]), (np.array([3.0, 2.0, 5.0]), np.ones(3)))
    assert (order.squares(0, 2), order.left(1, 3)) == (5.0, 4.25)
    assert (order.room(0, 3).ahead, order.room(0, 3).both) == (2.0, 1.0)
    assert order.remove(1) == -2.0
    assert (order.squares(0, 2), order.left(0, 2), len(order)) == (5.0, 1.0, 3)
