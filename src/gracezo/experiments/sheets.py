"""A table for people, written as Markdown and as LaTeX; and rows for machines, written as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gracezo.experiments.cells import Estimate

DIFFERS = "≠"
_LATEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    DIFFERS: r"$\neq$",
    "η": r"$\eta$",
    "–": "--",
    "·": r"$\cdot$",
    "²": "$^2$",
    "³": "$^3$",
    "⁴": "$^4$",
    "⁵": "$^5$",
    "⁶": "$^6$",
    "⁷": "$^7$",
    "⁸": "$^8$",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True)
class Sheet:
    """A finished table.

    Parameters
    ----------
    name
        The name of its files.
    title
        One line above it.
    header, rows
        Its text, in plain signs (±, ≠, –).
    notes
        Sentences below it.
    data
        Its rows for the CSV file, each column by name.
    """

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    data: Sequence[Mapping[str, str]] = field(default=())

    def markdown(self) -> str:
        """Return the table as Markdown, its columns aligned so that it reads well as it is."""
        lines = [list(map(_markdown, line)) for line in (self.header, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rule = ["-" * width for width in widths]
        table = [
            "| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in (lines[0], rule, *lines[1:])
        ]
        notes = [line for note in self.notes for line in ("", note)]
        return "\n".join([f"# {self.title}", "", *table, *notes, ""])

    def latex(self) -> str:
        """Return the table as LaTeX for the package booktabs."""
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        notes = r"\par ".join(map(_latex, self.notes))
        return "\n".join(
            [
                r"% needs \usepackage{booktabs}",
                r"\begin{table}",
                rf"\caption{{{_latex(self.title)}}}",
                r"\centering",
                rf"\begin{{tabular}}{{{'l' * len(self.header)}}}",
                r"\toprule",
                " & ".join(map(_latex, self.header)) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *([rf"\par\smallskip\footnotesize {notes}"] if notes else []),
                r"\end{table}",
                "",
            ]
        )

    def csv(self) -> str:
        """Return the rows for machines."""
        out = io.StringIO()
        writer = csv.DictWriter(
            out, list(self.data[0]) if self.data else list(self.header), lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(self.data)
        return out.getvalue()


def with_error(estimate: Estimate) -> str:
    """Return mean ± standard error with five digits, as the paper prints it; tiny ones in powers of ten.

    Examples
    --------
    >>> with_error(Estimate(0.005081, 0.00002)), with_error(Estimate(3.2e-7, 1e-8))
    ('0.00508 ± 0.00002', '3.2e-07 ± 1.0e-08')
    """
    form = ".1e" if 0 < abs(estimate.mean) < 1e-4 else ".5f"
    error = "" if math.isnan(estimate.se) else f" ± {estimate.se:{form}}"
    return f"{estimate.mean:{form}}{error}"


def _markdown(word: str) -> str:
    return word.replace("|", "\\|")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
