"""Looks to both sides: how far, how often, and what they are worth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.auto.rooms import written

import gracezo
from gracezo.core.asks import Ask, Point, Role
from gracezo.core.moves import Few
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Look, Request, Room, Stencil, answered
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.auto.support.refresh import Refresh
from gracezo.problems import Attack
from gracezo.problems.base import Benchmark

Objective = Callable[[FloatArray], float]


def noisy(fun: Benchmark, level: float, seed: int) -> Objective:
    random = np.random.default_rng([seed, 1])
    deviation = level * fun(fun.x0)
    return lambda x: fun(x) + deviation * float(random.standard_normal())


# ------------------------------------------------------------ one look


@settings(max_examples=50)
@given(slope=st.floats(-5, 5), curvature=st.floats(-5, 5), cubic=st.floats(-5, 5), eps=st.floats(1e-3, 1.0))
def test_both_sides_are_free_of_curvature(slope: float, curvature: float, cubic: float, eps: float) -> None:
    def f(t: float) -> float:
        return slope * t + curvature * t**2 / 2 + cubic * t**3 / 6

    change = Change(f(eps), f(-eps), f(0.5 * eps))
    assert change.odd == pytest.approx(slope * eps + cubic * eps**3 / 6, abs=1e-12)
    assert change.even == pytest.approx(curvature * eps**2 / 2, abs=1e-12)
    # What a cubic term leaves half-way: T/6·((ε/2)³ − ε³/2).
    assert change.left == pytest.approx(-cubic * eps**3 / 16, abs=1e-12)


def test_a_look_is_repeated_at_other_points_and_averaged() -> None:
    heard: list[Change] = []
    request = Request(
        Few(np.array([1]), np.array([2.0])), Role.PROBE, heard.append, Stencil.CENTRAL, repeats=2
    )
    steps = answered(Point(np.zeros(3), 1.0), [request])
    ask = next(steps)
    assert isinstance(ask, Ask)
    points = [float(ask.point(row)[1]) for row in range(len(ask))]
    assert points == pytest.approx([2.0, -2.0, 1.9, -1.9])
    with pytest.raises(StopIteration):
        steps.send(np.array([1.0 + 2.0, 1.0 - 2.0, 1.0 + 3.8, 1.0 - 3.8]))
    assert heard[0].odd == pytest.approx(0.5 * (2.0 + 4.0))


def test_errors_of_pairs_follow_noise_distance_and_repetition() -> None:
    pairs = Pairs(noise=0.2)
    assert pairs.error(0.1) == pytest.approx(0.2 / (math.sqrt(2.0) * 0.1))
    assert pairs.error(0.1, often=4) == pytest.approx(pairs.error(0.1) / 2.0)
    assert pairs.often(1.0, 8.0) == 1
    assert pairs.often(1.0, 4.0) == 4
    assert pairs.often(1.0, 0.0) == pairs.repeats == 1


def test_a_kink_shows_only_where_f_bends_by_more_than_noise() -> None:
    pairs = Pairs(noise=1e-3)
    assert not pairs.shows_kinks(Change(0.02, 0.02, 0.005))
    assert pairs.shows_kinks(Change(0.1, 0.1, 0.025))


def test_where_looks_go_to_both_sides_a_refresh_has_signs_of_its_own() -> None:
    for both in (True, False):
        differences = Differences()
        differences.centre(np.zeros(1000), 1.0)
        differences.values.hear(1e-6)
        if both:
            pairs = Pairs(1e-6)
            pairs.begin(0.1, Change(0.1, -0.1, 0.05))
            differences.look_to_both_sides(pairs)
        walls = Walls()
        walls.centre(np.zeros(50))
        support = Support(differences, walls)
        for coordinate in range(50):
            support.add(coordinate, 1.0, 1.0)
        refresh = Refresh(support, differences, walls)
        refresh.begin(np.random.default_rng(1), 0.0)
        (root,) = refresh.requests(1)
        assert bool((written(root).values > 0.0).any()) == both
        assert (written(root).values < 0.0).any()


def test_repeated_looks_tell_that_noise_is_larger_than_assumed() -> None:
    random = np.random.default_rng(0)
    for actual, kept in ((1e-3, True), (5e-3, False)):
        differences = Differences()
        differences.centre(np.zeros(4), 1.0)
        differences.values.hear(1e-3)
        pairs = Pairs(1e-3)
        pairs.begin(0.1, Change(0.1, -0.1, 0.05))
        differences.look_to_both_sides(pairs)
        look = Look(0.1, Stencil.CENTRAL, 1e-2, 0.0, repeats=40)
        heard: list[Change] = []
        request = look.request(Few(np.arange(4), np.ones(4)), Role.PROBE, heard.append)
        steps = answered(Point(np.zeros(4), 1.0), [request])
        ask = next(steps)
        assert isinstance(ask, Ask)
        values = 1.0 + np.array([ask.point(row).sum() for row in range(80)])
        with pytest.raises(StopIteration):
            steps.send(values + actual * random.standard_normal(80))
        (change,) = heard
        assert change.degrees == 39
        assert math.sqrt(change.noise) == pytest.approx(1.1 * actual, rel=0.3)  # nearer looks are scaled up
        differences.read(look, change)
        assert (differences.noise == 1e-3) == kept
        assert differences.noise == pytest.approx(1e-3 if kept else 5.5e-3, rel=0.3)
        assert pairs.noise == differences.noise


def test_a_refresh_is_not_repeated_however_often_the_search_looks() -> None:
    pairs = Pairs(1e-4)
    assert pairs.sharpen(1.0, 1.0)
    assert pairs.repeats == 4
    look = pairs.refresh(1.0)
    assert look.repeats == 1
    # In units of its curvature, a slope that one look tells from nothing promises a fraction of the noise.
    assert 0.5 * (constants.TRUST * look.fixed) ** 2 <= 0.25 * pairs.noise * (1.0 + 1e-9)


def test_noise_that_grows_with_f_is_told_from_noise_that_was_underestimated() -> None:
    for size, louder, grows, noise in (
        (1.0, 4.0, True, 1e-3),  # f is four times as large there, and so is its noise
        (1.0, 1.7, False, 1.7e-3),
        (1.0, 20.0, False, 2e-2),  # more than f itself
        (4.0, 4.0, False, 4e-3),  # f is no larger there
    ):
        pairs = Pairs(1e-3)
        pairs.begin(0.1, Change(0.1, -0.1, 0.05))
        look = Look(0.1, Stencil.CENTRAL, 1e-2, 0.0, repeats=40)
        change = Change(4.1, 3.9, noise=(louder * 1e-3) ** 2, degrees=39)
        pairs.read(look, change, size)
        assert pairs.grows == grows
        assert pairs.noise == pytest.approx(noise)
        if grows:  # once: what is louder still is noise
            pairs.read(look, change, size)
            assert pairs.noise == pytest.approx(4e-3)


def test_looks_go_as_far_as_noise_asks_and_nearer_where_it_grows() -> None:
    def bent(noise: float, grows: bool = False) -> float:
        """By how much of |f| a look at 10,000 coordinates bends it."""
        differences = Differences()
        differences.centre(np.zeros(10_000), 1.0)
        differences.values.hear(noise)
        pairs = Pairs(noise)
        if grows:
            look = Look(0.1, Stencil.CENTRAL, 1e-2, 0.0, repeats=40)
            pairs.read(look, Change(4.1, 3.9, noise=(4.0 * noise) ** 2, degrees=39), 1.0)
        differences.look_to_both_sides(pairs)
        differences.curvatures.assume(1.0)
        return 0.5 * 10_000 * differences.length(10_000.0) ** 2

    assert bent(1e-6) == pytest.approx(0.5, rel=1e-3)
    assert bent(2e-4) == pytest.approx(2.0, rel=1e-3)  # each of them by the noise
    assert bent(1e-2) == pytest.approx(4.0, rel=1e-3)
    assert bent(2e-4, grows=True) == pytest.approx(0.5, rel=1e-3)


def test_how_far_f_bends_regularly_is_asked_while_noise_hides_it() -> None:
    pairs = Pairs(1e-3)
    pairs.begin(0.01, Change(1e-2, -1e-2, 5e-3 + 3e-3))  # noise makes up a cubic term
    assert pairs.look(1.0, 1e3).eps < 0.01  # what is so large needs no better look
    look = pairs.look(1.0, 0.3)
    assert look.stencil is Stencil.CHECKED
    assert look.eps == pytest.approx(0.02)
    pairs.read(look, Change(2e-2, -2e-2, 1e-2))
    farther = pairs.look(1.0, 0.3)
    assert farther.eps == pytest.approx(0.04)
    assert farther.relative < look.relative


def test_pairs_stay_within_the_room_of_both_sides() -> None:
    differences = Differences()
    differences.centre(np.zeros(10), 1.0)
    differences.values.hear(1e-4)
    pairs = Pairs(1e-4)
    pairs.begin(0.3, Change(0.3, -0.2, 0.14))
    differences.look_to_both_sides(pairs)
    free = differences.across(10.0, 1.0)
    assert free.stencil in (Stencil.CENTRAL, Stencil.CHECKED)
    cut = differences.across(10.0, 1.0, room=Room(ahead=1.0, both=0.5 * free.eps))
    assert cut.eps == 0.5 * free.eps
    wall = differences.across(10.0, 1.0, room=Room(ahead=1.0, both=0.0))
    assert wall.stencil is Stencil.FORWARD  # one side is left


def test_kinks_are_asked_on_one_side() -> None:
    fun = Attack()  # even in every coordinate at its start: both sides together would show nothing
    result = gracezo.minimize(noisy(fun, 1e-5, 0), fun.x0, seed=0, max_queries=300)
    assert fun(result.x) < 0.35 * fun(fun.x0)


# ------------------------------------------------------------ what it takes


def test_an_eps_of_the_user_is_kept_with_noise_too() -> None:
    asked: list[FloatArray] = []

    def f(x: FloatArray) -> float:
        asked.append(x.copy())
        return float(((x - 1.0) ** 2).sum()) + 1e-9 * len(asked)

    gracezo.minimize(f, np.zeros(4), seed=0, max_queries=6, noise=1e-9, options={"eps": 1e-3})
    near, far = (float(np.abs(x).max()) for x in asked[1:3])
    assert 0.5e-3 <= near <= 1.5e-3
    assert far == pytest.approx(10.0 * near)
