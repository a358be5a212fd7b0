"""What is claimed at the end of a run, on functions where that is easily wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
from benchmarks.real.case import run
from benchmarks.real.known import FAMILIES, drawn

ROWS = tuple(FAMILIES)
WORDS = ("solved", "named", "spent", "local", "misnamed", "FALSE", "CRASHED")


def table(rows: list[str], first: int, instances: int) -> None:
    """Print a row for each family, and below it what is wrong with its runs."""
    print(f"| function | {' | '.join(WORDS)} | flaws | queries | worst left |\n|{'---|' * (len(WORDS) + 4)}")
    total: Counter[str] = Counter()
    for name in rows:
        seeds = range(first, first + instances)
        outcomes = [run(drawn(name, seed), seed) for seed in seeds]
        words = Counter(outcome.word for outcome in outcomes)
        total += words
        flawed = sum(bool(outcome.flaws) for outcome in outcomes)
        shown = " | ".join(str(words[word] or "") for word in WORDS)
        print(
            f"| {name} | {shown} | {flawed or ''} | {np.mean([o.queries for o in outcomes]):.0f} "
            f"| {np.nanmax([*(o.left for o in outcomes), 0.0]):.1g} |",
            flush=True,
        )
        wrong: dict[str, list[int]] = {}
        for seed, outcome in zip(seeds, outcomes, strict=True):
            if outcome.word in {"misnamed", "FALSE", "CRASHED"}:
                wrong.setdefault(f"{outcome.word}, {outcome.message}"[:160], []).append(seed)
            for flaw in outcome.flaws:
                wrong.setdefault(flaw, []).append(seed)
        for what, which in wrong.items():
            print(f"    {what} (seed {', '.join(map(str, which))})", flush=True)
    print("total: " + ", ".join(f"{word} {total[word]}" for word in WORDS))
