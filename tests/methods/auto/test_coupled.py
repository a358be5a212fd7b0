"""Kinks across coordinates: told from kinks in single ones, and no reason to claim success."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, OutOfQueries, Point, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.kinks import KinksMet, coupled, kinked

_EPS = float(np.finfo(np.float64).eps)


def told(
    f: Callable[[FloatArray], float], x: FloatArray, seed: int = 0, length: float | None = None
) -> tuple[bool, int]:
    """Return what the trials at x say of all coordinates, and the queries they took."""
    value = f(x)
    rounding = 2.0 * _EPS * abs(value)
    steps = coupled(
        Point(x, value),
        np.arange(len(x)),
        np.full(len(x), length or np.sqrt(2.0 * rounding)),
        rounding,
        np.random.default_rng(seed),
    )
    queries = 0
    try:
        ask = next(steps)
        while True:
            assert isinstance(ask, Ask)
            queries += len(ask)
            ask = steps.send(np.array([f(ask.point(row)) for row in range(len(ask))]))
    except StopIteration as end:
        return end.value, queries


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 10, 60]))
def test_kinks_in_single_coordinates_add_up(seed: int, n: int) -> None:
    """The smooth rest may couple all of them, with curvatures of one at most along each."""
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.01, 2.0, n)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T
    hessian /= np.sqrt(np.outer(np.diag(hessian), np.diag(hessian)))

    def f(x: FloatArray) -> float:
        return float(1.0 + (sizes * np.abs(x)).sum() + 0.5 * x @ hessian @ x)

    found, queries = told(f, np.zeros(n), seed)
    assert not found
    assert queries == 12 if n == 60 else 3 <= queries <= 12


def test_what_has_told_is_not_asked_again() -> None:
    """Two coordinates have four pairs of signs, and which of them is the first half does not matter."""

    def twice(x: FloatArray) -> float:
        met.append(x.tobytes())
        return 1.0 + float(np.abs(x).sum())

    for seed in range(20):
        met: list[bytes] = []
        told(twice, np.zeros(2), seed)
        both = [x for x in met if np.frombuffer(x).all()]
        assert len(both) == len(set(both))


@pytest.mark.parametrize("n", [4, 30])
def test_kinks_across_coordinates_do_not(n: int) -> None:
    def chain(x: FloatArray) -> float:
        return float(1.0 + np.abs(np.diff(x)).sum() + 0.1 * np.abs(x).sum())

    shown = [told(chain, np.zeros(n), seed) for seed in range(40)]
    assert sum(found for found, _ in shown) >= 35
    assert max(queries for _, queries in shown) <= 12


def test_a_single_coordinate_costs_nothing() -> None:
    assert told(lambda x: 1.0 + abs(float(x[0])), np.zeros(1)) == (False, 0)


@pytest.mark.parametrize(("bend", "coupled"), [(1.0, False), (0.0, True)])
def test_far_away_kinks_are_told_from_curvature(bend: float, coupled: bool) -> None:
    """Both miss the sum; curvature does so by a sixteenth at a quarter of the length, kinks by a quarter."""
    root = np.random.default_rng(0).normal(size=(6, 6))

    def f(x: FloatArray) -> float:
        return float(1.0 + bend * np.sum((root @ x) ** 2) + (1.0 - bend) * np.abs(root @ x).sum())

    assert told(f, np.zeros(6), length=1e-2) == (coupled, 6 if coupled else 24)


def test_too_few_answers_end_it() -> None:
    steps = coupled(Point(np.zeros(2), 1.0), np.arange(2), np.ones(2), 1e-16, np.random.default_rng(0))
    next(steps)
    with pytest.raises(OutOfQueries):
        steps.send(np.array([2.0]))


def test_a_valley_between_the_axes_is_followed() -> None:
    """Each coordinate alone leads uphill from (0, 0); both lead to (1, 1), and tangents show that."""
    calls = 0

    def valley(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        return float(10.0 * abs(x[0] - x[1]) + abs(x[0] + x[1] - 2.0))

    result = gracezo.minimize(valley, [0.0, 0.0], seed=0)
    assert result.fun < 1e-6
    assert (result.status, result.success) == (0, True)
    assert "1e-06 of the decrease so far: slopes around its kinks show that" in result.message
    assert result.nfev == calls < 300


@pytest.mark.parametrize("n", [1, 7, 100])
@pytest.mark.parametrize("seed", range(3))
def test_coordinates_with_kinks_nearby_are_told_by_halving(n: int, seed: int) -> None:
    """One that is curved is none of them, nor one whose kink lies farther off; a look at a set takes four."""
    rng, asks = np.random.default_rng(seed), list[Ask]()
    chosen = np.sort(rng.choice(n, min(n, 3), replace=False))
    places = np.full(n, 5.0)
    places[chosen] = rng.uniform(-1e-4, 1e-4, len(chosen))

    def f(x: FloatArray) -> float:
        return float(np.abs(x - places).sum() + x @ x)

    at = Point(np.zeros(n), f(np.zeros(n)))
    found = kinked(at, np.arange(n), np.full(n, 1e-3), 1e-14, rng, n)
    assert followed(found, f, asks).tolist() == chosen.tolist()
    assert all(len(ask) == 4 for ask in asks)
    assert len(asks) <= 1 + 2 * len(chosen) * int(np.ceil(np.log2(n)))


def followed(steps: Steps[IntArray], f: Callable[[FloatArray], float], asks: list[Ask]) -> IntArray:
    """Answer all that is asked, and keep it; return what comes of it."""
    answer = None
    while True:
        try:
            said = steps.send(answer)  # type: ignore[arg-type]  # None begins it
        except StopIteration as end:
            return np.asarray(end.value)
        assert isinstance(said, Ask)
        asks.append(said)
        answer = np.array([f(said.point(row)) for row in range(len(said))])


def test_kinks_that_hold_are_not_let_in_until_the_run_goes_on() -> None:
    kinks = KinksMet()
    kinks.note(3)
    kinks.note(5)
    kinks.hold(np.array([5, 7]))
    assert (kinks.left_out.tolist(), kinks.held.tolist(), kinks.waiting) == ([3, 5, 7], [5, 7], 1)
    kinks.let_in()
    assert (kinks.left_out.tolist(), kinks.waiting, kinks.holding) == ([5, 7], 0, True)
    kinks.release()
    assert (kinks.left_out.tolist(), sorted(kinks.all), kinks.holding) == ([], [3, 5, 7], False)


def test_kinks_of_very_many_coordinates_without_bounds_are_walls() -> None:
    """Walls at kinks alone are kept as what differs from none."""
    goal = np.zeros(20_000)
    goal[:4] = [0.3, -0.2, 0.5, -0.7]
    weights = np.linspace(0.5, 1.5, 4)

    def f(x: FloatArray) -> float:
        return float(weights @ np.abs(x[:4] - goal[:4]) + 0.5 * (x[4:] @ x[4:]))

    result = gracezo.minimize(f, np.zeros(20_000), seed=0, max_queries=1000)
    assert result.fun < 1e-4


def test_a_corner_is_a_minimum() -> None:
    goal = np.array([0.3, -0.2, 0.0, 0.0])
    result = gracezo.minimize(lambda x: float(np.abs(x - goal).sum() + 1.0), np.zeros(4), seed=0)
    assert result.success, result.message
    assert result.fun == pytest.approx(1.0, abs=1e-9)
