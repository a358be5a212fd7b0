"""The public entry points: what a user meets."""

from __future__ import annotations

import io
import math
import signal
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from rich.console import Console

import gracezo
from gracezo.core.limits import Limits
from gracezo.core.run import Run
from gracezo.progress import live_line
from gracezo.testing import Case, Valley, by_serial


class Refusing:
    """As a tensor that is not to be read by NumPy."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("it requires grad")

    def __repr__(self) -> str:
        return "a tensor on a device"


def never(x: np.ndarray) -> float:
    raise AssertionError("a query was spent")


async def _coroutine(x: np.ndarray) -> float:
    raise AssertionError("a query was spent")


def _generator(x: np.ndarray) -> Any:
    yield 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"method": "grce"}, ValueError, "unknown method 'grce'; did you mean 'grace'"),
        ({"x0": [0.0, np.nan]}, ValueError, "x0 must be finite; 1 of its 2 coordinates"),
        ({"x0": []}, ValueError, "x0 must have at least one coordinate"),
        ({"x0": ["a"]}, TypeError, "x0 must be an array of real numbers"),
        ({"x0": [[1], [2, 3]]}, TypeError, "x0 must be an array of real numbers"),
        ({"x0": np.ma.array([0.0, 1.0], mask=[False, True])}, ValueError, "with 1 of 2 masked"),
        ({"fun": _coroutine}, TypeError, "returns a coroutine; wrap it in one that runs it: lambda"),
        ({"fun": _generator}, TypeError, "returns a generator"),
        ({"x0": [1j]}, TypeError, "x0 must be an array of real numbers"),
        ({"x0": [[1], [2, 3]]}, TypeError, "x0 must be an array of real numbers; given: [[1], [2, 3]]"),
        ({"x0": Refusing()}, TypeError, "x0 must be an array of real numbers; given: a tensor on a device"),
        (
            {"fun": np.eye(9)},
            TypeError,
            "fun must be callable; given: array([[1., 0., 0., 0.,",
        ),
        ({"sparsity": 0}, ValueError, "sparsity must be a whole number of at least 1; given: 0"),
        ({"sparsity": 3}, ValueError, "sparsity must be at most the number of coordinates, 2; given: 3"),
        ({"sparsity": 1.5}, ValueError, "sparsity must be a whole number"),
        ({"sparsity": None}, ValueError, "method 'grace' needs sparsity=s"),
        ({"max_queries": 0}, ValueError, "max_queries must be a whole number of at least 1; given: 0"),
        ({"max_queries": True}, ValueError, "max_queries must be a whole number"),
        ({"max_steps": -1}, ValueError, "max_steps must be"),
        ({"max_seconds": 0}, ValueError, "max_seconds must be positive; given: 0"),
        ({"target": np.nan}, ValueError, "target must be a finite number"),
        ({"f0": np.inf}, ValueError, "f0 must be a finite number"),
        ({"seed": -1}, ValueError, "seed must be a whole number of at least 0"),
        ({"seed": "x"}, ValueError, "seed must be a whole number"),
        ({"callback": 3}, TypeError, "callback must be callable"),
        ({"fun": None}, TypeError, "fun must be callable"),
        ({"options": [1]}, TypeError, "options must be a dictionary"),
        ({"options": {"stepsize": 1}}, ValueError, "no option 'stepsize'; did you mean 'step_size'"),
        ({"options": {"maxiter": 9}}, ValueError, "max_steps= is an argument of its own"),
        ({"options": {"step_size": -1}}, ValueError, "option step_size must be a positive number; given: -1"),
        ({"options": {"eps": 0}}, ValueError, "option eps must be a positive number; given: 0"),
        ({"options": {"repeats": 0}}, ValueError, "option repeats must be a whole number of at least 1"),
        ({"options": {"gamma": "x"}}, ValueError, "option gamma must be a positive number"),
        ({"options": {"group_size": 0}}, ValueError, "option group_size must be"),
        (
            {"options": {"first_division": 1}},
            ValueError,
            "first_division must be a whole number of at least 2",
        ),
        ({"options": {"schedule": []}}, ValueError, "option schedule must name at least one division"),
        ({"options": {"schedule": [3, 1]}}, ValueError, "option schedule must be"),
        ({"options": {"variant": "new"}}, ValueError, "variant must be one of 'printed', 'published'"),
    ],
)
def test_bad_input_costs_nothing(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    keywords: dict[str, Any] = {"fun": never, "x0": [0.0, 0.0], "method": "grace", "sparsity": 1} | arguments
    with pytest.raises(error) as caught:
        gracezo.minimize(**keywords)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.nan, "it returned nan"),
        (np.inf, "it returned inf"),
        (None, "it returned None (NoneType)"),
        ("3", "it returned '3' (str)"),
        (np.zeros(2), "it returned an array of shape (2,)"),
        ([1.0], "it returned [1.0] (list)"),
        (1j, "it returned 1j (complex)"),
    ],
)
def test_what_is_no_number_stops_with_the_query(value: object, says: str) -> None:
    calls = []

    def f(x: np.ndarray) -> object:
        calls.append(x)
        return value if len(calls) == 4 else float(x @ x)

    with pytest.raises(gracezo.EvaluationError) as caught:
        gracezo.minimize(f, [1.0, 2.0], method="fdsa", options={"step_size": 0.1})
    assert says in str(caught.value)
    assert caught.value.query == caught.value.result.nfev == len(calls) == 4
    assert caught.value.result.fun == 5.0


def test_an_exception_is_chained() -> None:
    def f(x: np.ndarray) -> float:
        return 1.0 / float(x[0])

    with pytest.raises(gracezo.EvaluationError, match=r"query 1 failed: .* ZeroDivisionError") as caught:
        gracezo.minimize(f, [0.0], method="fdsa")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("value", [1, np.float32(1), np.array(1.0), np.int64(1), True])
def test_what_is_a_number_is_taken(value: object) -> None:
    assert gracezo.minimize(lambda x: value, [0.0], method="fdsa").fun == 1.0


def test_vectorized_failures_say_what_is_wrong() -> None:
    with pytest.raises(gracezo.EvaluationError, match=r"2 values for 2 points.*shape \(2, 1\)") as caught:
        gracezo.minimize(lambda x: x[:, :1], [0.0, 0.0], method="fdsa", f0=0.0, vectorized=True)
    assert caught.value.query == 1


def test_shape_is_kept() -> None:
    x0 = np.ones((2, 3))
    seen = set()

    def f(x: np.ndarray, power: float) -> float:
        seen.add(x.shape)
        return float((x**power).sum())

    result = gracezo.minimize(f, x0, args=(2.0,), method="fdsa", max_steps=2, options={"step_size": 0.1})
    assert seen == {(2, 3)}
    assert result.x.shape == (2, 3)
    assert sorted(result.support.tolist()) == list(range(6))
    gradient = gracezo.estimate_gradient(f, x0, args=(2.0,), method="fdsa")
    assert gradient.toarray() == pytest.approx(np.full((2, 3), 2.0), abs=1e-5)
    rows = gracezo.minimize(
        lambda x: (x**2).sum(axis=(1, 2)),
        x0,
        method="fdsa",
        max_steps=2,
        vectorized=True,
        options={"step_size": 0.1},
    )
    assert rows.nfev == result.nfev == 15


def test_without_a_rule_the_budget_is_the_default() -> None:
    count = [0]

    def f(x: np.ndarray) -> float:
        count[0] += 1
        return float(x @ x)

    result = gracezo.minimize(f, [1.0, 2.0], method="fdsa", options={"step_size": 1e-9})
    assert result.nfev == count[0] == 10_000
    assert result.message == "all 10,000 queries are spent (the default budget: no stopping rule was given)"


def test_seed_is_told_when_drawn() -> None:
    first = by_serial(Case("grace"), Valley(), seed=None)
    again = by_serial(Case("grace"), Valley(), seed=first.seed)
    assert np.array_equal(first.x, again.x)


def test_callback_sees_each_step_and_stops() -> None:
    seen: list[tuple[int, int]] = []

    def callback(intermediate: scipy.optimize.OptimizeResult) -> None:
        intermediate.x[:] = np.nan
        seen.append((intermediate.nit, intermediate.nfev))
        if intermediate.nit == 3:
            raise StopIteration

    result = gracezo.minimize(
        lambda x: float(x @ x), [1.0, 2.0], method="fdsa", callback=callback, options={"step_size": 0.1}
    )
    assert seen == [(1, 4), (2, 7), (3, 10)]
    assert (result.status, result.nit, result.success) == (2, 3, False)
    assert np.isfinite(result.x).all()


def test_interrupt_returns_a_result() -> None:
    count = [0]

    def f(x: np.ndarray) -> float:
        count[0] += 1
        if count[0] == 6:
            signal.raise_signal(signal.SIGINT)
        return float(x @ x)

    result = gracezo.minimize(f, [1.0, 2.0], method="fdsa", options={"step_size": 0.1})
    assert (result.status, result.nfev, result.nit) == (2, count[0], 1)  # it was paid for


def test_an_interrupt_of_an_estimate_is_no_finding() -> None:
    def f(x: np.ndarray) -> float:
        if x.any():
            signal.raise_signal(signal.SIGINT)
        return float(x @ x)

    found = gracezo.estimate_gradient(f, np.zeros(9), method="fdsa")
    assert (found.queries, len(found.indices)) == (2, 0)
    assert math.isnan(found.residual)
    assert str(found).startswith("No estimate: interrupted; ")
    short = gracezo.estimate_gradient(lambda x: float(x @ x), np.ones(9), method="fdsa", max_queries=5e0)  # type: ignore[arg-type]
    assert str(short).startswith("No estimate: 1 of 5 queries are spent; what comes next takes 9 together")
    with pytest.raises(KeyboardInterrupt):
        gracezo.estimate_noise(f, np.zeros(9))


def test_copy_false_is_read_only() -> None:
    def f(x: np.ndarray) -> float:
        assert not x.flags.writeable
        return float((x**2).sum())

    gracezo.minimize(f, [1.0, 2.0], method="fdsa", max_steps=1, copy=False)

    def g(x: np.ndarray) -> np.ndarray:
        assert not x.flags.writeable
        return np.asarray((x**2).sum(axis=1))

    gracezo.minimize(g, [1.0, 2.0], method="fdsa", max_steps=1, copy=False, vectorized=True)


def test_ask_and_tell_keep_their_rules() -> None:
    optimizer = gracezo.Optimizer([1.0, 2.0], method="fdsa", max_queries=4)
    with pytest.raises(RuntimeError, match="tell"):
        optimizer.tell([1.0])
    with pytest.raises(ValueError, match="limit must be a whole number of at least 1"):
        optimizer.ask(limit=0)
    assert len(optimizer.ask()) == 1
    assert len(optimizer.ask()) == 0  # it is in flight
    with pytest.raises(ValueError, match="1 were asked, 2 given"):
        optimizer.tell([1.0, 2.0])
    optimizer.tell([5.0])
    assert len(optimizer.ask()) == 2
    with pytest.raises(gracezo.EvaluationError, match="query 3 failed"):
        optimizer.tell([1.0, np.nan])
    assert len(optimizer.ask()) == 0
    assert optimizer.result.status == 3


def test_estimate_gradient_within_a_budget() -> None:
    g = gracezo.estimate_gradient(lambda x: float(x.sum()), np.zeros(9), method="fdsa", max_queries=5)
    assert (g.queries, len(g.indices), g.found) == (1, 0, 0.0)
    assert g.message == "1 of 5 queries are spent; what comes next takes 9 together, more than the 4 left"
    assert (
        gracezo.estimate_gradient(lambda x: float(x.sum()), np.zeros(9), method="fdsa", f0=0.0).queries == 9
    )


@pytest.mark.parametrize("queries", [1, 2, 5])
def test_a_gradient_that_was_not_looked_at_is_not_called_flat(queries: int) -> None:
    g = gracezo.estimate_gradient(lambda x: float(x.sum()), np.zeros(50), max_queries=queries, seed=0)
    assert not g.flat
    assert g.queries <= queries
    assert repr(g).startswith("No estimate: ")


def test_a_method_in_the_place_of_args_is_told_so() -> None:
    with pytest.raises(TypeError, match=r"args must be .* given: 'grace' \(the method is method='grace'\)"):
        gracezo.minimize(never, [0.0, 0.0], "grace")  # type: ignore[arg-type]
    assert gracezo.minimize(lambda x, a: float(len(a)), [0.0], ("grace",), max_queries=1).fun == 5.0


def test_a_start_that_is_one_number_is_suspected_where_an_array_is_read() -> None:
    with pytest.raises(gracezo.EvaluationError, match="x0 is one number"):
        gracezo.minimize(lambda x: float(x[0]), 50)


class TestScipy:
    def test_maps_its_options(self) -> None:
        method = gracezo.scipy_method("fdsa", options={"step_size": 0.1}, max_queries=500)
        run = scipy.optimize.minimize(Valley(), np.zeros(60), method=method, options={"maxiter": 2})
        assert (run.nit, run.nfev) == (2, 123)
        run = scipy.optimize.minimize(
            Valley(), np.zeros(60), method=method, options={"maxfev": 100, "disp": False}
        )
        assert run.nfev == 62

    @pytest.mark.parametrize(
        ("keywords", "says"),
        [
            ({"jac": lambda x: x}, "takes no jac"),
            ({"hess": lambda x: x}, "takes no hess"),
            ({"constraints": [{"type": "eq", "fun": lambda x: x}]}, "takes no constraints"),
            ({"options": {"gtol": 1}}, "'gtol' is neither"),
        ],
    )
    def test_refuses_what_it_cannot_use(self, keywords: dict[str, Any], says: str) -> None:
        with pytest.raises(ValueError, match=says):
            scipy.optimize.minimize(never, [0.0, 0.0], method=gracezo.scipy_method("fdsa"), **keywords)

    def test_refuses_unknown_words_at_once(self) -> None:
        with pytest.raises(TypeError, match="no keyword 'sparse'"):
            gracezo.scipy_method("grace", sparse=3)
        with pytest.raises(ValueError, match="unknown method"):
            gracezo.scipy_method("nonsense")

    def test_both_kinds_of_callback(self) -> None:
        seen: list[object] = []

        def new(intermediate_result: scipy.optimize.OptimizeResult) -> None:
            seen.append(intermediate_result.nit)

        def old(x: np.ndarray) -> None:
            seen.append(x.shape)

        for callback in (new, old):
            scipy.optimize.minimize(
                lambda x: float(x @ x),
                [1.0, 2.0],
                method=gracezo.scipy_method("fdsa", options={"step_size": 0.1}),
                callback=callback,
                options={"maxiter": 1},
            )
        assert seen == [1, (2,)]


def test_progress_line() -> None:
    out = io.StringIO()
    run = Run(iter(()), np.zeros(3), Limits(max_queries=12_000), seed=0)  # type: ignore[arg-type]
    run.nfev = 1234
    with live_line(run, Console(file=out, width=80)):
        pass
    assert out.getvalue().startswith("1,234 of 12,000 queries")
    assert out.getvalue().endswith("\n")  # what comes next in a log stands on a line of its own
    result = gracezo.minimize(Valley(), np.zeros(60), method="grace", sparsity=3, max_steps=2, progress=True)
    assert result.nit == 2


def test_registered_methods_are_methods() -> None:
    with pytest.raises(ValueError, match="exists already"):
        gracezo.register("grace", lambda problem: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="factory must be callable"):
        gracezo.register("mine", None)  # type: ignore[arg-type]
    assert all(sentence.endswith(".") for sentence in gracezo.methods().values())


@pytest.mark.parametrize(
    "wrong", ["ignore", None, ("raise", 3), ("retry", 0), ("skip", -1), ("skip", True), ("retry", 1, 2), 5]
)
def test_on_failure_is_checked_before_any_query(wrong: object) -> None:
    with pytest.raises(ValueError, match="on_failure"):
        gracezo.minimize(never, [1.0, 2.0], method="fdsa", on_failure=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("on_failure", "calls"), [("raise", 1), ("retry", 4), (("retry", 1), 2), ("skip", 1)]
)
def test_a_function_that_always_fails_is_given_up(on_failure: Any, calls: int) -> None:
    for call in (
        lambda: gracezo.minimize(never, [1.0, 2.0], method="fdsa", on_failure=on_failure),
        lambda: gracezo.estimate_gradient(never, [1.0, 2.0], method="fdsa", on_failure=on_failure),
        lambda: scipy.optimize.minimize(
            never, [1.0, 2.0], method=gracezo.scipy_method("fdsa", on_failure=on_failure)
        ),
    ):
        with pytest.raises(gracezo.EvaluationError) as failed:
            call()
        assert (failed.value.query, failed.value.result.nfev) == (calls, calls)


def test_a_skipped_coordinate_is_left_out_of_a_gradient() -> None:
    def blind(x: np.ndarray) -> float:
        return math.nan if x[1] > 0 else float(2 * x[0] - 3 * x[2])

    found = gracezo.estimate_gradient(blind, np.zeros(3), method="fdsa", on_failure="skip")
    assert (found.indices.tolist(), found.queries) == ([0, 2], 4)
    assert found.values == pytest.approx([2.0, -3.0])
