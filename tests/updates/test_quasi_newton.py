"""The quasi-Newton model of the support."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.types import FloatArray
from gracezo.updates.quasi_newton import LBFGS


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 8))
def test_quasi_newton_ends_on_a_quadratic(seed: int, n: int) -> None:
    """BFGS with exact line searches minimises a quadratic of n unknowns in n steps."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + n * np.eye(n)
    x, model = rng.normal(size=n), LBFGS(50)
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
    model = LBFGS(5)
    model.learn(np.array([1.0]), np.array([4.0]), np.array([1.0]))
    direction = model.direction(np.array([4.0, 3.0]), np.array([1.0, 3.0]))
    assert direction == pytest.approx([-1.0, -1.0])


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), pairs=st.integers(1, 8))
def test_the_model_agrees_with_its_last_pair_wherever_it_begins(seed: int, n: int, pairs: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + 0.1 * np.eye(n)
    model = LBFGS(50)
    for _ in range(pairs):
        step = rng.normal(size=n)
        model.learn(step, hessian @ step, hessian @ step)
    diagonal = 10.0 ** rng.uniform(-6.0, 6.0, n)
    assert model.direction(-(hessian @ step), diagonal) == pytest.approx(step, rel=1e-6)


class TestWhereTheModelBegins:
    """With one coordinate that no pair has touched, its step shows what the model begins from."""

    def begun(self, pairs: list[tuple[FloatArray, FloatArray]], diagonal: FloatArray) -> float:
        model = LBFGS(50)
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


def test_the_model_forgets_its_oldest_pair_and_grows_with_the_support() -> None:
    rng = np.random.default_rng(0)
    curvature = np.diag([1.0, 3.0, 9.0]) + 0.5
    steps = rng.standard_normal((3, 3))
    full, late = LBFGS(2), LBFGS(2)
    for step in steps:
        full.learn(step, curvature @ step, step)
    for step in steps[1:]:
        late.learn(step, curvature @ step, step)
    slopes, diagonal = rng.standard_normal(5), np.full(5, 2.0)
    found = full.direction(slopes[:3], diagonal[:3])
    assert found == pytest.approx(late.direction(slopes[:3], diagonal[:3]), rel=1e-12)
    # B fits the last pair: along it, the step that is predicted to undo a change of the gradient is itself.
    assert full.direction(-(curvature @ steps[2]), diagonal[:3]) == pytest.approx(steps[2])
    grown = full.direction(slopes, diagonal)
    assert grown[:3] == pytest.approx(found)
    assert grown[3:] == pytest.approx(-slopes[3:] / 2.0)
    free = np.array([True, True, True, False, True])
    assert full.direction(slopes, diagonal, free)[[0, 1, 2, 4]] == pytest.approx(grown[[0, 1, 2, 4]])
    assert full.direction(slopes, diagonal, free)[3] == 0.0


@pytest.mark.parametrize("pairs", [0, 1, 4, 9])
def test_the_bend_of_a_step_is_that_of_the_model_whose_direction_it_is(pairs: int) -> None:
    """p = −B⁻¹g, so p·Bp = −g·p."""
    rng, n = np.random.default_rng(pairs), 12
    root = rng.normal(size=(n, n))
    model, diagonal = LBFGS(50), rng.uniform(0.5, 2.0, n)
    for step in rng.normal(size=(pairs, n)):
        model.learn(step, root @ root.T @ step, diagonal * step)
    slopes = rng.normal(size=n)
    direction = model.direction(slopes, diagonal)
    assert model.bend(direction, diagonal) == pytest.approx(-slopes @ direction)
