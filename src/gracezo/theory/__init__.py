"""The theory of GraCe as functions: constants, schedules, bounds and worst cases.

Reference: Qiu & Tong, Gradient Compressed Sensing, ICML 2024. Arguments carry the paper's symbols.
Everything here is a pure function of its arguments; nothing queries an objective.
"""

from gracezo.theory.candidates import Hyperparameters, compressible_rho, hyperparameters
from gracezo.theory.comparison import METHOD_BOUNDS, MethodBound
from gracezo.theory.constants import (
    IPW_CONSTANT,
    Conditions,
    RoundRisk,
    SearchParameters,
    c1,
    c2,
    conditions,
    lambda_1,
    lambda_2,
    round_risk,
    schedule,
    shrink_threshold,
    signal_to_noise,
)
from gracezo.theory.convergence import (
    EpsilonSchedule,
    FirstEpsilon,
    GradientGuarantee,
    convergence_bound,
    convergence_epsilon,
    gradient_guarantee,
    high_probability_bound,
    high_probability_epsilon,
)
from gracezo.theory.queries import (
    counting_bound,
    group_size,
    isolation_probability,
    practical_schedule,
    worst_case_queries,
)

__all__ = [
    "IPW_CONSTANT",
    "METHOD_BOUNDS",
    "Conditions",
    "EpsilonSchedule",
    "FirstEpsilon",
    "GradientGuarantee",
    "Hyperparameters",
    "MethodBound",
    "RoundRisk",
    "SearchParameters",
    "c1",
    "c2",
    "compressible_rho",
    "conditions",
    "convergence_bound",
    "convergence_epsilon",
    "counting_bound",
    "gradient_guarantee",
    "group_size",
    "high_probability_bound",
    "high_probability_epsilon",
    "hyperparameters",
    "isolation_probability",
    "lambda_1",
    "lambda_2",
    "practical_schedule",
    "round_risk",
    "schedule",
    "shrink_threshold",
    "signal_to_noise",
    "worst_case_queries",
]
