"""The hyperparameters with which GraCe finds most of the gradient.

Reference: Assumption 1 and Lemma 3.3 of Qiu & Tong, Gradient Compressed Sensing, ICML 2024.
Symbols: the s largest coordinates carry at least the share ρ of ‖∇f‖²; the set J of candidates that
GraCe returns carries at least the share α < ρ (less terms in ε), with probability at least 1 − δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gracezo.theory import checks
from gracezo.theory.constants import SearchParameters, c2
from gracezo.theory.queries import group_size


def compressible_rho(kappa: float, s: int) -> float:
    """Return ρ = 1 − 1/((2κ−1)·s^{2κ−1}), the share of ‖∇f‖² on the s largest coordinates.

    Holds when the i-th largest |∇_i f| is at most i^{−κ}·‖∇f‖, with κ > 1.

    Examples
    --------
    >>> compressible_rho(1.5, 10)
    0.995
    """
    kappa = checks.between("kappa", kappa, 1, math.inf)
    s = checks.integer("s", s, 1)
    return 1 - math.pow(s, 1 - 2 * kappa) / (2 * kappa - 1)


@dataclass(frozen=True)
class Hyperparameters:
    """The settings of Algorithm 1 that Lemma 3.3 asks for.

    Attributes
    ----------
    n
        Group size (option `group_size` of `grace`).
    K
        Groups a repeat, ⌈d/n⌉.
    m
        Repeats (option `repeats` of `grace`).
    beta
        β ≤ 1: a coordinate counts as large when |∇_j f| > √(β/s)·‖gradient outside the s largest‖.
    gamma
        γ = (1−ν)β/C_2², so that n = ⌊γ·d/s⌋.
    everything
        Whether s > γ·d: no group is small enough, and J = [d]. Then n = 1, K = d and m = 1: every
        coordinate is its own group, which is FDSA.
    candidates
        The most coordinates that J can have, min(d, m·K).
    note
        The above as a sentence for people.
    """

    n: int
    K: int
    m: int
    beta: float
    gamma: float
    everything: bool
    candidates: int
    note: str


def hyperparameters(
    d: int, s: int, rho: float, alpha: float, delta: float, nu: float = 0.5
) -> Hyperparameters:
    """Return the hyperparameters with which Lemma 3.3 holds.

    They are what a proof needs, not what works best: 1/γ is at least C_2² ≈ 18,000, so below a d/s of
    some tens of thousands the answer is always J = [d], all d differences. In practice γ = 0.7 and
    m = 1 do well (`group_size`).

    Parameters
    ----------
    d, s
        Dimension and sparsity, 1 ≤ s ≤ d.
    rho
        ρ in (0, 1], the share of ‖∇f‖² on the s largest coordinates; 1 when the rest is exactly 0.
    alpha
        α in (0, ρ), the share that J shall have.
    delta
        δ in (0, 1), the accepted probability that it has less.
    nu
        ν in (0, 1): small ν means larger groups and more repeats. 0.5 is near the fewest groups m·K.

    Examples
    --------
    >>> print(hyperparameters(10_000, 10, rho=0.9, alpha=0.5, delta=0.1).note)
    J = [d]: with these constants groups begin at d = 363,702 for s = 10 (gamma = 2.75e-05)
    >>> found = hyperparameters(10**8, 10, rho=0.9, alpha=0.5, delta=0.1)
    >>> found.n, found.K, found.m
    (274, 364964, 12)
    >>> print(found.note)
    12 repeats of 364,964 groups of 274: at most 4,379,568 candidates of d = 100,000,000
    """
    d, s = checks.dimensions(d, s)
    rho = checks.share(rho)
    alpha = checks.between("alpha", alpha, 0, rho, " (rho)")
    delta = checks.unit("delta", delta)
    nu = checks.unit("nu", nu)

    constant = c2(*SearchParameters())
    beta = _beta(rho, alpha, delta)
    gamma = (1 - nu) * beta / constant**2
    n = group_size(d, s, gamma)
    if n == 0:
        note = (
            f"J = [d]: with these constants groups begin at d = {math.ceil(s / gamma):,} for s = {s:,} "
            f"(gamma = {gamma:.3g})"
        )
        return Hyperparameters(1, d, 1, beta, gamma, True, d, note)
    K = -(-d // n)
    # A repeat finds a given large coordinate with probability at least p (proof of Lemma 3.3).
    p = math.exp(-(1 - nu) / constant**2) * nu / 2
    m = math.ceil(math.log(rho / ((rho - alpha - (1 - rho) * beta) * delta)) / -math.log1p(-p))
    candidates = min(d, m * K)
    note = f"{m:,} repeats of {K:,} groups of {n:,}: at most {candidates:,} candidates of d = {d:,}"
    return Hyperparameters(n, K, m, beta, gamma, False, candidates, note)


def _beta(rho: float, alpha: float, delta: float) -> float:
    """Return the β in (0, 1] that makes the number of groups m·K ∝ ln(ρ/((ρ−α−(1−ρ)β)δ))/β least."""
    if rho == 1:
        return 1.0
    from scipy.special import lambertw  # noqa: PLC0415 - loaded when it is used

    w = -float(lambertw(-(rho - alpha) * delta / (math.e * rho), -1).real)
    return min(1.0, (rho - alpha) / (1 - rho) * (1 - 1 / w))
