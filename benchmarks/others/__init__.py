"""Functions beside those of the profile: how `auto` does there, and its three strongest simple rivals.

    PYTHONPATH=src:. python -m benchmarks.others [--instances 3] [--first 101] [--jobs 2] [--only NAME ...]

The families (`functions`) are of kinds that `benchmarks.queries` has not, or has in another form or size
(logistic loss, LASSO, Rosenbrock, stages, ripples, scaled coordinates). They were used, with seeds 1 and 2,
when the ways of `auto` were developed: what is run here are unseen instances of seen families.

Instance i of a family is made with seed i, and each method is run on it with seed i, once, with
min(max(20 (d + 1), 8,000), 30,000) queries, all of which count (`benchmarks.queries.meter`). A target is a
share, 0.01 or 1e-4, of f(x0) − min f: it is reached at the first query whose value exceeds min f by no
more. min f is exact where the optimum is known; else that at the optimum which a method
that is told more than f finds, to rounding. These are L-BFGS-B with the exact gradient where f is smooth,
proximal gradient steps for LASSO and group LASSO, and the dual for total variation. All functions whose
least value is found are convex but `network`: there it is that of the minimum which exact gradients lead to
from x0. A run may find a lower one, and has then reached every target; as such minima differ by up to some
1e-4 of f(x0) − min f, its row for that target has luck in it.

The tables have mean queries over the instances that were solved. Nothing is written to disk; how each run
ended goes to standard error.
"""
