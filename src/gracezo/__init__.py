"""Zeroth-order optimisation in very high dimension, when few coordinates matter at a time."""

from gracezo import problems, theory
from gracezo.api import estimate_gradient, minimize, resume
from gracezo.command import Command
from gracezo.core.errors import EvaluationError
from gracezo.core.result import GradientEstimate, Result
from gracezo.estimators.noise import NoiseEstimate
from gracezo.journal.errors import JournalError, JournalWriteError
from gracezo.journal.settings import Journal
from gracezo.methods.catalog import methods, register
from gracezo.noise import estimate_noise
from gracezo.optimizer import Optimizer
from gracezo.scipy_adapter import scipy_method

__version__ = "0.1.0"

__all__ = [
    "Command",
    "EvaluationError",
    "GradientEstimate",
    "Journal",
    "JournalError",
    "JournalWriteError",
    "NoiseEstimate",
    "Optimizer",
    "Result",
    "estimate_gradient",
    "estimate_noise",
    "methods",
    "minimize",
    "problems",
    "register",
    "resume",
    "scipy_method",
    "theory",
]
