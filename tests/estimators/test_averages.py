"""Averages over random directions: against their formula, and right in expectation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gracezo.core.asks import DenseRows
from gracezo.core.method import Estimator
from gracezo.estimators import rows
from gracezo.estimators.average import Average
from gracezo.estimators.sparseszo import SparseSZO
from gracezo.estimators.szoht import SubsetSphere
from gracezo.estimators.tpge import TPGE

D = 12
WEIGHTS = np.linspace(-1.0, 2.0, D)
EPS = 2.0**-10  # a power of two: displacements of a linear function are exact enough to compare


def linear(x: np.ndarray) -> float:
    return float(WEIGHTS @ x)


def eps(step: int) -> float:
    return EPS


UNBIASED: dict[str, Callable[[], Estimator]] = {
    "gaussian": lambda: Average(rows.gaussian, eps, 4),
    "sphere": lambda: Average(rows.sphere, eps, 4, weight=D),
    "tpge": lambda: TPGE(eps, 2),
    "szoht": lambda: SubsetSphere(eps, 4, 3),
    "sparseszo": lambda: SparseSZO(eps, 4, 3, period=10**6),
}


@pytest.mark.parametrize("name", UNBIASED)
def test_unbiased_on_a_linear_function(name: str, converse: Any) -> None:
    """The mean of many estimates is the gradient, coordinate by coordinate, within four standard errors."""
    x = np.zeros(D)
    drawn = np.array(
        [converse(UNBIASED[name](), linear, x, 1, seed).gradient.toarray() for seed in range(3000)]
    )
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - WEIGHTS) < 4 * error).all()


@pytest.mark.parametrize(("draw", "weight"), [(rows.gaussian, 1.0), (rows.sphere, float(D))])
def test_average_is_its_formula(draw: rows.DrawRows, weight: float, converse: Any) -> None:
    talk = converse(Average(draw, eps, 7, weight), linear, np.ones(D), 1, 3)
    z = talk.displacements / EPS
    assert talk.queries == 7
    assert talk.gradient.toarray() == pytest.approx(weight * (z @ WEIGHTS) @ z / 7, rel=1e-5)


def test_tpge_is_its_formula(converse: Any) -> None:
    talk = converse(TPGE(eps, 3), linear, np.ones(D), 1, 3)
    assert talk.queries == 6
    near, far = np.split(talk.displacements / EPS, 2)
    second = far - near
    assert talk.gradient.toarray() == pytest.approx((second @ WEIGHTS) @ second / 3, rel=1e-5, abs=1e-6)
    assert near.std() == pytest.approx(1, abs=0.4)


def test_szoht_is_its_formula(converse: Any) -> None:
    talk = converse(SubsetSphere(eps, 5, 4), linear, np.zeros(D), 1, 2)
    z = talk.displacements / EPS
    assert ((z != 0).sum(axis=1) == 4).all()
    assert np.linalg.norm(z, axis=1) == pytest.approx(np.ones(5), abs=1e-6)
    assert talk.gradient.toarray() == pytest.approx(D / 5 * (z @ WEIGHTS) @ z, rel=1e-5)


def test_sparseszo_renews_its_mask_on_schedule(converse: Any) -> None:
    estimator = SparseSZO(eps, 6, sparsity=2, period=5)
    early, late = np.zeros(D), np.zeros(D)
    early[[3, 7, 8]] = [0.5, -2.0, 1.0]
    late[[0, 1]] = [5.0, -5.0]
    masks = []
    for step, x in ((1, early), (4, late), (5, early), (9, late), (10, late), (14, early)):
        talk = converse(estimator, linear, x, step, 0)
        assert talk.queries == 6
        masks.append(np.flatnonzero(talk.displacements.any(axis=0)).tolist())
    everything = list(range(D))
    assert masks == [everything, everything, [7, 8], [7, 8], [0, 1], [0, 1]]


@pytest.mark.parametrize("estimator", [Average(rows.gaussian, eps, 7), TPGE(eps, 7)], ids=["average", "tpge"])
def test_long_rows_are_asked_in_batches_that_reserve_the_rest(
    estimator: Estimator, converse: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_TOGETHER", 0)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 4 * D * 9)
    talk = converse(estimator, linear, np.zeros(D), 1, 0)
    each = 2 if isinstance(estimator, TPGE) else 1
    assert talk.queries == 7 * each
    assert len(talk.asks) > 1 - (each == 1)
    asked = 0
    for ask in talk.asks:
        asked += len(ask)
        assert ask.reserve == 7 * each - asked
        assert isinstance(ask.offsets, DenseRows)
    assert np.isfinite(talk.gradient.toarray()).all()


def test_steep_and_shallow_functions_survive_single_precision(converse: Any) -> None:
    for scale in (1e-200, 1e60, 1e200):
        talk = converse(Average(rows.gaussian, eps, 5), lambda x, c=scale: c * linear(x), np.zeros(D), 1, 0)
        reference = converse(Average(rows.gaussian, eps, 5), linear, np.zeros(D), 1, 0)
        assert talk.gradient.toarray() / scale == pytest.approx(reference.gradient.toarray(), rel=1e-4)


@pytest.mark.parametrize("name", UNBIASED)
def test_flat_only_when_nothing_is_left_to_look_at(name: str, converse: Any) -> None:
    estimator = UNBIASED[name]()
    x = np.zeros(D)
    talks = [converse(estimator, lambda x: 1.0, x, step, 0) for step in range(1, 40)]
    flat = [talk.gradient.flat for talk in talks]
    assert flat[-1]
    assert flat[0] is (name != "szoht")  # four rows of three coordinates do not cover twelve at once
    assert not converse(UNBIASED[name](), linear, x, 1, 0).gradient.flat


def test_szoht_is_the_same_in_batches(converse: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch reserves the rest, and the mean is over the rows of all; flat ones count as zeros."""
    monkeypatch.setattr(rows, "BLOCK_BYTES", 4 * 8 * 4 * 2)  # two rows of four coordinates
    talk = converse(SubsetSphere(eps, 5, 4), lambda x: 3.0 * float(x[0]), np.zeros(D), 1, 2)
    z = talk.displacements / EPS
    assert [(len(ask), ask.reserve) for ask in talk.asks] == [(2, 3), (2, 1), (1, 0)]
    assert not z[:, 0].all()
    assert talk.gradient.toarray() == pytest.approx(D / 5 * (3.0 * z[:, 0]) @ z, rel=1e-5)
