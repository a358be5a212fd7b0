"""The random rows are what they claim to be. Seeds are fixed: a failure is a change, not bad luck."""

from __future__ import annotations

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


def test_the_two_halves_of_a_pair_are_independent() -> None:
    """Both numbers of a Box–Muller pair share a radius; they must not show it."""
    draws = rows.gaussian(Key(2).generator(), 100, 10_000).astype(np.float64)
    cosine, sine = draws[:, :5_000].ravel(), draws[:, 5_000:].ravel()
    for transform in (np.asarray, np.abs, np.square):
        assert abs(np.corrcoef(transform(cosine), transform(sine))[0, 1]) < 4 / np.sqrt(len(cosine))


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
    assert len(np.unique(drawn)) > 0.999 * drawn.size


def test_the_extremes_of_the_raw_bits_are_finite() -> None:
    class Raw:
        def __init__(self, word: int) -> None:
            self.word = word
            self.bit_generator = self

        def random_raw(self, count: int) -> np.ndarray:
            return np.full(count, self.word, np.uint64)

    for word in (0, 2**64 - 1, 2**32 - 1, 2**63):
        drawn = rows.gaussian(Raw(word), 1, 10)  # type: ignore[arg-type]
        assert np.isfinite(drawn).all()
        assert np.abs(drawn).max() < 6.7  # √(2·ln 2^32) = 6.66


def test_sphere() -> None:
    drawn = rows.sphere(Key(5).generator(), 20_000, 3).astype(np.float64)
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
