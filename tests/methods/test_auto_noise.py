"""auto on noisy functions: what it finds out, what it asks, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, OutOfQueries, Point, Role
from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Problem
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.estimators.noise import grid, quantum
from gracezo.methods.auto import auto, constants
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import BOTH, CHECKED, Change, Look, Request, Room, answered
from gracezo.methods.auto.method import DRAWS, measured_again
from gracezo.methods.auto.support.coordinates import Support
from gracezo.problems import Attack, Distance, Magnitude
from gracezo.problems.base import Benchmark

Objective = Callable[[FloatArray], float]


def noisy(fun: Benchmark, level: float, seed: int) -> Objective:
    random = np.random.default_rng([seed, 1])
    deviation = level * fun(fun.x0)
    return lambda x: fun(x) + deviation * float(random.standard_normal())


def rounded(fun: Benchmark) -> Objective:
    return lambda x: float(np.float32(fun(x)))


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
    request = Request(np.array([1]), np.array([2.0]), Role.PROBE, heard.append, BOTH, repeats=2)
    steps = answered(Point(np.zeros(3), 1.0), [request])
    ask = next(steps)
    assert isinstance(ask, Ask)
    points = [float(ask.point(row)[1]) for row in range(len(ask))]
    assert points == pytest.approx([2.0, -2.0, 1.8, -1.8])
    with pytest.raises(StopIteration):
        steps.send(np.array([1.0 + 2.0, 1.0 - 2.0, 1.0 + 3.6, 1.0 - 3.6]))
    assert heard[0].odd == pytest.approx(0.5 * (2.0 + 4.0))


def test_errors_of_pairs_follow_noise_distance_and_repetition() -> None:
    pairs = Pairs(noise=0.2, trust=4.0)
    assert pairs.error(0.1) == pytest.approx(0.2 / (math.sqrt(2.0) * 0.1))
    assert pairs.error(0.1, often=4) == pytest.approx(pairs.error(0.1) / 2.0)
    assert pairs.often(1.0, 8.0) == 1
    assert pairs.often(1.0, 4.0) == 4
    assert pairs.often(1.0, 0.0) == pairs.repeats == 1


def test_a_kink_shows_only_where_f_bends_by_more_than_noise() -> None:
    pairs = Pairs(noise=1e-3, trust=4.0)
    assert not pairs.shows_kinks(Change(0.02, 0.02, 0.005))
    assert pairs.shows_kinks(Change(0.1, 0.1, 0.025))


def test_where_looks_go_to_both_sides_a_refresh_has_signs_of_its_own() -> None:
    differences = Differences()
    differences.centre(np.zeros(1000), 1.0)
    differences.noise, both = 1e-6, Pairs(1e-6, 4.0)
    both.begin(0.1, Change(0.1, -0.1, 0.05))
    for pairs in (both, None):
        differences.pairs = pairs
        walls = Walls()
        walls.centre(np.zeros(50))
        support = Support(differences, walls)
        for coordinate in range(50):
            support.add(coordinate, 1.0, 1.0)
        support.plant(np.random.default_rng(1), 0.0)
        (root,) = support.requests(1)
        assert bool((root.steps > 0.0).any()) == (pairs is not None)
        assert (root.steps < 0.0).any()


def test_repeated_looks_tell_that_noise_is_larger_than_assumed() -> None:
    random = np.random.default_rng(0)
    for actual, kept in ((1e-3, True), (5e-3, False)):
        differences = Differences()
        differences.centre(np.zeros(4), 1.0)
        differences.noise, differences.pairs = 1e-3, Pairs(1e-3, 4.0)
        differences.pairs.begin(0.1, Change(0.1, -0.1, 0.05))
        look = Look(0.1, BOTH, 1e-2, 0.0, repeats=40)
        heard: list[Change] = []
        request = look.request(np.arange(4), np.ones(4), Role.PROBE, heard.append)
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
        assert differences.pairs.noise == differences.noise


def test_a_refresh_is_repeated_as_often_as_the_search() -> None:
    pairs = Pairs(1e-4, 4.0)
    once = pairs.refresh(1.0)
    assert pairs.sharpen(1.0, 1.0)
    assert (once.repeats, pairs.refresh(1.0).repeats) == (1, 4)
    assert pairs.refresh(1.0).fixed == pytest.approx(0.5 * once.fixed)


def test_pairs_stay_within_the_room_of_both_sides() -> None:
    differences = Differences()
    differences.centre(np.zeros(10), 1.0)
    differences.noise = 1e-4
    differences.pairs = Pairs(1e-4, 4.0)
    differences.pairs.begin(0.3, Change(0.3, -0.2, 0.14))
    free = differences.across(10.0, 1.0)
    assert free.shares in (BOTH, CHECKED)
    cut = differences.across(10.0, 1.0, room=Room(ahead=1.0, both=0.5 * free.eps))
    assert cut.eps == 0.5 * free.eps
    wall = differences.across(10.0, 1.0, room=Room(ahead=1.0, both=0.0))
    assert len(wall.shares) == 1  # one side is left


# ------------------------------------------------------------ what f is like


@given(st.lists(st.floats(0.5, 100.0), min_size=3, max_size=9, unique=True))
def test_float32_shows_in_the_last_digits(values: list[float]) -> None:
    coarse = np.array(values, np.float32).astype(np.float64)
    step = quantum(coarse)
    if len(np.unique(coarse)) >= 3 and (np.diff(coarse) != 0).sum() >= 2:
        assert step >= np.spacing(np.float32(coarse.min())) / 2**24
        assert (np.rint(np.diff(coarse) / step) * step == np.diff(coarse)).all()


def test_exact_values_have_no_step() -> None:
    random = np.random.default_rng(0)
    assert not any(quantum(random.normal(size=7)) for _ in range(1000))
    assert quantum(np.zeros(5)) == 0.0


@given(
    step=st.floats(1e-3, 1e3),
    base=st.floats(-1e3, 1e3),
    counts=st.lists(st.integers(1, 10_000), min_size=2, max_size=6, unique=True),
)
def test_values_on_a_grid_show_its_step(step: float, base: float, counts: list[int]) -> None:
    found = grid(base + step * np.array([0, 0, *counts]))
    assert found == pytest.approx(math.gcd(*counts) * step, rel=1e-6)


def test_other_values_show_no_grid() -> None:
    random = np.random.default_rng(0)
    assert not any(grid(random.normal(size=7)) for _ in range(1000))
    assert grid(np.ones(5)) == 0.0
    assert grid(np.array([1.0, 2.0, 2.0])) == 0.0  # one change: it may be any multiple


def test_the_noise_of_rounding_is_that_of_an_even_spread() -> None:
    fun = Distance(101)
    result = gracezo.minimize(rounded(fun), fun.x0, seed=1, max_queries=300)
    step = float(np.spacing(np.float32(fun(fun.x0))))
    assert f"standard deviation of about {step / math.sqrt(12.0):.2g}" in result.message


@pytest.mark.parametrize("problem", [Distance, Magnitude])
def test_an_exact_function_pays_at_most_three_queries(problem: type[Distance] | type[Magnitude]) -> None:
    price = []
    for seed in range(100, 110):
        fun = problem(seed)
        target = 0.01 * fun(fun.x0)
        told = gracezo.minimize(fun, fun.x0, seed=seed, target=target, noise=0.0)
        looked = gracezo.minimize(fun, fun.x0, seed=seed, target=target)
        assert looked.fun_error == told.fun_error == 0.0
        price.append(looked.nfev - told.nfev)
    assert np.mean(price) <= 3.0  # one more at the root, where it also serves the slope


def test_noise_that_is_told_is_not_measured() -> None:
    fun = Distance(100)
    deviation = 1e-5 * fun(fun.x0)
    told = gracezo.minimize(noisy(fun, 1e-5, 0), fun.x0, seed=0, max_queries=60, noise=deviation)
    assert f"{deviation:.2g}" in told.message
    measured = gracezo.minimize(noisy(fun, 1e-5, 0), fun.x0, seed=0, max_queries=60)
    assert "f is noisy" in measured.message


# ------------------------------------------------------------ what it finds

CASES = [
    (Distance, 1e-6, 0.01, 150),
    (Distance, 1e-4, 0.01, 270),
    (Magnitude, 1e-6, 0.01, 100),
    (Magnitude, 1e-5, 0.01, 120),
]


@pytest.mark.parametrize(("problem", "level", "ratio", "bar"), CASES)
def test_it_gets_there_in_spite_of_noise(
    problem: type[Distance] | type[Magnitude], level: float, ratio: float, bar: int
) -> None:
    spent = []
    for seed in range(200, 205):
        fun = problem(seed)
        there: list[int] = []

        def watch(state: gracezo.Result, fun: Benchmark = fun, there: list[int] = there) -> None:
            if not there and fun(state.x) <= ratio * fun(fun.x0):
                there.append(state.nfev)
                raise StopIteration

        gracezo.minimize(noisy(fun, level, seed), fun.x0, seed=seed, max_queries=1000, callback=watch)
        spent += there
    assert len(spent) == 5
    assert np.mean(spent) <= bar


def test_kinks_are_asked_on_one_side() -> None:
    fun = Attack()  # even in every coordinate at its start: both sides together would show nothing
    result = gracezo.minimize(noisy(fun, 1e-5, 0), fun.x0, seed=0, max_queries=300)
    assert fun(result.x) < 0.35 * fun(fun.x0)


@pytest.mark.parametrize(
    ("low", "high", "left"),
    [(-0.5, 0.5, 0.01), (0.0, 1.0, 0.03), (-1e-3, np.inf, 0.03)],  # at a wall one side is left: less is seen
)
def test_bounds_hold_for_every_look(low: float, high: float, left: float) -> None:
    shares = []
    for seed in range(5):
        fun = Distance(seed, d=2000)
        given = noisy(fun, 1e-5, seed)

        def guarded(x: FloatArray, given: Objective = given) -> float:
            assert x.min() >= low
            assert x.max() <= high
            return given(x)

        best = fun(np.clip(fun.optimum, low, high))
        result = gracezo.minimize(guarded, fun.x0, seed=seed, bounds=[(low, high)] * 2000, max_queries=1500)
        shares.append((fun(result.x) - best) / (fun(fun.x0) - best))
    assert np.median(shares) < left


@pytest.mark.parametrize("digits", [2, 3, 5, 6, 8])
def test_a_coarse_function_is_not_taken_for_a_flat_one(digits: int) -> None:
    for seed in range(3):
        fun = Magnitude(seed, d=2000)
        result = gracezo.minimize(
            lambda x, fun=fun: round(fun(x), digits), fun.x0, seed=seed, max_queries=300
        )
        assert fun(result.x) < 0.5 * fun(fun.x0)


def test_an_error_rate_is_minimised() -> None:
    goal = np.zeros(3000)
    goal[[5, 70, 900, 2999]] = 0.45

    def rate(x: FloatArray) -> float:
        return math.floor(1797 * min(1.0, float(((x - goal) ** 2).sum()))) / 1797

    result = gracezo.minimize(rate, np.zeros(3000), seed=0, max_queries=300)
    assert result.fun < 0.01
    assert "noisy" in result.message


def test_float32_costs_no_noise_estimate() -> None:
    fun = Distance(101)
    result = gracezo.minimize(rounded(fun), fun.x0, seed=1, max_queries=300)
    assert fun(result.x) < 1e-5 * fun(fun.x0)
    assert result.nfev < 200


def test_errors_of_a_gradient_can_be_relied_on() -> None:
    deviations: list[float] = []
    for seed in range(8):
        fun = Distance(seed, d=2000)
        estimate = gracezo.estimate_gradient(
            noisy(fun, 1e-5, seed), fun.x0, seed=seed, noise=1e-5 * fun(fun.x0)
        )
        truth = fun.gradient(fun.x0)[estimate.indices]
        assert estimate.confirmed.all()
        assert (truth != 0.0).all()
        deviations += ((estimate.values - truth) / estimate.errors).tolist()
    assert len(deviations) > 70
    assert np.mean(np.abs(deviations) <= 2.0) >= 0.9
    assert 0.7 <= float(np.sqrt(np.mean(np.square(deviations)))) <= 1.3


def test_errors_are_wider_where_the_noise_was_measured() -> None:
    deviations: list[float] = []
    for seed in range(10):
        fun = Distance(seed, d=2000)
        estimate = gracezo.estimate_gradient(noisy(fun, 1e-5, seed), fun.x0, seed=seed)
        truth = fun.gradient(fun.x0)[estimate.indices]
        deviations += ((estimate.values - truth) / estimate.errors).tolist()
    assert np.mean(np.abs(deviations) <= 2.0) >= 0.9


# ------------------------------------------------------------ what it answers


@pytest.mark.parametrize("batch", [1, 2, 8])
def test_no_ask_is_larger_than_the_batch(batch: int) -> None:
    fun = Distance(3)
    result = gracezo.minimize(noisy(fun, 1e-4, 3), fun.x0, seed=3, max_queries=200, batch=batch)
    assert result.rounds >= result.nfev / batch
    given = noisy(fun, 1e-4, 3)
    optimizer = gracezo.Optimizer(fun.x0, seed=3, max_queries=200, batch=batch)
    while len(points := optimizer.ask()):
        assert len(points) <= batch
        optimizer.tell([given(x) for x in points])
    assert optimizer.result.x.tobytes() == result.x.tobytes()


def test_steps_on_a_noisy_function_are_trials() -> None:
    fun = Distance(3)
    given = noisy(fun, 1e-4, 3)
    run = Run(whole_run(auto(Problem(fun.d)), fun.x0, None, Key(3)), fun.x0, Limits(max_queries=200), 3)
    roles = set()
    while (ask := run.next()) is not None:
        roles.add(ask.role)
        run.record([(row, given(ask.point(row))) for row in range(len(ask))])
    assert Role.TRIAL in roles
    assert Role.AGAIN in roles
    assert Role.STEP not in roles


def test_the_answer_is_measured_anew_and_not_the_luckiest() -> None:
    off = []
    for seed in range(6):
        fun = Distance(seed, d=1000, s=3)
        result = gracezo.minimize(noisy(fun, 1e-3, seed), fun.x0, seed=seed, max_queries=300)
        assert result.fun_error > 0.0
        off.append((result.fun - fun(result.x)) / result.fun_error)
    assert float(np.abs(off).max()) < 6.0  # the error itself is known within a factor
    assert float(np.mean(off)) > -1.5


@pytest.mark.parametrize("budget", [20, 37, 60, 151])
def test_the_budget_holds_and_leaves_room_for_the_answer(budget: int) -> None:
    fun = Distance(3)
    asked: list[bytes] = []
    given = noisy(fun, 1e-4, 3)

    def counted(x: FloatArray) -> float:
        asked.append(x.tobytes())
        return given(x)

    result = gracezo.minimize(counted, fun.x0, seed=3, max_queries=budget)
    assert result.nfev == len(asked) <= budget
    assert asked[-constants.ANSWERS :] == [result.x.tobytes()] * constants.ANSWERS
    assert result.status == 1


def test_a_rounded_function_is_asked_once_more_not_four_times() -> None:
    steps = measured_again(Point(np.zeros(2), 3.0, 0.1), 0.1)
    assert len(next(steps)) == 1  # type: ignore[arg-type]  # an Ask
    with pytest.raises(StopIteration) as end:
        steps.send(np.array([3.0]))
    assert (end.value.value.value, end.value.value.error) == (3.0, 0.1)


def test_a_random_function_is_asked_four_times_and_averaged() -> None:
    steps = measured_again(Point(np.zeros(2), 3.0, 0.1), 0.1)
    next(steps)
    again = steps.send(np.array([3.2]))
    assert isinstance(again, Ask)
    assert (len(again), again.role) == (constants.ANSWERS - 1, Role.AGAIN)
    with pytest.raises(StopIteration) as end:
        steps.send(np.array([3.4, 3.0, np.nan]))  # one of them failed and was skipped
    assert end.value.value.value == pytest.approx(3.2)
    assert end.value.value.error == pytest.approx(0.1 / math.sqrt(3.0))


def test_without_a_query_left_the_answer_is_what_is_known() -> None:
    steps = measured_again(Point(np.zeros(2), 3.0, 0.1), 0.1)
    next(steps)
    steps.throw(OutOfQueries())
    with pytest.raises(StopIteration) as end:
        steps.throw(OutOfQueries())
    assert (end.value.value.value, end.value.value.error) == (3.0, 0.1)


def test_a_function_of_a_seed_is_asked_with_one_and_judged_with_others() -> None:
    goal = np.zeros(2000)
    goal[[7, 70, 700]] = [1.0, -2.0, 0.5]
    seeds: list[int] = []
    points: list[bytes] = []

    def simulate(x: FloatArray, *, seed: int) -> float:
        seeds.append(seed)
        points.append(x.tobytes())
        shift = 0.1 * np.random.default_rng(seed).standard_normal(3)
        return float(((x[[7, 70, 700]] - goal[[7, 70, 700]] - shift) ** 2).sum() + x @ x * 1e-6)

    result = gracezo.minimize(simulate, np.zeros(2000), seed=0, max_queries=200)
    assert len(set(seeds[:-DRAWS])) == 1
    assert len(set(seeds)) == DRAWS + 1
    assert set(points[-DRAWS:]) == {result.x.tobytes()}
    assert result.nfev == len(seeds) < 65  # four make sure of the coordinates that never mattered
    one = simulate(result.x, seed=seeds[0])
    assert one < 1e-4 < result.fun  # the draw that was minimised says nothing of the others
    truth = np.mean([simulate(result.x, seed=seed) for seed in range(1000, 1400)])
    assert abs(result.fun - truth) < 5.0 * result.fun_error
    assert "others have judged" in result.message


@pytest.mark.parametrize(
    ("workers", "vectorized"),
    [(None, False), (None, True), ("threads", False), ("threads", True), (map, False)],
)
def test_seeds_travel_to_every_evaluator(workers: object, vectorized: bool) -> None:
    def one(x: FloatArray, seed: int) -> float:
        return float(((x - seed % 7) ** 2).sum())

    def simulate(x: FloatArray, *, seed: object) -> object:
        if vectorized:
            return np.array([one(row, int(number)) for row, number in zip(x, seed, strict=True)])  # type: ignore[call-overload]
        return one(x, seed)  # type: ignore[arg-type]

    with ThreadPoolExecutor(2) as pool:
        crew = pool if workers == "threads" else workers
        result = gracezo.minimize(
            simulate, np.zeros(5), seed=1, max_queries=40, workers=crew, vectorized=vectorized
        )
    plain = gracezo.minimize(lambda x, *, seed: one(x, seed), np.zeros(5), seed=1, max_queries=40)
    assert (result.x.tobytes(), result.fun, result.nfev) == (plain.x.tobytes(), plain.fun, plain.nfev)


def test_a_run_with_a_seeded_function_is_resumed(tmp_path: Path) -> None:
    def simulate(x: FloatArray, *, seed: int) -> float:
        return float(((x - seed % 5) ** 2).sum()) + 1e-3 * (seed % 3)

    whole = gracezo.minimize(simulate, np.zeros(4), seed=2, max_queries=60)
    gracezo.minimize(simulate, np.zeros(4), seed=2, max_queries=12, journal=tmp_path / "run.db")
    more = gracezo.resume(tmp_path / "run.db", simulate, max_queries=60)
    assert (more.x.tobytes(), more.fun, more.nfev) == (whole.x.tobytes(), whole.fun, whole.nfev)


def test_a_target_must_be_passed_by_more_than_the_error() -> None:
    fun = Distance(5)
    target = 0.05 * fun(fun.x0)
    result = gracezo.minimize(noisy(fun, 1e-3, 5), fun.x0, seed=5, target=target, max_queries=3000)
    assert result.success
    assert result.fun + 2.0 * result.fun_error <= target
    assert fun(result.x) <= target


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


def test_noise_must_be_a_standard_deviation() -> None:
    with pytest.raises(ValueError, match="noise must be a standard deviation"):
        gracezo.minimize(lambda x: 0.0, [1.0], noise=-1.0)
    with pytest.raises(ValueError, match="noise must be a finite number"):
        gracezo.minimize(lambda x: 0.0, [1.0], noise=math.inf)


def test_methods_that_take_no_noise_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"'fdsa' takes no noise .*step\(\).* those that do: auto"):
        gracezo.minimize(lambda x: 0.0, [1.0], method="fdsa", noise=0.1)


def test_the_step_that_noise_asks_for_serves_other_methods() -> None:
    random = np.random.default_rng(0)

    def f(x: FloatArray) -> float:
        return float(((x - 1.0) ** 2).sum()) + 1e-6 * float(random.standard_normal())

    estimate = gracezo.estimate_noise(f, np.zeros(3), seed=0)
    step = estimate.step(curvature=2.0)
    result = gracezo.minimize(
        f, np.zeros(3), method="fdsa", max_queries=100, options={"eps": step, "step_size": 0.3}
    )
    assert result.fun < 1e-4
    with pytest.raises(ValueError, match="a step needs noise"):
        gracezo.NoiseEstimate(0.0, False, True, 1.0).step()


def test_what_cancels_leaves_a_grain_and_is_no_reason_to_look_to_both_sides() -> None:
    """Large terms leave an error of 1e-11 of f, thousands of its last places: far below noise proper."""
    goal = np.zeros(300)
    goal[[7, 90, 250]] = 0.5, -1.0, 0.8

    def f(x: FloatArray) -> float:
        return float(1e5 + ((x - goal) ** 2).sum()) - 1e5

    result = gracezo.minimize(f, np.zeros(300), seed=0, target=1e-6)
    assert result.success
    assert "noisy" not in result.message
    assert result.nfev <= 40
    assert "noisy" not in gracezo.minimize(f, np.zeros(300), seed=0, max_queries=60).message
