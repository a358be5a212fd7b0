"""Every constant of `auto`, in one place: few, dimensionless, and each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """What `auto` cannot measure and therefore has to assume.

    Attributes
    ----------
    rounding
        Error of one value of f, in units of its last place.
    spread
        Weights of a probe are ± uniform in 1 ± `spread`: plain signs would let equal derivatives cancel.
    trust
        Standard errors beyond which a measured value counts as different from zero.
    confirm
        Length of a confirming query, as a share of the Newton step expected there.
    descend
        Share of the linear prediction that a query must gain to confirm a descent.
    expand
        Share of the linear prediction above which the line search doubles its step: at ¾ the parabola
        through what is known has its minimum at twice the length.
    forget
        Share of its evidence that the density keeps at each new observation.
    concentrated
        A split is one-sided when one half holds less than this share of the other: next to nothing,
        since labels on a set are true only if a single coordinate is in it.
    drift
        Share of what is open by which its sum may change before the tree counts as out of date.
    negligible
        The estimator leaves sets whose derivative is below this share of the norm already found.
    alike
        Variation of curvatures below which a coordinate found alone is not asked for its own.
    foreseen
        A step counts as foreseen when its decrease was predicted within this share.
    short
        A step cut below this share of the model's length has met something the model does not know.
    overhead
        First guess of what a step costs beside the search, in queries; measured afterwards.
    memory
        Pairs of steps and gradient changes kept by the quasi-Newton model.
    """

    rounding: float = 2.0
    spread: float = 0.5
    trust: float = 4.0
    confirm: float = 0.3
    descend: float = 0.25
    expand: float = 0.75
    forget: float = 0.9
    concentrated: float = 0.05
    drift: float = 0.05
    negligible: float = 1e-6
    alike: float = 0.02
    foreseen: float = 0.3
    short: float = 0.3
    overhead: float = 6.0
    memory: int = 50
