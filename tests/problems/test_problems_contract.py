"""What every benchmark function promises."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gracezo.core.types import FloatArray
from gracezo.problems import Attack, Benchmark, Distance, Magnitude

SMALL_GRAPH = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("d", "e")]
MAKERS: dict[str, Callable[[], Benchmark]] = {
    "distance": lambda: Distance(1),
    "distance, small": lambda: Distance(1, d=37, s=3),
    "distance, large": lambda: Distance(1, d=100_003, s=3),
    "magnitude": lambda: Magnitude(1),
    "magnitude, small": lambda: Magnitude(1, d=29, s=4),
    "attack": Attack,
    "attack, printed": lambda: Attack(form="printed"),
    "attack, small": lambda: Attack("a", "e", graph=SMALL_GRAPH, s=3),
}


@pytest.fixture(params=MAKERS, scope="module")
def f(request: pytest.FixtureRequest) -> Benchmark:
    return MAKERS[request.param]()


def points(f: Benchmark, k: int, seed: int = 0) -> FloatArray:
    """Return rows like those that methods ask for: sparse and dense changes of x0, and far points."""
    rng = np.random.default_rng(seed)
    rows = np.tile(f.x0, (k, 1))
    for row in rows[1::4]:
        row[rng.choice(f.d, size=max(1, f.d // 7), replace=False)] += 1e-6 * rng.choice([-1, 1])
    rows[2::4] += 1e-3 * rng.standard_normal(rows[2::4].shape)
    rows[3::4] += 2.0 * rng.standard_normal(rows[3::4].shape)
    return rows


def test_attributes(f: Benchmark) -> None:
    assert f.x0.shape == (f.d,)
    assert f.x0.dtype == np.float64
    assert isinstance(f(f.x0), float)
    assert f(f.x0) > 0
    assert f.minimum is None or 0 <= f.minimum < f(f.x0)
    assert 1 <= f.s <= f.d


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_the_batched_form_agrees_bit_for_bit(f: Benchmark, k: int) -> None:
    rows = points(f, 9)
    single = np.array([f(row) for row in rows])
    assert np.unique(single).size > 3
    for start in range(0, 9, k):
        chunk = f.many(rows[start : start + k])
        assert chunk.dtype == np.float64
        np.testing.assert_array_equal(chunk, single[start : start + k], strict=True)


def test_layout_of_the_array_does_not_matter(f: Benchmark) -> None:
    rows = points(f, 5)
    expected = f.many(rows)
    spaced = np.zeros((5, 2 * f.d))
    spaced[:, ::2] = rows
    np.testing.assert_array_equal(f.many(spaced[:, ::2]), expected)
    np.testing.assert_array_equal(f.many(np.asfortranarray(rows)), expected)
    np.testing.assert_array_equal(f.many(rows.reshape(5, f.d, 1)), expected)
    assert [f(row) for row in spaced[:, ::2]] == expected.tolist()
    assert [f(row.reshape(1, -1)) for row in rows] == expected.tolist()
    assert f(rows[2].tolist()) == expected[2]


def test_arguments_are_left_alone(f: Benchmark) -> None:
    rows = points(f, 4)
    before = rows.copy()
    rows.flags.writeable = False
    f.many(rows)
    f(rows[3])
    f.gradient(rows[3])
    np.testing.assert_array_equal(rows, before)


def test_no_rows_no_values(f: Benchmark) -> None:
    assert f.many(np.zeros((0, f.d))).shape == (0,)


def test_wrong_sizes_are_named(f: Benchmark) -> None:
    with pytest.raises(ValueError, match=f"x has {f.d + 1:,} elements; {f.name} takes {f.d:,}"):
        f(np.zeros(f.d + 1))
    with pytest.raises(ValueError, match="x has"):
        f.gradient(np.zeros(f.d - 1))
    for wrong in (np.zeros(f.d), np.zeros((2, f.d + 1))):
        with pytest.raises(ValueError, match=r"rows has shape .* takes \(k, "):
            f.many(wrong)


def test_pickles_to_the_same_function(f: Benchmark) -> None:
    again = pickle.loads(pickle.dumps(f))
    rows = points(f, 4)
    np.testing.assert_array_equal(again.many(rows), f.many(rows))
    assert again.minimum == f.minimum
    assert (again.d, again.s, again.name) == (f.d, f.s, f.name)
    for one in (f, again):
        arrays = [value for value in vars(one).values() if isinstance(value, np.ndarray)]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)


def test_nobody_writes_into_the_start(f: Benchmark) -> None:
    with pytest.raises(ValueError, match="read-only"):
        f.x0[0] = 1.0


@pytest.mark.parametrize("kind", ["distance, small", "magnitude, small", "attack, small"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.1, 0.8))
def test_gradient_against_central_differences(kind: str, seed: int, scale: float) -> None:
    f = MAKERS[kind]()
    rng = np.random.default_rng(seed)
    # Magnitudes scale/(d + 1) apart and away from 0 and 1, so that no kink is within the step.
    magnitudes = rng.permutation(np.arange(1, f.d + 1)) / (f.d + 1) * scale + 0.05
    x = magnitudes * rng.choice([-1.0, 1.0], size=f.d)
    step = 1e-5
    moves = step * np.eye(f.d)
    slopes = (f.many(x + moves) - f.many(x - moves)) / (2 * step)
    np.testing.assert_allclose(f.gradient(x), slopes, rtol=1e-6, atol=1e-8)


def test_values_do_not_depend_on_the_threads_of_blas() -> None:
    script = (
        "import numpy as np; from gracezo.problems import make\n"
        "for name in ('distance', 'magnitude', 'attack'):\n"
        "    f = make(name, 1)\n"
        "    rows = f.x0 + np.random.default_rng(0).standard_normal((9, f.d))\n"
        "    print(f.many(rows).tobytes().hex())\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(answers) == 1
    assert len(answers.pop().split()) == 3


@pytest.mark.parametrize("seed", [-1, 0.5, None, True])
def test_seeds_are_whole_numbers(seed: object) -> None:
    for make in (Distance, Magnitude):
        with pytest.raises(ValueError, match="seed is"):
            make(seed, d=10, s=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("s", [0, 11])
def test_sparsity_is_within_the_dimension(s: int) -> None:
    for make in (lambda: Distance(0, d=10, s=s), lambda: Magnitude(0, d=10, s=s)):
        with pytest.raises(
            ValueError, match=f"s is {s}; the sparsity must be from 1 to the dimension d = 10"
        ):
            make()
    with pytest.raises(ValueError, match="s is 30"):
        Attack("a", "b", graph=SMALL_GRAPH)
