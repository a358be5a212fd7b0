"""Pairs that act together."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sensitivity.functions import BOX, MATTER, bent

import gracezo
from gracezo.cli import main
from gracezo.core.types import FloatArray

D = 1000


def friedman(x: FloatArray) -> float:
    value = 10.0 * np.sin(np.pi * x[30] * x[50]) + 20.0 * (x[70] - 0.5) ** 2 + 10.0 * x[200] + 5.0 * x[900]
    return float(value)


def pairs(found: gracezo.Screening) -> set[tuple[int, ...]]:
    assert found.interactions is not None
    return {tuple(pair) for pair in found.interactions.pairs.tolist()}


@pytest.mark.parametrize("seed", range(4))
def test_the_pair_of_friedmans_function(seed: int) -> None:
    box = [(0.0, 1.0)] * D
    plain = gracezo.screen(friedman, bounds=box, seed=seed)
    found = gracezo.screen(friedman, bounds=box, seed=seed, interactions=True)
    assert np.array_equal(found.effects, plain.effects)  # what comes before is the same
    assert plain.interactions is None
    assert pairs(found) == {(30, 50)}
    together = found.interactions
    assert together is not None
    assert together.important.all()
    assert together.effects.shape == (found.points, 1, 1)
    # 5 alone and all of them at each point; the tree of halves and the way down where it was found; the pair.
    assert found.queries - plain.queries <= found.points * (5 + 1 + 1) + 3 + 6


def test_a_sum_costs_one_query_more_than_its_coordinates_at_each_point() -> None:
    def f(x: FloatArray) -> float:
        return float(np.exp(x[3]) + x[70] ** 2 + np.sin(5.0 * x[200]) + abs(x[7] - 0.5))

    box = [(0.0, 1.0)] * D
    plain = gracezo.screen(f, bounds=box, seed=1)
    found = gracezo.screen(f, bounds=box, seed=1, interactions=True)
    assert len(found.indices) == 4
    assert pairs(found) == set()
    assert found.queries == plain.queries + found.points * (4 + 1)
    assert "0 pairs" in found.message


def test_an_interaction_is_the_mixed_difference_over_both_widths() -> None:
    def f(x: FloatArray) -> float:
        return float(8.0 * x[3] * x[50] - 2.0 * x[3] * x[70] + x[70] ** 3 + 4.0 * x[90])

    found = gracezo.screen(f, bounds=[(-1.0, 2.0)] * 100, seed=0, interactions=True)
    together = found.interactions
    assert together is not None
    assert together.pairs.tolist() == [[3, 50], [3, 70]]
    assert together.mu == pytest.approx([72.0, -18.0], rel=1e-9)  # times 3 × 3
    assert together.mu_star == pytest.approx([72.0, 18.0], rel=1e-9)
    assert together.sigma == pytest.approx([0.0, 0.0], abs=1e-9)
    assert set(together.coordinates.tolist()) == {3, 50, 70, 90}


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0.0, 1.0))
def test_all_pairs_of_a_quadratic_and_no_others(seed: int, k: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(40, k, replace=False))
    every = list(itertools.combinations(places.tolist(), 2))
    there = [pair for pair in every if rng.random() < density]
    weights = rng.choice([-1.0, 1.0], len(there)) * rng.uniform(1.0, 2.0, len(there))
    slopes = rng.choice([-1.0, 1.0], k) * rng.uniform(20.0, 40.0, k) / k
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        mixed = sum(w * x[i] * x[j] for w, (i, j) in zip(weights, there, strict=True))
        return float(slopes @ x[places] + mixed)

    found = gracezo.screen(f, bounds=[(0.0, 1.0)] * 40, seed=seed, points=3, tol=1e-6, interactions=True)
    assert found.queries == calls
    assert pairs(found) == set(there)
    together = found.interactions
    assert together is not None
    said = dict(zip(map(tuple, together.pairs.tolist()), together.mu.tolist(), strict=True))
    for pair, weight in zip(there, weights.tolist(), strict=True):
        assert said[pair] == pytest.approx(weight, rel=1e-6)


def test_few_pairs_of_many_cost_much_less_than_all() -> None:
    def f(x: FloatArray) -> float:
        return float(x[:40].sum() + 2.0 * x[0] * x[1] + 3.0 * x[10] * x[35])

    plain, found = (
        gracezo.screen(f, bounds=[(0.0, 1.0)] * 100, seed=0, points=2, interactions=too)
        for too in (False, True)
    )
    assert pairs(found) == {(0, 1), (10, 35)}
    assert found.queries - plain.queries <= 2 * (40 + 1 + 2) + 38 + 50 < 40 * 39 / 2


def test_noise_and_few_digits_are_no_interactions() -> None:
    box = [(0.0, 1.0)] * D
    for seed in range(4):
        rng = np.random.default_rng(seed)

        def noisy(x: FloatArray, rng: Any = rng) -> float:
            return friedman(x) + 0.05 * float(rng.standard_normal())

        for f in (noisy, lambda x: round(friedman(x), 1)):
            found = gracezo.screen(f, bounds=box, seed=seed, interactions=True)
            assert found.interactions is not None
            claimed = found.interactions.pairs[found.interactions.important].tolist()
            assert claimed == [[30, 50]]


def test_many_outputs_have_a_row_each() -> None:
    def f(x: FloatArray) -> FloatArray:
        return np.array([friedman(x), 1e6 * x[4] * x[30], 7.0])

    found = gracezo.screen(f, bounds=[(0.0, 1.0)] * D, seed=0, interactions=True)
    together = found.interactions
    assert together is not None
    assert pairs(found) == {(30, 50), (4, 30)}
    place = together.pairs.tolist().index([4, 30])
    assert together.mu.shape == (3, 2)
    assert together.mu[1, place] == pytest.approx(1e6)
    assert together.important[:, place].tolist() == [False, True, False]
    assert together.to_df(1).loc[("4", "30"), "mu"] == pytest.approx(1e6)
    with pytest.raises(ValueError, match="output must be from 0 to 2"):
        together.to_df(3)
    assert "act together" in repr(found)


@pytest.mark.parametrize("f", [lambda x: 1.0, lambda x: float(x[3])], ids=["constant", "one coordinate"])
def test_without_two_coordinates_there_is_no_pair(f: Any) -> None:
    found = gracezo.screen(f, bounds=BOX, seed=0, interactions=True)
    assert pairs(found) == set()
    assert found.queries == gracezo.screen(f, bounds=BOX, seed=0).queries
    assert found.interactions is not None
    assert len(found.interactions.to_df()) == len(found.interactions.to_matrix()) == 0


@pytest.mark.parametrize("budget", range(30, 75, 4))
def test_the_budget_is_held(budget: int) -> None:
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        return bent(x)

    found = gracezo.screen(f, bounds=BOX, seed=3, max_queries=budget, interactions=True)
    assert found.queries == calls <= budget
    assert pairs(found) <= {(3, 50)}
    repr(found)


def test_workers_batches_and_a_journal_give_the_same(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"bounds": BOX, "seed": 3, "interactions": True}
    expected = gracezo.screen(bent, batch=4, **arguments)
    assert pairs(expected) == {(3, 50)}
    there = gracezo.screen(bent, batch=4, workers=2, **arguments)
    assert np.array_equal(there.interactions.effects, expected.interactions.effects)  # type: ignore[union-attr]
    journal = gracezo.Journal(tmp_path / "a.db", fingerprint="f")
    gracezo.screen(bent, batch=4, journal=journal, max_queries=expected.queries - 5, **arguments)
    again = gracezo.screen(bent, batch=4, journal=journal, **arguments)
    last = gracezo.screen(bent, batch=4, journal=journal, **arguments)
    for found in (again, last):
        assert found.queries == expected.queries
        assert np.array_equal(found.interactions.effects, expected.interactions.effects)  # type: ignore[union-attr]
        assert pairs(found) == pairs(expected)
    one = gracezo.screen(bent, **arguments)
    assert pairs(one) == pairs(expected)
    assert sorted(one.indices.tolist()) == MATTER


def test_evaluations_that_fail_hide_little() -> None:
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        return np.nan if calls % 11 == 7 else bent(x)

    found = gracezo.screen(f, bounds=BOX, seed=3, interactions=True, on_failure="skip")
    assert found.queries == calls
    assert pairs(found) == {(3, 50)}


@pytest.mark.parametrize(
    "arguments", [{"x0": [0.5, 0.5]}, {"x0": [0.5, 0.5], "bounds": [(0, None), (0, 1)], "points": 1}]
)
def test_a_box_is_needed(arguments: dict[str, Any]) -> None:
    calls: list[int] = []
    with pytest.raises(ValueError, match="for interactions, every coordinate must have a lower and an upper"):
        gracezo.screen(lambda x: calls.append(1), interactions=True, **arguments)
    assert calls == []


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "screen",
        "tests.sensitivity.functions:bent",
        "--dim",
        "200",
        "--bounds",
        "0",
        "1",
        "--seed",
        "3",
    ]
    assert main([*words, "--interactions"]) == 0
    said = capsys.readouterr().out
    assert "1 pair of 4 coordinates act together" in said
    assert "3 × 50" in said
    assert main([*words, "--interactions", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["pair"] for entry in told["interactions"]] == [[3, 50]]
    assert main([*words, "--json"]) == 0
    assert "interactions" not in json.loads(capsys.readouterr().out)
