"""Estimators that recover a sparse gradient: ZORO, ZO-BCD, LASSO; and how IPW draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.estimators.ipw import dealt_independently, independent_labels
from gracezo.estimators.lasso import DebiasedLasso
from gracezo.estimators.zobcd import ZOBCD
from gracezo.estimators.zoro import ZORO
from gracezo.sparse.cosamp import CoSaMP

D = 200
WEIGHTS = np.zeros(D)
WEIGHTS[[5, 50, 150]] = [1.0, -2.0, 3.0]
EXACT = CoSaMP(3, tolerance=1e-9)


def linear(x: np.ndarray) -> float:
    return float(WEIGHTS @ x)


def eps(step: int) -> float:
    return 2.0**-10


@pytest.mark.parametrize("seed", range(5))
def test_zoro_recovers_a_sparse_gradient(seed: int, converse: Any) -> None:
    talk = converse(ZORO(eps, 40, EXACT), linear, np.zeros(D), 1, seed)
    assert talk.queries == 40
    assert talk.gradient.indices.tolist() == [5, 50, 150]
    assert talk.gradient.toarray() == pytest.approx(WEIGHTS)


def test_zoro_keeps_its_rows(converse: Any) -> None:
    estimator = ZORO(eps, 10, EXACT)
    first, second = (converse(estimator, linear, np.zeros(D), step, 0).displacements for step in (1, 2))
    assert np.array_equal(first, second)
    assert set(np.unique(first)) == {-eps(1), eps(1)}


def test_zobcd_measures_one_of_its_fixed_blocks(converse: Any) -> None:
    estimator = ZOBCD(eps, 30, 4, EXACT)
    seen = set()
    for step in range(1, 30):
        talk = converse(estimator, linear, np.zeros(D), step, 1)
        assert talk.queries == 30
        block = np.flatnonzero(talk.displacements.any(axis=0))
        assert (np.abs(talk.displacements[:, block]) == eps(1)).all()
        seen.add(tuple(block.tolist()))
        expected = np.zeros(D)
        expected[block] = WEIGHTS[block]
        assert talk.gradient.toarray() == pytest.approx(expected)
    assert sorted(index for block in seen for index in block) == list(range(D))
    assert len(seen) == 4


def test_zobcd_is_flat_only_when_all_blocks_are(converse: Any) -> None:
    estimator = ZOBCD(eps, 5, 4, EXACT)
    x = np.zeros(D)
    touched: set[int] = set()
    for step in range(1, 40):
        talk = converse(estimator, lambda x: 0.0, x, step, 0)
        touched |= set(np.flatnonzero(talk.displacements.any(axis=0)).tolist())
        assert talk.gradient.flat == (len(touched) == D)
    assert len(touched) == D
    moved = converse(estimator, lambda x: 0.0, np.ones(D), 40, 0)  # elsewhere, it all begins anew
    assert not moved.gradient.flat


def test_lasso_finds_the_large_coordinates(converse: Any) -> None:
    talk = converse(DebiasedLasso(eps, 60, None), linear, np.zeros(D), 1, 0)
    assert talk.queries == 60
    assert talk.gradient.toarray() == pytest.approx(WEIGHTS, abs=0.3)


@pytest.mark.parametrize("differenced", [True, False])
def test_lasso_with_the_published_penalty_averages_centred_values(differenced: bool, converse: Any) -> None:
    estimator = DebiasedLasso(eps, 20, 1e6, differenced)
    talk = converse(estimator, lambda x: 7.0 + linear(x), np.zeros(D), 1, 0)
    z = talk.displacements / eps(1)
    raw = (7.0 + talk.displacements @ WEIGHTS) / eps(1)
    assert talk.gradient.toarray() == pytest.approx((raw - raw.mean()) @ z / 20, abs=1e-5)


def test_lasso_sees_nothing_on_a_kink_but_rounding(converse: Any) -> None:
    """All rows of signs have one value: the exact estimate is zero, though f is not flat."""

    def kink(x: np.ndarray) -> float:
        return 0.1 - 0.01 * float(np.abs(x).max())

    exact, rounded = (
        converse(DebiasedLasso(eps, 199, 1e6, choice), kink, np.zeros(D), 1, 0) for choice in (True, False)
    )
    assert not exact.gradient.toarray().any()
    assert not exact.gradient.flat
    assert np.abs(rounded.gradient.toarray()).max() < 1e-10


@given(st.integers(1, 300), st.integers(1, 100), st.integers(0, 999))
def test_ipw_deals_every_coordinate_once(d: int, n: int, seed: int) -> None:
    groups = dealt_independently(np.random.default_rng(seed), d, n)
    assert sorted(np.concatenate(groups).tolist()) == list(range(d))
    assert all(len(group) for group in groups)
    assert len(groups) <= -(-d // n)


def test_ipw_draws_independently() -> None:
    random = np.random.default_rng(0)
    sizes = [len(group) for _ in range(300) for group in dealt_independently(random, 100, 25)]
    assert np.var(sizes) == pytest.approx(100 * 0.25 * 0.75, rel=0.2)  # binomial, not all equal
    labels = np.array([independent_labels(random, 100, 20) for _ in range(300)])
    assert np.bincount(labels.ravel()).tolist()[1:] == pytest.approx([1500] * 20, rel=0.15)
    assert np.var([(row == 1).sum() for row in labels]) == pytest.approx(100 * 0.05 * 0.95, rel=0.3)


@pytest.mark.parametrize("seed", range(20))
def test_ipw_finds_a_lone_coordinate(seed: int) -> None:
    g = gracezo.estimate_gradient(lambda x: 2.0 * x[77], np.zeros(3000), method="ipw", sparsity=1, seed=seed)
    assert g.toarray()[77] == pytest.approx(2.0)
