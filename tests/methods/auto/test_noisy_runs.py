"""Whole runs on noisy functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gracezo
from gracezo.core.asks import Ask, OutOfQueries, Point, Role
from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Problem
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.methods.answer import measured_again
from gracezo.methods.auto import constants
from gracezo.methods.auto.method import auto
from gracezo.problems import Distance, Magnitude
from gracezo.problems.base import Benchmark

Objective = Callable[[FloatArray], float]


def noisy(fun: Benchmark, level: float, seed: int) -> Objective:
    random = np.random.default_rng([seed, 1])
    deviation = level * fun(fun.x0)
    return lambda x: fun(x) + deviation * float(random.standard_normal())


# ------------------------------------------------------------ what it finds


@pytest.mark.parametrize("seed", range(5))
def test_noise_in_single_precision_is_not_taken_for_its_rounding(seed: int) -> None:
    """A network in float32 on random batches, say: the step of float32 is the least of its errors."""
    random = np.random.default_rng(seed)
    goal = random.uniform(0.3, 1.0, 3)

    def exact(x: FloatArray) -> float:
        return float(0.5 + (x[:3] - goal) @ (x[:3] - goal))

    result = gracezo.minimize(
        lambda x: np.float32(exact(x) + 1e-3 * random.standard_normal()), np.zeros(30), seed=seed
    )
    assert result.fun_error > 2e-4
    assert abs(result.fun - exact(result.x)) <= 4.0 * result.fun_error


class Quartics:
    """Flat near the minimum, steep where it begins: curvature measured on the way is out of date at the end.

    The noise is a share of the decrease, or of f itself (`relative`).
    """

    def __init__(self, seed: int, level: float, d: int = 7, *, relative: bool = False) -> None:
        self.random = np.random.default_rng([seed, 7])
        self.goal = self.random.uniform(0.3, 1.0, 5) * self.random.choice([-1.0, 1.0], 5)
        self.weights = 10.0 ** self.random.uniform(-1.0, 0.0, 5)
        self.start = np.zeros(d)
        self.height = self.exact(self.start)
        self.level, self.relative = level, relative

    def exact(self, x: FloatArray) -> float:
        y = x[:5] - self.goal
        return float(self.weights @ (y**4 + 0.3 * y**2))

    def deviation(self, x: FloatArray) -> float:
        return self.level * (self.exact(x) if self.relative else self.height)

    def __call__(self, x: FloatArray) -> float:
        return self.exact(x) + self.deviation(x) * float(self.random.standard_normal())


@pytest.mark.parametrize("level", [1e-5, 1e-3])
def test_what_a_noisy_success_leaves_is_below_the_noise_and_its_error_is_true(level: float) -> None:
    left, missed = [], []
    for seed in range(12):
        fun = Quartics(seed, level)
        result = gracezo.minimize(fun, fun.start, seed=seed, max_queries=600)
        missed.append(abs(result.fun - fun.exact(result.x)) / result.fun_error)
        if result.success:
            left.append(fun.exact(result.x) / fun.deviation(result.x))
    assert len(left) >= 6
    assert max(left) <= 5.0  # a deviation for each coordinate; they were up to 80
    assert np.median(left) <= 0.5
    assert np.sum(np.array(missed) > 2.0) <= 2


def test_noise_that_falls_with_f_is_measured_again() -> None:
    """A mean over random draws: where f is small its noise is, too, and what is left shows."""
    ends = []
    for seed in range(8):
        fun = Quartics(seed, 3e-3, relative=True)
        result = gracezo.minimize(fun, fun.start, seed=seed, max_queries=900)
        if result.success:
            ends.append(fun.exact(result.x) / fun.height)
    assert len(ends) >= 4
    assert max(ends) <= 1e-4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("batch", [1, 8])
def test_an_offset_does_not_send_confirming_looks_beyond_all_that_is_known(seed: int, batch: int) -> None:
    """By |f| alone a look would go four scales far, where each coordinate seems to lead uphill."""
    random = np.random.default_rng(seed)
    goal = random.uniform(0.3, 1.0, 9) * random.choice([-1.0, 1.0], 9)

    def exact(x: FloatArray) -> float:
        y = 3.0 * (x[:9] - goal)
        return float((np.logaddexp(y, -y) - np.log(2.0)).sum())

    result = gracezo.minimize(
        lambda x: 10.0 + exact(x) + 1e-4 * random.standard_normal(),
        np.zeros(300),
        seed=seed,
        batch=batch,
        max_queries=1500,
    )
    assert exact(result.x) < 0.01 * exact(np.zeros(300))


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


def test_an_error_rate_is_minimised() -> None:
    goal = np.zeros(3000)
    goal[[5, 70, 900, 2999]] = 0.45

    def rate(x: FloatArray) -> float:
        return math.floor(1797 * min(1.0, float(((x - goal) ** 2).sum()))) / 1797

    result = gracezo.minimize(rate, np.zeros(3000), seed=0, max_queries=300)
    assert result.fun < 0.01
    assert f"steps of about {1 / 1797:.2g}" in result.message


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
    assert (end.value.value.at.value, end.value.value.at.error) == (3.0, 0.1)


def test_a_random_function_is_asked_four_times_and_averaged() -> None:
    steps = measured_again(Point(np.zeros(2), 3.0, 0.1), 0.1)
    next(steps)
    again = steps.send(np.array([3.2]))
    assert isinstance(again, Ask)
    assert (len(again), again.role) == (constants.ANSWERS - 1, Role.AGAIN)
    with pytest.raises(StopIteration) as end:
        steps.send(np.array([3.4, 3.0, np.nan]))  # one of them failed and was skipped
    assert end.value.value.at.value == pytest.approx(3.2)
    assert end.value.value.at.error == pytest.approx(0.2 / math.sqrt(3.0))  # their own deviation is larger


def test_without_a_query_left_the_answer_is_what_is_known() -> None:
    steps = measured_again(Point(np.zeros(2), 3.0, 0.1), 0.1)
    next(steps)
    steps.throw(OutOfQueries())
    with pytest.raises(StopIteration) as end:
        steps.throw(OutOfQueries())
    assert (end.value.value.at.value, end.value.value.at.error) == (3.0, 0.1)


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
    assert len(set(seeds[: -2 * constants.ANSWERS])) == 1
    assert len(set(seeds)) == 2 * constants.ANSWERS + 1
    assert set(points[-2 * constants.ANSWERS :]) == {result.x.tobytes()}
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
        chosen = pool if workers == "threads" else workers
        result = gracezo.minimize(
            simulate, np.zeros(5), seed=1, max_queries=40, workers=chosen, vectorized=vectorized
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


# ------------------------------------------------------------ offsets


def hidden_slopes(d: int, offset: float, noise: float, seed: int) -> tuple[Objective, FloatArray, FloatArray]:
    """Return seven slopes in a bowl, where it begins, and the gradient there."""
    random = np.random.default_rng(seed)
    gradient = np.zeros(d)
    gradient[random.choice(d, 7, replace=False)] = random.uniform(0.3, 1.0, 7) * random.choice([-1, 1], 7)
    x0 = random.standard_normal(d)

    def fun(x: FloatArray) -> float:
        z = x - x0
        return float(gradient @ z + 0.5 * (z @ z) + offset + noise * random.standard_normal())

    return fun, x0, gradient


@pytest.mark.parametrize("d", [10, 300])
@pytest.mark.parametrize("noise", [1e-6, 1e-3, 1e-2])
def test_a_value_near_zero_does_not_say_that_f_is_small(d: int, noise: float) -> None:
    # Noise of any size is all of f(x0) here; a look that bends f by no more than |f| sees nothing.
    for seed in range(40, 44):
        fun, x0, gradient = hidden_slopes(d, 0.0, noise, seed)
        result = gracezo.minimize(fun, x0, seed=seed, max_queries=1500)
        z = result.x - x0
        brought = -float(gradient @ z + 0.5 * (z @ z)) / (0.5 * float(gradient @ gradient))
        assert result.success
        assert brought > 0.93


@pytest.mark.parametrize("offset", [0.0, 1.0, 30.0])
def test_a_gradient_seen_through_noise_says_how_much_noise_hides(offset: float) -> None:
    stated, missed, found = [], [], []
    for seed in range(60, 76):
        fun, x, gradient = hidden_slopes(300, offset, 0.01, seed)
        estimate = gracezo.estimate_gradient(fun, x, seed=seed)
        outside = np.delete(gradient, estimate.indices)
        stated.append(estimate.residual)
        missed.append(float(outside @ outside / (gradient @ gradient)))
        found.append(np.isin(np.flatnonzero(gradient), estimate.indices).mean())
    assert np.mean(found) > 0.85  # what cancels may stay hidden, by a chance of a tenth
    assert min(stated) > 1e-7  # noise leaves no residual of 1e-15
    assert np.mean(stated) > 0.1 * np.mean(missed)
