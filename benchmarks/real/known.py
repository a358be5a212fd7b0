"""Functions on which a claim is easily wrong: other units, offsets, walls, falls by many orders, plateaus.

Each family is drawn from a seed. Unless said otherwise few coordinates of many matter and x0 = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from benchmarks.real.case import Case
from benchmarks.real.meter import Function
from benchmarks.real.tails import Tail

from gracezo.core.types import FloatArray, IntArray

ULP = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Bowl:
    """Σ w (x − c)² over some coordinates: the function that others are made of."""

    support: IntArray
    c: FloatArray
    w: FloatArray

    @classmethod
    def drawn(cls, rng: np.random.Generator, d: int, s: int) -> Bowl:
        """Draw an instance."""
        support = rng.choice(d, s, replace=False)
        c = rng.uniform(0.5, 1.0, s) * rng.choice([-1.0, 1.0], s)
        return cls(support, c, rng.uniform(0.5, 2.0, s))

    def __call__(self, x: FloatArray) -> float:
        """Return f(x)."""
        return float(self.w @ (x[self.support] - self.c) ** 2)


@dataclass(frozen=True, eq=False)
class Noisy:
    """A function with noise, drawn anew at each call: Gaussian, or of Student's t with so many degrees."""

    mean: Function
    deviation: float
    rng: np.random.Generator
    degrees: float = np.inf

    def __call__(self, x: FloatArray) -> float:
        """Return f(x)."""
        if np.isinf(self.degrees):
            return self.mean(x) + self.deviation * float(self.rng.standard_normal())
        unit = np.sqrt((self.degrees - 2) / self.degrees)
        return self.mean(x) + self.deviation * float(unit * self.rng.standard_t(self.degrees))


def bowl(rng: np.random.Generator, d: int = 1_000, s: int = 5) -> Case:
    return Case("", Bowl.drawn(rng, d, s), np.zeros(d), 0.0)


# ---------------------------------------------------------------- units


def units(rng: np.random.Generator) -> Case:
    """Draw parameters from 1e-6 to 1e11 in one x, five that matter."""
    x0 = 10.0 ** rng.uniform(-6, 11, 300) * rng.choice([-1.0, 1.0], 300)
    five = rng.choice(300, 5, replace=False)
    goal = x0[five] * (1 + rng.uniform(0.2, 0.8, 5) * rng.choice([-1.0, 1.0], 5))
    return Case("", lambda x: float((((x[five] - goal) / x0[five]) ** 2).sum()), x0, 0.0)


def units_bounds(rng: np.random.Generator) -> Case:
    """Draw the same from 1e-6 to 1e11, shown by bounds instead of x0, which lies in their middle at 0."""
    size = 10.0 ** rng.uniform(-6, 11, 300)
    five = rng.choice(300, 5, replace=False)
    goal = size[five] * rng.uniform(0.2, 0.8, 5) * rng.choice([-1.0, 1.0], 5)
    fun: Function = lambda x: float((((x[five] - goal) / size[five]) ** 2).sum())  # noqa: E731
    return Case("", fun, np.zeros(300), 0.0, bounds=(-size, size))


def young(rng: np.random.Generator) -> Case:
    """Draw a modulus and a number: (x0/2e11 − 1)² + (x1/4 − 1)², from near (2.1e11, 5)."""
    x0 = np.array([2.1e11, 5.0]) * rng.uniform(0.9, 1.1, 2)
    return Case("", lambda x: float((x[0] / 2e11 - 1) ** 2 + (x[1] / 4 - 1) ** 2), x0, 0.0)


def far(rng: np.random.Generator) -> Case:
    """Draw a minimum 1e8 away from 0."""
    d = int(rng.choice([1, 3, 100]))
    goal = 1e8 * rng.uniform(0.5, 1, d) * rng.choice([-1.0, 1.0], d)
    return Case("", lambda x: float(((x - goal) ** 2).sum()), np.zeros(d), 0.0)


def near(rng: np.random.Generator) -> Case:
    """Draw a minimum 1e-6 away from 0."""
    goal = 1e-6 * rng.uniform(0.5, 1, 3)
    return Case("", lambda x: float((((x[:3] - goal) / 1e-6) ** 2).sum()), np.zeros(50), 0.0)


# ---------------------------------------------------------------- values


def offset(b: float) -> Callable[[np.random.Generator], Case]:
    def made(rng: np.random.Generator) -> Case:
        plain = bowl(rng)
        return replace(
            plain,
            fun=lambda x: plain.fun(x) + b,
            exact=plain.fun,
            grain=20 * ULP * abs(b),
            fits=("rounding",),
        )

    made.__doc__ = f"A bowl of height 5, plus {b:g}."
    return made


def factor(a: float) -> Callable[[np.random.Generator], Case]:
    def made(rng: np.random.Generator) -> Case:
        plain = bowl(rng)
        return replace(plain, fun=lambda x: a * plain.fun(x))

    made.__doc__ = f"A bowl, times {a:g}."
    return made


def wall(height: float) -> Callable[[np.random.Generator], Case]:
    def made(rng: np.random.Generator) -> Case:
        b = Bowl.drawn(rng, d := int(rng.choice([3, 1_000])), 3)
        reach = rng.uniform(1.05, 3.0)

        def fun(x: FloatArray) -> float:
            return (
                height if np.abs(x).max() > reach else float(np.log(np.cosh(5 * (x[b.support] - b.c))).sum())
            )

        return Case("", fun, np.zeros(d), 0.0)

    made.__doc__ = f"Σ log cosh 5(x − c), and {height:g} where a coordinate leaves [−r, r], r from 1.05 to 3."
    return made


def cliff(height: float) -> Callable[[np.random.Generator], Case]:
    def made(rng: np.random.Generator) -> Case:
        plain = bowl(rng, int(rng.choice([3, 1_000])), 3)
        b: Bowl = plain.fun  # type: ignore[assignment]
        reach = rng.uniform(0.3, 0.45)

        def fun(x: FloatArray) -> float:
            return height if np.abs(x).max() > reach else b(x)

        edge = np.zeros(len(plain.x0))
        edge[b.support] = reach * np.sign(b.c)
        return replace(plain, fun=fun, floor=b(edge), fits=("kinks", "wall"))

    made.__doc__ = f"A bowl that is cut off before its minimum, where f jumps to {height:g}."
    return made


def steep(rng: np.random.Generator) -> Case:
    """1e10·(x0 − 0.3)² + (x1 − 1)²: falls by ten orders, then goes on."""
    a, b = rng.uniform(0.2, 0.4), rng.uniform(0.7, 1.3)
    fun: Function = lambda x: float(1e10 * (x[0] - a) ** 2 + (x[1] - b) ** 2)  # noqa: E731
    return Case("", fun, np.zeros(2), 0.0, exact=lambda x: float((x[1] - b) ** 2))


def exponential(rng: np.random.Generator) -> Case:
    """exp(10·|x − c|²), three coordinates, from where it is up to 1e20. Judged is its logarithm."""
    c = rng.uniform(0.6, 1.2, 3) * rng.choice([-1.0, 1.0], 3)

    def fun(x: FloatArray) -> float:
        with np.errstate(over="ignore"):
            return float(min(np.exp(10 * ((x - c) ** 2).sum()), 1e300))

    return Case("", fun, np.zeros(3), 0.0, exact=lambda x: float(((x - c) ** 2).sum()))


def orders(rng: np.random.Generator) -> Case:
    """Σ 10^k (x − c)², k from −4 to 6 on eleven of 200 coordinates. Judged is each in its own units."""
    eleven = rng.choice(200, 11, replace=False)
    c = rng.uniform(0.5, 1.0, 11)
    power = 10.0 ** np.arange(-4, 7)
    fun: Function = lambda x: float(power @ (x[eleven] - c) ** 2)  # noqa: E731
    return Case("", fun, np.zeros(200), 0.0, exact=lambda x: float(((x[eleven] - c) ** 2).sum()))


# ---------------------------------------------------------------- shapes


def linear(rng: np.random.Generator) -> Case:
    """Draw a linear function without bounds."""
    d = int(rng.choice([1, 2, 10, 100, 3_000]))
    w = np.zeros(d)
    some = rng.choice(d, min(d, 5), replace=False)
    w[some] = rng.uniform(0.5, 1.0, len(some)) * rng.choice([-1.0, 1.0], len(some))
    return Case("", lambda x: float(w @ x), np.zeros(d), -np.inf, fits=("unbounded",))


def concave(rng: np.random.Generator) -> Case:
    """−Σ (x − c)² without bounds."""
    plain = bowl(rng, 100)
    return Case("", lambda x: -plain.fun(x), np.zeros(100), -np.inf, fits=("unbounded",))


def plateaus(rng: np.random.Generator) -> Case:
    """Floor of 20 times a bowl: a stair."""
    plain = bowl(rng, int(rng.choice([2, 50])), 2)
    return replace(plain, fun=lambda x: float(np.floor(20 * plain.fun(x))), fits=("coarse", "flat"))


def counts(rng: np.random.Generator) -> Case:
    """How many of 200 thresholds a sum exceeds."""
    d = int(rng.choice([3, 30]))
    c = rng.uniform(-1, 1, (200, d))
    return Case("", lambda x: float((c @ (x - 1.0) > 0.2).sum()), np.zeros(d), 0.0, fits=("coarse", "flat"))


def rounded(rng: np.random.Generator) -> Case:
    """Draw a bowl whose values have four decimals."""
    plain = bowl(rng, 100)
    return replace(
        plain, fun=lambda x: round(plain.fun(x), 4), exact=plain.fun, grain=2e-3, fits=("coarse", "noise")
    )


def constant(_: np.random.Generator) -> Case:
    """Draw a constant: nothing is to be found, and no success."""
    return Case("", lambda _: 3.0, np.zeros(100), -np.inf, exact=lambda _: 0.0, fits=("flat",))


def hidden_well(rng: np.random.Generator) -> Case:
    """Flat at x0, with a well that is 0.3 wide at a distance of one or two: flat, or found."""
    c = rng.uniform(0.5, 1.0, 10)
    return Case("", lambda x: float(min(((x - c) ** 2).sum(), 0.09)), np.zeros(10), 0.0, fits=("flat",))


def kinks(rng: np.random.Generator) -> Case:
    """Σ w |x − c| over five of 1,000."""
    b = Bowl.drawn(rng, 1_000, 5)
    fun: Function = lambda x: float(b.w @ np.abs(x[b.support] - b.c))  # noqa: E731
    return Case("", fun, np.zeros(1_000), 0.0, fits=("kinks",))


def ridge(rng: np.random.Generator) -> Case:
    """Draw a kink across two coordinates: 10·|x0 − x1·t| + (x0 − 1)² + (x1 − 1/t)²."""
    t = rng.uniform(0.5, 2.0)
    fun: Function = lambda x: float(10 * abs(x[0] - x[1] * t) + (x[0] - 1) ** 2 + (x[1] - 1 / t) ** 2)  # noqa: E731
    return Case("", fun, np.zeros(2), 0.0, fits=("kinks",), budget=3_000)


def ripples(rng: np.random.Generator) -> Case:
    """Draw a bowl with ripples of 2 % of its height and periods of 0.02 to 0.05: solved if at their level."""
    plain = bowl(rng, int(rng.choice([4, 40])), 4)
    wave = rng.uniform(0.02, 0.05)

    def fun(x: FloatArray) -> float:
        b: Bowl = plain.fun  # type: ignore[assignment]
        return b(x) + 0.02 * float((1 - np.cos(2 * np.pi * (x[b.support] - b.c) / wave)).sum())

    return replace(plain, fun=fun, exact=plain.fun, grain=4 * 0.04, fits=("rough", "noise"))


def rough(rng: np.random.Generator) -> Case:
    """Draw a bowl with waves of 1 % of its height in twenty directions, of lengths 0.003 to 0.1."""
    plain = bowl(rng, 30)
    directions = (
        rng.standard_normal((20, 30)) / np.sqrt(30) * (2 * np.pi / 10.0 ** rng.uniform(-2.5, -1, 20))[:, None]
    )
    depth = 0.01 * plain.fun(plain.x0)

    def fun(x: FloatArray) -> float:
        return plain.fun(x) + depth * float(np.cos(directions @ x).sum() / np.sqrt(20))

    return replace(plain, fun=fun, exact=plain.fun, grain=4 * depth, fits=("rough", "noise"))


def jump(rng: np.random.Generator) -> Case:
    """Draw a bowl, lower by a tenth of its height at x0 alone."""
    plain = bowl(rng, int(rng.choice([3, 300])), 3)
    drop = 0.1 * plain.height
    return replace(plain, fun=lambda x: plain.fun(x) - (0.0 if x.any() else drop))


def tail(rng: np.random.Generator) -> Case:
    """Ten slopes above a background of 1e-3, d = 1,000."""
    t = Tail.drawn(1e-3, int(rng.integers(2**31)), 1_000)
    return Case("", t, np.zeros(1_000), float(-0.5 * np.sum(t.g**2 / t.c)), budget=6_000)


def noisy(level: float) -> Callable[[np.random.Generator], Case]:
    def made(rng: np.random.Generator) -> Case:
        plain = bowl(rng, 200)
        deviation = level * plain.fun(plain.x0)
        return replace(
            plain, fun=Noisy(plain.fun, deviation, rng), exact=plain.fun, noise=deviation, grain=deviation,
            fits=("noise",),
        )  # fmt: skip

    made.__doc__ = f"A bowl with noise of {level:g} of f(x0)."
    return made


def heavy(rng: np.random.Generator) -> Case:
    """Draw a bowl with noise of 5 % of f(x0) by Student's t with three degrees: now and then far off."""
    plain = bowl(rng, 200)
    deviation = 0.05 * plain.height
    fun = Noisy(plain.fun, deviation, rng, degrees=3.0)
    return replace(plain, fun=fun, exact=plain.fun, noise=deviation, grain=2 * deviation, fits=("noise",))


def relative(rng: np.random.Generator) -> Case:
    """Draw 1 + a bowl whose values are off by 5 % of what they are."""
    plain = bowl(rng, 200)

    def fun(x: FloatArray) -> float:
        return (1 + plain.fun(x)) * (1 + 0.05 * float(rng.standard_normal()))

    grain = 0.05 * (1 + plain.height)
    return replace(plain, fun=fun, exact=plain.fun, noise=grain, offset=1.0, grain=grain, fits=("noise",))


def short(rng: np.random.Generator) -> Case:
    """Draw a short run on a bowl: the lowest value paid for is to be given back."""
    return replace(bowl(rng, 1_000, 10), budget=int(rng.integers(8, 60)))


FAMILIES: dict[str, Callable[[np.random.Generator], Case]] = {
    "units": units, "units-bounds": units_bounds, "young": young, "far": far, "near": near,
    "offset-1e3": offset(5e3), "offset-1e8": offset(5e8), "offset-1e13": offset(5e13),
    "times-1e-300": factor(1e-300), "times-1e-200": factor(1e-200), "times-1e200": factor(1e200),
    "times-1e300": factor(1e300), "wall-1e10": wall(1e10), "wall-1e300": wall(1e300),
    "wall-1.7e308": wall(1.7e308), "cliff-1e3": cliff(1e3), "cliff-1e300": cliff(1e300), "steep": steep,
    "exponential": exponential, "orders": orders, "linear": linear, "concave": concave,
    "plateaus": plateaus, "counts": counts, "rounded": rounded, "constant": constant,
    "hidden-well": hidden_well, "kinks": kinks, "ridge": ridge, "ripples": ripples, "rough": rough,
    "jump": jump, "tail": tail, "noise-0.1": noisy(0.1), "noise-0.3": noisy(0.3), "noise-1": noisy(1.0),
    "noise-heavy": heavy, "noise-relative": relative, "short": short,
}  # fmt: skip


def drawn(name: str, seed: int) -> Case:
    """Draw an instance."""
    return replace(FAMILIES[name](np.random.default_rng(seed)), name=name)
