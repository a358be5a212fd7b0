"""How results are shown: words, notebook, plots, tables."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.types import FloatArray
from gracezo.report.svg import Chart, Line, Scale, thinned

HOSTILE = "<script>alert('x')</script>\x1b[2J\n&amp;"


def bowl(x: FloatArray) -> float:
    return float((x.ravel()[3] - 2.0) ** 2 + 0.25 * (x.ravel()[1] + 1.0) ** 2)


def minimized(**others: Any) -> gracezo.Result:
    return gracezo.minimize(bowl, np.zeros(12), **{"seed": 0, "target": 1e-9} | others)


def named(*first: str) -> list[str]:
    return [*first, *(f"other {i}" for i in range(12 - len(first)))]


def test_the_verdict_comes_first_then_the_numbers() -> None:
    result = minimized(names=named("mass", "width", "drag", "angle"))
    head, fall, cost, changed, first, second = repr(result).splitlines()
    assert head == "The target 1e-09 is reached"
    assert fall.split()[:5] == ["f", "4.25", "at", "the", "start,"]
    assert f"{result.fun:.6g} now" in fall
    assert f"{result.nfev} queries in {result.rounds} rounds, {result.nit} steps; seed 0" in cost
    assert "2 of 12 coordinates:" in changed
    assert first.split() == ["angle", f"{result.x[3]:.6g}", "(+2)"]
    assert second.split() == ["width", f"{result.x[1]:.6g}", "(-1)"]
    assert str(result) == repr(result) == repr(pickle.loads(pickle.dumps(result)))


@pytest.mark.parametrize(
    ("fun", "others", "head"),
    [
        (bowl, {"max_queries": 1}, "Budget spent, nothing moved: "),
        (bowl, {"max_steps": 1}, "Budget spent: the one step is made"),
        (lambda x: 5.0, {}, "Nothing to find: "),
        (bowl, {}, "Converged: "),
    ],
)
def test_verdicts(fun: Any, others: dict[str, Any], head: str) -> None:
    shown = repr(gracezo.minimize(fun, np.zeros(12), seed=0, **others))
    assert shown.startswith(head)
    assert len(shown.splitlines()) <= 15


def test_results_that_are_not_whole() -> None:
    assert repr(gracezo.Optimizer([1.0, 2.0]).result).startswith("Still running")
    assert "nit: 3" in repr(gracezo.Result(nit=3))
    assert gracezo.Result(nit=3)._repr_html_() is None
    with pytest.raises(gracezo.EvaluationError) as failed:
        gracezo.minimize(lambda x: None, [1.0, 2.0])
    assert repr(failed.value.result).startswith("Failed, nothing moved: query 1 failed: ")


def test_a_noisy_value_has_its_error() -> None:
    rng = np.random.default_rng(0)
    result = gracezo.minimize(lambda x: bowl(x) + 0.01 * rng.normal(), np.zeros(12), seed=0, max_queries=200)
    assert f" ± {result.fun_error:.2g} now" in repr(result)


def test_gradients() -> None:
    found = gracezo.estimate_gradient(bowl, np.zeros((3, 4)), seed=0)
    lines = repr(found).splitlines()
    assert lines[0] == "Gradient: 2 of 12 coordinates found"
    assert lines[1].split() == ["cost", str(found.queries), "queries"]
    assert lines[4].split()[:4] == ["(0,", "3)", "-4", "±"]
    assert repr(gracezo.estimate_gradient(lambda x: 1.0, [1.0, 2.0])).startswith("Flat: ")
    many = gracezo.estimate_gradient(lambda x: float(x.sum()), np.zeros(40), method="fdsa")
    assert len(repr(many).splitlines()) == 13
    table = found.to_dataframe()
    assert table.loc["(0, 3)", "derivative"] == found.values[1]
    assert table["index"].tolist() == found.indices.tolist()


def test_in_a_notebook_nothing_is_taken_for_markup() -> None:
    result = minimized(names=named("a", HOSTILE, "b", "<b>"))
    for shown in (
        result._repr_html_(),
        gracezo.estimate_gradient(bowl, np.zeros(12), names=result.names)._repr_html_(),
    ):
        assert shown is not None
        root = ElementTree.fromstring(shown)  # well-formed, so nothing has broken out
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "b"}
        assert "<script>alert" in "".join(root.itertext())
    assert "\x1b" not in repr(result)
    assert "<svg" in result._repr_html_()  # type: ignore[operator]


def test_plots() -> None:
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    result = minimized(names=named("a", "$x_{", "b", "c"))
    figure = result.plot()
    convergence, coordinates = figure.axes
    line = convergence.lines[0]
    assert np.array_equal(line.get_xdata(), result.trace.queries)
    assert np.array_equal(line.get_ydata(), result.trace.values)
    bars: list[Any] = list(coordinates.patches)
    assert [bar.get_width() for bar in bars] == result.change[1].tolist()
    figure.canvas.draw()  # a name is no mathematics
    mine, axes = plt.subplots()
    assert result.plot("convergence", axes) is mine
    assert gracezo.estimate_gradient(bowl, np.zeros(12)).plot(axes) is mine
    with pytest.raises(ValueError, match="kind must be one of both, convergence, coordinates; given: 'x'"):
        result.plot("x")
    with pytest.raises(ValueError, match="axes must be 2 for this plot; given: 1"):
        result.plot(axes=axes)
    plt.close("all")


def test_tables() -> None:
    pytest.importorskip("pandas")
    result = minimized(names=named("a", "b", "c", "d"))
    table = result.to_dataframe()
    assert table.index.tolist() == ["d", "b"]
    assert table["change"].tolist() == result.change[1].tolist()
    trace = result.to_dataframe("trace")
    assert trace["queries"].tolist() == result.trace.queries.tolist()
    assert trace["value"].tolist() == result.trace.values.tolist()
    with pytest.raises(ValueError, match="table must be one of coordinates, trace"):
        result.to_dataframe("x")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(values=st.lists(NUMBERS, min_size=1, max_size=30))
def test_any_values_can_be_drawn(values: list[float]) -> None:
    y = np.array(values)
    svg = Chart("t", "x", "y", [Line(np.arange(1.0, len(y) + 1), y, "<&>", stairs=True)]).svg()
    root = ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert "inf" not in svg
    path = next(e for e in root.iter() if e.get("class") == "line a").get("d", "")
    places = [float(part) for part in path.replace("M", " ").replace("H", " ").replace("V", " ").split()]
    assert all(-1e-6 <= place <= 460 + 1e-6 for place in places)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0.012, 0.45, ["0.02", "0.05", "0.1", "0.2"]),
        (1.0, 40.0, ["1", "2", "5", "10", "20"]),
        (1e-3, 1.0, ["0.001", "0.01", "0.1", "1"]),
        (1e-12, 1.0, ["1e-12", "1e-9", "1e-6", "0.001", "1"]),
    ],
)
def test_a_logarithmic_axis_has_marks_all_along(low: float, high: float, wanted: list[str]) -> None:
    scale = Scale.over([np.array([low, high])], 0.0, 100.0)
    marks = scale.marks(5)
    assert [text for _, text in marks] == wanted
    places = [0.0, *(place for place, _ in marks), 100.0]
    assert max(b - a for a, b in pairwise(places)) <= 34.0


@given(size=st.integers(1, 5000), seed=st.integers(0, 2**32))
def test_thinning_keeps_both_ends_and_the_extremes(size: int, seed: int) -> None:
    y = np.random.default_rng(seed).normal(size=size)
    x, kept = thinned(np.arange(float(len(y))), y)
    assert len(kept) <= 802
    assert (kept.min(), kept.max()) == (y.min(), y.max())
    assert (x[0], x[-1]) == (0.0, len(y) - 1)
    assert np.array_equal(y[x.astype(int)], kept)
    assert not math.isnan(x.sum())
