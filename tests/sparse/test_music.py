"""Decoding columns from answers to random probes: a pure function."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gracezo.core.types import FloatArray
from gracezo.sparse.music import decode, rank
from gracezo.sparse.weights import BLOCK, Weights


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 10_000), st.booleans())
def test_as_many_columns_as_outputs_are_found_with_two_probes_more(
    m: int, spare: int, seed: int, common: bool
) -> None:
    random = np.random.default_rng(seed)
    k = max(1, m - spare)
    weights, probes = Weights(2 * BLOCK + 77, seed), np.arange(k + 2 + common)
    active = random.choice(weights.size, k, replace=False)
    units = 10.0 ** random.uniform(-9, 9, m)
    jacobian = units[:, None] * random.normal(size=(m, k))
    answers = jacobian @ weights.columns(active, probes).T
    answers += 1e-9 * units[:, None] * random.normal(size=answers.shape)
    if common:
        answers += 5.0 * units[:, None]
    if np.linalg.cond(jacobian / units[:, None]) > 100.0:
        return  # columns that are nearly parallel take more probes
    found = decode(weights, probes, 0, weights.size, answers, 1e-9 * units, common=common)
    assert found is not None
    order = np.argsort(found.positions)
    assert np.array_equal(found.positions[order], np.sort(active))
    assert np.abs((found.columns[:, order] - jacobian[:, np.argsort(active)]) / units[:, None]).max() < 1e-6


@pytest.mark.parametrize("probes", [2, 5, 8])
def test_more_columns_than_outputs_are_never_decoded(probes: int) -> None:
    random = np.random.default_rng(probes)
    weights = Weights(5000, 3)
    active = random.choice(5000, 9, replace=False)
    answers = random.normal(size=(4, 9)) @ weights.columns(active, np.arange(probes)).T
    assert decode(weights, np.arange(probes), 0, 5000, answers, np.full(4, 1e-9)) is None


def test_answers_within_their_errors_hold_no_column() -> None:
    answers = np.random.default_rng(0).normal(size=(6, 5))
    found = decode(Weights(1000, 0), np.arange(5), 0, 1000, answers, np.ones(6))
    assert found is not None
    assert len(found.positions) == 0


def test_errors_alone_bring_about_no_column() -> None:
    """Errors that are larger than said: nothing is decoded, whatever singular values they have."""
    random = np.random.default_rng(1)
    for trial in range(200):
        p = int(random.integers(2, 9))
        answers = random.normal(size=(5, p)) * 10.0 ** random.uniform(0, 3, (5, 1))
        found = decode(Weights(500, trial), np.arange(p), 0, 500, answers, np.full(5, 1e-3))
        assert found is None


def test_the_share_outside_a_space_has_the_law_that_decides() -> None:
    """Beta((p − k)/2, k/2) nearly, for weights that are ± uniform in [0.5, 1.5]: far out by a factor of 3."""
    p, k = 9, 4
    weights = Weights(40_000, 5).rows(np.arange(p), 0, 40_000)
    basis: FloatArray = np.linalg.qr(np.random.default_rng(2).normal(size=(p, p)))[0]
    parts = (basis.T @ weights) ** 2
    share = parts[k:].sum(axis=0) / parts.sum(axis=0)
    law = stats.beta((p - k) / 2, k / 2)
    for quantile in (0.001, 0.01, 0.1, 0.5):
        assert np.mean(share < law.ppf(quantile)) < min(3.0, 0.5 / quantile**0.5 + 1.0) * quantile


def test_rank() -> None:
    random = np.random.default_rng(3)
    answers = random.normal(size=(8, 3)) @ random.normal(size=(3, 6)) * 100.0
    assert rank(answers + 1e-3 * random.normal(size=(8, 6)), np.full(8, 1e-3))[0] == 3
    assert rank(np.zeros((8, 0)), np.ones(8))[0] == 0


def test_weights_are_the_same_however_they_are_read() -> None:
    weights = Weights(3 * BLOCK + 5, 11)
    whole = weights.row(4, 0, weights.size)
    assert np.array_equal(weights.row(4, 100, 2 * BLOCK + 9), whole[100 : 2 * BLOCK + 9])
    at = np.array([weights.size - 1, 3, BLOCK, 2 * BLOCK - 1])
    assert np.array_equal(weights.columns(at, np.array([4])), whole[at][None])
    assert 0.5 <= np.abs(whole).min() < np.abs(whole).max() <= 1.5
    assert abs(whole.mean()) < 0.02
    sides = np.where(np.arange(weights.size) % 3 == 0, -1, 0)
    sided = Weights(weights.size, 11, sides).row(4, 0, weights.size)
    assert (sided[::3] < 0).all()
    assert np.array_equal(np.abs(sided), np.abs(whole))
