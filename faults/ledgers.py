"""The same run, whoever evaluates it: random methods, arguments, budgets and failures."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gracezo
from faults.common import Dice, same
from faults.pools import pool_of
from gracezo.core.types import FloatArray

BOXED = ("auto", "grace", "ipw", "fdsa", "gld", "global")
UNBOXED = ("zoro", "rs", "lasso", "tpge", "rspg", "zo-signsgd", "zo-adamm", "sparseszo", "szoht", "zo-bcd")
EVALUATORS = ("rows", "map", "threads", "ours", "one", "pool", "by hand", "budgets")


@dataclass(frozen=True)
class Logged:
    """A function that writes down each point it is called at; some of them fail, the first time or always."""

    log: Path
    kind: str
    failing: float
    always: bool
    fingerprint = "logged"

    def __call__(self, x: FloatArray) -> float:
        point = hashlib.sha1(np.ascontiguousarray(x).tobytes(), usedforsecurity=False).hexdigest()
        with self.log.open("ab") as file:
            file.write(f"{point}\n".encode())
        if int(point[:8], 16) < self.failing * 16**8 and (self.always or self._first(point)):
            raise RuntimeError("by the point")
        y = x[: min(4, len(x))] - 0.3
        if self.kind == "kinks":
            return float(np.abs(y).sum() + 0.1 * np.abs(x).sum())
        if self.kind == "rounded":
            return float(np.round((y**2).sum(), 2))
        ripples = 0.05 * np.cos(40.0 * x).sum() if self.kind == "ripples" else 0.0
        return float((np.arange(1, len(y) + 1) * y**2).sum() + ripples)

    def _first(self, point: str) -> bool:
        try:
            os.close(os.open(f"{self.log}-{point}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def rows(self, points: FloatArray) -> list[float]:
        """Return the values at many points, NaN where there is none."""
        return [self.or_nan(x) for x in points]

    def or_nan(self, x: FloatArray) -> float:
        """Return the value, or NaN."""
        try:
            return self(x)
        except RuntimeError:
            return float("nan")

    def points(self) -> list[str]:
        """Return where it was called, in order of the points."""
        return sorted(self.log.read_text(encoding="ascii").split())


def ledgers(dice: Dice, folder: Path) -> None:
    """`nfev` is how often f was called; points and result are those of this process, whoever evaluates."""
    d = dice.choice([1, 2, 7, 30, 60])
    boxed = dice.random() < 0.6
    arguments: dict[str, Any] = {
        "method": dice.choice(BOXED if boxed else UNBOXED),
        "seed": dice.randrange(999),
    }
    arguments |= {"batch": dice.choice([1, 1, 2, 3, 8, 40]), "max_queries": dice.size("queries", 1, 120)}
    if arguments["method"] not in {"auto", "global", "fdsa", "rs", "gld"}:
        arguments["sparsity"] = min(d, 3)
    if arguments["method"] == "global" or (boxed and dice.random() < 0.5):
        arguments["bounds"] = (-1.5, 1.5)
    if dice.random() < 0.2:
        arguments["target"] = dice.choice([1.0, 0.1, 1e-3])
    rule = dice.choice(["raise", "skip", "retry"])
    failing = dice.choice([0.0, 0.05, 0.15]) if rule != "raise" else 0.0
    shape = (dice.choice(["squares", "kinks", "rounded", "ripples"]), failing, rule == "skip")
    x0 = np.zeros(d) if dice.random() < 0.5 else np.round(np.linspace(-1.0, 1.0, d), 3)
    runs = []
    for name, kind in (("here", "none"), ("there", dice.choice(EVALUATORS))):
        f = Logged(folder / name, *shape)
        try:
            result = evaluated(f, x0, arguments | {"on_failure": rule}, kind, folder)
        except gracezo.EvaluationError as error:
            result = error.result
        points = f.points()
        # What the end of a smaller budget had asked for instead is set aside: it is no part of the run.
        assert len(points) == result.nfev or (kind == "budgets" and len(points) > result.nfev), kind
        assert result.nfev <= arguments["max_queries"], kind
        runs.append((result, points))
    (here, asked), (there, also) = runs
    if here.status != 3:  # where a failure ends the run, those beside it may have been asked, or not
        assert asked == also or (kind == "budgets" and not set(asked) - set(also)), kind
        same(there, here)


def evaluated(
    f: Logged, x0: FloatArray, arguments: dict[str, Any], kind: str, folder: Path
) -> gracezo.Result:
    """Return the run as one of those evaluates it."""
    if kind == "rows":
        return gracezo.minimize(f.rows, x0, **arguments, vectorized=True)
    if kind == "map":
        return gracezo.minimize(f, x0, **arguments, workers=map)
    if kind == "by hand":
        optimizer = gracezo.Optimizer(x0, **arguments)
        while len(points := optimizer.ask()):
            order = np.random.default_rng(len(points)).permutation(len(points))
            for row in order.tolist():
                optimizer.tell([f.or_nan(points[row])], [optimizer.ids[row]])
        return optimizer.result
    if kind == "budgets":
        smaller = arguments | {"max_queries": 1 + arguments["max_queries"] // 2}
        first = gracezo.minimize(f, x0, **smaller, journal=folder / "run.db")
        assert len(f.points()) == first.nfev <= smaller["max_queries"]
        return gracezo.minimize(f, x0, **arguments, journal=folder / "run.db")
    with pool_of(kind) as workers:
        return gracezo.minimize(f, x0, **arguments, workers=workers)
