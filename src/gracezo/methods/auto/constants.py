"""Every number that `auto` cannot measure and therefore has to assume, each with its unit and its reason.

All are dimensionless. They are read as `constants.NAME`, so that one place changes them
(`benchmarks/auto_sensitivity.py`).
"""

# ------------------------------------------------------------ search

TRUST = 4.0
"""Standard errors beyond which a measured value counts as different from zero."""
LIKELY = 3.0
"""Standard deviations within which a value lies as a rule: those of a candidate from its label, and of what
looks like background from zero.
"""
SPREAD = 0.5
"""Weights of a probe are ± uniform in 1 ± `spread`: plain signs would let equal derivatives cancel."""
CONFIRM = 0.3
"""Length of a confirming query, as a share of the Newton step expected there."""
DESCEND = 0.25
"""Share of the linear prediction that a query must gain to confirm a descent."""
FORGET = 0.9
"""Share of its evidence that the density keeps at each new observation."""
CONCENTRATED = 0.05
"""A split is one-sided when one half holds less than this share of the other: next to nothing, since labels
on a set are true only if a single coordinate is in it.
"""
DRIFT = 0.05
"""Share of what is open by which its sum may change before the tree counts as out of date."""
NEGLIGIBLE = 1e-6
"""The estimator leaves sets whose derivative is below this share of the norm already found."""
ALIKE = 0.02
"""Variation of curvatures below which a coordinate found alone is not asked for its own."""

# ------------------------------------------------------------ noise

ROUNDING = 2.0
"""Error of one value of f, in units of its last place."""
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

# ------------------------------------------------------------ steps

EXPAND = 0.75
"""Share of the linear prediction above which the line search doubles its step: at ¾ the parabola through what
is known has its minimum at twice the length.
"""
FORESEEN = 0.3
"""A step counts as foreseen when its decrease was predicted within this share."""
SHORT = 0.3
"""A step cut below this share of the model's length has met something the model does not know."""
OVERHEAD = 6.0
"""First guess of what a step costs beside the search, in queries; measured afterwards."""
MEMORY = 50
"""Pairs of steps and gradient changes kept by the quasi-Newton model."""

# ------------------------------------------------------------ kinks


# ------------------------------------------------------------ ways

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
