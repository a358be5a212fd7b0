"""Values with errors, and functions that take a seed: what a run makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gracezo.core.asks import Ask, Moved, Point, Role, SparseRows, Steps
from gracezo.core.limits import Limits
from gracezo.core.result import Finish, Status
from gracezo.core.run import Run
from gracezo.core.sampling import Sampling, seeds_of

X = np.zeros(2)


def moves(*points: Point) -> Steps[Finish]:
    for point in points:
        yield Moved(point)
        yield Ask.at(point.x, Role.TRIAL)
    return Finish(Status.CONVERGED, "done")


def conduct(run: Run, values: Iterator[float]) -> Run:
    while (ask := run.next()) is not None:
        run.record([(row, next(values)) for row in range(len(ask))])
    return run


def test_the_best_point_is_the_last_where_values_have_errors() -> None:
    first, second = Point(X, 1.0, 0.1), Point(X + 1.0, 1.1, 0.1)
    result = conduct(Run(moves(first, second), X, Limits(), 0), iter([-5.0, -6.0])).result()
    assert (result.x.tolist(), result.fun, result.fun_error) == ([1.0, 1.0], 1.1, 0.1)


def test_the_best_point_is_the_lowest_where_they_have_none() -> None:
    first, second = Point(X, 1.0), Point(X + 1.0, 1.1)
    result = conduct(Run(moves(first, second), X, Limits(), 0), iter([-5.0, -6.0])).result()
    assert (result.x.tolist(), result.fun, result.fun_error) == ([0.0, 0.0], 1.0, 0.0)


def test_a_target_is_reached_beyond_two_errors() -> None:
    for value, reached in ((0.85, False), (0.79, True)):
        run = conduct(Run(moves(Point(X, value, 0.1)), X, Limits(target=1.0), 0), iter([0.0]))
        assert run.nfev == (0 if reached else 1)
        assert run.result().message == ("the target 1 is reached" if reached else "done")


def test_what_a_method_measured_anew_is_the_answer() -> None:
    def steps() -> Steps[Finish]:
        yield Moved(Point(X, 1.0, 0.1))
        return Finish(Status.CONVERGED, "done", Point(X + 2.0, 1.3, 0.05))

    result = conduct(Run(steps(), X, Limits(), 0), iter([])).result()
    assert (result.x.tolist(), result.fun, result.fun_error) == ([2.0, 2.0], 1.3, 0.05)


def test_all_queries_get_one_seed_and_those_for_the_answer_others() -> None:
    sampling = Sampling(7)
    rows = SparseRows.coordinates(np.arange(2), np.ones(2))
    assert seeds_of(sampling(Ask(X, rows, Role.PROBE))) == [7, 7]
    assert seeds_of(sampling(Ask.at(X, Role.AGAIN, 2))) == [8, 9]
    again = sampling(Ask.at(X, Role.AGAIN, 3))
    assert seeds_of(again) == [10, 11, 12]
    assert seeds_of(again.head(2)) == [10, 11]
    assert seeds_of(again.take(np.array([2, 0]))) == [12, 10]
    assert seeds_of(Ask(X, rows, Role.PROBE)) is None
