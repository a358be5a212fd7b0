"""What `screen` says beside SALib's Morris method, on functions that both can do."""

from __future__ import annotations

import numpy as np
import pytest
from SALib.analyze import morris as analysis
from SALib.sample import morris as sampling

import gracezo
from gracezo.core.types import FloatArray

PROBLEM = {
    "num_vars": 6,
    "names": ["a", "b", "c", "d", "e", "f"],
    "bounds": [[0.0, 2.0], [-1.0, 1.0], [10.0, 30.0], [0.0, 1.0], [0.0, 1.0], [5.0, 6.0]],
}


def linear(points: FloatArray) -> FloatArray:
    return np.asarray(points @ np.array([3.0, -1.0, 0.25, 0.0, 7.0, 0.0]))


def test_of_a_linear_function_both_say_the_same() -> None:
    points = sampling.sample(PROBLEM, 10, seed=1)
    said = analysis.analyze(PROBLEM, points, linear(points), seed=1).to_df()
    found = gracezo.screen(lambda x: float(linear(x)), bounds=PROBLEM, seed=1)
    table = found.to_df()
    assert table.columns[:4].tolist() == said.columns.tolist()
    both = said.loc[table.index]
    assert table["mu"].to_numpy() == pytest.approx(both["mu"].to_numpy(), rel=1e-5)
    assert table["mu_star"].to_numpy() == pytest.approx(both["mu_star"].to_numpy(), rel=1e-5)
    assert table["sigma"].to_numpy() == pytest.approx(both["sigma"].to_numpy(), abs=1e-3)
    assert said.drop(index=table.index)["mu_star"].to_numpy() == pytest.approx(0.0, abs=1e-9)


def test_of_a_curved_function_both_rank_alike() -> None:
    def f(x: FloatArray) -> float:
        return float(5.0 * x[0] ** 2 + np.sin(x[2] / 10.0) * x[4] + 0.1 * x[1])

    points = sampling.sample(PROBLEM, 30, seed=2)
    said = analysis.analyze(PROBLEM, points, np.array([f(x) for x in points]), seed=2).to_df()
    found = gracezo.screen(f, bounds=PROBLEM, points=16, seed=2, tol=1e-6)
    top = said.sort_values("mu_star", ascending=False).index[:4].tolist()
    assert found.to_df().index[:4].tolist() == top
    inside = np.abs(found.to_df()["mu_star"] - said.loc[found.to_df().index, "mu_star"])
    assert (inside <= 2.0 * (found.mu_star_conf + said.loc[found.to_df().index, "mu_star_conf"]) + 0.2).all()
