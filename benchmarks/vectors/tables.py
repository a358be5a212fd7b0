"""The tables: what was measured, and whether it passes its bar.

A bar is passed if the mean over the instances is at most the bar plus two standard errors.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from benchmarks.vectors import functions
from benchmarks.vectors.functions import Hidden
from scipy import stats

import gracezo
from gracezo.core.result import Status
from gracezo.core.types import FloatArray

LEVEL = 1e-8


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    what: str
    scipy: str
    values: FloatArray
    bar: float
    remark: str = ""
    holds: bool = True  # what else has to be so

    @property
    def mean(self) -> float:
        """The mean over instances."""
        return float(np.mean(self.values))

    @property
    def error(self) -> float:
        """Its standard error."""
        return (
            float(np.std(self.values, ddof=1) / math.sqrt(len(self.values))) if len(self.values) > 1 else 0.0
        )

    @property
    def passes(self) -> bool:
        """Whether the bar is passed."""
        return self.holds and self.mean <= self.bar + 2.0 * self.error

    @property
    def cells(self) -> list[str]:
        """What the table shows."""
        queries = f"{self.mean:.1f} ± {self.error:.1f}"
        verdict = "yes" if self.passes else "**no**"
        return [self.what, self.scipy, queries, f"≤ {self.bar:g}", verdict, self.remark]


def jacobians(instances: int, first: int) -> Iterator[Row]:
    """Count queries to find all columns, nothing told."""
    for what, bar, kind, recall_bar in (
        ("m = 30, s = 10", 14, {"s": 10, "m": 30}, 1.0),
        ("m = 30, s = 100", 120, {"s": 100, "m": 30}, 1.0),
        ("m = 5, s = 10", 19, {"s": 10, "m": 5}, 1.0),
        ("m = 2, s = 10", 27, {"s": 10, "m": 2}, 1.0),
        ("m = 30, s = 10, tail 1e-3", 21, {"s": 10, "m": 30, "tail": 1e-3}, 0.99),
        ("m = 30, s = 10, single precision", 20, {"s": 10, "m": 30, "single": True}, 0.99),
        ("m = 30, s = 10, noise 1e-4", 23, {"s": 10, "m": 30, "noise": 1e-4}, 0.99),
    ):
        queries, recall, false = [], [], 0
        for seed in range(first, first + instances):
            hidden, fun, _ = functions.linear(seed, **kind)
            found = gracezo.estimate_jacobian(fun, hidden.x0, seed=seed)
            assert found.queries == hidden.calls
            queries.append(hidden.calls)
            recall.append(float(np.isin(hidden.support, found.columns).mean()))
            false += int((~np.isin(found.columns, hidden.support)).sum())
        remark = f"recall {np.mean(recall):.3f}, {false} false"
        yield Row(
            what, "10,001", np.array(queries), bar, remark, bool(np.mean(recall) >= recall_bar) and not false
        )


def batches(instances: int, first: int) -> Iterator[Row]:
    """Count rounds, where probes may go out together."""
    queries, rounds = [], []
    for seed in range(first, first + instances):
        hidden, fun, _ = functions.linear(seed, 10, 30)
        found = gracezo.estimate_jacobian(fun, hidden.x0, batch=8, seed=seed)
        queries.append(found.queries)
        rounds.append(found.rounds)
    yield Row("m = 30, s = 10, batch = 8: queries", "10,001", np.array(queries), 19)
    yield Row("m = 30, s = 10, batch = 8: rounds", "", np.array(rounds), 4)


def large(instances: int, first: int) -> Iterator[Row]:
    """Take a million coordinates, and look at the memory beside x."""
    for s, bar in ((10, 15), (50, 64)):
        queries, peak = [], 0.0
        for seed in range(first, first + instances):
            hidden, fun, _ = functions.linear(seed, s, 30, 10**6)
            x0 = hidden.x0
            tracemalloc.start()
            found = gracezo.estimate_jacobian(fun, x0, copy=False, seed=seed)
            peak = max(peak, tracemalloc.get_traced_memory()[1] / 1e6)
            tracemalloc.stop()
            queries.append(found.queries)
        yield Row(f"d = 10⁶, m = 30, s = {s}", "10⁶", np.array(queries), bar, f"{peak:.0f} MB", peak < 200)


def coverage(instances: int, first: int) -> Iterator[Row]:
    """How many of the values lie within two standard errors, against Student's t."""
    inside, expected = [], []
    for seed in range(first, first + 10 * instances):
        hidden, fun, jacobian = functions.linear(seed, 10, 30, noise=1e-6)
        found = gracezo.estimate_jacobian(fun, hidden.x0, seed=seed)
        if not np.array_equal(np.sort(found.columns), np.sort(hidden.support)):
            continue
        order = [hidden.support.tolist().index(i) for i in found.columns.tolist()]
        inside.append(float((np.abs(found.values - jacobian[:, order]) <= 2.0 * found.errors).mean()))
        expected.append(float(2.0 * stats.t.cdf(2.0, found.freedom) - 1.0))
    off = abs(np.mean(inside) - np.mean(expected))
    remark = f"{np.mean(inside):.3f} within ± 2 standard errors; Student's t: {np.mean(expected):.3f}"
    yield Row("coverage: off by (in percent)", "", np.array([100.0 * off]), 3, remark)


def fits(instances: int, first: int) -> Iterator[Row]:
    """Count queries until the cost is 1e-8 of the first above the least."""
    table: list[tuple[str, float, Callable[[int], Hidden], bool]] = [
        ("exponentials s = 10, m = 30", 30, lambda i: functions.exponentials(i, 10, 30), False),
        ("exponentials s = 50, m = 200", 80, lambda i: functions.exponentials(i, 50, 200), False),
        ("Michaelis-Menten s = 10", 26, lambda i: functions.michaelis_menten(i, 10, 50), False),
        ("Rosenbrock s = 20", 80, lambda i: functions.rosenbrock(i, 20), False),
        ("Rosenbrock s = 4", 60, lambda i: functions.rosenbrock(i, 4), False),
        (
            "residual stays: exponentials s = 10",
            55,
            lambda i: functions.exponentials(i, 10, 30, stays=True),
            True,
        ),
        (
            "residual stays: Michaelis-Menten s = 20",
            65,
            lambda i: functions.michaelis_menten(i, 20, 100, stays=True),
            True,
        ),
    ]
    for what, bar, make, stays in table:
        queries, total, missed = [], [], 0
        for seed in range(first, first + instances):
            hidden = make(seed)
            result = gracezo.least_squares(hidden, hidden.x0, seed=seed, max_queries=1000)
            assert result.nfev == hidden.calls
            least = _least(hidden, result.x[hidden.support]) if stays else 0.0
            reached = hidden.queries_to(least + LEVEL * (hidden.costs[0] - least))
            missed += not math.isfinite(reached)
            queries.append(reached)
            total.append(result.nfev)
        remark = f"{np.mean(total):.0f} until it was called converged"
        if missed:
            remark += f"; {missed} did not arrive"
        arrived = np.array([one for one in queries if math.isfinite(one)])
        yield Row(what, _plain(make(first), stays), arrived, bar, remark, not missed)


def losses(instances: int, first: int) -> Iterator[Row]:
    """Bounds and losses with outliers, against SciPy told the coordinates."""
    for loss in ("linear", "soft_l1", "huber", "cauchy", "arctan"):
        excess, queries = [], []
        for seed in range(first, first + max(2, instances // 4)):
            hidden = functions.exponentials(seed, 10, 30)
            plain = hidden.small
            spoilt = np.where(np.arange(30) < 3, 15.0, 0.0)
            hidden.small = lambda z, plain=plain, spoilt=spoilt: plain(z) + spoilt  # type: ignore[misc]
            result = gracezo.least_squares(
                hidden,
                hidden.x0,
                bounds=scipy.optimize.Bounds(-0.6, 0.6),
                loss=loss,
                ftol=1e-11,
                seed=seed,
                max_queries=600,
            )
            told = scipy.optimize.least_squares(
                hidden.small,
                result.x[hidden.support].clip(-0.6 + 1e-9, 0.6 - 1e-9),
                bounds=(-0.6, 0.6),
                loss=loss,
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
                max_nfev=2000,
            )
            excess.append(max(result.cost / told.cost - 1.0, 0.0))
            queries.append(result.nfev)
        remark = f"largest excess of cost {max(excess):.1e}, {np.mean(queries):.0f} queries"
        yield Row(f"bounds ± 0.6, loss {loss}: excess in 1e-8", "", 1e8 * np.array([max(excess)]), 1, remark)


def claims(instances: int, first: int) -> Iterator[Row]:
    """How often "converged" is said where SciPy, told the coordinates, goes on to a lower cost."""
    false, said = 0, 0
    count = 25 * instances
    for seed in range(first, first + count):
        random = np.random.default_rng(seed)
        s = int(random.integers(2, 9))
        kind = seed % 3
        stays = bool(random.integers(2))
        if kind == 0:
            hidden = functions.exponentials(seed, s, 3 * s, 2000, stays=stays)
        elif kind == 1:
            hidden = functions.michaelis_menten(seed, 2 * s, 6 * s, 2000, stays=stays)
        else:
            hidden = functions.rosenbrock(seed, 2 * s, 2000)
        result = gracezo.least_squares(hidden, hidden.x0, seed=seed, max_queries=600)
        if result.status != Status.CONVERGED:
            continue
        said += 1
        least = _least(hidden, result.x[hidden.support])
        false += bool(result.cost - least > 1e-5 * result.cost + 1e-12 * hidden.costs[0])
    remark = f"{said} of {count} were called converged"
    yield Row("false claims of convergence", "", np.array([float(false)]), 0, remark)


def _least(hidden: Hidden, z: FloatArray) -> float:
    """Return the least cost that SciPy finds when told the coordinates, from where a fit has ended."""
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 500}
    return float(scipy.optimize.least_squares(hidden.small, z, **tight).cost)


class _Arrived(Exception):
    """The cost that was to be reached is reached."""


def _plain(hidden: Hidden, stays: bool) -> str:
    """Return the queries that SciPy takes with differences for all coordinates: of one instance."""
    least = 0.0
    if stays:
        assert hidden.solution is not None
        least = min(_least(hidden, hidden.solution), _least(hidden, hidden.z0))
    first = hidden(hidden.x0)
    hidden.calls = 0
    level = least + LEVEL * (0.5 * float(first @ first) - least)

    def until(x: FloatArray) -> FloatArray:
        outputs = hidden(x)
        if 0.5 * float(outputs @ outputs) <= level:
            raise _Arrived
        return outputs

    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "tr_solver": "lsmr", "max_nfev": 40}
    try:
        scipy.optimize.least_squares(until, hidden.x0, **tight)
    except _Arrived:
        return f"{hidden.calls:,}"
    return f"> {hidden.calls:,}"
