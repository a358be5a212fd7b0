"""Zeroth-order optimisation in very high dimension, when few coordinates matter at a time."""

from gracezo import problems, theory
from gracezo.api import Optimizer, estimate_gradient, minimize
from gracezo.core.errors import EvaluationError
from gracezo.core.result import GradientEstimate, Result
from gracezo.methods.catalog import methods, register
from gracezo.scipy_adapter import scipy_method

__version__ = "0.1.0"

__all__ = [
    "EvaluationError",
    "GradientEstimate",
    "Optimizer",
    "Result",
    "estimate_gradient",
    "methods",
    "minimize",
    "problems",
    "register",
    "scipy_method",
    "theory",
]
