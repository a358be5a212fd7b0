"""The public surface, word by word: what is written against it today still runs tomorrow."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import gracezo
from gracezo import theory

LIMITS = "max_queries=None, max_steps=None, max_seconds=None, target=None"
EVALUATED = "vectorized=False, workers=None, batch=1, copy=True, on_failure='raise', timeout=None"
SEEDED = "seed=None, rng=None"
SURFACE = {
    "minimize": f"(fun, x0, args=(), method='auto', *, dim=None, bounds=None, sparsity=None, support=None, "
    f"f0=None, known=None, noise=None, names=None, groups=None, scale=None, tol=None, {LIMITS}, {EVALUATED}, "
    f"{SEEDED}, callback=None, progress=False, journal=None, options=None)",
    "estimate_gradient": "(fun, x, args=(), method='auto', *, dim=None, bounds=None, sparsity=None, "
    f"f0=None, noise=None, names=None, groups=None, scale=None, tol=None, max_queries=None, {EVALUATED}, "
    f"{SEEDED}, options=None)",
    "estimate_jacobian": "(fun, x, args=(), *, bounds=None, f0=None, noise=None, names=None, scale=None, "
    f"tol=None, max_queries=None, {EVALUATED}, {SEEDED})",
    "least_squares": "(fun, x0, args=(), *, bounds=None, loss='linear', f_scale=1.0, ftol=1e-08, gtol=1e-08, "
    f"support=None, f0=None, known=None, noise=None, names=None, scale=None, {LIMITS}, {EVALUATED}, "
    f"{SEEDED}, callback=None, progress=False, journal=None)",
    "screen": "(fun, x0=None, args=(), *, bounds=None, points=None, interactions=False, f0=None, noise=None, "
    f"names=None, groups=None, scale=None, tol=None, max_queries=None, {EVALUATED}, {SEEDED}, "
    "progress=False, journal=None)",
    "Optimizer": "(x0, method='auto', *, dim=None, bounds=None, sparsity=None, support=None, f0=None, "
    f"known=None, noise=None, names=None, groups=None, scale=None, tol=None, {LIMITS}, batch=1, "
    f"on_failure='raise', {SEEDED}, journal=None, options=None)",
    "Optimizer.ask": "(self, limit=None)",
    "Optimizer.tell": "(self, values, ids=None)",
    "resume": "(journal, fun, args=(), *, max_queries=None, max_seconds=None, workers=None, "
    "vectorized=False, timeout=None, callback=None, progress=False)",
    "scipy_method": "(name='auto', **keywords)",
    "estimate_noise": f"(fun, x, args=(), *, bounds=None, workers=None, {SEEDED})",
    "Command": "(template, *, format='npy', timeout=None)",
    "methods": "()",
    "register": "(name, factory)",
    "Result.plot": "(self, kind='both', axes=None)",
    "Result.report": "(self, path, *, journal=None)",
    "Result.to_dataframe": "(self, table='coordinates')",
    "GradientEstimate.toarray": "(self)",
    "JacobianEstimate.tocsc": "(self)",
    "Screening.to_df": "(self, output=None)",
    "Screening.plot": "(self, kind='both', axes=None, *, output=None)",
}
THEORY = {
    "c1": "()",
    "c2": "(D, delta, phi, theta)",
    "conditions": "(D, delta, phi, theta)",
    "schedule": "(D, delta, phi, theta)",
    "hyperparameters": "(d, s, rho, alpha, delta, nu=0.5)",
    "convergence_bound": "(L1, rho, gap, Delta, T)",
    "high_probability_bound": "(L1, rho, eta, beta, gap, Delta, T)",
    "worst_case_queries": "(d, s, gamma=0.7, first_division=10)",
    "counting_bound": "(d, s, bits=53)",
}
FIELDS = {
    "Result": "x fun fun_error nfev nit success status message support change names trace rounds seed "
    "reasked",
    "GradientEstimate": "indices values errors confirmed found residual background queries",
    "JacobianEstimate": "columns values errors residual background complete queries rounds message",
    "Screening": "indices mu mu_star sigma mu_star_conf important rate share overall residual background "
    "queries",
    "LeastSquares": "cost fun jac grad optimality active_mask stderr cov",
}


def plain(call: Callable[..., Any]) -> str:
    """Return a signature without types."""
    signature = inspect.signature(call)
    empty = inspect.Parameter.empty
    parameters = [parameter.replace(annotation=empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=empty))


def public(name: str) -> Any:
    """Return a public name, or what is behind a dot."""
    entry: Any = gracezo
    for part in name.split("."):
        entry = getattr(entry, part)
    return entry


@pytest.mark.parametrize("name", SURFACE)
def test_names_kinds_order_and_defaults(name: str) -> None:
    assert plain(public(name)) == SURFACE[name]


@pytest.mark.parametrize("name", THEORY)
def test_theory(name: str) -> None:
    assert plain(getattr(theory, name)) == THEORY[name]


def test_results_have_their_fields() -> None:
    results = {
        "Result": gracezo.minimize(lambda x: float(x @ x), [1.0, 2.0], max_queries=20),
        "GradientEstimate": gracezo.estimate_gradient(lambda x: 3.0 * x[1], [0.0] * 4),
        "JacobianEstimate": gracezo.estimate_jacobian(lambda x: x[:2], [1.0] * 4),
        "Screening": gracezo.screen(lambda x: 3.0 * x[1], bounds=[(0.0, 1.0)] * 4),
        "LeastSquares": gracezo.least_squares(lambda x: x - 1.0, [0.0] * 3),
    }
    for kind, names in FIELDS.items():
        missing = [name for name in names.split() if not hasattr(results[kind], name)]
        assert missing == [], kind
