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
    likely
        Standard deviations within which a value lies as a rule: those of a candidate from its label, and of
        what looks like background from zero.
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
    likely: float = 3.0
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


# What a value of f is worth: the first look (`root.py`), looks to both sides (`pairs.py`).

QUIET = 1e-8
"""Of |f|: noise below it is no reason to look to both sides."""
FAR = 1000.0
"""Times ε: where the curvature of a set is measured, with a thousandth of the error that it has at ε."""
STRIDE = 30.0
"""From one distance of a first look to the next; a change is seen above so many times the rounding of f."""
NOISY_STRIDE = 4.0
"""The same with noise; and how often, and how far beyond the last of them f is taken as regular."""
LOUD = 0.05
"""Of the decrease so far: noise that may hide as much again."""
UNSEEN = 0.1
"""Of an error: what does not matter beside it."""
REPEATS = 256
"""Times that a noisy look is repeated, at most: a sixteenth of the noise."""

# Units and verdicts (`units.py`, `verdict.py`).

DECADES = 1.0
"""Standard deviation of log10(size) beyond which coordinates are of different orders of magnitude."""
SMOOTH = 1.0 / 8.0
"""Of the scale: a step so long that came out as foreseen shows that f is smooth so far."""
SMALL = 1e-3
"""Of the size of f, or of the decrease: what deserves another look; what rounding may not hide of it."""
NOTHING = 1e-13
"""Of the decrease so far: an |f| of which nothing more is to be had."""
FORGONE = 1e-6
"""Share of the decrease so far that slopes may still promise where a run has converged."""
BOTTOMLESS = 2.0**50
"""Times its size: an f that has fallen by so much has no lower bound in sight."""
ANSWERS = 4
"""How often the last point of a noisy function is asked again; a function of a seed twice as often."""
