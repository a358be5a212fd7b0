"""Which tool for which function: queries until 99 % of the possible decrease is reached, by six tools.

Run: python -m benchmarks.which_tool [--cases sparse,dense] [--tools auto,global] [--seeds 3]

The table goes between the marks of docs/which-tool.md; what is not run again stays there as it is, and the
lines below say what was run when. A call of the function is a query, whoever makes it: one wrapper counts,
and ends a run at its target or at the budget. With noise, the value without it decides whether the target is
reached. A tool that is not made for a case is left out of it. The cases were chosen to show where each tool
is at home, before any was run.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from statistics import median
from typing import Any

import cma
import numpy as np
from bayes_opt import BayesianOptimization
from benchmarks.page_table import DOCS, made_with, places, put, seeds
from scipy.optimize import Bounds, minimize

import gracezo

Array = np.ndarray[Any, np.dtype[np.float64]]
PAGE = DOCS / "which-tool.md"
LEFT = 0.01  # of the possible decrease, at the target


class Reached(Exception):
    """The target is reached, or the budget is spent."""


@dataclass
class Case:
    """A function with its start, and what a tool may know of it."""

    f: Callable[[Array], float]
    x0: Array
    floor: float
    budget: int
    box: tuple[float, float] | None = None
    slope: Callable[[Array], Array] | None = None
    noise: float = 0.0

    @property
    def target(self) -> float:
        """The value that a tool has to reach."""
        return self.floor + LEFT * (self.f(self.x0) - self.floor)


class Meter:
    """Counts the calls of a case's function, adds its noise, and ends the run."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case, self.target, self.calls, self.reached = case, case.target, 0, False
        self.random = np.random.default_rng([seed, 7])

    def __call__(self, x: Array) -> float:
        """Answer a query."""
        if self.calls == self.case.budget:
            raise Reached
        self.calls += 1
        value = self.case.f(np.asarray(x, float).reshape(-1))
        if value <= self.target:
            self.reached = True
            raise Reached
        return value + self.case.noise * float(self.random.standard_normal()) if self.case.noise else value

    def with_slope(self, x: Array) -> tuple[float, Array]:
        """Answer a query with the gradient there."""
        assert self.case.slope is not None
        return self(x), self.case.slope(x)


# ---- the cases


def sparse(seed: int) -> Case:
    """10 of 10,000 parameters matter."""
    problem = gracezo.problems.Distance(seed=seed)
    return Case(problem, problem.x0, 0.0, 50_000)


def tail(seed: int) -> Case:
    """5 of 1,000 parameters matter, the others together as much as one of them."""
    random = np.random.default_rng(seed)
    goal = random.standard_normal(1000) * 0.03
    goal[random.choice(1000, 5, replace=False)] = random.choice([-1.0, 1.0], 5)
    return Case(lambda x: float(((x - goal) ** 2).sum()), np.zeros(1000), 0.0, 20_000)


def dense(seed: int) -> Case:
    """All of 1,000 parameters matter, and neighbours are coupled."""
    random = np.random.default_rng(seed)
    goal, stiff = random.standard_normal(1000), random.uniform(0.5, 2.0, 1000)

    def f(x: Array) -> float:
        y = x - goal
        return float(stiff @ y**2 + ((y[1:] - y[:-1]) ** 2).sum())

    return Case(f, np.zeros(1000), 0.0, 50_000)


def rotated(seed: int) -> Case:
    """30 parameters, all coupled, scales from 1 to 1,000."""
    random = np.random.default_rng(seed)
    axes = np.linalg.qr(random.standard_normal((30, 30)))[0]
    scales = np.logspace(0, 6, 30)
    return Case(lambda x: float(scales @ (axes @ (x - 1.0)) ** 2), np.zeros(30), 0.0, 20_000, (-5.0, 5.0))


def worst_case(seed: int) -> Case:
    """20 parameters, f is the largest of 20 deviations: kinks everywhere."""
    goal = np.random.default_rng(seed).uniform(-1, 1, 20)
    return Case(lambda x: float(np.abs(x - goal).max()), np.zeros(20), 0.0, 20_000, (-2.0, 2.0))


def six(seed: int) -> Case:
    """6 parameters in a box, several minima (Hartmann 6)."""
    weights = np.array([1.0, 1.2, 3.0, 3.2])
    width = np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    )
    place = 1e-4 * np.array(
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    )
    x0 = np.random.default_rng(seed).random(6)
    return Case(
        lambda x: -float(weights @ np.exp(-(width * (x - place) ** 2).sum(axis=1))),
        x0,
        -3.32237,
        5000,
        (0.0, 1.0),
    )


def ripples(seed: int) -> Case:
    """20 parameters in a box, all matter, very many minima (Ackley)."""
    random = np.random.default_rng(seed)
    goal = random.uniform(0.2, 0.8, 20)
    return Case(partial(_ackley, goal, np.arange(20)), random.random(20), 0.0, 20_000, (0.0, 1.0))


def hidden(seed: int) -> Case:
    """4 of 1,000 parameters in a box matter, very many minima (Ackley)."""
    random = np.random.default_rng(seed)
    goal, few = random.uniform(0.2, 0.8, 1000), random.choice(1000, 4, replace=False)
    return Case(partial(_ackley, goal, few), random.random(1000), 0.0, 5000, (0.0, 1.0))


def _ackley(goal: Array, few: Any, x: Array) -> float:
    y = 65.536 * (x - goal)[few]
    return float(
        20 + np.e - 20 * np.exp(-0.2 * np.sqrt((y**2).mean())) - np.exp(np.cos(2 * np.pi * y).mean())
    )


def noisy(seed: int) -> Case:
    """5 of 1,000 parameters matter, noise of 1 % of f(x0)."""
    random = np.random.default_rng(seed)
    goal = np.zeros(1000)
    goal[random.choice(1000, 5, replace=False)] = random.choice([-1.0, 1.0], 5)
    return Case(lambda x: float(((x - goal) ** 2).sum()), np.zeros(1000), 0.0, 20_000, noise=0.05)


def logistic(seed: int) -> Case:
    """2,000 weights of a logistic regression, the gradient is known."""
    random = np.random.default_rng(seed)
    inputs = random.standard_normal((400, 2000))
    labels = np.sign(inputs @ random.standard_normal(2000))

    def f(x: Array) -> float:
        return float(np.logaddexp(0, -labels * (inputs @ x)).mean() + 0.5e-2 * (x @ x))

    def slope(x: Array) -> Array:
        part = -labels / (1 + np.exp(labels * (inputs @ x)))
        return np.asarray(inputs.T @ part / 400 + 1e-2 * x)

    floor = minimize(f, np.zeros(2000), jac=slope, method="L-BFGS-B", options={"ftol": 1e-15}).fun
    return Case(f, np.zeros(2000), float(floor), 50_000, slope=slope)


CASES: dict[str, Callable[[int], Case]] = {
    case.__name__.replace("_", "-"): case
    for case in (sparse, tail, noisy, hidden, dense, logistic, rotated, worst_case, six, ripples)
}

# ---- the tools


def ours(meter: Meter, seed: int, method: str = "auto") -> None:
    """Let gracezo go on from x0 until somebody ends it."""
    case = meter.case
    bounds = (
        Bounds(np.full(case.x0.size, case.box[0]), np.full(case.x0.size, case.box[1])) if case.box else None
    )
    gracezo.minimize(
        meter, case.x0, method=method, bounds=bounds, max_queries=case.budget, seed=seed, options=None
    )


def differences(meter: Meter, seed: int) -> None:
    """L-BFGS-B of SciPy with forward differences."""
    case = meter.case
    bounds = Bounds(*case.box) if case.box else None
    minimize(meter, case.x0, method="L-BFGS-B", bounds=bounds, options={"maxfun": 10**9, "maxiter": 10**6})


def gradients(meter: Meter, seed: int) -> None:
    """L-BFGS-B of SciPy with the exact gradient: a query is a value with its gradient."""
    minimize(meter.with_slope, meter.case.x0, jac=True, method="L-BFGS-B", options={"ftol": 0.0, "gtol": 0.0})


def evolution(meter: Meter, seed: int) -> None:
    """CMA-ES (pycma); the separable one above 200 parameters."""
    case = meter.case
    low, high = case.box or (None, None)
    options: dict[str, Any] = {
        "seed": seed + 1,
        "verbose": -9,
        "CMA_diagonal": case.x0.size > 200,
        "maxfevals": case.budget,
    }
    if case.box:
        options["bounds"] = [low, high]
    width = 0.25 * (case.box[1] - case.box[0]) if case.box else 0.3
    cma.fmin2(meter, case.x0, width, options)


def bayesian(meter: Meter, seed: int) -> None:
    """Bayesian optimisation with a Gaussian process (bayesian-optimization), at most 100 queries."""
    case = meter.case
    assert case.box is not None
    names = [f"x{i:03}" for i in range(case.x0.size)]
    search = BayesianOptimization(
        lambda **point: -meter(np.array([point[name] for name in names])),
        dict.fromkeys(names, case.box),
        random_state=seed,
        verbose=0,
    )
    search.probe(dict(zip(names, case.x0.tolist(), strict=True)))
    search.maximize(init_points=2 * len(names), n_iter=100 - 2 * len(names) - 1)


TOOLS: dict[str, tuple[str, Callable[[Meter, int], None], Callable[[Case], bool]]] = {
    "auto": ("`auto`", ours, lambda case: True),
    "global": ('`"global"`', partial(ours, method="global"), lambda case: case.box is not None),
    "differences": ("L-BFGS, differences", differences, lambda case: not case.noise),
    "cma": ("CMA-ES", evolution, lambda case: True),
    "bayesian": ("Bayesian", bayesian, lambda case: case.box is not None and case.x0.size <= 20),
    "gradients": ("L-BFGS, gradient", gradients, lambda case: case.slope is not None),
}


def run(case: str, tool: str, seed: int) -> int | None:
    """Return the query that reached the target, None if none did."""
    meter = Meter(CASES[case](seed), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TOOLS[tool][1](meter, seed)
        except Reached:
            pass
        except gracezo.EvaluationError as error:  # which carries the end that we made
            if not isinstance(error.__cause__, Reached):
                raise
    return meter.calls if meter.reached else None


def cell(runs: list[int | None]) -> str:
    """Write the median of the runs that arrived, and how many did if not all."""
    there = [queries for queries in runs if queries is not None]
    if not there:
        return f"none of {len(runs)}"
    return f"{median(there):,.0f}" + (f" ({len(there)} of {len(runs)})" if len(there) < len(runs) else "")


def standing(page: str) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Return the cells that a page has, by the names of row and column, and the lines below the table."""
    rows = [
        [cell.strip() for cell in line.replace("**", "").strip("|").split("|")]
        for line in page.splitlines()
        if line[:1] == "|"
    ]
    below = [line for line in page.splitlines() if line and line[0] != "|"]
    if not rows:
        return {}, below
    return {
        (row[0], name): cell for row in rows[2:] for name, cell in zip(rows[0][1:], row[1:], strict=True)
    }, below


def about(case: str) -> str:
    """Return what a row is called."""
    return (CASES[case].__doc__ or "").rstrip(".")


def table(cells: dict[tuple[str, str], str]) -> str:
    """Write the table, the fewest queries of each row in bold, if all instances were solved with them."""
    titles = [title for title, *_ in TOOLS.values()]
    lines = ["| | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    for case in CASES:
        row = {title: cells.get((about(case), title), "–") for title in titles}
        solved = {
            title: float(text.replace(",", ""))
            for title, text in row.items()
            if re.fullmatch("[0-9,]+", text)
        }
        best = min(solved, key=solved.__getitem__, default=None)
        shown = [f"**{text}**" if title == best else text for title, text in row.items()]
        lines.append(f"| {about(case)} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    tools = chosen.tools.split(",")
    versions = made_with("cma", "bayesian-optimization")
    made = f"seeds {seeds(0, chosen.seeds)}; {versions}; {datetime.now(UTC).date()}"
    for case in chosen.cases.split(","):
        found = {}
        for tool in tools:
            if TOOLS[tool][2](CASES[case](0)):
                runs = [run(case, tool, seed) for seed in range(chosen.seeds)]
                found[about(case), TOOLS[tool][0]] = cell(runs)
                print(f"{case:12} {tool:12} {cell(runs):>16}   {runs}", flush=True)
        text = next(text for name, _, text in places(PAGE) if name == "which-tool")
        cells, below = standing(text)
        told = f"{', '.join(TOOLS[tool][0] for tool in tools)}: {made}."
        below = [line for line in below if line.partition(":")[0] != told.partition(":")[0]]
        put(PAGE, "which-tool", "\n\n".join([table(cells | found), *below, told]))


if __name__ == "__main__":
    main()
