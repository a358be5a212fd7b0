"""Fits in the span of random directions: the step, the update, and what the queries are spent on."""

from __future__ import annotations

import numpy as np
import pytest

import gracezo
from gracezo.core.keys import Key
from gracezo.core.result import Status
from gracezo.core.types import FloatArray
from gracezo.vectors.directions import Directions
from gracezo.vectors.space import Space

D = 300


def directions(m: int, p: int, noise: float = 0.0) -> tuple[Directions, FloatArray]:
    """Random slopes along the first probes of a space."""
    space = Space.around(np.zeros(D), None, None, np.zeros(0, np.int64), Key(1))
    slopes = np.random.default_rng(2).normal(size=(m, p))
    return Directions(space, np.arange(p), slopes, np.full(m, noise)), slopes


@pytest.mark.parametrize("share", [0.5, 1e-2, 1e-4])
def test_a_step_leaves_the_share_that_was_asked_for(share: float) -> None:
    some, slopes = directions(8, 12)
    outputs = np.arange(1.0, 9.0)
    z, leaves = some.step(outputs, np.ones(8), share)
    left = outputs + slopes @ z
    assert leaves == pytest.approx(share, rel=1e-6)
    assert left @ left == pytest.approx(share * outputs @ outputs, rel=1e-6)


def test_what_is_beside_the_span_is_not_asked_for() -> None:
    some, slopes = directions(8, 5)
    outputs = np.arange(1.0, 9.0)
    beside = np.linalg.lstsq(slopes, outputs, rcond=None)[1][0] / (outputs @ outputs)
    assert some.beside(outputs, np.ones(8)) == pytest.approx(beside, rel=1e-6)
    assert some.step(outputs, np.ones(8), 0.1)[1] == pytest.approx(beside + 0.1 * (1.0 - beside), rel=1e-6)


def test_noise_of_the_slopes_makes_steps_shorter_and_an_output_that_is_noise_is_not_followed() -> None:
    outputs = np.ones(8)
    exact, noisy = directions(8, 12)[0], directions(8, 12, 0.3)[0]
    assert np.linalg.norm(noisy.step(outputs, np.ones(8), 1e-6)[0]) < 0.9 * np.linalg.norm(
        exact.step(outputs, np.ones(8), 1e-6)[0]
    )
    space = Space.around(np.zeros(D), None, None, np.zeros(0, np.int64), Key(1))
    slopes = np.random.default_rng(2).normal(size=(2, 4))
    one = Directions(space, np.arange(4), slopes, np.array([1e-9, 10.0]))
    z, _ = one.step(np.array([1.0, 50.0]), np.ones(2), 1e-9)
    assert slopes[0] @ z == pytest.approx(-1.0, rel=1e-3)


def test_the_update_explains_the_step_and_further_directions_join() -> None:
    some, slopes = directions(3, 5)
    z, change = np.array([1.0, -2.0, 0.5, 0.0, 1.0]), np.array([3.0, 2.0, 1.0])
    some.learn(z, change)
    other = Space.around(np.zeros(D), None, None, np.zeros(0, np.int64), Key(5))
    some.add(other, np.array([4]), np.ones((3, 1)))
    longer = np.append(z, 2.0)
    assert len(some) == 6
    assert np.allclose(some._slopes @ longer, change + 2.0)
    across = np.array([2.0, 1.0, 0.0, 7.0, 0.0, 0.0])  # orthogonal to the step: as before
    assert np.allclose(some._slopes @ across, slopes @ across[:5])
    alone = other.combined(np.array([4]), np.array([2.0]))
    moved = some.move(np.append(np.zeros(5), 2.0), D)
    assert np.array_equal(moved[other.order], alone)


def valley(seed: int, m: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Slopes of very different sizes, of outputs and of parameters, and five wrong parameters."""
    random = np.random.default_rng(seed)
    basis = np.linalg.qr(random.normal(size=(m, m)))[0] * np.geomspace(1.0, 3e-3, m)
    slopes = basis @ random.normal(size=(m, d)) * random.pareto(1.2, d)
    truth = np.zeros(d)
    truth[random.choice(d, 5, replace=False)] = random.choice([-1.0, 1.0], 5) * random.uniform(0.4, 0.9, 5)
    return 3.0 * slopes / np.linalg.norm(slopes), truth


def test_steps_that_go_up_lead_down_a_valley_where_little_answers() -> None:
    """With a guard it takes 61 queries to 1e-4, and 160 do not suffice to end."""
    slopes, truth = valley(4, 40, 1000)
    costs: list[float] = []

    def fun(x: FloatArray) -> FloatArray:
        outputs: FloatArray = slopes @ (np.exp(-1.85 * truth) - np.exp(-1.85 * x))
        costs.append(float(outputs @ outputs))
        return outputs

    result = gracezo.least_squares(fun, np.zeros(1000), seed=4, bounds=(-3.0, 3.0), max_queries=160)
    assert result.status == Status.CONVERGED
    assert result.nfev == len(costs) <= 125
    assert "moved all parameters" in result.message


def test_where_it_bends_too_much_a_trust_region_goes_on() -> None:
    random = np.random.default_rng(100)
    rates, times = 3.0 * np.exp(0.3 * random.normal(size=D)), np.sort(random.uniform(0.2, 3.0, 20))
    weights, truth = random.normal(size=(20, D)), 0.4 * random.normal(size=D)

    def outputs(x: FloatArray) -> FloatArray:
        decays: FloatArray = (weights * np.exp(-np.outer(times, rates * np.exp(x)))).sum(axis=1)
        return decays

    data = outputs(truth)
    result = gracezo.least_squares(lambda x: outputs(x) - data, np.zeros(D), seed=100, max_queries=180)
    assert result.status == Status.CONVERGED
    assert result.cost <= 1e-15 * result.trace.values[0]


def test_the_last_query_is_a_step() -> None:
    """A direction that is measured with it would be of no use."""
    slopes, truth = valley(1, 20, 1000)
    for budget in range(28, 38):
        points: list[FloatArray] = []

        def fun(x: FloatArray, points: list[FloatArray] = points) -> FloatArray:
            points.append(x.copy())
            outputs: FloatArray = slopes @ (np.exp(-1.85 * truth) - np.exp(-1.85 * x))
            return outputs

        result = gracezo.least_squares(fun, np.zeros(1000), seed=1, max_queries=budget)
        assert result.nfev == len(points) == budget
        nearest = min(float(np.abs(points[-1] - one).max()) for one in points[:-1])
        assert nearest > 1e-6  # probes are some 1e-8 away from where the fit is
