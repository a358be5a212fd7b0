"""Zeroth-order optimisation in very high dimension, when few coordinates matter at a time.

`minimize` finds a minimum of a function by its values alone, `least_squares` fits one that has many outputs,
`screen` ranks what matters over a box, `estimate_gradient` and `estimate_jacobian` tell what matters at a
point. `Command` makes a function of a program, `resume` goes on with a run from its journal, `Optimizer` is
told the values instead of asking for them. Start: https://github.com/gracezo/gracezo/tree/main/docs/start

Importing this package loads nothing else: each name below is loaded when it is first used (SPEC 1 of
Scientific Python, PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for tools that read types; a test compares them with `_HOME`
    from gracezo import problems, theory
    from gracezo.api import minimize, resume
    from gracezo.command import Command
    from gracezo.core.errors import CallbackError, EvaluationError, MethodError
    from gracezo.core.result import GradientEstimate, Result
    from gracezo.estimators.noise import NoiseEstimate
    from gracezo.fitting import least_squares
    from gracezo.gradient import estimate_gradient
    from gracezo.jacobian import estimate_jacobian
    from gracezo.journal.errors import JournalError, JournalWriteError
    from gracezo.journal.settings import Journal
    from gracezo.methods.catalog import register
    from gracezo.noise import estimate_noise
    from gracezo.optimizer import Optimizer
    from gracezo.scipy_adapter import scipy_method
    from gracezo.screening import screen
    from gracezo.sensitivity.interactions import Interactions
    from gracezo.sensitivity.screening import Screening
    from gracezo.vectors.estimate import JacobianEstimate

__version__ = "0.1.0"

__all__ = [
    "CallbackError",
    "Command",
    "EvaluationError",
    "GradientEstimate",
    "Interactions",
    "JacobianEstimate",
    "Journal",
    "JournalError",
    "JournalWriteError",
    "MethodError",
    "NoiseEstimate",
    "Optimizer",
    "Result",
    "Screening",
    "estimate_gradient",
    "estimate_jacobian",
    "estimate_noise",
    "least_squares",
    "methods",
    "minimize",
    "problems",
    "register",
    "resume",
    "scipy_method",
    "screen",
    "theory",
]

# Where each name lives; None: it is itself a submodule.
_HOME = {
    "CallbackError": "core.errors",
    "Command": "command",
    "EvaluationError": "core.errors",
    "GradientEstimate": "core.result",
    "Interactions": "sensitivity.interactions",
    "JacobianEstimate": "vectors.estimate",
    "Journal": "journal.settings",
    "JournalError": "journal.errors",
    "JournalWriteError": "journal.errors",
    "MethodError": "core.errors",
    "NoiseEstimate": "estimators.noise",
    "Optimizer": "optimizer",
    "Result": "core.result",
    "Screening": "sensitivity.screening",
    "estimate_gradient": "gradient",
    "estimate_jacobian": "jacobian",
    "estimate_noise": "noise",
    "least_squares": "fitting",
    "minimize": "api",
    "problems": None,
    "register": "methods.catalog",
    "resume": "api",
    "scipy_method": "scipy_adapter",
    "screen": "screening",
    "theory": None,
}

import_module("gracezo.methods")  # loaded later, the package would take the name of the function below


def methods() -> dict[str, str]:
    """Return the known methods, each with one sentence.

    Examples
    --------
    >>> import gracezo
    >>> print(gracezo.methods()["fdsa"])
    FDSA: a finite difference along every coordinate, d queries a gradient.
    """
    from gracezo.methods.catalog import sentences  # noqa: PLC0415 - as late as the other names

    return sentences()


if not TYPE_CHECKING:  # which would make any name look right to such tools

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = _HOME[name]
        if home is None:
            return import_module(f"{__name__}.{name}")  # which also makes it an attribute
        value = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
