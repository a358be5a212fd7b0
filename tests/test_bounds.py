"""Bounds: what is taken, what is refused and how, and that every point asked lies inside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds
from tests.core.test_box import boxes, numbers

import gracezo
from gracezo.cli import main
from gracezo.core.box import Box
from gracezo.core.types import FloatArray
from gracezo.methods import catalog

ABLE = ["auto", "global", "grace", "ipw", "fdsa", "gld"]
OPEN = [method for method in ABLE if method != "global"]  # it needs a closed box, and has tests of its own
GOAL = np.array([2.0, -2.0, 0.3, 0.0])
LOWER = np.array([0.0, -1.0, -np.inf, 0.0])
UPPER = np.array([1.0, np.inf, np.inf, 0.0])
PAIRS = [(0.0, 1.0), (-1.0, None), (None, np.inf), (0, 0)]
BEST = np.array([1.0, -1.0, 0.3, 0.0])


class Bowl:
    """A bowl that counts its calls and those from outside."""

    def __init__(self, goal: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        self.goal, self.lower, self.upper = goal, lower, upper
        self.calls = self.outside = 0

    def __call__(self, x: FloatArray) -> float:
        flat = x.ravel()
        self.calls += 1
        self.outside += not ((flat >= self.lower).all() and (flat <= self.upper).all())
        return float(((flat - self.goal) ** 2).sum())


def bowl() -> Bowl:
    return Bowl(GOAL, LOWER, UPPER)


def never(x: FloatArray) -> float:
    raise AssertionError("a query was made")


# ---------------------------------------------------------------- what is taken


@pytest.mark.parametrize(
    ("given_bounds", "shape"),
    [
        (PAIRS, (4,)),
        (np.array([LOWER, UPPER]).T, (4,)),
        (Bounds(LOWER, UPPER), (4,)),
        (PAIRS, (2, 2)),
        ([PAIRS[:2], PAIRS[2:]], (2, 2)),
        (Bounds(LOWER.reshape(2, 2), UPPER.reshape(2, 2)), (2, 2)),
        ({"lower": [0.0, -1.0, None, 0.0], "upper": [1.0, None, None, 0.0]}, (4,)),
    ],
)
def test_every_way_to_say_it_is_the_same(given_bounds: object, shape: tuple[int, ...]) -> None:
    f, expected = bowl(), bowl()
    result = gracezo.minimize(f, np.zeros(shape), bounds=given_bounds, seed=3)
    plain = gracezo.minimize(expected, np.zeros(4), bounds=PAIRS, seed=3)
    assert f.outside == 0
    assert result.nfev == f.calls == plain.nfev
    assert result.x.shape == shape
    assert np.array_equal(result.x.ravel(), plain.x)
    assert result.x.ravel() == pytest.approx(BEST, abs=1e-7)
    assert result.x.ravel()[[0, 1, 3]].tolist() == [1.0, -1.0, 0.0]  # on the bound, not beside it


def test_numbers_stand_for_all_coordinates() -> None:
    f = Bowl(GOAL, np.full(4, -0.5), np.full(4, 0.5))
    result = gracezo.minimize(f, np.zeros(4), bounds=Bounds(-0.5, 0.5), seed=0)
    assert f.outside == 0
    assert result.x == pytest.approx([0.5, -0.5, 0.3, 0.0], abs=1e-7)


def test_a_box_without_walls_is_none() -> None:
    open_box = [(None, np.inf)] * 4
    free = gracezo.minimize(bowl(), np.zeros(4), seed=0)
    boxed = gracezo.minimize(bowl(), np.zeros(4), bounds=open_box, seed=0)
    assert (boxed.nfev, boxed.x.tobytes()) == (free.nfev, free.x.tobytes())
    gracezo.minimize(bowl(), np.zeros(4), method="rs", bounds=open_box, max_queries=5)


def test_a_box_that_touches_nothing_changes_nothing() -> None:
    goal = np.zeros(500)
    goal[[3, 77, 401]] = [1.0, -2.0, 0.5]
    runs = [
        gracezo.minimize(lambda x: float(((x - goal) ** 2).sum()), np.zeros(500), bounds=bounds, seed=5)
        for bounds in (None, Bounds(-1e6, 1e6))
    ]
    # Where no bounds tell how far coordinates go, four of them are compared before a success.
    assert runs[0].nfev == runs[1].nfev + 4
    assert runs[0].x.tobytes() == runs[1].x.tobytes()


@pytest.mark.parametrize("pair", [(-0.5, 0.75), (-0.5, None), np.array([-np.inf, 0.75])])
def test_one_pair_stands_for_all_coordinates(pair: Any) -> None:
    def f(x: Any) -> float:
        return float(((x - np.linspace(-1.0, 1.0, 6).reshape(2, 3)) ** 2).sum())

    one, each = (
        gracezo.minimize(f, np.zeros((2, 3)), bounds=bounds, seed=5)
        for bounds in (pair, [(pair[0], pair[1])] * 6)
    )
    assert one.nfev == each.nfev
    assert one.x.tobytes() == each.x.tobytes()


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("given_bounds", "kind", "says"),
    [
        (
            [(0, 1)] * 3,
            ValueError,
            "bounds must be one pair (low, high), or one for each of the 4 coordinates of x0, or a "
            "scipy.optimize.Bounds; given: an array of shape (3, 2)",
        ),
        ([(0, 1), (0,)], ValueError, "one pair (low, high), or one for each of the 4 coordinates"),
        ((0, 1, 2), ValueError, "given: an array of shape (3,)"),
        (
            (np.zeros(4), np.ones(4)),
            ValueError,
            "shape (2, 4) (all lower and all upper ones: scipy.optimize.Bounds(lower, upper))",
        ),
        (
            Bounds([0, 0], 1),
            ValueError,
            "one for each of the 4 coordinates of x0; given: an array of shape (2,)",
        ),
        ([("a", "b")] * 4, TypeError, "bounds must be real numbers, or None for no bound; given: ['a'"),
        (
            [(0, 1), (0, 1), (0, np.nan), (0, 1)],
            ValueError,
            "bounds must be numbers, or None for no bound; not so at 1 of 4 coordinates: "
            "[2] (low 0, high nan)",
        ),
        (
            [(0, 1), (2, 1), (0, 1), (1, 0)],
            ValueError,
            "bounds must have low <= high; not so at 2 of 4 coordinates: "
            "[1] (low 2, high 1), [3] (low 1, high 0)",
        ),
        (
            Bounds(0.5, 1),
            ValueError,
            "x0 must lie within the bounds; not so at 4 of 4 coordinates: [0] (low 0.5, given 0, high 1), "
            "[1] (low 0.5, given 0, high 1), [2] (low 0.5, given 0, high 1), …",
        ),
    ],
)
def test_wrong_bounds_are_refused_before_the_first_query(
    given_bounds: object, kind: type[Exception], says: str
) -> None:
    for call in (
        lambda: gracezo.minimize(never, np.zeros(4), bounds=given_bounds),
        lambda: gracezo.estimate_gradient(never, np.zeros(4), bounds=given_bounds),
        lambda: gracezo.Optimizer(np.zeros(4), bounds=given_bounds),
    ):
        with pytest.raises(kind, match=re.escape(says)):
            call()


def test_methods_that_cannot_say_which_can() -> None:
    for method in set(gracezo.methods()) - set(ABLE):
        if "bounds" in getattr(catalog.factory(method), "uses", ()):  # registered by another test
            continue
        says = f"method {method!r} cannot hold bounds; those that can: {', '.join(ABLE)}"
        with pytest.raises(ValueError, match=re.escape(says)):
            gracezo.minimize(never, np.zeros(4), method=method, sparsity=1, bounds=PAIRS)


# ---------------------------------------------------------------- held by every point


@settings(max_examples=25)
@pytest.mark.parametrize("method", OPEN)
@given(
    drawn=boxes(numbers(1e-20, 1e-9, 0.1, 1.0, 3.0, 1e3)),
    goal=st.lists(st.floats(-3.0, 3.0), min_size=5, max_size=5),
    batch=st.sampled_from([1, 4]),
)
def test_every_point_lies_inside(
    method: str, drawn: tuple[Box, FloatArray], goal: list[float], batch: int
) -> None:
    box, x0 = drawn
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        assert (x >= box.lower).all()
        assert (x <= box.upper).all()
        scaled = x / (1.0 + np.abs(x))  # finite for any x
        return float(((scaled - np.array(goal)) ** 2).sum())

    bounds = Bounds(box.lower, box.upper)
    result = gracezo.minimize(
        f, x0, method=method, sparsity=2, bounds=bounds, seed=1, max_queries=60, batch=batch
    )
    assert result.nfev == calls <= 60
    assert result.fun <= f(x0)
    assert box.inside(result.x)
    if method != "gld":
        found = gracezo.estimate_gradient(
            f, x0, method=method, sparsity=2, bounds=bounds, seed=1, max_queries=60
        )
        assert set(found.indices.tolist()) <= set(box.free.tolist())


@pytest.mark.parametrize("method", ["fdsa", "grace", "ipw", "gld"])
def test_projected_steps_reach_the_corner(method: str) -> None:
    f = bowl()
    result = gracezo.minimize(
        f, np.zeros(4), method=method, sparsity=2, bounds=PAIRS, seed=0, max_queries=4000
    )
    assert f.outside == 0
    assert result.x == pytest.approx(BEST, abs=5e-3 if method == "gld" else 1e-5)


def test_differences_at_a_bound_are_taken_inward() -> None:
    gradient = np.array([1.0, -2.0, 3.0, 4.0])
    asked: list[FloatArray] = []

    def f(x: FloatArray) -> float:
        asked.append(x)
        return float(gradient @ x)

    bounds = [(0.0, 1.0), (-1.0, 0.0), (-1e-8, 2e-8), (0.0, 0.0)]
    found = gracezo.estimate_gradient(f, np.zeros(4), method="fdsa", bounds=bounds)
    assert found.queries == len(asked) == 4  # f(x0) and three that can move
    assert [x[x != 0].tolist() for x in asked[1:]] == [[1e-6], [-1e-6], [2e-8]]
    assert found.indices.tolist() == [0, 1, 2]
    assert found.values == pytest.approx(gradient[:3])


# ---------------------------------------------------------------- fixed coordinates


@pytest.mark.parametrize("method", OPEN)
def test_fixed_coordinates_cost_nothing(method: str) -> None:
    d, fixed = 300, np.arange(0, 300, 3)
    free = np.setdiff1d(np.arange(d), fixed)
    goal = np.zeros(d)
    goal[free[[5, 50, 150]]] = [1.0, -1.0, 0.5]
    goal[fixed] = 7.0
    start = np.zeros(d)
    start[fixed] = 3.0
    few = np.zeros(len(free))

    def large(x: FloatArray) -> float:
        assert (x[fixed] == 3.0).all()
        return float(((x[free] - goal[free]) ** 2).sum())

    def small(x: FloatArray) -> float:
        return float(((x - goal[free]) ** 2).sum())

    bounds = [(3.0, 3.0) if i in set(fixed.tolist()) else (None, None) for i in range(d)]
    keywords: dict[str, Any] = {"method": method, "sparsity": 3, "seed": 2, "max_queries": 400}
    boxed = gracezo.minimize(large, start, bounds=bounds, **keywords)
    plain = gracezo.minimize(small, few, **keywords)
    assert boxed.nfev == plain.nfev
    if method == "gld":  # its rows have d entries, so that only the count is the same
        return
    assert np.array_equal(boxed.x[free], plain.x)
    assert np.array_equal(boxed.trace.values, plain.trace.values)


@pytest.mark.parametrize("method", OPEN)
def test_nothing_can_move(method: str) -> None:
    f = Bowl(GOAL, np.zeros(4), np.zeros(4))
    result = gracezo.minimize(f, np.zeros(4), method=method, sparsity=1, bounds=Bounds(0, 0))
    assert (result.nfev, f.calls, result.status) == (1, 1, 4)
    assert result.message == "nothing to find: the bounds fix every coordinate"
    if method != "gld":
        found = gracezo.estimate_gradient(f, np.zeros(4), method=method, sparsity=1, bounds=Bounds(0, 0))
        assert (found.queries, len(found.indices)) == (1, 0)


# ---------------------------------------------------------------- the journal, SciPy, the command line


def test_a_journal_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    journal = gracezo.Journal(path, fingerprint="bowl")
    whole = gracezo.minimize(bowl(), np.zeros(4), bounds=PAIRS, seed=1)
    gracezo.minimize(bowl(), np.zeros(4), bounds=PAIRS, seed=1, max_queries=6, journal=journal)
    f = bowl()
    more = gracezo.resume(journal, f, max_queries=10_000)
    assert f.outside == 0
    assert f.calls == whole.nfev - 6
    assert (more.nfev, more.x.tobytes()) == (whole.nfev, whole.x.tobytes())
    with pytest.raises(gracezo.JournalError, match=re.escape("bounds is {'lower'")):
        gracezo.minimize(bowl(), np.zeros(4), seed=1, journal=journal)
    with pytest.raises(gracezo.JournalError, match="bounds is "):
        gracezo.minimize(bowl(), np.zeros(4), bounds=Bounds(-9, 9), seed=1, journal=journal)


def test_a_journal_stays_small_when_all_have_the_same(tmp_path: Path) -> None:
    d = 100_000
    path = tmp_path / "run.db"
    many = [(0.0, None)] * d
    gracezo.minimize(bowl_of_zeros, np.zeros(d), bounds=many, seed=1, max_queries=3, journal=path)
    text = path.read_bytes()
    assert json.dumps({"lower": 0.0, "upper": None}).encode() in text
    more = gracezo.resume(path, bowl_of_zeros, max_queries=5)
    assert more.nfev == 5


def bowl_of_zeros(x: FloatArray) -> float:
    assert (x >= 0.0).all()
    return float(x @ x) + float(x[7] * -3.0)


def test_known_points_outside_are_no_start() -> None:
    f = bowl()
    outside, inside = GOAL + 1e-3, np.array([0.5, -0.5, 0.0, 0.0])
    values = [float(((x - GOAL) ** 2).sum()) for x in (outside, inside)]
    result = gracezo.minimize(f, np.zeros(4), bounds=PAIRS, known=([outside, inside], values), seed=0)
    assert f.outside == 0
    assert result.x == pytest.approx(BEST, abs=1e-7)
    assert result.trace.values[1] == values[1]


def test_a_suspect_that_is_fixed_is_not_asked() -> None:
    f = bowl()
    result = gracezo.minimize(f, np.zeros(4), bounds=PAIRS, support=[0, 3], seed=0)
    assert f.outside == 0
    assert result.x == pytest.approx(BEST, abs=1e-7)


@pytest.mark.parametrize("given_bounds", [PAIRS, Bounds(LOWER, UPPER)])
def test_scipys_bounds(given_bounds: object) -> None:
    f = bowl()
    result = scipy.optimize.minimize(
        f, np.zeros(4), bounds=given_bounds, method=gracezo.scipy_method("auto", seed=3)
    )
    assert f.outside == 0
    assert result.x.tobytes() == gracezo.minimize(bowl(), np.zeros(4), bounds=PAIRS, seed=3).x.tobytes()
    with pytest.raises(ValueError, match="cannot hold bounds"):
        scipy.optimize.minimize(never, np.zeros(4), bounds=given_bounds, method=gracezo.scipy_method("rs"))


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def module(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        Path("walled.py").write_text(
            "def f(x):\n"
            "    assert (x >= -1).all() and (x <= 0.5).all()\n"
            "    return float(((x - 2) ** 2).sum())\n"
        )

    def test_two_numbers(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = [
            "minimize",
            "walled:f",
            "--dim",
            "3",
            "--seed",
            "0",
            "--bounds",
            "-1",
            "0.5",
            "--out",
            "x.npy",
        ]
        assert main(words) == 0
        assert np.load("x.npy").tolist() == [0.5, 0.5, 0.5]
        assert "6.75 now" in capsys.readouterr().out

    def test_none_for_no_bound(self) -> None:
        assert main(["minimize", "walled:f", "--dim", "3", "--bounds", "none", "0.5", "--out", "x.npy"]) == 0
        assert np.load("x.npy").tolist() == [0.5, 0.5, 0.5]

    @pytest.mark.parametrize("name", ["box.npy", "box.txt", "box.csv", "box.json"])
    def test_a_file_of_pairs(self, name: str) -> None:
        pairs = np.array([[-1.0, 0.5], [-1.0, 0.25], [0.0, 0.0]])
        if name == "box.npy":
            np.save(name, pairs)
        elif name == "box.json":
            Path(name).write_text(json.dumps([[None, 0.5], [-1, 0.25], [0, 0]]))
        else:
            np.savetxt(name, pairs, delimiter="," if name == "box.csv" else " ")
        assert main(["minimize", "walled:f", "--dim", "3", "--bounds", name, "--out", "x.npy"]) == 0
        assert np.load("x.npy").tolist() == [0.5, 0.25, 0.0]

    def test_screen(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("start.txt").write_text("0.5 0.5 0.5")
        assert main(["screen", "walled:f", "--x0", "start.txt", "--bounds", "-1", "0.5", "--seed", "0"]) == 0
        assert "3 of 3 coordinates found" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--bounds", "0", "x"], "--bounds takes LOW HIGH, two numbers or none, or one file; given: 0 x"),
            (["--bounds", "0", "1", "2"], "--bounds takes LOW HIGH"),
            (["--bounds", "0.5", "1"], "x0 must lie within the bounds"),
            (["--bounds", "0", "1", "--method", "rs"], "method 'rs' cannot hold bounds"),
        ],
    )
    def test_wrong_words(self, words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["minimize", "walled:f", "--dim", "3", *words]) == 2
        assert says in capsys.readouterr().err

    def test_resume_takes_them_from_the_journal(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["minimize", "walled:f", "--resume", "run.db", "--bounds", "0", "1"]) == 2
        assert "leave out --bounds" in capsys.readouterr().err
