"""Answers with gaps (NaN: failed and skipped): an estimate loses only what it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gracezo.core.asks import Ask, Decided, Moved, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator
from gracezo.estimators import rows
from gracezo.estimators.average import Average
from gracezo.estimators.fdsa import FDSA
from gracezo.estimators.grace import VARIANTS, GraCe
from gracezo.estimators.lasso import DebiasedLasso
from gracezo.estimators.noise import BESIDE, FIRST, measure_noise, random_line
from gracezo.estimators.sparseszo import SparseSZO
from gracezo.estimators.szoht import SubsetSphere
from gracezo.estimators.tpge import TPGE
from gracezo.estimators.zobcd import ZOBCD
from gracezo.estimators.zoro import ZORO
from gracezo.methods.descent import Descent
from gracezo.methods.gld import GLD
from gracezo.sparse.cosamp import CoSaMP
from gracezo.sparse.lasso import debiased_lasso
from gracezo.updates import plain

D = 40
WEIGHTS = np.zeros(D)
WEIGHTS[[3, 17]] = [2.0, -1.0]
EPS = 2.0**-10
EXACT = CoSaMP(2, tolerance=1e-9)
Talk = Any  # the fixture `converse`


def eps(step: int) -> float:
    return EPS


class Failing:
    """A linear function that fails at some calls; f(x0) is call 0."""

    def __init__(self, *lost: int) -> None:
        self.lost = lost
        self.calls = 0

    def __call__(self, x: np.ndarray) -> float:
        self.calls += 1
        return np.nan if self.calls - 1 in self.lost else float(WEIGHTS @ x)


ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "average": lambda: Average(rows.gaussian, eps, 6),
    "fdsa": lambda: FDSA(eps),
    "grace": lambda: GraCe(eps, 14, 1, (4, 4), VARIANTS["printed"]),
    "lasso": lambda: DebiasedLasso(eps, 6, None),
    "sparseszo": lambda: SparseSZO(eps, 6, 3, period=1),
    "szoht": lambda: SubsetSphere(eps, 6, 3),
    "tpge": lambda: TPGE(eps, 3),
    "zobcd": lambda: ZOBCD(eps, 6, 2, CoSaMP(2)),
    "zoro": lambda: ZORO(eps, 6, CoSaMP(2)),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_answer_is_no_estimate_and_not_flat(name: str, converse: Talk) -> None:
    gradient = converse(ESTIMATORS[name](), Failing(*range(1, 200)), np.zeros(D), 1, 0).gradient
    assert (len(gradient.indices), gradient.flat) == (0, False)


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if name != "grace"]
)  # it asks again what is missing
def test_a_gap_in_flat_ground_is_not_flat(name: str, converse: Talk) -> None:
    calls = [0]

    def flat(x: np.ndarray) -> float:
        calls[0] += 1
        return np.nan if calls[0] in (3, 4) else 1.0

    assert not converse(ESTIMATORS[name](), flat, np.zeros(D), 1, 0).gradient.flat


@pytest.mark.parametrize("lost", [(1,), (2, 5), (6,), (1, 2, 3, 4, 5)])
def test_averages_are_over_what_was_answered(lost: Sequence[int], converse: Talk) -> None:
    kept = np.setdiff1d(np.arange(6), np.array(lost) - 1)
    for estimator, weight in (
        (Average(rows.gaussian, eps, 6), 1.0),
        (SparseSZO(eps, 6, 3, period=1), 1.0),
        (SubsetSphere(eps, 6, 3), float(D)),
    ):
        talk = converse(estimator, Failing(*lost), np.zeros(D), 1, 0)
        z = talk.displacements[kept] / EPS
        expected = weight * (z @ WEIGHTS) @ z / len(kept)
        # The sum is made in single precision, so the error goes with its largest terms.
        assert talk.gradient.toarray() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_averages_in_several_batches(converse: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_TOGETHER", 0)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 2 * 4 * D)
    talk = converse(Average(rows.gaussian, eps, 6), Failing(1, 2, 3), np.zeros(D), 1, 0)
    assert [len(ask) for ask in talk.asks] == [2, 2, 2]
    z = talk.displacements[3:] / EPS
    assert talk.gradient.toarray() == pytest.approx((z @ WEIGHTS) @ z / 3, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("lost", [2, 5])  # one of the second pair
def test_a_pair_needs_both(lost: int, converse: Talk) -> None:
    talk = converse(TPGE(eps, 3), Failing(lost), np.zeros(D), 1, 0)
    z = (talk.displacements[3:] - talk.displacements[:3])[[0, 2]] / EPS
    assert talk.gradient.toarray() == pytest.approx((z @ WEIGHTS) @ z / 2, rel=1e-4, abs=1e-6)


def test_a_coordinate_is_left_out(converse: Talk) -> None:
    gradient = converse(FDSA(eps), Failing(4, 9), np.zeros(D), 1, 0).gradient
    assert gradient.indices.tolist() == [j for j in range(D) if j not in (3, 8)]
    assert gradient.confirmed.all()
    assert gradient.toarray()[17] == -1.0
    assert gradient.toarray()[3] == 0.0


def test_rows_are_left_out_of_a_regression(converse: Talk) -> None:
    talk = converse(DebiasedLasso(eps, 20, None), Failing(2, 7), np.zeros(D), 1, 0)
    z = np.delete(talk.displacements / EPS, [1, 6], axis=0)
    assert talk.gradient.toarray() == pytest.approx(debiased_lasso(z, z @ WEIGHTS), abs=1e-6)


@pytest.mark.parametrize("estimator", [ZORO(eps, 30, EXACT), ZOBCD(eps, 30, 1, EXACT)])
def test_rows_are_left_out_of_a_recovery(estimator: Estimator, converse: Talk) -> None:
    gradient = converse(estimator, Failing(1, 8, 30), np.zeros(D), 1, 0).gradient
    assert gradient.toarray() == pytest.approx(WEIGHTS, abs=1e-6)


@pytest.mark.parametrize(
    ("lost", "queries"), [((), 5), ((1,), 6), ((2,), 7), ((3,), 6), ((1, 4), 7), ((1, 3), 3)]
)
def test_grace_asks_a_pair_again_with_new_signs(lost: Sequence[int], queries: int, converse: Talk) -> None:
    """One group of 40 in blocks of 4, then of 1: two pairs and one measurement. A pair has two attempts."""
    estimator = GraCe(eps, D, 1, (10, 4), VARIANTS["printed"])

    def one(x: np.ndarray) -> float:
        return failing(np.where(np.arange(D) == 3, x, 0.0))

    failing = Failing(*lost)
    talk = converse(estimator, one, np.zeros(D), 1, 0)
    assert len({row.tobytes() for row in talk.displacements}) == talk.queries
    assert talk.queries == queries
    found = [] if lost == (1, 3) else [3]  # u, then u again and its v: twice in vain
    assert talk.gradient.indices.tolist() == found


def test_noise_is_measured_at_another_spacing() -> None:
    random = np.random.default_rng(0)
    at = Point(np.zeros(3), 1.0)
    steps = measure_noise(at, random_line(at, Key(0))[0])
    first = next(steps)
    assert isinstance(first, Ask)
    second = steps.send(np.array([1.0, 1.0, np.nan, 1.0, 1.0, 1.0]))
    assert isinstance(second, Ask)
    assert second.point(0) == pytest.approx(BESIDE * first.point(0))
    with pytest.raises(StopIteration) as end:
        steps.send(1.0 + 1e-6 * random.standard_normal(6))
    assert end.value.value.detected
    assert end.value.value.spacing == pytest.approx(BESIDE * FIRST)


def said(steps: Steps[Any], value: float) -> Ask | Moved | Decided:
    return steps.send(np.array([value]))


def test_a_step_without_a_value_is_halved_and_then_given_up() -> None:
    steps = Descent(FDSA(eps), plain(1.0)).run(Point(np.array([1.0]), 0.0), Key(0))
    next(steps)
    tried = []
    answer = said(steps, 4 * EPS)  # the slope is 4, the step −4
    for _ in range(5):
        assert isinstance(answer, Ask)
        assert answer.role is Role.STEP
        tried.append(float(answer.point(0)[0]))
        answer = said(steps, np.nan)
    assert tried == [-3.0, -1.0, 0.0, 0.5, 0.75]
    assert isinstance(answer, Moved)
    assert answer.to.x.tolist() == [1.0]
    assert isinstance(said(steps, 0.0), Ask)


def test_a_gap_never_wins_a_trial() -> None:
    steps = GLD((1.0, 0.5, 0.25)).run(Point(np.zeros(2), 1.0), Key(0))
    trials = next(steps)
    assert isinstance(trials, Ask)
    moved = steps.send(np.array([np.nan, 0.5, np.nan]))
    assert isinstance(moved, Moved)
    assert (moved.to.x.tolist(), moved.to.value) == (trials.point(1).tolist(), 0.5)
    next(steps)
    stayed = steps.send(np.full(3, np.nan))
    assert isinstance(stayed, Moved)
    assert stayed.to is moved.to
