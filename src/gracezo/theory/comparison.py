"""The paper's first table: queries a step and rate of convergence of nonconvex zeroth-order methods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MethodBound:
    """One row of the table; `str` of it is a line of text.

    Attributes
    ----------
    kind
        "full" or "sparse": the gradient that the method estimates.
    method
        Its name.
    queries
        Queries a step, in O-notation; q and b are settings of the method.
    measure
        What is bounded, with τ the step of the least gradient norm among the first T.
    rate
        Its bound after T steps, in O-notation.

    Examples
    --------
    >>> for row in METHOD_BOUNDS[-2:]:
    ...     print(row)
    sparse  ZORO        O(s log(d/s))      ‖∇f(x_τ)‖² w.h.p. ≤ O(1/T)
    sparse  GraCe       O(s log log(d/s))  ‖∇f(x_τ)‖² w.h.p. ≤ O(1/T)
    """

    kind: str
    method: str
    queries: str
    measure: str
    rate: str

    def __str__(self) -> str:
        return f"{self.kind:<6}  {self.method:<10}  {self.queries:<17}  {self.measure} ≤ {self.rate}"


METHOD_BOUNDS = (
    MethodBound("full", "RS", "O(1)", "E‖∇f(x_τ)‖²", "O(√d/√T + d/T)"),
    MethodBound("full", "TPGE", "O(1)", "E‖∇f(x_τ)‖²", "O(√d/√T)"),
    MethodBound("full", "RSPG", "O(q)", "E‖∇f(x_τ)‖²", "O(d/q + d²/(qT))"),
    MethodBound("full", "ZO-signSGD", "O(bq)", "E‖∇f(x_τ)‖", "O(√d·√(q+d)/√(bq) + √d/√T)"),
    MethodBound("full", "ZO-AdaMM", "O(1)", "E‖∇f(x_τ)‖²", "O(d/√T + d²/T)"),
    MethodBound("sparse", "ZORO", "O(s log(d/s))", "‖∇f(x_τ)‖² w.h.p.", "O(1/T)"),
    MethodBound("sparse", "GraCe", "O(s log log(d/s))", "‖∇f(x_τ)‖² w.h.p.", "O(1/T)"),
)
"""The rows of the table, in its order."""
