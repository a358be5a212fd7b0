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

FORESEEN = 0.3
"""A step is as foreseen if its decrease was predicted within this share, and its length is no less than this
share of the model's; a trial beside another is so much shorter.
"""
OVERHEAD = 6.0
"""First guess of what a step costs beside the search, in queries; measured afterwards."""
MEMORY = 50
"""Pairs of steps and gradient changes kept by the quasi-Newton model."""
ARMIJO = 1e-4
"""Share of the linear prediction that makes a decrease: Nocedal and Wright's c₁, Lewis and Overton's, too."""
WOLFE = 0.5
"""Share of the slope that is left where a step across kinks may end: Lewis and Overton's c₂."""
TRIALS = 5
"""Lengths after which a direction is given up; the last pairs, or steps, that tell how it goes."""
LASTING = 3
"""Times in a row that are no chance: steps that fail, or that tell what becomes of promises."""

# ------------------------------------------------------------ kinks

BLUR = 0.01
"""Share by which a slope, or the place of a kink, may be off and be known."""
DRAWN = 8
"""Random directions, or halves and signs, that are drawn before what they do not show is not there."""

# ------------------------------------------------------------ ways

CLEARLY = 0.25
"""Of another: what is clearly less. A way that brings less has lost; so much shorter, a kink is told from
curvature; so much of what was asked may be asked again to make sure.
"""
LEAST = 50
"""Rounds in which a way shows what it brings, however few coordinates there are."""
PARTS = 8
"""Of the rounds that a gradient takes: after each of them another way may be taken. Fewer than one in so many
coordinates are few.
"""
DECADES = 1.0
"""Standard deviation of log10(size) beyond which coordinates are of different orders of magnitude."""
SMOOTH = 1.0 / 8.0
"""Of the scale, or of how far coordinates have come: a first step where nothing is known."""
SMALL = 1e-3
"""Of the size of f, of the decrease, or of a way: next to nothing, that deserves another look; what rounding
may not hide.
"""
FORGONE = 1e-6
"""Share of the decrease so far that slopes may still promise where a run has converged; share of the way up
to which a kink is located, or a coordinate swept.
"""
BOTTOMLESS = 2.0**50
"""Times its size: an f that has fallen by so much has no lower bound in sight."""
ANSWERS = 4
"""How often the last point of a noisy function is asked again; a function of a seed twice as often."""
