"""The random rows are what they claim to be. Seeds are fixed: a failure is a change, not bad luck."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from scipy import stats

from gracezo.core.keys import Key
from gracezo.estimators import rows


@pytest.fixture(scope="module")
def normals() -> np.ndarray:
    return rows.gaussian(Key(1).generator(), 40, 50_001).ravel().astype(np.float64)


def test_moments(normals: np.ndarray) -> None:
    n = len(normals)
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((normals**power).mean() - expected) < 4 * np.sqrt(variance / n)


def test_distribution(normals: np.ndarray) -> None:
    assert stats.kstest(normals, "norm").pvalue > 0.01


@pytest.mark.parametrize("bound", [2.0, 3.0, 4.0])
def test_tails(normals: np.ndarray, bound: float) -> None:
    expected = len(normals) * stats.norm.sf(bound)
    for count in ((normals > bound).sum(), (normals < -bound).sum()):
        assert abs(count - expected) < 4 * np.sqrt(expected)


def test_the_values_are_exact_to_the_second_moment() -> None:
    values = rows._normals().astype(np.float64)
    assert values.sum() == 0
    assert (values**2).mean() == pytest.approx(1, abs=1e-8)
    assert (values**4).mean() == pytest.approx(3, abs=2e-4)
    # Each is the mean of its part of the distribution: an independent integral, part by part.
    ordered = np.sort(values)
    for place in (0, 1, 1000, 32_767, 32_768, 65_535):
        low, high = stats.norm.ppf([place / 2**16, (place + 1) / 2**16])
        mean = stats.norm.expect(lambda z: z, lb=low, ub=high, conditional=True)
        assert ordered[place] == pytest.approx(mean, rel=1e-5, abs=1e-9)


def test_coordinates_are_independent() -> None:
    draws = rows.gaussian(Key(3).generator(), 20_000, 6).astype(np.float64)
    assert np.abs(np.cov(draws.T) - np.eye(6)).max() < 4 * np.sqrt(2 / 20_000)


@pytest.mark.parametrize(
    ("count", "size"), [(1, 1), (3, 5), (1, rows._PIECE), (1, rows._PIECE + 1), (7, 4_999)]
)
def test_every_number_of_every_shape_is_drawn(count: int, size: int) -> None:
    drawn = rows.gaussian(Key(4).generator(), count, size)
    assert drawn.shape == (count, size)
    assert np.isfinite(drawn).all()
    distinct = 2**16 * (1 - (1 - 2.0**-16) ** drawn.size)  # of so many draws among 65,536, to be expected
    assert len(np.unique(drawn)) > 0.98 * distinct


@pytest.mark.parametrize("draw", [rows.gaussian, rows.sphere, rows.signs])
def test_the_rows_of_a_step_depend_on_its_key_alone(draw: rows.DrawRows) -> None:
    """Also where steps are drawn together, and in whatever order they are asked for."""
    keys = list(islice(Key(8, (3,)).children(), 50))

    def rows_of(key: Key) -> np.ndarray:
        [(drawn, after)] = rows.drawn(draw, key, 2, 999)
        assert drawn.shape == (2, 999)
        assert after == 0
        return drawn.copy()

    forwards = [rows_of(key) for key in keys]
    backwards = [rows_of(Key(8, key.path)) for key in reversed(keys)]
    assert np.array_equal(forwards, backwards[::-1])
    everything = np.concatenate(forwards)
    assert len(np.unique(everything, axis=0)) == len(everything)


def test_a_long_row_is_drawn_in_batches() -> None:
    most = rows.BLOCK_BYTES // 4 // 2
    drawn = [(len(part), after) for part, after in rows.drawn(rows.signs, Key(0, (1,)), 5, most)]
    assert drawn == [(2, 3), (2, 1), (1, 0)]


def test_rows_that_steps_share_cannot_be_written_to() -> None:
    [(drawn, _)] = rows.drawn(rows.gaussian, Key(0, (1,)), 1, 10)
    with pytest.raises(ValueError, match="read-only"):
        drawn[0, 0] = 1


def test_sphere() -> None:
    drawn = rows.sphere(Key(5).generator(), 200_000, 3).astype(np.float64)
    assert np.abs(np.linalg.norm(drawn, axis=1) - 1).max() < 1e-6
    for column in drawn.T:  # Archimedes: a coordinate of the 2-sphere is uniform
        assert stats.kstest(column, "uniform", (-1, 2)).pvalue > 0.01


def test_signs() -> None:
    drawn = rows.signs(Key(6).generator(), 2_000, 501)
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert np.abs(drawn.mean(axis=0)).max() < 4.5 / np.sqrt(2_000)
    assert abs((drawn[:, :-1] * drawn[:, 1:]).mean()) < 4 / np.sqrt(drawn.size)


@pytest.mark.parametrize("draw", [rows.gaussian, rows.sphere, rows.signs])
def test_rows_are_single_precision_and_repeat(draw: rows.DrawRows) -> None:
    first, again = (draw(Key(7).generator(), 3, 100) for _ in range(2))
    assert first.dtype == np.float32
    assert np.array_equal(first, again)
    assert not np.array_equal(first, draw(Key(8).generator(), 3, 100))


def test_placed_rows_move_their_coordinates_only() -> None:
    block = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    for coordinates in (np.array([4, 1]), np.array([[4, 1], [4, 1]])):
        placed = rows.placed(block, coordinates, 0.5)
        x = np.empty(6)
        placed.write(1, np.full(6, 0.25), x)
        assert len(placed) == 2
        assert x.tolist() == [0.25, 2.25, 0.25, 0.25, 1.75, 0.25]
