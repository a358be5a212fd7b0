"""Objectives that price a change: the same run as by calls, and nothing of length d from a sparse start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gracezo
from gracezo.core.shuffle import Piece
from gracezo.core.types import FloatArray

D = 200_000


class Bowl:
    """Σ w (x − v)², by calls or by prices; counts both."""

    def __init__(self, d: int = D, wrong: float = 0.0) -> None:
        random = np.random.default_rng(4)
        self.weights = random.random(d)
        self.hidden = np.zeros(d)
        self.hidden[random.choice(d, 5, replace=False)] = 1.0 + random.random(5)
        self.wrong = wrong
        self.calls = self.priced = 0
        self.given: list[Any] = []

    def __call__(self, x: FloatArray) -> float:
        self.calls += 1
        return float(self.weights @ (x.ravel() - self.hidden) ** 2)

    def at(self, x: Any) -> Priced:
        self.given.append(x)
        dense = x.toarray().ravel() if scipy.sparse.issparse(x) else x.ravel()
        ways = dense - self.hidden
        return Priced(self, ways)


class Priced:
    def __init__(self, bowl: Bowl, ways: FloatArray) -> None:
        self.bowl, self.ways = bowl, ways
        self.base = float(bowl.weights @ ways**2) * (1.0 + bowl.wrong)

    def value(self, parts: Iterable[Piece]) -> float:
        self.bowl.priced += 1
        change = 0.0
        for indices, values in parts:
            there = self.ways[indices]
            change += float(self.bowl.weights[indices] @ (values * (values + 2.0 * there)))
        return self.base + change


def plain(bowl: Bowl) -> Any:
    return bowl.__call__


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("method", ["grace", "fdsa"])
def test_the_run_is_that_by_calls_up_to_rounding(method: str, copy: bool) -> None:
    d = D if method == "grace" else 30
    arguments: dict[str, Any] = {"method": method, "sparsity": 5, "max_queries": 150, "seed": 2, "copy": copy}
    one, two = Bowl(d), Bowl(d)
    called = gracezo.minimize(plain(one), np.zeros(d), **arguments)
    priced = gracezo.minimize(two, np.zeros(d), **arguments)
    assert priced.nfev == two.priced == called.nfev == one.calls
    assert two.calls == 1  # f(x0), where both ways must agree
    assert np.allclose(priced.trace.values, called.trace.values, rtol=1e-9)
    assert np.allclose(priced.x, called.x, rtol=1e-4, atol=1e-4)
    assert priced.fun == pytest.approx(one(priced.x), rel=1e-9)


def test_ways_that_disagree_are_said_to_at_the_first_query() -> None:
    with pytest.raises(
        gracezo.EvaluationError, match=r"query 1 failed: fun\(x0\) is .* must agree"
    ) as raised:
        gracezo.minimize(Bowl(wrong=1e-3), np.zeros(D), method="grace", sparsity=5, max_queries=50)
    assert raised.value.result.nfev == 1


def test_from_a_sparse_start_nothing_is_called_and_x_is_made_when_asked_for() -> None:
    bowl = Bowl()
    x0 = scipy.sparse.coo_array((np.array([0.5, -0.5]), (np.array([3, 9]),)), shape=(D,))
    result = gracezo.minimize(bowl, x0, method="grace", sparsity=5, max_queries=150, seed=2)
    assert bowl.calls == 0
    assert all(scipy.sparse.issparse(x) and x.shape == (D,) for x in bowl.given)
    assert "x" not in result.keys()  # noqa: SIM118 - it is there as an attribute
    indices, change = result.change
    x = x0.toarray()
    x[indices] += change
    assert np.array_equal(result.x, x)
    assert result.fun == pytest.approx(bowl(result.x), rel=1e-9)
    dense = gracezo.minimize(Bowl(), x0.toarray(), method="grace", sparsity=5, max_queries=150, seed=2)
    assert np.array_equal(dense.x, result.x)
    assert dense.nfev == result.nfev


def test_a_number_with_dim_is_a_start() -> None:
    bowl = Bowl()
    result = gracezo.minimize(plain(bowl), 0, dim=D, method="grace", sparsity=5, max_queries=60, seed=2)
    whole = gracezo.minimize(plain(bowl), np.zeros(D), method="grace", sparsity=5, max_queries=60, seed=2)
    assert np.array_equal(result.x, whole.x)
    assert result.nfev == whole.nfev
    assert "of 200,000" in repr(result)


@pytest.mark.parametrize(
    ("x0", "dim", "said"),
    [
        (scipy.sparse.coo_array((np.ones(2), (np.array([4, 4]),)), shape=(9,)), None, "more than once"),
        (scipy.sparse.coo_array((np.ones(2), (np.array([4, 2]),)), shape=(9,)), None, "not in order"),
        (scipy.sparse.coo_array(np.eye(3)), None, "one row or column"),
        (scipy.sparse.coo_array(np.array([1.0, np.inf])), None, "must be finite"),
        (scipy.sparse.coo_array(np.ones(3)), 4, "dim must be the number of coordinates"),
        (np.zeros(3), 4, "dim must be the number of coordinates"),
        (0.0, 0, "dim must be a whole number"),
        (np.nan, 5, "must be a finite number"),
    ],
)
def test_wrong_starts_are_refused(x0: Any, dim: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        gracezo.minimize(lambda x: 1 / 0, x0, dim=dim)
