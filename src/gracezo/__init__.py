"""Zeroth-order optimisation in very high dimension, when few coordinates matter at a time."""

from gracezo import problems, theory
from gracezo.api import Optimizer, estimate_gradient, estimate_noise, minimize
from gracezo.core.errors import EvaluationError
from gracezo.core.result import GradientEstimate, Result
from gracezo.estimators.noise import NoiseEstimate
from gracezo.methods.catalog import methods, register
from gracezo.scipy_adapter import scipy_method

__version__ = "0.1.0"

__all__ = [
    "EvaluationError",
    "GradientEstimate",
    "NoiseEstimate",
    "Optimizer",
    "Result",
    "estimate_gradient",
    "estimate_noise",
    "methods",
    "minimize",
    "problems",
    "register",
    "scipy_method",
    "theory",
]
