"""Cutting planes: the step to the minimum of their model, what they bound, and which of them are wrong."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.types import FloatArray
from gracezo.updates.bundle import Bundle, Planes


def drawn(seed: int) -> tuple[Planes, float, FloatArray, FloatArray]:
    """Return planes of any unit, how far they are trusted, and limits, some of them none."""
    rng = np.random.default_rng(seed)
    n, number, unit = int(rng.integers(1, 8)), int(rng.integers(1, 25)), 10.0 ** rng.uniform(-5, 5)
    errors = np.abs(rng.normal(size=number)) * unit * 10.0 ** rng.uniform(-3, 1)
    errors[0] = 0.0
    slopes = rng.normal(size=(number, n)) * unit * 10.0 ** rng.uniform(-1, 1)
    t = 10.0 ** rng.uniform(-3, 3) / unit
    lower, upper = (
        np.where(rng.random(n) < 0.5, np.inf, 0.3 * t * unit * np.abs(rng.normal(size=n))) for _ in range(2)
    )
    return Planes(slopes, errors), t, -lower, upper


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_the_step_is_that_of_a_quadratic_program(seed: int) -> None:
    planes, t, lower, upper = drawn(seed)
    step, promise = planes.step(t, lower, upper)
    assert (lower <= step).all()
    assert (step <= upper).all()
    size = max(t * float((planes.slopes**2).sum(axis=1).max()), float(planes.errors.max()))
    length, n = np.sqrt(t * size), len(step)
    matrix, errors = planes.slopes * length / size, planes.errors / size
    rows = np.column_stack([-matrix, np.ones(len(errors))])
    exact = scipy.optimize.minimize(
        lambda z: z[-1] + 0.5 * z[:-1] @ z[:-1],
        np.append(step / length, 0.0),
        jac=lambda z: np.append(z[:-1], 1.0),
        bounds=[*zip(lower / length, upper / length, strict=True), (None, None)],
        constraints=[{"type": "ineq", "fun": lambda z: rows @ z + errors, "jac": lambda z: rows}],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    ours = -promise / size + 0.5 * float((step / length) @ (step / length))
    assert ours <= exact.fun + 1e-6
    assert len(exact.x) == n + 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_convex_function_is_nowhere_lower_than_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, pieces = int(rng.integers(1, 6)), int(rng.integers(2, 9))
    tilts, heights = rng.normal(size=(pieces, n)), rng.normal(size=pieces)

    def f(x: FloatArray) -> float:
        return float((tilts @ x + heights).max() + 0.5 * x @ x)

    bundle, x = Bundle(n, 30, 0.0, 0.0), rng.normal(size=n)
    for y in [x, *rng.normal(size=(int(rng.integers(0, 30)), n))]:
        slopes = tilts[int((tilts @ y + heights).argmax())] + y
        assert not bundle.above(y, f(y), slopes)
        bundle.add(y, f(y), slopes)
    reach = np.full(n, 2.0)
    bound, rests = bundle.around(x, f(x)).bound(10.0 ** rng.uniform(-2, 3), -reach, reach)
    others = np.array([f(x + way) for way in rng.uniform(-2.0, 2.0, (200, n))])
    assert others.min() >= f(x) - bound - 1e-9
    assert 1 <= len(rests) <= n + 1
    assert not bundle.refuted(x, f(x))


def test_a_tangent_above_f_is_refuted_and_can_be_dropped() -> None:
    bundle = Bundle(1, 10, 0.0, 0.0)
    for x, slope in ((-1.0, -1.0), (2.0, 1.0), (1.0, 3.0)):  # of |x|, the last one wrong
        bundle.add(np.array([x]), abs(x), np.array([slope]))
    ((place, slopes),) = bundle.refuted(np.array([3.0]), 3.0)
    assert (place.tolist(), slopes.tolist()) == ([1.0], [3.0])
    bundle.drop(place)
    assert (len(bundle), bundle.refuted(np.array([3.0]), 3.0)) == (2, [])
    assert bundle.above(np.array([1.0]), 1.0, np.array([3.0]))


def test_where_least_squares_go_in_circles_the_nearest_tangent_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def circles(*given: object, **others: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("gracezo.updates.bundle.nnls", circles)
    planes, limits = Planes(np.array([[1.0], [-3.0]]), np.array([0.0, 2.0])), np.ones(1)
    step, promise = planes.step(0.5, -limits, limits)
    bound, rests = planes.bound(0.5, -limits, limits)
    assert (step.tolist(), promise, bound, rests.tolist()) == ([-0.5], 0.5, 1.0, [0])


def test_where_no_tangent_has_a_slope_there_is_no_step() -> None:
    planes, limits = Planes(np.zeros((2, 3)), np.zeros(2)), np.full(3, 5.0)
    step, promise = planes.step(1.0, -limits, limits)
    assert (step.tolist(), promise, planes.bound(1.0, -limits, limits)[0]) == ([0.0] * 3, 0.0, 0.0)


def test_errors_of_slopes_refute_nothing() -> None:
    bundle = Bundle(1, 10, 1e-9, 1e-3)
    bundle.add(np.array([1.0]), 1.0, np.array([1.0009]))  # of |x|
    assert bundle.refuted(np.array([3.0]), 3.0) == []
    assert len(bundle.refuted(np.array([3.0]), 2.99)) == 1


def test_of_very_many_tangents_the_last_are_kept() -> None:
    bundle = Bundle(1, 2, 0.0, 0.0)
    for place in (1.0, 2.0, 3.0):
        bundle.add(np.array([place]), place**2, np.array([2.0 * place]))
    assert bundle.around(np.array([3.0]), 9.0).slopes.tolist() == [[4.0], [6.0]]
    assert bundle.around(np.array([3.0]), 9.0).errors.tolist() == [1.0, 0.0]
