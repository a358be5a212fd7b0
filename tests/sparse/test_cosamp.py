"""CoSaMP against what it promises and against plain least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.sparse.cosamp import CoSaMP
from gracezo.sparse.fit import OUTRIGHT, fitted
from gracezo.sparse.largest import keep_largest, largest


def instance(seed: int, s: int, size: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    matrix = random.choice([-1.0, 1.0], (count, size))
    signal = np.zeros(size)
    signal[random.choice(size, s, replace=False)] = random.choice([-1, 1], s) * (0.5 + random.random(s))
    return matrix, signal, matrix @ signal


@given(st.integers(0, 10**6), st.integers(1, 8), st.sampled_from([np.float32, np.float64]))
def test_recovers_sparse_vectors(seed: int, s: int, dtype: type) -> None:
    matrix, signal, samples = instance(seed, s, 400, 14 * s + 20)
    support, values = CoSaMP(s, iterations=30, tolerance=1e-10).recover(matrix.astype(dtype), samples)
    assert support.tolist() == np.flatnonzero(signal).tolist()
    assert values == pytest.approx(signal[support])


def by_the_book(matrix: np.ndarray, samples: np.ndarray, s: int, iterations: int) -> np.ndarray:
    """Return Algorithm 1 of Needell & Tropp, written out with sets and dense vectors."""
    a = np.zeros(matrix.shape[1])
    for _ in range(iterations):
        y = matrix.T @ (samples - matrix @ a)
        identified = {int(i) for i in np.argsort(-np.abs(y))[: 2 * s]}
        merged = sorted(identified | {int(i) for i in np.flatnonzero(a)})
        b = np.zeros_like(a)
        b[merged] = np.linalg.pinv(matrix[:, merged]) @ samples
        a = np.zeros_like(a)
        pruned = np.argsort(-np.abs(b))[:s]
        a[pruned] = b[pruned]
    return a


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_every_iterate_is_the_papers(seed: int, s: int, iterations: int) -> None:
    """With few and noisy samples it does not settle at once, and each iterate can be compared."""
    random = np.random.default_rng(seed)
    matrix, samples = random.standard_normal((5 * s, 40 * s)), random.standard_normal(5 * s)
    support, values = CoSaMP(s, iterations, tolerance=0.0).recover(matrix, samples)
    expected = by_the_book(matrix, samples, s, iterations)
    assert support.tolist() == np.flatnonzero(expected).tolist()
    assert values == pytest.approx(expected[support])


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_known_support_is_least_squares(seed: int, s: int) -> None:
    """With no more columns than s, nothing is pruned: the answer is the least-squares solution."""
    random = np.random.default_rng(seed)
    matrix, samples = random.standard_normal((30, s)), random.standard_normal(30)
    support, values = CoSaMP(s, tolerance=0.0).recover(matrix, samples)
    assert support.tolist() == list(range(s))
    assert values == pytest.approx(np.linalg.lstsq(matrix, samples, rcond=None)[0])


def test_scale_makes_no_difference() -> None:
    matrix, _, samples = instance(1, 4, 300, 60)
    support, values = CoSaMP(4).recover(matrix, samples)
    for shrink in (1 / np.sqrt(60), 1e-30):
        again, same = CoSaMP(4).recover(matrix * shrink, samples * shrink)
        assert again.tolist() == support.tolist()
        assert same == pytest.approx(values)


def test_tolerance_stops_it_and_iterations_bound_it() -> None:
    matrix, _, samples = instance(3, 10, 1000, 75)
    residuals = []
    for iterations in range(1, 12):
        support, values = CoSaMP(10, iterations, tolerance=1e-12).recover(matrix, samples)
        residuals.append(np.linalg.norm(samples - matrix[:, support] @ values) / np.linalg.norm(samples))
    assert residuals[0] > 0.5 > residuals[-1]
    first = int(np.argmax(np.array(residuals) <= 0.5))
    support, values = CoSaMP(10, 10, tolerance=0.5).recover(matrix, samples)
    stopped = np.linalg.norm(samples - matrix[:, support] @ values) / np.linalg.norm(samples)
    assert stopped == pytest.approx(residuals[first])


def test_nothing_measured_is_nothing_found() -> None:
    support, values = CoSaMP(3).recover(np.ones((5, 9)), np.zeros(5))
    assert len(support) == len(values) == 0


def test_more_columns_than_samples() -> None:
    matrix, _, samples = instance(5, 6, 100, 10)  # 3s = 18 columns, 10 samples
    support, values = CoSaMP(6).recover(matrix, samples)
    assert len(support) == 6
    assert np.isfinite(values).all()


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=50, unique_by=abs), st.integers(1, 60))
def test_largest(entries: list[int], count: int) -> None:
    vector = np.array(entries, np.float64)
    expected = sorted(sorted(range(len(entries)), key=lambda i: -abs(entries[i]))[:count])
    assert largest(vector, count).tolist() == expected
    assert keep_largest(vector, count).tolist() == [v if i in expected else 0 for i, v in enumerate(entries)]


@pytest.mark.parametrize("shape", [(2200, 500), (2200, 1100), (700, 1600)])
def test_many_columns_are_fitted_as_well_as_few(shape: tuple[int, int]) -> None:
    """Iterated, above `OUTRIGHT` numbers: the least-squares solution, the shortest of many."""
    random = np.random.default_rng(shape)
    columns = random.choice(np.array([-1, 1], np.float32), shape)
    samples = random.standard_normal(shape[0])
    assert columns.size > OUTRIGHT
    exact = columns.astype(np.float64)
    if shape[0] > shape[1]:
        expected = np.linalg.solve(exact.T @ exact, exact.T @ samples)
    else:
        expected = exact.T @ np.linalg.solve(exact @ exact.T, samples)
    size = np.linalg.norm(expected)
    assert np.linalg.norm(fitted(columns, samples) - expected) < 1e-4 * size  # 1e-6 times κ², up to 34 here
    for scale in (1e-60, 1e60):
        assert np.linalg.norm(fitted(columns, scale * samples) / scale - expected) < 1e-4 * size
