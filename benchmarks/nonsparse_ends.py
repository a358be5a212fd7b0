"""Where GLD and ZO-signSGD stand on the way of the non-sparse table: the two cells farthest from the paper's.

    python benchmarks/nonsparse_ends.py

The paper prints 0.3392 for GLD and 0.1002 for ZO-signSGD (Distance, s = 2500, 250,000 queries).
"""

import numpy as np

from gracezo.experiments.runs import NONSPARSE_FUNCTION, Job, execute

INSTANCES = range(3)
STEPS = 10_000  # of GLD: 40,000 queries, 50,000 as the paper counts them


def main() -> None:
    for size in (0.01, 0.005):
        ends = []
        for instance in INSTANCES:
            options = {"step_size": size, "queries": 4}
            ends.append(execute(Job(NONSPARSE_FUNCTION, "gld", instance, options, max_steps=STEPS), {}).best)
        spread = f"{min(ends):.4f} … {max(ends):.4f}"
        print(f"GLD, η = {size:g}, after {STEPS:,} steps: {np.mean(ends):.4f} ({spread})")
    options = {"step_size": 0.1, "queries": 10_000}
    run = execute(Job(NONSPARSE_FUNCTION, "zo-signsgd", 100, options, max_steps=25), {})
    print("ZO-signSGD, η = 0.1, the last six iterates:", *run.normalised[-6:].round(4))


if __name__ == "__main__":
    main()
