"""Update rules against their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gracezo.core.result import GradientEstimate
from gracezo.updates import along, amsgrad, mirror, plain, sign, thresholded, truncate

numbers = st.floats(-10, 10, allow_subnormal=False)
vectors = arrays(np.float64, 8, elements=numbers)
FULL = GradientEstimate.full
SPARSE = GradientEstimate(8, np.array([6, 1]), np.array([2.0, -3.0]))


@given(vectors, vectors)
def test_plain(x: np.ndarray, g: np.ndarray) -> None:
    assert np.array_equal(plain(0.25)(x, FULL(g)), x - 0.25 * g)


def test_sparse_estimates_move_their_coordinates_only() -> None:
    x = np.ones(8)
    assert plain(0.5)(x, SPARSE).tolist() == [1, 2.5, 1, 1, 1, 1, 0, 1]
    assert x.tolist() == [1] * 8


@given(vectors, vectors)
def test_sign(x: np.ndarray, g: np.ndarray) -> None:
    assert np.array_equal(along(sign, plain(0.25))(x, FULL(g)), x - 0.25 * np.sign(g))


@given(vectors, st.integers(1, 10))
def test_truncate(g: np.ndarray, count: int) -> None:
    moved = along(truncate(count), plain(1.0))(np.zeros(8), FULL(g))
    kept = np.flatnonzero(moved)
    assert len(kept) <= count
    assert np.array_equal(-moved[kept], g[kept])
    assert np.sort(np.abs(moved))[::-1][:count].tolist() == np.sort(np.abs(g))[::-1][:count].tolist()
    assert truncate(1)(SPARSE).indices.tolist() == [1]


@given(vectors, vectors, st.integers(1, 10))
def test_thresholded(x: np.ndarray, g: np.ndarray, count: int) -> None:
    moved = thresholded(plain(0.5), count)(x, FULL(g))
    free = x - 0.5 * g
    kept = np.flatnonzero(moved)
    assert len(kept) <= count
    assert np.array_equal(moved[kept], free[kept])
    assert np.sort(np.abs(moved))[::-1][:count].tolist() == np.sort(np.abs(free))[::-1][:count].tolist()


@given(st.lists(vectors, min_size=1, max_size=5))
def test_amsgrad(gradients: list[np.ndarray]) -> None:
    beta1, beta2, eta = 0.9, 0.5, 0.125
    update = along(amsgrad(beta1, beta2), plain(eta))
    x = np.zeros(8)
    expected, m, v, v_hat = [0.0] * 8, [0.0] * 8, [0.0] * 8, [0.0] * 8
    for g in gradients:
        x = update(x, FULL(g))
        for i in range(8):
            m[i] = beta1 * m[i] + (1 - beta1) * g[i]
            v[i] = beta2 * v[i] + (1 - beta2) * g[i] ** 2
            v_hat[i] = max(v_hat[i], v[i])
            if v_hat[i] > 0:
                expected[i] -= eta * m[i] / math.sqrt(v_hat[i])
    assert x == pytest.approx(expected)


def test_amsgrad_is_new_in_every_run() -> None:
    first, second = amsgrad(0.9, 0.5), amsgrad(0.9, 0.5)
    first(FULL(np.ones(8)))
    assert second(FULL(np.ones(8))).values == pytest.approx(np.full(8, 0.1 / math.sqrt(0.5)))


@given(arrays(np.float64, 40, elements=numbers), arrays(np.float64, 40, elements=numbers))
def test_mirror_steps_in_the_dual(x: np.ndarray, g: np.ndarray) -> None:
    """∇ψ(x') = ∇ψ(x) − η·g for ψ(x) = ‖x‖_a²/(2(a−1)), with ∇ψ written out here a second time."""
    b = 2 * math.log(40)
    a = b / (b - 1)

    def dual(x: np.ndarray) -> np.ndarray:
        norm = (np.abs(x) ** a).sum() ** (1 / a)
        if norm == 0:
            return np.zeros_like(x)
        result: np.ndarray = norm ** (2 - a) * np.sign(x) * np.abs(x) ** (a - 1) / (a - 1)
        return result

    goal = dual(x) - 0.25 * g
    moved = mirror(0.25, 40)(x, FULL(g))
    assert dual(moved) == pytest.approx(goal, rel=1e-6, abs=1e-6 * max(1.0, np.abs(goal).max()))


@given(vectors, vectors)
def test_mirror_is_plain_in_few_dimensions(x: np.ndarray, g: np.ndarray) -> None:
    assert mirror(0.25, 2)(x[:2], FULL(g[:2])) == pytest.approx(x[:2] - 0.25 * g[:2])


def test_mirror_takes_sparse_estimates() -> None:
    full = FULL(SPARSE.toarray())
    assert mirror(0.5, 8)(np.ones(8), SPARSE) == pytest.approx(mirror(0.5, 8)(np.ones(8), full))
