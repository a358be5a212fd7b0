"""The pure pieces of `auto`, fed with values: no objective is needed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.asks import Ask, Point, Role
from gracezo.core.box import Box
from gracezo.core.types import FloatArray
from gracezo.methods.auto.here import Landing
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import (
    AHEAD,
    BOTH,
    CHECKED,
    Change,
    Heard,
    Request,
    answered,
    together,
)
from gracezo.methods.auto.step.line import Trial, line_search
from gracezo.methods.auto.step.quasi_newton import Model
from gracezo.methods.auto.step.stepper import Timing
from gracezo.methods.auto.ways import Ledger


def test_eps_follows_the_size_of_the_set() -> None:
    differences = Differences()
    differences.centre(np.zeros(10_000), 2.0)
    one, many = differences.across(1.0, 0.0), differences.across(10_000.0, 0.0)
    assert many.eps < one.eps
    # One coordinate of the curvature that is guessed, all of it uncertain, and a typical one beside it.
    assert one.eps == pytest.approx(math.sqrt(2.0 * differences.rounding / (2.0 * differences.density)))


def test_a_fixed_eps_is_kept() -> None:
    differences = Differences(1e-5)
    differences.centre(np.zeros(3), 1.0)
    assert differences.size(123.0, 4.0) == 1e-5


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 8))
def test_quasi_newton_ends_on_a_quadratic(seed: int, n: int) -> None:
    """BFGS with exact line searches minimises a quadratic of n unknowns in n steps."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + n * np.eye(n)
    x, model = rng.normal(size=n), Model(50)
    for _ in range(n):
        g = hessian @ x
        if np.linalg.norm(g) < 1e-10:
            break
        p = model.direction(g, np.diag(hessian).copy())
        assert g @ p < 0.0
        t = -(g @ p) / (p @ hessian @ p)
        model.learn(t * p, hessian @ (t * p), -t * g)
        x = x + t * p
    assert np.linalg.norm(hessian @ x) < 1e-6


def test_a_model_grows_with_its_support() -> None:
    model = Model(5)
    model.learn(np.array([1.0]), np.array([4.0]), np.array([1.0]))
    direction = model.direction(np.array([4.0, 3.0]), np.array([1.0, 3.0]))
    assert direction == pytest.approx([-1.0, -1.0])


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), pairs=st.integers(1, 8))
def test_the_model_agrees_with_its_last_pair_wherever_it_begins(seed: int, n: int, pairs: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + 0.1 * np.eye(n)
    model = Model(50)
    for _ in range(pairs):
        step = rng.normal(size=n)
        model.learn(step, hessian @ step, hessian @ step)
    diagonal = 10.0 ** rng.uniform(-6.0, 6.0, n)
    assert model.direction(-(hessian @ step), diagonal) == pytest.approx(step, rel=1e-6)


def test_what_waits_without_limit_is_not_lost_by_a_note_of_no_rounds() -> None:
    timing = Timing(6.0, ledger := Ledger(1))
    timing.offer(math.inf)  # slopes of which nothing is known
    timing.spend(0, only_for_step=1)
    assert not timing.step_pays(gain=1.0, promise=10.0, cost=1.0, rest=10.0)
    ledger.rounds = 1
    timing.spend(1)
    assert timing.step_pays(gain=1.0, promise=10.0, cost=1.0, rest=10.0)


class TestWhereTheModelBegins:
    """With one coordinate that no pair has touched, its step shows what the model begins from."""

    def begun(self, pairs: list[tuple[FloatArray, FloatArray]], diagonal: FloatArray) -> float:
        model = Model(50)
        for step, change in pairs:
            model.learn(step, change, change)
        untouched = np.zeros(len(diagonal))
        untouched[-1] = -1.0
        return 1.0 / float(model.direction(untouched, diagonal)[-1])

    def pairs(self, curvatures: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        steps = np.random.default_rng(0).choice([-1.0, 1.0], (5, len(curvatures)))
        return [(step, curvatures * step) for step in steps]

    def test_from_the_measured_curvatures_where_pairs_bear_them_out(self) -> None:
        measured = 10.0 ** np.linspace(-3.0, 3.0, 21)
        assert self.begun(self.pairs(measured[:20]), measured) == pytest.approx(1000.0)

    def test_from_all_alike_where_the_measured_are_out_of_date(self) -> None:
        measured = np.append(10.0 ** np.linspace(-3.0, 3.0, 20), 1000.0)
        assert self.begun(self.pairs(np.full(20, 0.1)), measured) == pytest.approx(0.1)

    def test_from_something_between_where_that_fits_best(self) -> None:
        measured = 10.0 ** np.append(np.linspace(-3.0, 3.0, 20), 3.0)
        half = 0.1 * np.sqrt(measured)
        assert self.begun(self.pairs(half[:20]), measured) == pytest.approx(half[-1])

    def test_in_a_larger_scale_where_coordinates_are_coupled(self) -> None:
        together = np.ones(20)
        assert self.begun([(together, np.full(20, 20.0))], np.ones(21)) == pytest.approx(20.0)

    def test_never_below_what_was_measured(self) -> None:
        measured = 10.0 ** np.linspace(-1.0, 1.0, 21)
        assert self.begun(self.pairs(0.01 * measured[:20]), measured) == pytest.approx(10.0)

    def test_below_one_guess_for_all(self) -> None:
        assert self.begun(self.pairs(np.full(20, 0.01)), np.ones(21)) == pytest.approx(0.01)

    def test_not_in_the_scale_of_a_single_kink(self) -> None:
        change = np.ones(20)
        change[7] = 1e6
        assert self.begun([(np.ones(20), change)], np.ones(21)) == pytest.approx(1.0)


def test_a_request_without_an_answer_is_asked_again_a_little_shorter() -> None:
    heard: list[Change] = []
    requests = [Request(np.array([j]), np.array([2.0 + j]), Role.PROBE, heard.append) for j in range(3)]
    steps = answered(Point(np.zeros(3), 1.0), requests)
    first = next(steps)
    assert isinstance(first, Ask)
    assert len(first) == 3
    answer = np.array([1.0 + 2.0, np.nan, 1.0 + 4.0])
    for share in (0.99, 0.99**2):
        again = steps.send(answer)
        assert isinstance(again, Ask)
        assert [again.point(row).tolist() for row in range(len(again))] == [[0.0, share * 3.0, 0.0]]
        answer = np.array([np.nan if share == 0.99 else 1.0 + share * 3.0])
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert [change.odd for change in heard] == pytest.approx([2.0, 3.0, 4.0])
    met = end.value.value
    # The lowest point met is one that was asked, not one whose value was made up from a shorter look.
    assert (met.indices.tolist(), met.steps.tolist(), met.value) == ([0], [2.0], 3.0)


def two_looks(
    shares: tuple[float, ...],
) -> tuple[Request, Request, list[Change], list[Change]]:
    """Two looks that foresee changes of 3 and -1, up to 0.1 and 0.05."""
    heard: tuple[list[Change], list[Change]] = ([], [])
    one = Request(np.array([4, 7]), np.array([1.0, 2.0]), Role.PROBE, heard[0].append, shares, 1, 3.0, 0.1)
    two = Request(np.array([2]), np.array([5.0]), Role.REFRESH, heard[1].append, shares, 2, -1.0, 0.05)
    return one, two, *heard


def slope_only(shares: tuple[float, ...], change: float) -> Change:
    return Change(change) if shares is AHEAD else Change(change, -change)


@pytest.mark.parametrize("shares", [AHEAD, BOTH])
@given(off=st.floats(-0.149, 0.149))
def test_one_query_answers_for_two_when_all_is_as_foreseen(shares: tuple[float, ...], off: float) -> None:
    one, two, first, second = two_looks(shares)
    joint = together(one, two, lambda _: pytest.fail("nothing is left to ask"))
    assert joint is not None
    assert dict(zip(joint.indices.tolist(), joint.steps.tolist(), strict=True)) == {4: 1.0, 7: 2.0, 2: 5.0}
    assert (joint.shares, joint.repeats) == (shares, 2)
    joint.absorb(slope_only(shares, 2.0 + off))
    assert [change.odd for change in first] == [3.0]
    assert [change.odd for change in second] == [pytest.approx(-1.0 + off)]


@pytest.mark.parametrize("shares", [AHEAD, BOTH])
@given(first_is=st.floats(-9.0, 9.0), second_is=st.floats(-9.0, 9.0))
def test_what_is_not_as_foreseen_is_told_apart_by_one_more_query(
    shares: tuple[float, ...], first_is: float, second_is: float
) -> None:
    one, two, first, second = two_looks(shares)
    left: list[Request] = []
    joint = together(one, two, left.append)
    assert joint is not None
    joint.absorb(slope_only(shares, first_is + second_is))
    if abs(first_is + second_is - 2.0) <= 0.15:
        assert not left
        return
    (alone,) = left
    assert (first, second) == ([], [])
    assert (alone.indices.tolist(), alone.role, alone.repeats) == ([2], Role.REFRESH, 2)
    alone.absorb(slope_only(shares, second_is))
    assert [change.odd for change in first] == [pytest.approx(first_is, abs=1e-12)]
    assert [change.odd for change in second] == [second_is]


def test_looks_of_different_kinds_are_not_made_together() -> None:
    for shares in ((AHEAD, BOTH), (BOTH, AHEAD), (CHECKED, CHECKED)):
        one, two = two_looks(shares[0])[0], two_looks(shares[1])[1]
        assert together(one, two, lambda _: None) is None


def test_the_lowest_point_met_is_kept_until_it_is_left_behind() -> None:
    landing = Landing()
    here = Point(np.array([0.0, 0.5]), 3.0)
    landing.note(here, Heard(np.array([1]), np.array([0.7]), 2.0))
    landing.note(here, Heard(np.array([0]), np.array([9.0]), 2.5))
    there = Point(np.array([5.0, 5.0]), 2.5)
    landing.note(there, Heard(np.array([0]), np.array([1.0]), 2.6))
    assert landing.met_from(here.x)
    assert not landing.met_from(there.x)
    point = landing.point(None)
    assert (point.x.tolist(), point.value) == ([0.0, 1.2], 2.0)
    assert landing.point(Box.of(0.0, 1.0, 2)).x.tolist() == [0.0, 1.0]
    landing.note(there, Heard(np.array([0]), np.array([1.0]), 1.0))
    assert (landing.point(None).x.tolist(), landing.value) == ([6.0, 5.0], 1.0)


def straight(t: float) -> FloatArray:
    return np.array([t])


def test_a_trial_without_a_value_shortens_the_step() -> None:
    steps = line_search(Point(np.zeros(1), 0.0), np.array([0]), straight, -2.0, expand=0.6, batch=1)
    said = [next(steps), *(steps.send(np.array([np.nan])) for _ in range(2))]
    assert [ask.point(0)[0] for ask in said if isinstance(ask, Ask)] == pytest.approx([1.0, 0.9, 0.27])
    with pytest.raises(StopIteration) as end:
        steps.send(np.array([-0.4]))
    assert [(trial.t, trial.change) for trial in end.value.value] == [(pytest.approx(0.27), -0.4)]


def tried(value: Callable[[float], float], batch: int) -> tuple[list[list[float]], list[Trial]]:
    """Search along a line of slope -2; return the lengths of each round, and the trials."""
    at = Point(np.zeros(1), 0.0)
    steps = line_search(at, np.array([0]), straight, -2.0, expand=0.6, batch=batch)
    asked: list[list[float]] = []
    said = next(steps)
    while True:
        assert isinstance(said, Ask)
        asked.append([float(said.point(row)[0]) for row in range(len(said))])
        try:
            said = steps.send(np.array([value(t) for t in asked[-1]]))
        except StopIteration as end:
            return asked, end.value


@pytest.mark.parametrize(("batch", "rounds"), [(1, 5), (2, 3), (16, 3)])
def test_no_trial_with_a_value_is_no_descent(batch: int, rounds: int) -> None:
    asked, trials = tried(lambda t: math.nan, batch)
    assert [trial.change for trial in trials] == [math.inf] * 5
    assert len(asked) == rounds


def test_a_batch_tries_two_shorter_lengths_at_once() -> None:
    asked, trials = tried(lambda t: -2.0 * t if t < 0.1 else 1.0, batch=8)
    assert [len(lengths) for lengths in asked] == [1, 2]
    shorter, beside = asked[1]
    assert 0.1 <= shorter <= 0.5
    assert beside == pytest.approx(0.3 * shorter)
    assert trials[0].t == beside


@pytest.mark.parametrize(
    ("batch", "asked"),
    [
        (1, [[1.0], [2.0], [4.0], [8.0], [16.0]]),
        (2, [[1.0], [2.0, 4.0], [8.0, 16.0], [32.0, 64.0]]),
        (8, [[1.0], [2.0, 4.0], [8.0, 16.0, 32.0, 64.0]]),
    ],
)
def test_a_batch_doubles_a_step_several_times_at_once(batch: int, asked: list[list[float]]) -> None:
    lengths, trials = tried(lambda t: -2.0 * t if t < 30.0 else -2.0, batch)
    assert lengths == asked
    assert trials[0].t == 16.0


def test_the_model_forgets_its_oldest_pair_and_grows_with_the_support() -> None:
    rng = np.random.default_rng(0)
    curvature = np.diag([1.0, 3.0, 9.0]) + 0.5
    steps = rng.standard_normal((3, 3))
    full, late = Model(2), Model(2)
    for step in steps:
        full.learn(step, curvature @ step, step)
    for step in steps[1:]:
        late.learn(step, curvature @ step, step)
    slopes, diagonal = rng.standard_normal(5), np.full(5, 2.0)
    found = full.direction(slopes[:3], diagonal[:3])
    assert found == pytest.approx(late.direction(slopes[:3], diagonal[:3]), rel=1e-12)
    # B fits the last pair: along it, the step that is foreseen to undo a change of the gradient is itself.
    assert full.direction(-(curvature @ steps[2]), diagonal[:3]) == pytest.approx(steps[2])
    grown = full.direction(slopes, diagonal)
    assert grown[:3] == pytest.approx(found)
    assert grown[3:] == pytest.approx(-slopes[3:] / 2.0)
    free = np.array([True, True, True, False, True])
    assert full.direction(slopes, diagonal, free)[[0, 1, 2, 4]] == pytest.approx(grown[[0, 1, 2, 4]])
    assert full.direction(slopes, diagonal, free)[3] == 0.0
