"""Working sets: functions with kinks where the run began, as penalties on every change have them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.optimize

import gracezo
from gracezo.core.types import FloatArray

Objective = Callable[[FloatArray], float]


class Asked:
    """Counts its calls, and how often a point is asked again."""

    def __init__(self, f: Objective) -> None:
        self._f = f
        self._met: set[bytes] = set()
        self.again = 0
        self.values: list[float] = []

    def __call__(self, x: FloatArray) -> float:
        self.again += x.tobytes() in self._met
        self._met.add(x.tobytes())
        self.values.append(self._f(x))
        return self.values[-1]

    def reached(self, value: float) -> int:
        """Return after how many queries f was that low."""
        return int(np.argmax(np.array(self.values) <= value)) + 1


def penalised(seed: int, d: int, samples: int, relevant: int, spread: float) -> tuple[Objective, float]:
    """Return a LASSO, its penalties spread by a factor, and its least value.

    That is of x = u − v with u, v ≥ 0 and exact gradients, by SciPy.
    """
    rng = np.random.default_rng(seed)
    a, truth = rng.normal(size=(samples, d)), np.zeros(d)
    truth[rng.choice(d, relevant, replace=False)] = 2.0 * rng.normal(size=relevant)
    b, penalties = a @ truth, 0.05 * rng.uniform(1.0, spread, d)

    def f(x: FloatArray) -> float:
        return float(0.5 * ((a @ x - b) ** 2).mean() + penalties @ np.abs(x))

    def split(both: FloatArray) -> tuple[float, FloatArray]:
        x = both[:d] - both[d:]
        slopes = a.T @ (a @ x - b) / samples
        value = 0.5 * ((a @ x - b) ** 2).mean() + np.tile(penalties, 2) @ both
        return float(value), np.concatenate([slopes + penalties, penalties - slopes])

    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-12}
    exact = scipy.optimize.minimize(
        split, np.zeros(2 * d), jac=True, bounds=[(0.0, None)] * (2 * d), method="L-BFGS-B", options=options
    )
    return f, float(exact.fun)


@pytest.mark.parametrize("spread", [1.0, 3.0])
@pytest.mark.parametrize("seed", [40, 41])
def test_a_lasso_is_solved_by_some_gradients(seed: int, spread: float) -> None:
    d = 200
    f, least = penalised(seed, d, 80, 6, spread)
    asked = Asked(f)
    result = gracezo.minimize(asked, np.zeros(d), seed=seed, max_queries=20 * d)
    assert result.success, result.message
    assert result.nfev == len(asked.values) < 14 * d
    assert result.fun - least < 1e-10 * (f(np.zeros(d)) - least)
    assert asked.reached(least + 1e-4 * (f(np.zeros(d)) - least)) < 7 * d
    assert len(result.support) < 30  # the others are exactly where they began
    assert asked.again == 0


def test_bounds_on_one_side_hold() -> None:
    """x ≥ 0, from zero: what is at its bound has one side only."""
    d = 100
    f, _ = penalised(50, d, 60, 5, 1.0)
    bounds = [(0.0, None)] * d
    exact = scipy.optimize.minimize(
        f, np.zeros(d), method="L-BFGS-B", bounds=bounds, options={"maxfun": 10**6}
    )

    def inside(x: FloatArray) -> float:
        assert (x >= 0.0).all()
        return f(x)

    result = gracezo.minimize(inside, np.zeros(d), bounds=bounds, seed=0, max_queries=40 * d)
    assert result.fun <= exact.fun + 1e-6 * (f(np.zeros(d)) - exact.fun)


def test_kinks_elsewhere_are_left_to_the_sparse_way() -> None:
    """Σ |x − c|, few of c not zero: a gradient on both sides finds them, and their kinks are located."""
    rng, d = np.random.default_rng(7), 500
    goal, sizes = np.zeros(d), rng.uniform(0.5, 1.5, d)
    goal[rng.choice(d, 6, replace=False)] = rng.uniform(0.5, 1.5, 6) * rng.choice([-1.0, 1.0], 6)
    asked = Asked(lambda x: float((sizes * np.abs(x - goal)).sum()))
    gracezo.minimize(asked, np.zeros(d), seed=7, max_queries=6 * d, target=1e-5)
    assert asked.reached(1e-2 * asked.values[0]) < 3.5 * d


def test_kinks_across_coordinates_are_none_of_its_own() -> None:
    d = 40
    result = gracezo.minimize(
        lambda x: float(np.abs(np.diff(x, prepend=0.0) - 0.1).sum() + 0.01 * (x @ x)),
        np.zeros(d),
        seed=0,
        max_queries=4_000,
    )
    assert not result.success or result.fun < 0.37
