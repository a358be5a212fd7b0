"""The recipe: descent (Algorithm 2) along GraCe's estimate (Algorithm 1) of Qiu & Tong, ICML 2024."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized

from gracezo.core.method import Problem, uses
from gracezo.estimators.fdsa import FDSA
from gracezo.estimators.grace import VARIANTS, GraCe, Variant
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, one_of, positive, required_sparsity, whole
from gracezo.theory import group_size as theory_group_size
from gracezo.theory import practical_schedule
from gracezo.updates import plain


@uses("bounds", "places")
def grace(
    problem: Problem,
    *,
    step_size: float = 0.5,
    eps: float | Callable[[int], float] = 1e-6,
    repeats: int = 1,
    gamma: float = 0.7,
    group_size: int | None = None,
    first_division: int = 20,
    schedule: Iterable[int] | None = None,
    variant: str = "printed",
) -> Descent:
    """GraCe: locates the few large coordinates of the gradient in the ratio of two queries.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size
        η.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    repeats
        m, how often a step repeats the search with fresh groups.
    gamma
        γ: groups have n = ⌊γ·d/s⌋ coordinates.
    group_size
        n itself, instead of `gamma`.
    first_division
        D_1 of the practical schedule D_{r+1} = ⌊D_r^{3/2}⌋.
    schedule
        D_1, D_2, … themselves, instead of `first_division`; the last is kept when they end.
    variant
        "printed" (Algorithm 1) or "published" (what produced the paper's figures).
    """
    rules: Variant = one_of("variant", variant, VARIANTS)
    return search_descent(
        "grace", problem, rules, step_size, eps, repeats, gamma, group_size, first_division, schedule
    )


def search_descent(
    name: str,
    problem: Problem,
    rules: Variant,
    step_size: float,
    eps: float | Callable[[int], float],
    repeats: int,
    gamma: float,
    group_size: int | None,
    first_division: int,
    schedule: Iterable[int] | None,
) -> Descent:
    """Return descent along a search of GraCe's family, its options checked."""
    d = max(problem.free, 1)
    s = min(required_sparsity(problem, name), d)
    differences = difference(eps)
    update = plain(positive("step_size", step_size))
    if group_size is None:
        n = theory_group_size(d, s, positive("gamma", gamma))
    else:
        n = min(whole("group_size", group_size), d)
    first = whole("first_division", first_division, least=2)
    divisions = _divisions(practical_schedule(first) if schedule is None else schedule, d)
    repetitions = whole("repeats", repeats)
    if n < 1:  # so many coordinates matter that each is its own group
        return Descent(FDSA(differences, problem.bounds), update, problem.bounds)
    search = GraCe(differences, n, repetitions, divisions, rules, problem.bounds)
    return Descent(search, update, problem.bounds)


def _divisions(schedule: Iterable[int], d: int) -> tuple[int, ...]:
    """Return D_1, D_2, …; of an endless schedule, what a group of d coordinates can need."""
    endless = not isinstance(schedule, Sized)
    divisions: list[int] = []
    left = d  # the most that a group can still have
    for division in schedule:
        divisions.append(whole("schedule", division, least=2))
        left = -(-left // divisions[-1])
        if endless and left <= 2:
            break
    if not divisions:
        raise ValueError("option schedule must name at least one division; given: none")
    return tuple(divisions)
