"""The functions behind the tables: s of d coordinates matter, the others have no effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.types import FloatArray, IntArray

Outputs = Callable[[FloatArray], FloatArray]


@dataclass
class Hidden:
    """A function of a few coordinates z, hidden among d; counts its calls."""

    small: Outputs  # of z alone
    z0: FloatArray
    d: int
    support: IntArray
    solution: FloatArray | None = None
    calls: int = 0
    costs: list[float] = field(default_factory=list)

    @classmethod
    def among(
        cls,
        d: int,
        small: Outputs,
        z0: FloatArray,
        random: np.random.Generator,
        solution: FloatArray | None = None,
    ) -> Hidden:
        """Hide a function among d coordinates."""
        return cls(small, z0, d, random.choice(d, len(z0), replace=False), solution)

    @property
    def x0(self) -> FloatArray:
        """Where to start."""
        x = np.zeros(self.d)
        x[self.support] = self.z0
        return x

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the outputs, and count."""
        self.calls += 1
        outputs = self.small(x[self.support])
        self.costs.append(0.5 * float(outputs @ outputs))
        return outputs

    def queries_to(self, cost: float) -> float:
        """Return the number of the first query that reached a cost; infinite if none did."""
        reached = np.flatnonzero(np.array(self.costs) <= cost)
        return float(reached[0] + 1) if len(reached) else np.inf


def linear(
    seed: int, s: int, m: int, d: int = 10_000, *, tail: float = 0.0, single: bool = False, noise: float = 0.0
) -> tuple[Hidden, Outputs, FloatArray]:
    """R = b + J z + H z², with a dense tail, in single precision or with noise; also J."""
    random = np.random.default_rng(seed)
    jacobian = random.normal(size=(m, s)) * random.uniform(0.3, 1.0, s)
    bend, base = random.uniform(-1.0, 1.0, (m, s)), random.normal(size=m)
    hidden = Hidden.among(d, lambda z: base + jacobian @ z + bend @ z**2, np.zeros(s), random)
    rest = tail * random.normal(size=(m, d)) if tail else None

    def fun(x: FloatArray) -> FloatArray:
        outputs = hidden(x)
        if rest is not None:
            outputs = outputs + rest @ x
        if noise:
            outputs = outputs + noise * random.normal(size=m)
        return outputs.astype(np.float32).astype(np.float64) if single else outputs

    return hidden, fun, jacobian


def exponentials(seed: int, s: int, m: int, d: int = 10_000, *, stays: bool = False) -> Hidden:
    """R = Σ_j A_ij·exp(B_ij·z_j) − y."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(m, s)), random.uniform(0.5, 1.5, (m, s))
    solution = random.choice([-1.0, 1.0], s) * random.uniform(0.3, 1.0, s)
    y = (a * np.exp(b * solution)).sum(axis=1)
    if stays:
        y = y + 0.3 * np.sqrt(s) * random.normal(size=m)
    return Hidden.among(d, lambda z: (a * np.exp(b * z)).sum(axis=1) - y, np.zeros(s), random, solution)


def michaelis_menten(seed: int, s: int, m: int, d: int = 10_000, *, stays: bool = False) -> Hidden:
    """R = Σ_j A_ij·e^{z_j}·c_ij/(e^{z_{n+j}} + c_ij) − y, s = 2n."""
    random = np.random.default_rng(seed)
    n = s // 2
    a, c = random.uniform(-1.0, 1.0, (m, n)), np.exp(random.uniform(-2.0, 2.0, (m, n)))
    solution = random.uniform(-0.8, 0.8, s)

    def model(z: FloatArray) -> FloatArray:
        outputs: FloatArray = (a * np.exp(z[:n]) * c / (np.exp(z[n:]) + c)).sum(axis=1)
        return outputs

    y = model(solution)
    if stays:
        y = y + 0.05 * random.normal(size=m)
    return Hidden.among(d, lambda z: model(z) - y, np.zeros(s), random, solution)


def rosenbrock(seed: int, s: int, d: int = 10_000) -> Hidden:
    """10·(z_{n+j} − z_j²) and 1 − z_j, from z_j = −1.2, z_{n+j} = 1."""
    n = s // 2
    start = np.concatenate([np.full(n, -1.2), np.ones(n)])

    def small(z: FloatArray) -> FloatArray:
        return np.concatenate([10.0 * (z[n:] - z[:n] ** 2), 1.0 - z[:n]])

    return Hidden.among(d, small, start, np.random.default_rng(seed), np.ones(s))
