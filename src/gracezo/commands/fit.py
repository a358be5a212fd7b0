"""``gracezo fit``: least squares, with a function of yours or any program that writes many numbers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gracezo
from gracezo.commands import minimize, objective
from gracezo.commands.errors import UsageError
from gracezo.core.errors import EvaluationFailure
from gracezo.core.result import Result
from gracezo.core.types import FloatArray
from gracezo.vectors.losses import LOSSES

_DESCRIPTION = """\
Fit the few parameters that matter: find those of many parameters with which the
outputs of a model come nearest to data, in the sense of least squares. The
model is a Python function that returns many numbers, or any program that reads
a point from a file and writes as many numbers into {output}.

Without --data, what the model returns are the residuals themselves.
"""
_EXAMPLES = """\
examples:
  gracezo fit model:simulate --data measured.txt --dim 10000 --max-queries 300
  gracezo fit --command "./simulate {input} {output}" --format text --x0 start.npy \\
          --data measured.csv --weights weights.csv --journal fit.db
  gracezo fit model:residuals --dim 10000 --loss soft_l1 --f-scale 0.1 --out best.npz

exit code: 0 converged or target reached, 1 failed, 2 usage error, 3 budget
spent, 4 nothing found or stuck, 130 interrupted.
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="fit the few parameters that matter to data",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    objective.add_function(parser)
    data = parser.add_argument_group("the data")
    data.add_argument("--data", type=Path, metavar="FILE", help="what the outputs are compared with")
    data.add_argument(
        "--weights", type=Path, metavar="FILE", help="what each difference is multiplied with: 1/error, say"
    )
    objective.add_point(parser)
    how = parser.add_argument_group("the fit")
    how.add_argument("--loss", choices=tuple(LOSSES), help="what of a residual counts (default: linear)")
    how.add_argument("--f-scale", type=float, metavar="C", help="from where on it is an outlier (default: 1)")
    how.add_argument("--ftol", type=float, help="converged at this share of the cost (default: 1e-8)")
    how.add_argument("--noise", type=float, metavar="SD", help="standard deviation of the outputs; 0: exact")
    how.add_argument("--seed", type=int, help="a whole number; the same one gives the same run")
    minimize.add_rules(parser)
    parser.set_defaults(run=run)


@dataclass(frozen=True, eq=False)
class Residuals:
    """The differences between the outputs of a model and data, each with its weight."""

    model: Callable[..., Any]
    data: FloatArray | None
    weights: FloatArray | None

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the residuals at one point, or at many."""
        outputs = np.asarray(self.model(x), np.float64)
        for name, given in (("--data", self.data), ("--weights", self.weights)):
            if given is not None and outputs.shape[-1:] != given.shape:
                raise EvaluationFailure(
                    f"{name} has {given.size:,} numbers, and the model returned an array of shape "
                    f"{outputs.shape}: there must be one for each output"
                )
        residuals = outputs if self.data is None else outputs - self.data
        return residuals if self.weights is None else residuals * self.weights


def run(words: argparse.Namespace) -> int:
    """Fit, and print what came of it."""
    minimize.check(words)
    model = objective.function(words)
    data, weights = _numbers("--data", words.data), _numbers("--weights", words.weights)
    fun = model if data is None and weights is None else Residuals(model, data, weights)
    given = {"loss": words.loss, "f_scale": words.f_scale, "ftol": words.ftol}

    def begin(fun: Callable[..., Any], **common: Any) -> Result:
        return gracezo.least_squares(
            fun,
            objective.point(words),
            bounds=objective.bounds(words),
            names=objective.names(words),
            scale=objective.scale(words),
            noise=words.noise,
            seed=words.seed,
            **{name: value for name, value in given.items() if value is not None},
            **common,
        )

    further = [
        word
        for name, path in (("--data", words.data), ("--weights", words.weights))
        if path is not None
        for word in (name, str(path))
    ]
    return minimize.carried_out(words, fun, begin, "fit", further)


def _numbers(option: str, path: Path | None) -> FloatArray | None:
    if path is None:
        return None
    numbers = np.ravel(objective.loaded(option, path)).astype(np.float64)
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise UsageError(f"{option} {path} must hold finite numbers, one for each output")
    return numbers
