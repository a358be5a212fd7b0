"""Every number that `auto` cannot measure and therefore has to assume, each with its unit and its reason.

All are dimensionless. They are read as `constants.NAME`, so that one place changes them
(`benchmarks/auto_sensitivity.py`, which says what each of them changes). What follows from the precision of
numbers is in `core/precision.py`; ½, ⅓ and √2 in formulas are mathematics.
"""

# ------------------------------------------------------------ evidence

TRUST = 4.0
"""Standard errors beyond which a measured value counts as different from zero. Its square, where a slope is
to be told from a change of f: known to a sixteenth then.
"""
LIKELY = 3.0
"""Standard deviations within which a value lies as a rule: those of a candidate from its label, and of what
looks like background from zero.
"""
RULED_OUT = 0.02
"""Chance below which something is taken not to be: one spike in a group, a slope that leads uphill. No
chance is taken for less, since the model is not that good.
"""
CAUTIOUS = 0.8
"""Quantile of the background by which one spike is judged: too small a background would rule out what is
there.
"""
FEW = 3
"""Observations without which nothing is concluded: cubic terms, curvatures, looks made longer, steps that
fail.
"""
DRAWN = 8
"""Tries after which what none of them has shown is not there: random directions, coordinates, curvatures that
differ, places where tangents meet; queries that the search may lose in any case.
"""
WINDOW = 32
"""The latest observations that tell what is true now: groups of the background, sizes and curvatures met,
questions about the density, rounds of a way down.
"""
FORGET = 0.9
"""Share of older evidence that is kept at each new observation: of the density, of descents, of what steps
cost.
"""

# ------------------------------------------------------------ shares

CLEARLY = 0.25
"""Share of another that is clearly less, and relative difference that is clearly one: of a decrease and what
was predicted of it, of a length, of what a rival brings, of noise and what was assumed of it.
"""
UNSEEN = 0.1
"""Share of a whole that does not show beside its error: of a promise, of a slope, of a length, of a group."""
LITTLE = 0.05
"""Share of a whole that is next to nothing beside it: of a sum, the other part of a one-sided cut or what it
may drift before the search begins anew; of the decrease so far, noise; of a parabola, what lies off it.
"""
PRECISE = 0.01
"""Relative error of a number that needs no second look: a slope, a curvature, a promise, the place of a kink.
"""
SMALL = 1e-3
"""Share of a whole that is too small to be relied on without another look: of the size of f, of the decrease
so far, of a length. Rounding error may take no more of what is measured.
"""
NEGLIGIBLE = 1e-6
"""Share of a whole that is left where it is: of the norm found, below which the estimator leaves sets; of the
decrease so far, that slopes may still promise where a run has converged; of the way, up to which a kink is
located or a coordinate swept.
"""

# ------------------------------------------------------------ search

SPREAD = 0.5
"""Weights of a probe are ± uniform in 1 ± `spread`: plain signs would let equal derivatives cancel."""
CONFIRM = 0.3
"""Length of a confirming query, as a share of the Newton step expected there."""
ALIKE = 0.02
"""Variance of curvatures, relative to their square, below which a coordinate is not asked for its own."""
UNLIKE = 0.05
"""Chance, before anything was asked, that a spike is unlike those met."""
RANGE = 10.0
"""e-folds over which the size of a spike unlike those met is unknown."""
UNFOUND = 0.3
"""Expected number of spikes that may be left where the first search for a gradient ends."""
PATIENCE = 2
"""Times that a search at one point, or looks over all coordinates, may show nothing before it is believed."""
LOST = 0.08
"""Share of a gradient by plain differences that the search may lose before it gives up."""

# ------------------------------------------------------------ looks

ROUNDING = 2.0
"""Error of one value of f, in units of its last place."""
STRIDE = 30.0
"""From one distance of a first look to the next, as a ratio. A size beyond it is no longer about one."""
DECADES = 1.0
"""Standard deviation of log10(size) beyond which coordinates are of different orders of magnitude."""
HALF_AGAIN = 1.5
"""Times what was assumed, which is no chance any more: noise that is louder, a look that goes farther."""
ANSWERS = 4
"""How often the last point of a noisy function is asked again; twice as often, with other seeds, if f takes
one: how much draws differ is not known then.
"""

# ------------------------------------------------------------ steps

OVERHEAD = 6.0
"""First guess of what a step costs beside the search, in queries; measured afterwards."""
MEMORY = 50
"""Pairs of steps and gradient changes kept by the quasi-Newton model."""
ARMIJO = 1e-4
"""Share of the linear prediction that makes a decrease: Nocedal and Wright's c₁, Lewis and Overton's, too."""
WOLFE = 0.5
"""Share of the slope that is left where a step across kinks may end: Lewis and Overton's c₂."""
TRIALS = 5
"""Tries after which something is given up: lengths along a direction, steps that bring nothing."""

# ------------------------------------------------------------ ways

EACH = 5.0 / 3.0
"""Queries that the search takes for each coordinate of a dense gradient: cuts, and a look at some of them."""
PARTS = 8
"""Parts of a whole that is gone through bit by bit: of the rounds that a gradient takes, after each of which
another way may be taken; of the coordinates, fewer than one part of which are few; of a scale, the first step
where nothing is known.
"""
