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
NEGLIGIBLE = 1e-6
"""Share of a whole that is left where it is: of the norm found, below which the estimator leaves sets; of the
decrease so far, that slopes may still promise where a run has converged; of the way, up to which a kink is
located or a coordinate swept.
"""
ALIKE = 0.02
"""Variance of curvatures, relative to their square, below which a coordinate is not asked for its own;
chance of one spike below which it is ruled out.
"""
PRECISE = 0.01
"""Relative error of a number that needs no second look: of a slope, of what noise leaves of a promise or of
f.
"""
SLIGHT = 0.15
"""Relative error by a cubic term, and share of a part that is cut off beside candidates, that are worth a
look.
"""
ROUGHLY = 0.3
"""Relative difference within which two numbers pass for one: slopes asked twice, a length that a wall cuts
short; and the number of spikes that may be left.
"""
LITTLE = 0.05
"""Share of a whole that is next to nothing: the other part of a one-sided cut, what a sum may drift before
the search begins anew, noise beside the decrease so far, spikes unlike those met.
"""
WINDOW = 32
"""The latest groups that tell of the background."""
FEW = 3
"""Observations without which nothing is said of others: cubic terms, looks made longer."""
PATIENCE = 2
"""Times that the search may show nothing at one point before that is believed."""
LOST = 0.08
"""Of a gradient by plain differences, and of a hundred coordinates more: what the search may lose before it
gives up; a tenth with what it finds.
"""
RANGE = 10.0
"""e-folds over which the size of a spike unlike those met is unknown."""
EACH = 5.0 / 3.0
"""Queries that the search takes for each coordinate of a dense gradient: cuts, and a look at some of them."""
SLOWLY = 0.03
"""Weight of the last question in what the search says of the density."""
HALF_AGAIN = 1.5
"""Times what was assumed, which is no chance any more: noise that is louder, a look that goes farther."""

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
UNSEEN = 0.1
"""Of an error: what does not matter beside it."""
REPEATS = 256
"""Times that a noisy look is repeated, at most: a sixteenth of the noise."""

# ------------------------------------------------------------ steps

FORESEEN = 0.3
"""A step is as foreseen if its decrease was predicted within this share, and its length is no less than
this share of the model's; a trial beside another is so much shorter.
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
"""Of the rounds that a gradient takes: after each of them another way may be taken. Fewer than one in so
many coordinates are few.
"""
DECADES = 1.0
"""Standard deviation of log10(size) beyond which coordinates are of different orders of magnitude."""
SMOOTH = 1.0 / 8.0
"""Of the scale, or of how far coordinates have come: a first step where nothing is known."""
SMALL = 1e-3
"""Of the size of f, of the decrease, or of a way: next to nothing, that deserves another look; what
rounding may not hide.
"""
BOTTOMLESS = 2.0**50
"""Times its size: an f that has fallen by so much has no lower bound in sight."""
ANSWERS = 4
"""How often the last point of a noisy function is asked again; a function of a seed twice as often."""
