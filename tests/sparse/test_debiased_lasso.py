"""The debiased Lasso against its optimality conditions."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import gracezo
from gracezo.sparse.lasso import debiased_lasso


@pytest.fixture(scope="module")
def regression() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    matrix = random.choice([-1.0, 1.0], (80, 300))
    signal = np.zeros(300)
    signal[[1, 10, 100]] = [3.0, -2.0, 1.0]
    return matrix, signal, matrix @ signal + 5.0


def test_debiasing_undoes_the_shrinkage(regression: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """At the optimum Zᵀr/q is λ·sign(ĝ) on the support, which is added there, and at most λ elsewhere."""
    matrix, signal, samples = regression
    penalty = 0.2
    g = debiased_lasso(matrix, samples, penalty)
    support = np.flatnonzero(signal)
    assert (np.abs(g[support]) > penalty).all()
    assert np.abs(np.delete(g, support)).max() <= penalty * 1.05
    assert g[support] == pytest.approx(signal[support], abs=penalty / 2)


def test_scale(regression: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    matrix, _, samples = regression
    g = debiased_lasso(matrix, samples)
    assert 1e-9 * g == pytest.approx(debiased_lasso(matrix, 1e-9 * samples), rel=1e-6)


def test_a_large_penalty_leaves_no_coefficient(regression: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    matrix, _, samples = regression
    centred = samples - samples.mean()
    average = matrix.T @ centred / len(samples)
    assert debiased_lasso(matrix, samples, np.abs(average).max()) == pytest.approx(average)
    just_below = debiased_lasso(matrix, samples, 0.999 * np.abs(average).max())
    assert just_below == pytest.approx(average, abs=0.02)  # continuous where the first coefficient enters


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"gracezo\[lasso\]"):
        gracezo.minimize(lambda x: 0.0, np.zeros(4), method="lasso", max_queries=9)
