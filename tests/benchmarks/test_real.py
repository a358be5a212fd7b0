"""The tables on users' functions judge rightly: the least values are true, and no false claim passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.real import claims, invariance, known, record
from benchmarks.real.case import Case, run
from benchmarks.real.claims import SHAPES
from benchmarks.real.meter import Meter
from benchmarks.real.tails import Tail
from scipy.optimize import minimize, minimize_scalar

from gracezo.core.result import Result
from gracezo.core.types import FloatArray

GOAL = np.array([0.5, -0.7, 0.0])
BOWL = Case("bowl", lambda x: float(((x - GOAL) ** 2).sum()), np.zeros(3), 0.0, budget=200)


def ending(x: FloatArray, fun: float, nfev: int, status: int = 0, message: str = "converged") -> Result:
    support = np.flatnonzero(x)
    return Result(x=x, fun=fun, fun_error=0.0, nfev=nfev, success=status == 0, status=status, message=message,
                  support=support)  # fmt: skip


class Method:
    """A method that asks these points and then says this of the last of them."""

    def __init__(self, points: list[FloatArray], **said: Any) -> None:
        self.points, self.said = points, said

    def __call__(self, fun: Meter, x0: FloatArray, **_: Any) -> Result:
        values = [fun(point) for point in self.points]
        return ending(self.points[-1], values[-1], len(values), **self.said)


ZERO = np.zeros(3)
HALF = np.array([0.25, -0.35, 0.0])


@pytest.mark.parametrize(
    ("method", "word", "flaw"),
    [
        (Method([ZERO, GOAL]), "solved", ""),
        (Method([ZERO]), "FALSE", ""),
        (Method([ZERO, HALF]), "FALSE", ""),
        (Method([ZERO, HALF], status=1), "misnamed", ""),  # most of the budget is left
        (Method([ZERO] * 180 + [HALF], status=1), "spent", ""),
        (Method([ZERO, HALF], status=4, message="flat"), "misnamed", ""),
        (Method([ZERO, HALF], status=5, message="f may have kinks here"), "misnamed", ""),
        (Method([ZERO, HALF, GOAL, HALF], status=1), "misnamed", "paid for a value lower"),
        (
            Method([ZERO, GOAL, GOAL + np.array([1e-4, 0, 0])]),
            "solved",
            "paid for a lower value on the support",
        ),
        (Method([ZERO] * 200 + [GOAL]), "solved", "201 calls with max_queries=200"),
        (Method([ZERO, GOAL * np.nan, GOAL]), "solved", "1 queries at x that is not finite"),
    ],
)
def test_a_claim_is_judged_by_the_truth(method: Method, word: str, flaw: str) -> None:
    outcome = run(BOWL, 0, method)
    assert outcome.word == word
    assert any(told.startswith(flaw) for told in outcome.flaws) if flaw else not outcome.flaws


def test_what_fits_may_be_said() -> None:
    stuck = Method([ZERO, HALF], status=5, message="f may have kinks here")
    assert run(Case("", BOWL.fun, ZERO, 0.0, fits=("kinks",)), 0, stuck).word == "named"
    assert run(Case("", BOWL.fun, ZERO, 0.0, fits=("rough",)), 0, stuck).word == "misnamed"
    everything = Method([ZERO, HALF], status=5, message="f may have kinks, be coarse, rough or unbounded")
    assert run(Case("", BOWL.fun, ZERO, 0.0, fits=("kinks",)), 0, everything).word == "misnamed"
    flat = Method([ZERO], status=4, message="flat")
    assert run(Case("", BOWL.fun, ZERO, 0.0, fits=("flat",)), 0, flat).word == "named"


def test_no_success_is_true_where_there_is_no_least_value() -> None:
    falling = Case("", lambda x: float(x.sum()), ZERO, -np.inf, fits=("unbounded",))
    assert run(falling, 0, Method([ZERO, ZERO - 1e9])).word == "FALSE"
    named = Method([ZERO, ZERO - 1e9], status=5, message="f seems to have no lower bound")
    assert run(falling, 0, named).word == "named"


def test_noise_has_to_be_seen() -> None:
    noisy = Case("", BOWL.fun, ZERO, 0.0, noise=0.1, grain=0.1)
    assert run(noisy, 0, Method([ZERO, GOAL])).flaws == ("noise not seen: fun_error 0",)


def test_a_crash_is_counted_and_so_is_what_came_before_it() -> None:
    def crashing(fun: Meter, x0: FloatArray, **_: Any) -> Result:
        fun(np.full(3, np.inf))
        raise OverflowError("too large")

    outcome = run(BOWL, 0, crashing)
    assert (outcome.word, outcome.queries) == ("CRASHED", 1)
    assert outcome.flaws == ("1 queries at x that is not finite",)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_the_least_value_that_they_state(name: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        shape = SHAPES[name][1](rng, int(rng.integers(1, 9)))
        if not np.isfinite(shape.least):
            continue
        best = np.zeros(len(shape.start)) if shape.optimum is None else shape.optimum
        slack = shape.grain + 1e-12
        assert shape.value(best) == pytest.approx(shape.least, abs=slack)
        assert shape.value(shape.start) > shape.least + 1e-9
        for size in (1e-3, 0.1, 1.0, 10.0):
            around = best + size * rng.standard_normal((20, len(best)))
            assert min(map(shape.value, around)) >= shape.least - slack


@pytest.mark.parametrize("name", [name for name, (kind, _) in SHAPES.items() if kind == "smooth"])
def test_smooth_shapes_lead_down_to_it(name: str) -> None:
    """Where BFGS arrives, a success elsewhere is a false one."""
    rng = np.random.default_rng(5)
    shape = SHAPES[name][1](rng, 4)
    y = shape.start + 1e-3 * rng.standard_normal(len(shape.start)) * (name in claims.STATIONARY)
    with np.errstate(all="ignore"):
        for _ in range(5):
            y = minimize(shape.value, y, method="BFGS", options={"gtol": 0.0}).x
    assert shape.value(y) <= 1e-3 * shape.value(shape.start)


@pytest.mark.parametrize("seed", range(1000, 1000 + 2 * len(SHAPES), 3))
def test_no_point_of_the_box_is_below_the_floor(seed: int) -> None:
    case = claims.drawn(seed)
    rng = np.random.default_rng(seed)
    low, high = case.bounds or (case.x0 - 1.0, case.x0 + 1.0)
    assert np.all((low <= case.x0) & (case.x0 <= high))
    with np.errstate(all="ignore"):
        assert case.height > 0
        lowest = min(case.true(rng.uniform(low, high)) for _ in range(30))
    assert lowest >= case.floor - case.grain - 1e-9 * case.height if np.isfinite(case.floor) else True


@pytest.mark.parametrize(
    "seed", [50020, 50543, 60364, 60557, 61323, 62437, 64269, 65250, 68506, 70826, 70876]
)
def test_what_was_claimed_falsely_once_is_not_any_more(seed: int) -> None:
    """Coarse beside an offset, bowls in front of walls and plateaus, kinks left alone, a singular fit."""
    outcome = run(claims.drawn(seed), seed)
    assert outcome.word not in {"FALSE", "CRASHED"}, outcome.message


def test_another_minimum_is_told_from_a_false_claim() -> None:
    """f has minima at ±1, the one at −1 a little higher."""
    two = Case(
        "two",
        lambda x: float((x[0] ** 2 - 1) ** 2 - 0.1 * x[0]),
        np.array([-0.8]),
        -0.1,
        around=np.zeros(1, int),
    )
    words = [
        run(two, 0, lambda fun, *_, x=x, **__: ending(np.array([x]), fun(np.array([x])), 1)).word
        for x in (-0.9873, -0.5, 1.0123)
    ]
    assert words == ["local", "FALSE", "solved"]


@pytest.mark.parametrize("name", known.FAMILIES)
def test_known_cases_begin_above_their_floor(name: str) -> None:
    case = known.drawn(name, 3)
    assert case.height > 0
    assert case.true(case.x0) - case.floor > case.grain or case.noise or "rounding" in case.fits


def test_what_the_ten_bring_is_what_they_bring() -> None:
    tail = Tail.drawn(1e-3, 7, d=200)
    brought = 0.0
    for i in tail.ten:
        unit = np.eye(200)[i]
        brought -= minimize_scalar(lambda t, unit=unit: tail(t * unit)).fun
    assert tail.brought == pytest.approx(brought)


def test_a_recorded_run_is_the_same_again() -> None:
    assert record.line("short", 5) == record.line("short", 5)
    assert record.line("short", 5) != record.line("short", 6)


def test_a_base_is_the_same_as_itself_and_an_order_is_not() -> None:
    plain = invariance.took(invariance.bowl, 1, invariance.Change())
    assert plain == invariance.took(invariance.bowl, 1, invariance.Change(units=1.0))
    turned = invariance.Change(order=np.arange(invariance.D)[::-1].astype(float))
    assert plain.points != invariance.took(invariance.bowl, 1, turned).points
