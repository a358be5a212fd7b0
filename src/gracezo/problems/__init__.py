"""The benchmark functions of the paper, and a place for more.

`Distance`, `Magnitude` and `Attack` are the three of Qiu & Tong (ICML 2024). Each is a callable with a
starting point `x0`, a sparsity `s`, a batched form `many`, a `gradient` for tests, and what is known
of its least value (`optimum`, `minimum`). Subclass `Benchmark` for more, and `register` them by name.

Examples
--------
>>> from gracezo import problems
>>> f = problems.make("distance", instance=0)
>>> f.d, f.s, f.minimum
(10000, 10, 0.0)
"""

from gracezo.problems.attack import Attack
from gracezo.problems.base import Benchmark
from gracezo.problems.distance import Distance
from gracezo.problems.graphs import Football, football
from gracezo.problems.magnitude import Magnitude
from gracezo.problems.registry import make, names, register

__all__ = [
    "Attack",
    "Benchmark",
    "Distance",
    "Football",
    "Magnitude",
    "football",
    "make",
    "names",
    "register",
]
