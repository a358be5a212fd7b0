"""How fast descent with GraCe converges, and how small ε must be for it.

Reference: Theorems 3.4, 4.1 and 4.2 of Qiu & Tong, Gradient Compressed Sensing, ICML 2024, and their
proofs. Symbols: |f(x) − f(y)| ≤ L_0·‖x − y‖, ‖∇f(x) − ∇f(y)‖ ≤ L_1·‖x − y‖, f ≥ f_*, ε_t = ε_1/t²;
`gap` is f(x_1) − f_*, `Delta` (Δ) is what the finite differences may add to the bound.

The paper's √(C_ρ·s) is here the square root of the number of candidates, which is what it stands for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gracezo.theory import checks
from gracezo.theory.candidates import Hyperparameters, hyperparameters
from gracezo.theory.constants import lambda_1, lambda_2

_SUM_EPS = math.pi**2 / 6  # Σ 1/t², what ε_1 is multiplied by in Σ ε_t
_SUM_EPS_SQUARED = math.pi**4 / 90  # Σ 1/t⁴, and in Σ ε_t²


@dataclass(frozen=True)
class EpsilonSchedule:
    """ε_t = ε_1/t² for the step t = 1, 2, …; usable as option `eps` of `grace`.

    Examples
    --------
    >>> eps = EpsilonSchedule(1e-3)
    >>> eps(1), eps(10)
    (0.001, 1e-05)
    """

    first: float

    def __post_init__(self) -> None:
        checks.positive("first", self.first)

    def __call__(self, t: int) -> float:
        """Return ε_t."""
        return self.first / checks.integer("t", t, 1) ** 2


def convergence_bound(L1: float, rho: float, gap: float, Delta: float, T: int) -> float:
    """Return Theorem 4.1's bound on E[min_{t≤T} ‖∇f(x_t)‖²]: (2·L_1/ρ²·gap + Δ)/T.

    The proof takes an α < ρ, the step size α/L_1 and the ε_1 of `convergence_epsilon`, and gives α in
    the place of ρ: pass that α as `rho` for the bound of exactly these settings.

    Parameters
    ----------
    L1
        Lipschitz constant of the gradient.
    rho
        ρ in (0, 1], the share of ‖∇f‖² on the s largest coordinates.
    gap
        f(x_1) − f_*.
    Delta
        Δ > 0, what the finite differences may add.
    T
        Number of steps.

    Examples
    --------
    >>> convergence_bound(L1=2.0, rho=1.0, gap=3.0, Delta=0.5, T=100)
    0.125
    """
    L1, rho, gap = checks.positive("L1", L1), checks.share(rho), checks.non_negative("gap", gap)
    return (2 * L1 / rho**2 * gap + checks.positive("Delta", Delta)) / checks.integer("T", T, 1)


def high_probability_bound(
    L1: float, rho: float, eta: float, beta: float, gap: float, Delta: float, T: int
) -> float:
    """Return Theorem 4.2's bound on min_{t≤T} ‖∇f(x_t)‖², for all T at once, with probability 1 − β.

    (((1 + 2(1−L_1·η)/(L_1·η·β))/(η − L_1·η²/2))·gap + Δ)/T. Any step size 0 < η < ρ/L_1 will do.

    Examples
    --------
    >>> high_probability_bound(L1=2.0, rho=1.0, eta=0.25, beta=0.1, gap=3.0, Delta=0.5, T=100)
    3.365
    """
    L1, rho = checks.positive("L1", L1), checks.share(rho)
    eta = _step_size(eta, rho, L1)
    beta, gap = checks.unit("beta", beta), checks.non_negative("gap", gap)
    factor = (1 + 2 * (1 - L1 * eta) / (L1 * eta * beta)) / (eta - L1 * eta**2 / 2)
    return (factor * gap + checks.positive("Delta", Delta)) / checks.integer("T", T, 1)


@dataclass(frozen=True)
class GradientGuarantee:
    """What Theorem 3.4 says of one estimate g.

    ‖g‖ ≤ ‖∇f‖ + norm_error·ε always, and E⟨∇f, g⟩ ≥ α·‖∇f‖² − λ_3·ε − λ_4·ε².

    Attributes
    ----------
    alpha
        α.
    norm_error
        √candidates·L_1/2.
    lambda_3, lambda_4
        λ_{3,d,s} and λ_{4,d}.
    settings
        The hyperparameters of Algorithm 1 that give this.
    """

    alpha: float
    norm_error: float
    lambda_3: float
    lambda_4: float
    settings: Hyperparameters


def gradient_guarantee(
    d: int,
    s: int,
    rho: float,
    alpha: float,
    L0: float,
    L1: float,
    *,
    alpha_prime: float | None = None,
    nu: float = 0.5,
) -> GradientGuarantee:
    """Return the constants of Theorem 3.4 for α < ρ.

    Parameters
    ----------
    d, s, rho, alpha
        As in `hyperparameters`.
    L0, L1
        Lipschitz constants of f and of its gradient.
    alpha_prime
        α' with α < α' < ρ: the set J has this share with probability α/α'. Halfway by default.
    nu
        As in `hyperparameters`.

    Examples
    --------
    >>> gradient_guarantee(100, 2, rho=0.9, alpha=0.5, L0=1.0, L1=1.0).norm_error
    5.0
    """
    rho = checks.share(rho)
    alpha = checks.between("alpha", alpha, 0, rho, " (rho)")
    L0, L1 = checks.positive("L0", L0), checks.positive("L1", L1)
    if alpha_prime is None:
        alpha_prime = (alpha + rho) / 2
    alpha_prime = checks.between("alpha_prime", alpha_prime, alpha, rho, " (alpha and rho)")
    success = alpha / alpha_prime
    settings = hyperparameters(d, s, rho, alpha_prime, 1 - success, nu)
    norm_error = math.sqrt(settings.candidates) * L1 / 2
    return GradientGuarantee(
        alpha=alpha,
        norm_error=norm_error,
        lambda_3=success * lambda_2(d, L0, L1) + L0 * norm_error,
        lambda_4=success * lambda_1(d, d, L1) ** 2,
        settings=settings,
    )


@dataclass(frozen=True)
class FirstEpsilon:
    """The ε_1 of a convergence theorem: the positive root of linear·ε + quadratic·ε² = Δ.

    Attributes
    ----------
    eps
        ε_1.
    linear, quadratic
        What Σ ε_t and Σ ε_t² add to the bound, per ε_1 and ε_1² (μ_5 and μ_6 in the second theorem).
    step_size
        The η it goes with.
    guarantee
        The estimate's constants and hyperparameters.
    """

    eps: float
    linear: float
    quadratic: float
    step_size: float
    guarantee: GradientGuarantee

    @property
    def schedule(self) -> EpsilonSchedule:
        """ε_t = ε_1/t²."""
        return EpsilonSchedule(self.eps)


def convergence_epsilon(
    d: int,
    s: int,
    rho: float,
    alpha: float,
    L0: float,
    L1: float,
    Delta: float,
    *,
    alpha_prime: float | None = None,
    nu: float = 0.5,
) -> FirstEpsilon:
    """Return the ε_1 with which Theorem 4.1 holds, and its step size α/L_1.

    It is far too small for double precision unless d is tiny (λ_1 grows as d³); the paper uses a
    constant ε = 1e-6 in practice, and so does `grace`.

    Parameters
    ----------
    d, s, rho, alpha, L0, L1, alpha_prime, nu
        As in `gradient_guarantee`.
    Delta
        Δ > 0, as in `convergence_bound`.

    Examples
    --------
    >>> found = convergence_epsilon(100, 2, rho=1.0, alpha=0.9, L0=1.0, L1=2.0, Delta=0.1)
    >>> found.step_size, f"{found.eps:.1e}"
    (0.45, '7.1e-09')
    """
    guarantee = gradient_guarantee(d, s, rho, alpha, L0, L1, alpha_prime=alpha_prime, nu=nu)
    eta = alpha / L1
    return _first_epsilon(*_expected(guarantee, eta, L0, L1), eta, guarantee, Delta)


def high_probability_epsilon(
    d: int,
    s: int,
    rho: float,
    eta: float,
    beta: float,
    L0: float,
    L1: float,
    Delta: float,
    *,
    alpha_prime: float | None = None,
    nu: float = 0.5,
) -> FirstEpsilon:
    """Return the ε_1 with which Theorem 4.2 holds for the step size η, with α = L_1·η.

    Solves μ_5·ε + μ_6·ε² = Δ; the printed root has μ_5 and μ_6 exchanged.

    Parameters
    ----------
    d, s, rho, L0, L1, alpha_prime, nu
        As in `gradient_guarantee`.
    eta, beta, Delta
        As in `high_probability_bound`.

    Examples
    --------
    >>> found = high_probability_epsilon(100, 2, 1.0, eta=0.45, beta=0.1, L0=1.0, L1=2.0, Delta=0.1)
    >>> f"{found.eps:.1e}"
    '3.8e-10'
    """
    L1 = checks.positive("L1", L1)
    eta = _step_size(eta, checks.share(rho), L1)
    beta = checks.unit("beta", beta)
    guarantee = gradient_guarantee(d, s, rho, L1 * eta, L0, L1, alpha_prime=alpha_prime, nu=nu)
    mu_1, mu_2 = _expected(guarantee, eta, L0, L1)
    # As printed. Rearranging strictly gives (1−α)·μ_1/β and λ_3/β; these are no less, as α·μ_1 ≥ 2λ_3·π²/6.
    mu_3 = mu_1 / beta + (guarantee.lambda_3 + (1 / beta - 1) * L0 * guarantee.norm_error) * _SUM_EPS
    mu_4 = mu_2 / beta + guarantee.lambda_4 / beta * _SUM_EPS_SQUARED
    linear, quadratic = _step_error(guarantee, eta, L0, L1)
    descent = eta - L1 * eta**2 / 2
    mu_5 = (linear * _SUM_EPS + eta * mu_3) / descent
    mu_6 = (quadratic * _SUM_EPS_SQUARED + eta * mu_4) / descent
    return _first_epsilon(mu_5, mu_6, eta, guarantee, Delta)


def _step_size(eta: float, rho: float, L1: float) -> float:
    return checks.between("eta", eta, 0, rho / L1, " (rho/L1)")


def _step_error(guarantee: GradientGuarantee, eta: float, L0: float, L1: float) -> tuple[float, float]:
    """Return what the error of ‖g‖ adds to L_1·η²/2·‖g‖², per ε and per ε²."""
    error = guarantee.norm_error
    return L1 * eta**2 * L0 * error, L1 * eta**2 / 2 * error**2


def _expected(guarantee: GradientGuarantee, eta: float, L0: float, L1: float) -> tuple[float, float]:
    """Return μ_1 and μ_2: E Σ‖∇f(x_t)‖² ≤ 2·L_1/α²·gap + μ_1·ε_1 + μ_2·ε_1²."""
    linear, quadratic = _step_error(guarantee, eta, L0, L1)
    scale = 2 * L1 / guarantee.alpha**2
    return (
        scale * (eta * guarantee.lambda_3 + linear) * _SUM_EPS,
        scale * (eta * guarantee.lambda_4 + quadratic) * _SUM_EPS_SQUARED,
    )


def _first_epsilon(
    linear: float, quadratic: float, eta: float, guarantee: GradientGuarantee, Delta: float
) -> FirstEpsilon:
    Delta = checks.positive("Delta", Delta)
    # The textbook root subtracts two nearly equal numbers; this form of it adds them.
    eps = 2 * Delta / (linear + math.hypot(linear, 2 * math.sqrt(quadratic * Delta)))
    return FirstEpsilon(eps, linear, quadratic, eta, guarantee)
