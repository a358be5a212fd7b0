"""The families: each is made from a seed, begins at x0 and knows its least value.

*Hidden* means: on s coordinates y of d, drawn at random, with the parabola ½ Σ w_i x_i², w_i from 0 to 1, on
all others. `optimum` is where f is least, be it known or found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from benchmarks.queries.functions.regression import correlated, lasso_data
from benchmarks.queries.problem import Objective, Problem, effective_sparsity
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit

from gracezo.core.types import FloatArray, IntArray

Gradient: TypeAlias = Callable[[FloatArray], FloatArray]

_PATIENCE = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 0.0, "gtol": 0.0, "maxcor": 50}
_PROXIMAL_STEPS = 5_000


# ---------------------------------------------------------------- what several families share


def no_gradient(x: FloatArray) -> FloatArray:
    """Raise: nothing here needs the gradient of a function whose optimum is known, or that has kinks."""
    raise NotImplementedError


def _known(about: str, f: Objective, x0: FloatArray, s: int, optimum: FloatArray) -> Problem:
    """Return a problem whose least value is 0, at a known place."""
    return Problem(about, f, no_gradient, x0, s, 0.0, optimum)


def _found(about: str, f: Objective, x0: FloatArray, s: int, optimum: FloatArray) -> Problem:
    """Return a problem whose least value is that at a place that was searched for."""
    return Problem(about, f, no_gradient, x0, s, f(optimum), optimum)


def _smooth(about: str, f: Objective, gradient: Gradient, x0: FloatArray, s: int | None = None) -> Problem:
    """Return a problem whose optimum exact gradients find, from x0."""
    optimum = x0
    with np.errstate(all="ignore"):
        for _ in range(2):  # the second run begins without the memory of the first
            optimum = minimize(f, optimum, jac=gradient, method="L-BFGS-B", options=_PATIENCE).x
    told = effective_sparsity(gradient(x0)) if s is None else s
    return Problem(about, f, gradient, x0, told, f(optimum), optimum)


def _hide(rng: np.random.Generator, d: int, s: int) -> IntArray:
    """Draw the coordinates that matter."""
    return np.asarray(rng.choice(d, s, replace=False), np.int64)


def _elsewhere(rng: np.random.Generator, d: int, places: IntArray) -> FloatArray:
    """Draw the curvature of all other coordinates."""
    weights = rng.random(d)
    weights[places] = 0.0
    return weights


def _hidden(inner: Objective, places: IntArray, weights: FloatArray) -> Objective:
    """Return the function that is `inner` on some coordinates and a parabola on the others."""

    def f(x: FloatArray) -> float:
        return inner(x[places]) + 0.5 * float((weights * x * x).sum())

    return f


def _placed(d: int, places: IntArray, values: FloatArray) -> FloatArray:
    """Return a point with these values at some places, and zeros."""
    x = np.zeros(d)
    x[places] = values
    return x


def _proximal(a: FloatArray, b: FloatArray, shrink: Callable[[FloatArray, float], FloatArray]) -> FloatArray:
    """Minimise ½|Ax − b|² and a penalty (Beck & Teboulle, SIAM J. Imaging Sci. 2(1), 2009, FISTA).

    `shrink(y, length)` is the penalty's proximal step.
    """
    length, momentum = 1.0 / float(np.linalg.norm(a, 2)) ** 2, 1.0
    x = ahead = np.zeros(a.shape[1])
    for _ in range(_PROXIMAL_STEPS):
        before, x = x, shrink(ahead - length * ((a @ ahead - b) @ a), length)
        if (ahead - x) @ (x - before) > 0.0:  # it overshot: begin anew (O'Donoghue & Candès, 2015)
            momentum = 1.0
        later = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead, momentum = x + (momentum - 1.0) / later * (x - before), later
    return x


# ---------------------------------------------------------------- hidden coordinates, smooth


def hidden_quartic(seed: int, d: int = 3000, s: int = 10) -> Problem:
    """Return Σ a_i (x_i − c_i)⁴, hidden: no curvature at the optimum."""
    rng = np.random.default_rng(seed)
    places, goal = _hide(rng, d, s), rng.normal(size=s)
    weights, sizes = _elsewhere(rng, d, places), rng.uniform(0.5, 2.0, s)

    def inner(y: FloatArray) -> float:
        return float((sizes * (y - goal) ** 4).sum())

    f = _hidden(inner, places, weights)
    return _known("hidden quartic", f, np.zeros(d), s, _placed(d, places, goal))


def hidden_exponentials(seed: int, d: int = 3000, s: int = 15) -> Problem:
    """Return Σ (exp z_i − z_i − 1), z = x − c, hidden: steep on one side, nearly straight on the other."""
    rng = np.random.default_rng(seed)
    places, goal = _hide(rng, d, s), rng.normal(size=s)
    weights = _elsewhere(rng, d, places)

    def inner(y: FloatArray) -> float:
        z = y - goal
        return float((np.exp(z) - z - 1.0).sum())

    f = _hidden(inner, places, weights)
    return _known("hidden exponentials", f, np.zeros(d), s, _placed(d, places, goal))


def hidden_log_sum_exp(seed: int, d: int = 2000, s: int = 12) -> Problem:
    """Return log Σ exp(a_i·y + b_i) of 30 forms and a small ridge, hidden: nearly a maximum of planes."""
    rng = np.random.default_rng(seed)
    places, a = _hide(rng, d, s), 3.0 * rng.normal(size=(30, s))
    weights, b = _elsewhere(rng, d, places), rng.normal(size=30)

    def inner(y: FloatArray) -> float:
        return float(np.logaddexp.reduce(a @ y + b) + 0.05 * (y @ y))

    def slope(y: FloatArray) -> FloatArray:
        forms = a @ y + b
        shares = np.exp(forms - forms.max())
        return np.asarray(shares @ a / shares.sum() + 0.1 * y)

    optimum = _smooth("", inner, slope, np.zeros(s)).optimum
    assert optimum is not None
    f = _hidden(inner, places, weights)
    return _found("hidden log-sum-exp", f, np.zeros(d), s, _placed(d, places, optimum))


def hidden_powell(seed: int, d: int = 2000, s: int = 20) -> Problem:
    """Return Powell's singular function in blocks of four, hidden, from its usual start."""
    rng = np.random.default_rng(seed)
    places = _hide(rng, d, s)
    weights = _elsewhere(rng, d, places)

    def inner(y: FloatArray) -> float:
        a, b, c, e = y.reshape(-1, 4).T
        terms = (a + 10.0 * b) ** 2 + 5.0 * (c - e) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - e) ** 4
        return float(terms.sum())

    x0 = _placed(d, places, np.tile([3.0, -1.0, 0.0, 1.0], s // 4))
    return _known("hidden Powell singular function", _hidden(inner, places, weights), x0, s, np.zeros(d))


def stages(seed: int, d: int = 1000, blocks: int = 8) -> Problem:
    """Return Σ (1 − g_k + g_k r_k), g_k = exp(−8 Σ_{j<k} r_j), hidden: a block opens as the others close.

    r_k is the squared distance of four coordinates to their goal, over that at x0.
    """
    rng = np.random.default_rng(seed)
    places, goals = _hide(rng, d, 4 * blocks), rng.normal(size=(blocks, 4))
    weights, scales = _elsewhere(rng, d, places), (goals**2).sum(axis=1)

    def inner(y: FloatArray) -> float:
        ratios = ((y.reshape(blocks, 4) - goals) ** 2).sum(axis=1) / scales
        gates = np.exp(-8.0 * np.concatenate([[0.0], np.cumsum(ratios[:-1])]))
        return float((gates * ratios + (1.0 - gates)).sum())

    optimum = _placed(d, places, goals.ravel())
    return _known(
        f"support of 4 in {blocks} stages", _hidden(inner, places, weights), np.zeros(d), 4, optimum
    )


# ---------------------------------------------------------------- fits, smooth


def poisson(seed: int, d: int = 400, samples: int = 300, s: int = 10) -> Problem:
    """Return a Poisson regression with the log link, a sparse truth and a ridge."""
    rng = np.random.default_rng(seed)
    a, values = rng.normal(size=(samples, d)) / np.sqrt(s), rng.normal(size=s)
    counts = rng.poisson(np.exp(a @ _placed(d, _hide(rng, d, s), values))).astype(np.float64)
    ridge = 1e-2

    def f(x: FloatArray) -> float:
        u = np.minimum(a @ x, 50.0)  # far above any that matters; it keeps f finite
        return float((np.exp(u) - counts * u).mean() + 0.5 * ridge * (x @ x))

    def gradient(x: FloatArray) -> FloatArray:
        u = np.minimum(a @ x, 50.0)
        return np.asarray((np.exp(u) - counts) @ a / samples + ridge * x)

    return _smooth(f"Poisson regression of {samples} samples", f, gradient, np.zeros(d))


def logistic(seed: int, d: int = 400, samples: int = 300, s: int = 10) -> Problem:
    """Return a logistic loss with correlated features, a sparse truth and a ridge."""
    rng = np.random.default_rng(seed)
    a = correlated(rng, samples, d, 0.5)
    values = rng.uniform(1.0, 2.0, s) * rng.choice([-1.0, 1.0], s)
    truth = _placed(d, _hide(rng, d, s), values)
    a *= np.where(rng.random(samples) < expit(a @ truth), 1.0, -1.0)[:, np.newaxis]
    ridge = 1e-2

    def f(x: FloatArray) -> float:
        return float(np.logaddexp(0.0, -(a @ x)).mean() + 0.5 * ridge * (x @ x))

    def gradient(x: FloatArray) -> FloatArray:
        return np.asarray(-(expit(-(a @ x)) @ a) / samples + ridge * x)

    return _smooth(f"logistic loss of {samples} samples", f, gradient, np.zeros(d), s)


def huber(seed: int, d: int = 300, samples: int = 600) -> Problem:
    """Return Huber's loss of a dense regression with heavy-tailed noise."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(samples, d)) / np.sqrt(d)
    b = a @ rng.normal(size=d) + 0.2 * rng.standard_t(2.0, samples)
    bend = 0.1

    def f(x: FloatArray) -> float:
        rest = np.abs(a @ x - b)
        return float(np.where(rest < bend, 0.5 * rest * rest / bend, rest - 0.5 * bend).mean())

    def gradient(x: FloatArray) -> FloatArray:
        return np.asarray(np.clip((a @ x - b) / bend, -1.0, 1.0) @ a / samples)

    return _smooth(f"Huber regression of {samples} samples", f, gradient, np.zeros(d))


def network(seed: int, inputs: int = 12, width: int = 12, samples: int = 80) -> Problem:
    """Return the squared error of a network with a layer of tanh and weight decay, from a random start."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(samples, inputs))
    answers = np.sin(data[:, 0]) + data[:, 1] * data[:, 2]
    ends = np.cumsum([inputs * width, width, width])
    decay = 1e-3

    def forward(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the layer, the weights that read it, and the errors."""
        into, shift, out, constant = np.split(x, ends)
        layer = np.tanh(data @ into.reshape(inputs, width) + shift)
        return layer, out, layer @ out + constant - answers

    def f(x: FloatArray) -> float:
        _, _, errors = forward(x)
        return float((errors * errors).mean() + decay * (x @ x))

    def gradient(x: FloatArray) -> FloatArray:
        layer, out, errors = forward(x)
        back = 2.0 * errors / samples
        through = np.outer(back, out) * (1.0 - layer * layer)
        parts = [(data.T @ through).ravel(), through.sum(axis=0), back @ layer, [back.sum()]]
        return np.asarray(np.concatenate(parts) + 2.0 * decay * x)

    x0 = 0.5 * rng.normal(size=ends[-1] + 1)
    return _smooth(f"network of {width} units on {samples} samples", f, gradient, x0)


# ---------------------------------------------------------------- dense test functions, smooth


def zakharov(seed: int, d: int = 60) -> Problem:
    """Return Zakharov's function, |x|² + u² + u⁴ with u = Σ i x_i / 2d: one direction is far steeper."""
    x0, slopes = np.random.default_rng(seed).normal(size=d), 0.5 * np.arange(1, d + 1) / d

    def f(x: FloatArray) -> float:
        u = float(slopes @ x)
        return float(x @ x) + u**2 + u**4

    return _known("Zakharov", f, x0, d, np.zeros(d))


def rosenbrock_chain(seed: int, d: int = 60) -> Problem:
    """Return Rosenbrock's function, chained over all coordinates."""
    x0 = -0.5 + 0.1 * np.random.default_rng(seed).normal(size=d)

    def f(x: FloatArray) -> float:
        return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())

    return _known("chained Rosenbrock", f, x0, d, np.ones(d))


def griewank(seed: int, d: int = 100) -> Problem:
    """Return Griewank's function around a random place, with a bowl a hundred times the usual."""
    goal, roots = 3.0 * np.random.default_rng(seed).normal(size=d), np.sqrt(np.arange(1, d + 1))

    def f(x: FloatArray) -> float:
        z = x - goal
        return float((z * z).sum() / 40.0 + 1.0 - np.prod(np.cos(z / roots)))

    return _known("Griewank", f, np.zeros(d), d, goal)


def trigonometric(seed: int, d: int = 100) -> Problem:
    """Return the trigonometric function (Moré, Garbow & Hillstrom, ACM TOMS 7(1), 1981, no. 26)."""
    x0 = np.random.default_rng(seed).uniform(0.5, 1.5, d) / d  # theirs is 1/d in all coordinates
    numbers = np.arange(1, d + 1)

    def f(x: FloatArray) -> float:
        less = 1.0 - np.cos(x)
        rest = less.sum() + numbers * less - np.sin(x)
        return float(rest @ rest)

    return _known("trigonometric", f, x0, d, np.zeros(d))


def ripples(seed: int, d: int = 150) -> Problem:
    """Return a bowl with ripples in all coordinates: many local minima."""
    goal = np.random.default_rng(seed).uniform(-2.0, 2.0, d)

    def f(x: FloatArray) -> float:
        z = x - goal
        return float((z * z).sum() + 0.05 * (1.0 - np.cos(2.0 * np.pi * z / 0.3)).sum())

    return _known("ripples in all coordinates", f, np.zeros(d), d, goal)


def dense_scaled(seed: int, d: int = 200) -> Problem:
    """Return a bowl whose coordinates have scales from 1e-3 to 1e3."""
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(-3.0, 3.0, d)
    goal = rng.normal(size=d) * scales

    def f(x: FloatArray) -> float:
        return float((((x - goal) / scales) ** 2).sum())

    return _known("scales over six decades", f, np.zeros(d), d, goal)


# ---------------------------------------------------------------- kinks


def lasso(seed: int, d: int = 300, samples: int = 150, s: int = 10) -> Problem:
    """Return least squares with an ℓ1 penalty, a tenth of the one that leaves x = 0."""
    a, b, strength = lasso_data(seed, samples, d, s, 0.1)
    a, b = a / np.sqrt(samples), b / np.sqrt(samples)

    def f(x: FloatArray) -> float:
        rest = a @ x - b
        return float(0.5 * (rest @ rest) + strength * np.abs(x).sum())

    def shrink(y: FloatArray, length: float) -> FloatArray:
        return np.sign(y) * np.maximum(np.abs(y) - strength * length, 0.0)

    return _found(f"LASSO of {samples} samples", f, np.zeros(d), s, _proximal(a, b, shrink))


def group_lasso(seed: int, d: int = 300, samples: int = 200, size: int = 5, s: int = 20) -> Problem:
    """Return least squares with a penalty on the norms of groups."""
    rng = np.random.default_rng(seed)
    a, truth = rng.normal(size=(samples, d)) / np.sqrt(samples), _placed(d, np.arange(s), rng.normal(size=s))
    b = a @ truth + 0.05 * rng.normal(size=samples)

    def norms(x: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(x.reshape(-1, size), axis=1))

    strength = 0.1 * float(norms(b @ a).max())

    def f(x: FloatArray) -> float:
        rest = a @ x - b
        return float(0.5 * (rest @ rest) + strength * norms(x).sum())

    def shrink(y: FloatArray, length: float) -> FloatArray:
        kept = np.maximum(1.0 - strength * length / np.maximum(norms(y), 1e-300), 0.0)
        return np.asarray(y * np.repeat(kept, size))

    return _found(f"group LASSO, groups of {size}", f, np.zeros(d), s, _proximal(a, b, shrink))


def total_variation(seed: int, d: int = 100) -> Problem:
    """Return ½|x − b|² + 0.3 Σ |x_i − x_{i+1}|: denoising of ten steps."""
    rng = np.random.default_rng(seed)
    b = np.repeat(rng.normal(size=d // 10), 10) + 0.3 * rng.normal(size=d)
    strength = 0.3

    def f(x: FloatArray) -> float:
        return float(0.5 * ((x - b) ** 2).sum() + strength * np.abs(np.diff(x)).sum())

    # The dual has a number for each difference: min ½|b − Dᵀu|², |u_i| ≤ 0.3; its x is b − Dᵀu.
    across = np.diff(np.eye(d), axis=0).T
    u = lsq_linear(across, b, bounds=(-strength, strength), method="bvls", tol=1e-15, max_iter=1000).x
    return _found("total variation denoising", f, np.zeros(d), d, b - across @ u)


def dense_corners(seed: int, d: int = 300) -> Problem:
    """Return Σ w_i |x_i − c_i| over all coordinates."""
    rng = np.random.default_rng(seed)
    goal, weights = rng.normal(size=d), rng.uniform(0.5, 1.5, d)

    def f(x: FloatArray) -> float:
        return float((weights * np.abs(x - goal)).sum())

    return _known("corners in all coordinates", f, np.zeros(d), d, goal)


def hidden_deviations(seed: int, d: int = 2000, s: int = 10, samples: int = 40) -> Problem:
    """Return the mean of |a_i·(y − c)|, hidden: kinks across the coordinates."""
    rng = np.random.default_rng(seed)
    places, a, goal = _hide(rng, d, s), rng.normal(size=(samples, s)), rng.normal(size=s)
    weights = _elsewhere(rng, d, places)

    def inner(y: FloatArray) -> float:
        return float(np.abs(a @ (y - goal)).mean())

    f = _hidden(inner, places, weights)
    return _known("hidden least absolute deviations", f, np.zeros(d), s, _placed(d, places, goal))


def hidden_minimax(seed: int, d: int = 1000, s: int = 8, pieces: int = 6) -> Problem:
    """Return max_k (b_k·z + ½ Σ h_ki z_i²), z = y − c, hidden; Σ b_k = 0, so that it is never negative."""
    rng = np.random.default_rng(seed)
    places, goal = _hide(rng, d, s), rng.normal(size=s)
    weights, slopes = _elsewhere(rng, d, places), rng.normal(size=(pieces, s))
    slopes -= slopes.mean(axis=0)
    bends = rng.uniform(0.5, 3.0, (pieces, s))

    def inner(y: FloatArray) -> float:
        z = y - goal
        return float(np.max(slopes @ z + 0.5 * (bends @ (z * z))))

    f = _hidden(inner, places, weights)
    return _known(f"hidden maximum of {pieces} quadratics", f, np.zeros(d), s, _placed(d, places, goal))


def largest_deviation(seed: int, d: int = 100) -> Problem:
    """Return max |x_i − c_i| over all coordinates: one of them matters at a time."""
    goal = np.random.default_rng(seed).normal(size=d)

    def f(x: FloatArray) -> float:
        return float(np.abs(x - goal).max())

    return _known("largest deviation", f, np.zeros(d), d, goal)


FAMILIES: dict[str, Callable[[int], Problem]] = {
    "hidden-quartic": hidden_quartic,
    "hidden-exponentials": hidden_exponentials,
    "hidden-log-sum-exp": hidden_log_sum_exp,
    "hidden-powell": hidden_powell,
    "stages": stages,
    "poisson": poisson,
    "logistic": logistic,
    "huber": huber,
    "network": network,
    "zakharov": zakharov,
    "rosenbrock-chain": rosenbrock_chain,
    "griewank": griewank,
    "trigonometric": trigonometric,
    "lasso": lasso,
    "group-lasso": group_lasso,
    "total-variation": total_variation,
    "dense-corners": dense_corners,
    "hidden-deviations": hidden_deviations,
    "hidden-minimax": hidden_minimax,
    "largest-deviation": largest_deviation,
    "ripples": ripples,
    "dense-scaled": dense_scaled,
}
"""All families by name, in the order of the tables."""
