"""gracezo's methods inside `scipy.optimize.minimize`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from scipy.optimize import OptimizeResult

from gracezo import checks
from gracezo.api import minimize
from gracezo.core.result import Result
from gracezo.methods import catalog


def scipy_method(name: str = "auto", **keywords: Any) -> Callable[..., Result]:
    """Return a method for ``scipy.optimize.minimize(fun, x0, method=...)``.

    Parameters
    ----------
    name
        One of `methods()`.
    **keywords
        Any keyword of `gracezo.minimize` but fun, x0, args, method and callback. SciPy's own options
        `maxiter`, `maxfev`, `disp`, its tol and its bounds are understood too and go before these.

    Returns
    -------
    callable
        What SciPy's `method` takes. Derivatives and constraints are refused.

    Examples
    --------
    >>> import scipy.optimize, gracezo
    >>> result = scipy.optimize.minimize(
    ...     lambda x: float(x @ x), [1.0, 2.0], options={"maxfev": 13},
    ...     method=gracezo.scipy_method("fdsa", options={"step_size": 0.1}))
    >>> result.nfev, result.nit
    (13, 4)
    """
    catalog.factory(name)
    known = set(inspect.signature(minimize).parameters) - {"fun", "x0", "args", "method", "callback"}
    for keyword in keywords:
        if keyword not in known:
            raise TypeError(f"scipy_method has no keyword {keyword!r}; it has: {', '.join(sorted(known))}")

    def method(
        fun: Callable[..., Any],
        x0: Any,
        args: tuple[Any, ...] = (),
        *,
        callback: Callable[..., object] | None = None,
        **given: Any,
    ) -> Result:
        for what in ("jac", "hess", "hessp", "constraints"):
            value = given.pop(what, None)
            if value is not None and value is not False and value != ():
                raise ValueError(f"method {name!r} of gracezo takes no {what}; leave it out")
        merged = dict(keywords)
        if given.get("tol") is None:
            given.pop("tol", None)
        if given.get("bounds") is None:
            given.pop("bounds", None)
        for theirs, ours in catalog.SCIPY_OPTIONS.items():
            if given.get(theirs) is not None:
                merged[ours] = given[theirs] if theirs != "disp" else bool(given[theirs])
            given.pop(theirs, None)
        for option in given:
            if option not in known:
                raise ValueError(
                    f"option {option!r} is neither SciPy's maxiter, maxfev or disp nor one of gracezo's: "
                    f"{', '.join(sorted(known))}"
                )
        merged.update(given)
        checks.callback(callback)
        wrapped = None if callback is None else _scipy_callback(callback)
        return minimize(fun, x0, args, name, callback=wrapped, **merged)

    return method


def _scipy_callback(callback: Callable[..., object]) -> Callable[[OptimizeResult], object]:
    """Follow SciPy's rule: a parameter named intermediate_result gets the result, any other gets x."""
    if set(inspect.signature(callback).parameters) == {"intermediate_result"}:
        return lambda result: callback(intermediate_result=result)
    return lambda result: callback(result.x.copy())
