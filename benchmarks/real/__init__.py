"""`auto` on functions as users have them: tails, units, offsets, walls, plateaus, noise, and random ones.

    PYTHONPATH=src:. python -m benchmarks.real [TABLE ...] [--only NAME,...] [--first SEED] [--instances N]

The tables (`--list` names their rows):

- `tails`: ten slopes above a background of many small ones, one gradient and `minimize`;
- `written`: plain dot products and products, with the rounding of such, and whether errors stated are true;
- `verdicts`: functions on which a claim is easily wrong, and what is claimed there;
- `invariance`: the same function in other units, times a factor, plus an offset;
- `claims`: random functions with a known least value, and how often success is claimed falsely;
- `slopes`: one gradient of each of these, and whether what is said of it is so;
- `rivals`: functions on which other methods were ahead;
- `record`: some sixty runs, a line and a digest each, to compare two versions of the code by `diff`.

Every call of f is counted by the function itself. Instance i is drawn with seed i, and the method runs with
seed i. Rows are printed as they come; a bar stands beside the figure where there is one.
"""
