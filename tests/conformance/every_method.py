"""The check that every evaluator must pass."""

from __future__ import annotations

import numpy as np
from tests.sensitivity import functions
from tests.vectors.outputs import decays

import gracezo
from gracezo.testing import Case, Valley, assert_same, by_serial


def check_every_method(workers: object, max_queries: int = 150) -> None:
    """Every method gives the same x, trace and count on these workers as in this process."""
    for method in gracezo.methods():
        case = Case(method, max_queries=max_queries)
        expected = by_serial(case, Valley())
        assert_same(by_serial(case, Valley(), workers=workers), expected, method)
    check_many_outputs(workers)
    check_screening(workers)


def check_many_outputs(workers: object) -> None:
    """So do those for functions with many outputs, by ones and in batches."""
    x = np.zeros(300)
    for batch in (1, 4):
        expected = gracezo.least_squares(decays, x, seed=3, batch=batch)
        result = gracezo.least_squares(decays, x, seed=3, batch=batch, workers=workers)
        assert result.success
        assert np.array_equal(result.x, expected.x)
        assert np.array_equal(result.fun, expected.fun)
        assert np.array_equal(result.trace.values, expected.trace.values)
        assert (result.nfev, result.rounds) == (expected.nfev, expected.rounds)
        told = gracezo.estimate_jacobian(decays, x, seed=3, batch=batch)
        found = gracezo.estimate_jacobian(decays, x, seed=3, batch=batch, workers=workers)
        assert np.array_equal(found.values, told.values)
        assert (found.queries, found.rounds) == (told.queries, told.rounds)


def check_screening(workers: object) -> None:
    """So does a screening: of a smooth function, of whole numbers, and of many outputs."""
    for fun in (functions.bent, functions.steps, functions.three):
        for batch in (1, 4):
            told = gracezo.screen(fun, bounds=functions.BOX, seed=3, batch=batch)
            found = gracezo.screen(fun, bounds=functions.BOX, seed=3, batch=batch, workers=workers)
            assert np.array_equal(found.indices, told.indices)
            assert np.array_equal(found.effects, told.effects)
            assert (found.queries, found.rounds) == (told.queries, told.rounds)
            assert fun is functions.steps or set(functions.MATTER) <= set(found.indices.tolist())
