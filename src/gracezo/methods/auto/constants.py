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
FORGET = 0.9
"""Share of its evidence that the density keeps at each new observation."""
NEGLIGIBLE = 1e-6
"""Share of a whole that is left where it is: of the norm found, below which the estimator leaves sets; of the
decrease so far, that slopes may still promise where a run has converged; of the way, up to which a kink is
located or a coordinate swept.
"""
ALIKE = 0.02
"""Variance of curvatures, relative to their square, below which a coordinate is not asked for its own."""
RULED_OUT = 0.02
"""Chance below which something is taken not to be: one spike in a group, a slope that leads uphill."""
PRECISE = 0.01
"""Relative error of a number that needs no second look: a slope, a curvature, the place of a kink."""
CUT_OFF = 0.15
"""Share of a group that a cut beside the candidates has to leave on either side to be worth a look."""
ROUGHLY = 0.3
"""Relative difference within which two numbers pass for one: slopes asked twice, a decrease and what was
predicted of it.
"""
UNFOUND = 0.3
"""Expected number of spikes that may be left where the search for a gradient ends."""
LITTLE = 0.05
"""Share of a whole that is next to nothing beside it: of a sum, the other part of a one-sided cut or what it
may drift before the search begins anew; of the decrease so far, noise.
"""
UNLIKE = 0.05
"""Chance, before anything was asked, that a spike is unlike those met."""
WINDOW = 32
"""The latest groups that tell of the background."""
FEW = 3
"""Observations without which nothing is concluded: cubic terms, looks made longer, steps that fail."""
PATIENCE = 2
"""Times that the search may show nothing at one point before that is believed."""
LOST = 0.08
"""Of a gradient by plain differences, and of a hundred coordinates more: what the search may lose before it
gives up.
"""
RANGE = 10.0
"""e-folds over which the size of a spike unlike those met is unknown."""
EACH = 5.0 / 3.0
"""Queries that the search takes for each coordinate of a dense gradient: cuts, and a look at some of them."""
HALF_AGAIN = 1.5
"""Times what was assumed, which is no chance any more: noise that is louder, a look that goes farther."""

# ------------------------------------------------------------ noise

ROUNDING = 2.0
"""Error of one value of f, in units of its last place."""
STRIDE = 30.0
"""From one distance of a first look to the next, as a ratio; beyond it from one, a size is unlike one."""
NOISY_LOOKS = 4
"""Distances that a first look at a noisy f tries."""
SEEN = 30.0
"""Times the rounding error of f above which a change of f is seen plainly enough to tell a slope."""
UNSEEN = 0.1
"""Share of a whole that does not show beside its error: of a promise, of a slope, of a length."""
SLIGHT = 0.15
"""Relative error by a cubic term that a look to both sides is charged with, at most."""
JITTER = 0.2
"""Repeated looks lie between this share less and the whole distance: the same point may answer the same."""
REPEATS = 256
"""Times that a noisy look is repeated, at most: a sixteenth of the noise."""

# ------------------------------------------------------------ steps

SHORT = 0.3
"""Share of a length below which another was cut short: of the model's step, of a look that a bound is in the
way of. In backtracking each trial is so much of the last.
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
"""Lengths after which a direction is given up."""
RECENT = 5
"""The last pairs that tell the scale of the model; the last steps that tell whether a descent goes on."""

# ------------------------------------------------------------ kinks

DRAWN = 8
"""Tries before what they do not show is not there: random directions, coordinates, meets of tangents."""

# ------------------------------------------------------------ ways

CLEARLY = 0.25
"""Share of another that is clearly less: of what a rival brings, of a length, of the queries so far."""
LEAST = 50
"""Rounds in which a way shows what it brings, however few coordinates there are."""
PARTS = 8
"""Parts of a whole that is gone through bit by bit: of the rounds that a gradient takes, after each of which
another way may be taken; of the coordinates, fewer than one part of which are few.
"""
DECADES = 1.0
"""Standard deviation of log10(size) beyond which coordinates are of different orders of magnitude."""
SMALL = 1e-3
"""Share of a whole that is too small to be relied on without another look: of the size of f, of the decrease
so far, of a length. Rounding may take no more of what is measured.
"""
ANSWERS = 4
"""How often the last point of a noisy function is asked again."""
