"""`auto` in a box: probes lead inward, steps follow the walls, and the end meets the conditions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, minimize
from tests.methods.auto.rooms import written

import gracezo
from gracezo.core.asks import Ask, Moved, Point, Role
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.places import Place
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods import catalog
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.auto.support.refresh import Refresh


def walls(lower: list[float], upper: list[float], x: list[float]) -> Walls:
    made = Walls(Box.of(np.array(lower), np.array(upper), len(x)))
    made.centre(np.array(x))
    return made


def conditions(gradient: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """Return the largest entry of the projected gradient."""
    return float(np.abs(x - np.clip(x - gradient, lower, upper)).max())


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([1, 5]), st.sampled_from([3, 12, 40]))
@example(seed=353, batch=1, d=3)  # the last coordinate is known by subtraction, from before the last step
def test_ends_where_the_conditions_hold(seed: int, batch: int, d: int) -> None:
    """On a coupled quadratic, from a face or a corner, it ends where L-BFGS-B with exact gradients does."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(d, d)) / np.sqrt(d)
    hessian = root @ root.T + 0.3 * np.eye(d)
    goal = random.normal(size=d)
    lower = np.where(random.random(d) < 0.2, -np.inf, -0.8 * random.random(d))
    upper = np.where(random.random(d) < 0.2, np.inf, 0.8 * random.random(d))
    fixed = random.random(d) < 0.1
    lower[fixed] = upper[fixed] = 0.1
    x0 = np.where(random.random(d) < 0.5, np.clip(lower, -2, 2), np.clip(upper, -2, 2))
    outside = 0

    def f(x: FloatArray) -> float:
        nonlocal outside
        outside += not ((x >= lower).all() and (x <= upper).all())
        return float(0.5 * (x - goal) @ hessian @ (x - goal))

    def gradient(x: FloatArray) -> FloatArray:
        return np.asarray(hessian @ (x - goal))

    result = gracezo.minimize(f, x0, bounds=Bounds(lower, upper), seed=seed, batch=batch, max_queries=20_000)
    exact = minimize(
        f,
        x0,
        jac=gradient,
        bounds=Bounds(lower, upper),
        method="L-BFGS-B",
        options={"ftol": 0, "gtol": 1e-10},
    )
    assert outside == 0
    assert result.status in (0, 4), result.message
    assert result.fun <= exact.fun + 1e-8 * (1.0 + f(x0))
    assert conditions(gradient(result.x), result.x, lower, upper) <= 2e-4 * (1.0 + np.abs(gradient(x0)).max())


@pytest.mark.parametrize("seed", range(4))
def test_coordinates_of_any_scale_come_to_their_place_in_a_box(seed: int) -> None:
    """Scales from 1e-3 to 1e3; of every second of those that move, a wall stands half way."""
    random = np.random.default_rng(seed)
    d, s = 600, 16
    scales = 10.0 ** random.uniform(-3.0, 3.0, d)
    goal = np.zeros(d)
    support = random.choice(d, s, replace=False)
    goal[support] = scales[support] * random.uniform(0.5, 1.5, s)
    upper = np.full(d, 1e5)
    upper[support[::2]] = 0.5 * goal[support[::2]]

    def f(x: FloatArray) -> float:
        square = ((x - goal) / scales) ** 2
        return float((square * (1.0 + 0.5 * square)).sum())

    best = f(np.minimum(goal, upper))
    result = gracezo.minimize(f, np.zeros(d), bounds=Bounds(-1e5, upper), seed=seed, max_queries=6000)
    assert result.status == 0, result.message
    assert result.fun - best <= 1e-6 * (f(np.zeros(d)) - best)


def test_a_large_slope_at_a_wall_does_not_blur_the_others() -> None:
    """A step from x = 1000 is rounded; times a known slope, that is no error of what is refreshed."""
    x = np.array([1000.0, 1.0])
    differences = Differences()
    box = walls([1000.0, -9.0], [9000.0, 9.0], x.tolist())
    differences.centre(x, 1.0)
    support = Support(differences, box)
    support.add(0, 7.0, 1.0)
    support.add(1, 0.0, 1.0)
    slopes = np.array([7.0, 1e-6])
    refresh = Refresh(support, differences, box)
    refresh.begin(np.random.default_rng(0), doubt=0.0)
    while requests := refresh.requests(1):
        (request,) = requests
        # f is linear here; x, not f, is rounded.
        moved = (x[written(request).indices] + written(request).values) - x[written(request).indices]
        request.absorb(Change(float(slopes[written(request).indices] @ moved)))
    assert support.slopes == pytest.approx(slopes, abs=1e-9)
    assert refresh.answers == 2


def test_a_coordinate_leaves_the_wall_again() -> None:
    """The slope of x1 points through the wall at first, and inward once x0 has moved."""

    def f(x: FloatArray) -> float:
        assert (x >= 0.0).all()
        return float((x[0] - 3.0) ** 2 + (x[1] - (x[0] - 1.0)) ** 2 + x[2:] @ x[2:])

    result = gracezo.minimize(f, np.zeros(200), bounds=Bounds(0.0, np.inf), seed=4)
    assert result.status == 0
    assert result.x[:2] == pytest.approx([3.0, 2.0], abs=1e-6)
    assert result.fun < 1e-13  # f(x0) is 10


def test_blocked_coordinates_cost_about_what_they_must() -> None:
    """Forty coordinates at a wall that they would go through: found, never confirmed downhill."""
    d = 2000
    gradient = np.zeros(d)
    gradient[::50] = np.linspace(1.0, 2.0, 40)
    gradient[7] = -1.0

    def f(x: FloatArray) -> float:
        assert (x >= 0.0).all()
        return float(gradient @ x + 0.5 * x @ x)

    result = gracezo.minimize(f, np.zeros(d), bounds=Bounds(0.0, 10.0), seed=0)
    assert result.status == 0
    assert result.support.tolist() == [7]
    assert result.x[7] == pytest.approx(1.0, abs=1e-7)
    assert result.nfev < 4 * 41 + 20  # of which some make sure at the end


def test_a_single_coordinate_that_is_shut_is_known_without_a_query() -> None:
    result = gracezo.minimize(lambda x: float(x[0]), [0.0], bounds=[(0.0, 1.0)], seed=0)
    assert (result.nfev, result.status, result.x.tolist()) == (4, 0, [0.0])  # f(x0) and three probes


def test_the_gradient_at_a_corner() -> None:
    gradient = np.zeros(1000)
    gradient[[3, 500, 998]] = [2.0, -1.0, 0.5]
    found = gracezo.estimate_gradient(
        lambda x: float(gradient @ x) if (x >= 0).all() else np.nan,
        np.zeros(1000),
        bounds=Bounds(0, 1),
        seed=0,
    )
    assert found.indices.tolist() == [3, 500, 998]
    assert found.values == pytest.approx([2.0, -1.0, 0.5], rel=1e-5)
    assert found.queries < 25


def test_iterates_never_rise() -> None:
    box = Bounds(-0.2, 0.3)
    result = gracezo.minimize(
        lambda x: float(((x - np.linspace(-1, 1, 30)) ** 4).sum() + x.sum() ** 2),
        np.zeros(30),
        bounds=box,
        seed=1,
    )
    assert all(after <= before for before, after in pairwise(result.trace.values))


@pytest.mark.parametrize("method", ["auto", "grace", "ipw", "fdsa", "gld"])
@pytest.mark.parametrize("width", [1e-9, 1e-3, 1.0])
def test_what_is_asked_needs_no_fence(method: str, width: float) -> None:
    """Before the fence no point is out by more than rounding; only trial steps of `auto` may be."""
    d = 40
    random = np.random.default_rng(1)
    goal = random.normal(size=d)
    box = Box.of(-width * random.random(d), width * random.random(d), d)
    start = np.where(random.random(d) < 0.5, box.lower, box.upper)
    made = catalog.make(method, Problem(d, sparsity=4, bounds=box), {})

    def f(x: FloatArray) -> float:
        return float(((x - goal) ** 2).sum())

    steps = made.run(Point(start, f(start)), Key(0))
    said = next(steps)
    for _ in range(150):
        values = np.zeros(0)
        if isinstance(said, Ask):
            points = np.array([said.point(row) for row in range(len(said))])
            if method != "auto" or said.role is not Role.STEP:
                assert np.abs(points - box.clip(points)).max() <= 1e-15 * width
            values = np.array([f(box.clip(x)) for x in points])
        elif isinstance(said, Moved):
            assert box.inside(said.to.x)
        try:
            said = steps.send(values)
        except StopIteration:
            break


@pytest.mark.parametrize("method", ["auto", "grace"])
@pytest.mark.parametrize("width", [1e-3, 1.0])
@pytest.mark.parametrize("pair", [False, True])
def test_what_is_asked_of_very_many_coordinates_needs_no_fence(method: str, width: float, pair: bool) -> None:
    d = 140_000
    random = np.random.default_rng(1)
    lower, upper = (random.uniform(0.5, 1.0, 1 if pair else d) for _ in range(2))
    box = Box.of(-width * lower, width * upper, d)
    x = np.where(random.random(d) < 0.5, box.lower, box.upper)
    goal = x.copy()
    goal[random.choice(d, 8, replace=False)] *= -0.5
    made = catalog.make(method, Problem(d, sparsity=4, bounds=box), {})

    def f(x: FloatArray) -> float:
        return 1e3 * width**2 + float(((x - goal) ** 2).sum())  # labels are blurred: there are windows

    steps = made.run(Point(Place.at(x).stand_in, f(x)), Key(0))
    said, asked = next(steps), 0
    while asked < 35:  # the last looks, far away and to both sides, are cut
        values = np.zeros(0)
        if isinstance(said, Ask):
            points = [said.point(row) for row in range(len(said))]
            if method != "auto" or said.role is not Role.STEP:
                assert max(np.abs(point - box.clip(point)).max() for point in points) <= 1e-15 * width
            values = np.array([f(box.clip(point)) for point in points])
            asked += len(points)
        said = steps.send(values)
