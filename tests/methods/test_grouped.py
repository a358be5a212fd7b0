"""Groups that move as one first, and then what is inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.core.types import FloatArray

GOAL = np.zeros((40, 40))
GOAL[8:16, 12:20] = 1.0  # four blocks
GOAL[30, 30] = 0.5  # and one pixel of another


def picture(x: FloatArray) -> float:
    return float(((x - GOAL) ** 2).sum())


def test_blocks_bring_at_once_what_single_pixels_bring_one_by_one() -> None:
    start, box = np.zeros((40, 40)), [(0.0, 1.0)] * 1600
    blocks = gracezo.minimize(picture, start, bounds=box, groups=(4, 4), target=0.3, seed=1)
    pixels = gracezo.minimize(picture, start, bounds=box, target=0.3, seed=1)
    assert blocks.success
    assert pixels.success
    assert blocks.nfev < 0.25 * pixels.nfev
    assert set(np.unravel_index(blocks.support, (40, 40))[0]) == set(range(8, 16))


@pytest.mark.parametrize("offset", [0.0, 5.0])
@pytest.mark.parametrize("seed", range(5))
def test_where_groups_reach_all_that_there_is_the_end_is_judged_beside_the_beginning(
    seed: int, offset: float
) -> None:
    """The last stage begins at the minimum: beside f there, rounding would hide everything."""
    pattern = np.zeros((24, 24))
    pattern[8:12, 20:24] = 1.0
    result = gracezo.minimize(
        lambda x: offset + float(((x - pattern) ** 2).sum()), np.zeros((24, 24)), groups=(4, 4), seed=seed
    )
    assert result.success
    assert result.fun - offset < 1e-11
    assert result.nfev <= 250


def test_what_groups_cannot_reach_is_reached_in_the_end() -> None:
    labels = np.arange(1600).reshape(40, 40) // 160
    result = gracezo.minimize(picture, np.zeros((40, 40)), groups=labels, seed=2, target=1e-9)
    assert result.success
    assert result.fun == pytest.approx(0.0, abs=1e-9)
    assert np.allclose(result.x, GOAL, atol=1e-5)


def test_a_gradient_by_groups_is_one_of_coordinates() -> None:
    slopes = np.zeros(1000)
    slopes[200:210] = 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0
    calls: list[FloatArray] = []

    def f(x: FloatArray) -> float:
        calls.append(x)
        return float(slopes @ x)

    found = gracezo.estimate_gradient(f, np.zeros(1000), groups=10, seed=0)
    assert found.queries == len(calls) <= 35
    assert found.indices.tolist() == list(range(200, 210))
    assert found.values == pytest.approx(slopes[200:210], rel=1e-5)
    assert found.residual < 1e-6


def test_what_cancels_inside_a_group_is_found_all_the_same() -> None:
    slopes = np.zeros(400)
    slopes[[40, 41]] = 1.0, -1.0  # one group: as one, they do nothing
    slopes[200] = 3.0
    found = gracezo.estimate_gradient(lambda x: float(slopes @ x), np.zeros(400), groups=(4,), seed=0)
    assert found.indices.tolist() == [40, 41, 200]
    assert found.values == pytest.approx([1.0, -1.0, 3.0], rel=1e-5)


def test_groups_may_stand_at_both_walls_at_once() -> None:
    x0 = np.tile([0.0, 1.0], 50)
    asked: list[FloatArray] = []

    def f(x: FloatArray) -> float:
        asked.append(x.copy())
        return float((x[:10].sum() - 10.0) ** 2 + (x[90:] ** 2).sum())

    result = gracezo.minimize(f, x0, bounds=[(0.0, 1.0)] * 100, groups=10, seed=0, max_queries=300)
    points = np.array(asked)
    assert ((points >= 0.0) & (points <= 1.0)).all()
    assert result.fun == pytest.approx(0.0, abs=1e-8)


def test_a_run_by_groups_goes_on_from_its_journal(tmp_path: Path) -> None:
    def run(name: str, most: int) -> gracezo.Result:
        journal = gracezo.Journal(tmp_path / name, fingerprint="picture")
        return gracezo.minimize(
            picture, np.zeros((40, 40)), groups=(4, 4), seed=1, journal=journal, max_queries=most
        )

    whole = run("whole.db", 60)
    run("parts.db", 25)
    resumed = gracezo.resume(
        gracezo.Journal(tmp_path / "parts.db", fingerprint="picture"), picture, max_queries=60
    )
    assert np.array_equal(resumed.x, whole.x)
    assert resumed.nfev == whole.nfev
    with pytest.raises(gracezo.JournalError, match="groups"):
        gracezo.minimize(
            picture,
            np.zeros((40, 40)),
            groups=(8, 8),
            seed=1,
            journal=gracezo.Journal(tmp_path / "whole.db", fingerprint="picture"),
            max_queries=60,
        )


def test_ask_and_tell_asks_the_same() -> None:
    asked: tuple[list[bytes], list[bytes]] = ([], [])

    def f(x: FloatArray, here: list[bytes]) -> float:
        here.append(x.tobytes())
        return float(((x - 1.0) ** 2)[2:4, 2:4].sum())

    keywords: dict[str, Any] = {"groups": (2, 2), "seed": 0, "max_queries": 60}
    gracezo.minimize(lambda x: f(x, asked[0]), np.zeros((6, 6)), **keywords)
    optimizer = gracezo.Optimizer(np.zeros((6, 6)), **keywords)
    while len(points := optimizer.ask()):
        optimizer.tell([f(x, asked[1]) for x in points])
    assert asked[0] == asked[1]


def test_methods_without_groups_say_so() -> None:
    with pytest.raises(ValueError, match="'fdsa' makes no use of groups; those that do: auto"):
        gracezo.minimize(picture, np.zeros((40, 40)), method="fdsa", groups=(4, 4))


def test_a_screening_by_groups_finds_coordinates() -> None:
    x0, box = np.full((40, 40), 0.5), [(0.0, 1.0)] * 1600

    def f(x: FloatArray) -> float:
        return float(x[4:12, 4:12].sum() + 3.0 * x[0, 39])

    found = gracezo.screen(f, x0, bounds=box, groups=(4, 4), points=1, seed=0)
    plain = gracezo.screen(f, x0, bounds=box, points=1, seed=0)
    inside = [40 * row + column for row in range(4, 12) for column in range(4, 12)]
    assert sorted(found.indices.tolist()) == sorted([39, *inside]) == sorted(plain.indices.tolist())
    assert found.queries < 0.7 * plain.queries


def test_where_all_of_the_groups_that_matter_matters_it_is_measured_and_not_taken_for_background() -> None:
    """Fifty slopes that are much alike: nothing stands out, and all 2,500 coordinates were searched anew."""
    for seed in (110_003, 110_000):
        rng = np.random.default_rng(seed)
        weights = np.zeros((50, 50))
        for row, column in 5 * rng.choice(10, (2, 2)):
            weights[row : row + 5, column : column + 5] = rng.uniform(0.5, 1.0, (5, 5))

        def field(x: FloatArray, weights: FloatArray = weights) -> float:
            return float(np.tanh((weights * x).sum() / 10.0))

        found = gracezo.screen(field, np.full((50, 50), 0.5), scale=1.0, groups=(5, 5), points=1, seed=seed)
        assert found.indices.size == 50
        assert found.queries <= 90
