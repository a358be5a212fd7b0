"""The constants of one search: C_1, C_2, the shrink lemma, and the schedule with a guarantee.

Reference: Lemmas 3.1, A.3 and A.4 of Qiu & Tong, Gradient Compressed Sensing,
ICML 2024. Symbols: a round divides its set S by D and fails with probability
δ_{r,1} (wrong block) + δ_{r,2} (too much gradient left beside j); δ is the failure of all rounds
together, φ how fast it is spent, θ how it is shared between the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gracezo.theory import checks

IPW_CONSTANT = 579263.0
"""C_2 of the Indyk–Price–Woodruff algorithm, as the paper gives it; ours is about 4300 times smaller."""


class SearchParameters(NamedTuple):
    """The arguments of `c2`, `conditions` and `schedule`; the defaults are the paper's (Lemma 3.2).

    Examples
    --------
    >>> round(c2(*SearchParameters()), 2)
    134.85
    """

    D: int = 18
    delta: float = 0.5
    phi: float = 0.64
    theta: float = 0.08


def c1() -> float:
    """Return the constant C_1 of the shrink lemma, in closed form (Lemma A.3).

    It is the supremum over 0 < δ < 1 and D ≥ 2 of
    2·√log_{3/δ}((4D+1)/(2Dδ)) + (1/D)·√log_{3/δ}((8D+2)/δ) − 1/D²,
    reached at D = 2 and ln(1/δ) ≈ 0.6489.

    Examples
    --------
    >>> round(c1(), 5)
    2.28955
    """
    a = 16 * math.log(4 / 3) ** 2
    b = math.log(6) ** 2
    log_inverse_delta = (a * math.log(18) - b * math.log(9 / 4)) / (b - a)
    base = math.log(3) + log_inverse_delta
    return (
        2 * math.sqrt((math.log(9 / 4) + log_inverse_delta) / base)
        + 0.5 * math.sqrt((math.log(18) + log_inverse_delta) / base)
        - 0.25
    )


def signal_to_noise(D: int, delta_1: float) -> float:
    """Return (C_1·D + 1/D)·√(2·ln(3/δ_1)): how far |∇_j f| must exceed ‖∇_{S∖j} f‖ to divide by D.

    Examples
    --------
    >>> round(signal_to_noise(20, 0.05), 1)
    131.2
    """
    D = checks.integer("D", D, 2)
    delta_1 = checks.unit("delta_1", delta_1)
    return (c1() * D + 1 / D) * math.sqrt(2 * math.log(3 / delta_1))


def lambda_1(n: int, d: int, L1: float) -> float:
    """Return λ_{1,n} = L_1·(d² + d + ½)·n, what curvature costs a group of n at unit ε.

    Examples
    --------
    >>> lambda_1(10, 100, 1.0)
    101005.0
    """
    d = checks.integer("d", d, 1)
    n = checks.integer("n", n, 1, d)
    return checks.non_negative("L1", L1) * (d * d + d + 0.5) * n


def lambda_2(d: int, L0: float, L1: float) -> float:
    """Return λ_{2,d} = 2·L_0·λ_{1,d}.

    Examples
    --------
    >>> lambda_2(10, 1.0, 1.0)
    2210.0
    """
    return 2 * checks.non_negative("L0", L0) * lambda_1(d, d, L1)


def shrink_threshold(
    D: int, delta_1: float, rest: float, *, size: int = 1, d: int = 1, L1: float = 0.0, eps: float = 0.0
) -> float:
    """Return the |∇_j f| above which one round keeps coordinate j (Lemma 3.1).

    With a larger |∇_j f|, two queries find the block of j with probability at
    least 1 − δ_1, and with probability 1 − δ_2 what is left beside j has norm
    at most `rest`/√(D·δ_2).

    Parameters
    ----------
    D
        Number of blocks, 2 or more.
    delta_1
        δ_1, the accepted probability of the wrong block.
    rest
        ‖∇_{S∖j} f‖, the norm of the gradient on the rest of the group.
    size, d, L1, eps
        |S|, the dimension, the Lipschitz constant of the gradient and the finite difference ε. The
        defaults leave curvature out (L1 = 0: f is linear).

    Examples
    --------
    >>> round(shrink_threshold(20, 0.05, rest=0.01), 3)
    1.312
    >>> round(shrink_threshold(20, 0.05, rest=0.01, size=7, d=10, L1=1.0, eps=1e-6), 3)
    1.313
    """
    rest = checks.non_negative("rest", rest)
    eps = checks.non_negative("eps", eps)
    return signal_to_noise(D, delta_1) * rest + lambda_1(size, d, L1) * eps


def c2(D: int, delta: float, phi: float, theta: float) -> float:
    """Return C_2 = (C_1·D + 1/D)·√(2·ln(3/(θ(1−φ)δ))), the signal-to-noise that a whole search needs.

    Examples
    --------
    >>> round(c2(18, 0.5, 0.64, 0.08), 2), round(IPW_CONSTANT / c2(18, 0.5, 0.64, 0.08))
    (134.85, 4296)
    """
    return signal_to_noise(D, round_risk(1, delta, phi, theta).delta_1)


class RoundRisk(NamedTuple):
    """How much of δ round r may spend.

    Attributes
    ----------
    delta_1
        δ_{r,1}, on choosing the wrong block.
    delta_2
        δ_{r,2}, on keeping too much gradient beside j.
    """

    delta_1: float
    delta_2: float


def round_risk(r: int, delta: float, phi: float, theta: float) -> RoundRisk:
    """Return δ_{r,1} = θ(1−φ)φ^{r−1}δ and δ_{r,2} = (1−θ)(1−φ)φ^{r−1}δ of round r = 1, 2, ….

    Over all rounds they add up to δ.

    Examples
    --------
    >>> [round(risk, 4) for risk in round_risk(1, 0.5, 0.64, 0.08)]
    [0.0144, 0.1656]
    """
    r = checks.integer("r", r, 1)
    delta, phi, theta = checks.unit("delta", delta), checks.unit("phi", phi), checks.unit("theta", theta)
    share = (1 - phi) * phi ** (r - 1) * delta
    return RoundRisk(theta * share, (1 - theta) * share)


@dataclass(frozen=True)
class Conditions:
    """What Lemma A.4 asks of (D, δ, φ, θ), and what it gives in return.

    Attributes
    ----------
    x
        D·δ_{1,2}·ln(3/δ_{1,1})/ln(3/δ_{2,1}), the quantity that all three conditions are about.
    first
        φ·x^{3/2} − x ≥ φ·δ_{1,2}.
    second
        x ≥ 3/2.
    third
        A > 1.
    A, C3
        D_r ≥ C3·A^{(3/2)^{r−1}}, with C3 = 1/((1−θ)(1−φ)φ²δ). A is NaN where x ≤ 1: it has no meaning there.
    """

    x: float
    first: bool
    second: bool
    third: bool
    A: float
    C3: float

    @property
    def hold(self) -> bool:
        """Whether all three conditions hold."""
        return self.first and self.second and self.third


def conditions(D: int, delta: float, phi: float, theta: float) -> Conditions:
    """Check the three conditions of Lemma A.4 on (D, δ, φ, θ).

    Examples
    --------
    >>> found = conditions(18, 0.5, 0.64, 0.08)
    >>> found.hold, round(found.x, 3), round(found.A, 3)
    (True, 2.751, 1.032)
    >>> conditions(17, 0.5, 0.64, 0.08).hold
    False
    """
    D = checks.integer("D", D, 2)
    risk = round_risk(1, delta, phi, theta)
    ratio = _division_factor(1, delta, phi, theta)
    x = D * ratio
    A = (D - 1 / (math.sqrt(x) - 1)) * phi**2 * ratio if x > 1 else math.nan
    return Conditions(
        x=x,
        first=phi * x**1.5 - x >= phi * risk.delta_2,
        second=x >= 1.5,
        third=A > 1,
        A=A,
        C3=1 / (phi**2 * risk.delta_2),
    )


def _division_factor(r: int, delta: float, phi: float, theta: float) -> float:
    """Return δ_{r,2}·ln(3/δ_{r,1})/ln(3/δ_{r+1,1}), with D_{r+1} = ⌊D_r^{3/2}·√ of it⌋."""
    risk = round_risk(r, delta, phi, theta)
    log_first = math.log(3 / risk.delta_1)
    return risk.delta_2 * log_first / (log_first - math.log(phi))


def schedule(D: int, delta: float, phi: float, theta: float) -> Iterator[int]:
    """Yield without end the divisions D_1 = D, D_2, … of Lemma A.4.

    D_{r+1} = ⌊D_r^{3/2}·√(δ_{r,2}·ln(3/δ_{r,1})/ln(3/δ_{r+1,1}))⌋. With this schedule a search whose
    signal-to-noise ratio exceeds `c2(D, delta, phi, theta)` succeeds with probability at least 1 − δ.
    It grows far more slowly at first than `practical_schedule`.

    Raises
    ------
    ValueError
        When `conditions` do not hold: the divisions need not grow then.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(schedule(18, 0.5, 0.64, 0.08), 6))
    [18, 29, 48, 83, 152, 303]
    """
    found = conditions(D, delta, phi, theta)
    if not found.hold:
        failed = [name for name in ("first", "second", "third") if not getattr(found, name)]
        raise ValueError(
            f"no growing schedule from D={D}, delta={delta}, phi={phi}, theta={theta}: "
            f"the {' and '.join(failed)} condition of the lemma fails; a larger D helps (see conditions())"
        )
    return _divisions(D, delta, phi, theta)


def _divisions(division: int, delta: float, phi: float, theta: float) -> Iterator[int]:
    r = 1
    while True:
        yield division
        # Exact in the integers, for the float factor: D_r³ soon leaves the range of a double.
        division = math.isqrt(int(division**3 * Fraction(_division_factor(r, delta, phi, theta))))
        r += 1
