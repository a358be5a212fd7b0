"""What the entry points share: each argument is described, checked before any query, and passed on."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.api import minimize
from gracezo.documented import like

ENTRIES: dict[str, Callable[..., Any]] = {
    "minimize": gracezo.minimize,
    "least_squares": gracezo.least_squares,
    "estimate_gradient": gracezo.estimate_gradient,
    "estimate_jacobian": gracezo.estimate_jacobian,
    "estimate_noise": gracezo.estimate_noise,
    "Optimizer": gracezo.Optimizer,
    "screen": gracezo.screen,
    "resume": gracezo.resume,
}

# What no value of would be wrong: anything is true or false, and anything may be an argument of a function.
FREE = {"args", "vectorized", "copy", "progress"}

CASES = [
    (entry, name)
    for entry, call in ENTRIES.items()
    for name in inspect.signature(call).parameters
    if name not in FREE
]


class Nonsense:
    """Not a number, a function, a name, a file."""

    def __repr__(self) -> str:
        return "nonsense"


def interrupted(x: np.ndarray) -> float:
    raise KeyboardInterrupt


def never(x: np.ndarray) -> float:
    raise AssertionError("a query was spent")


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_argument_is_described_once_in_the_order_of_the_signature(entry: str) -> None:
    doc = inspect.getdoc(ENTRIES[entry])
    assert doc is not None
    section = re.search(r"Parameters\n-+\n(.*?)\n\n[A-Z]\w+\n-+\n", doc, re.DOTALL)
    assert section is not None
    heads = re.findall(r"^(\w[\w, ]*)\n    \S", section.group(1), re.MULTILINE)
    assert ", ".join(heads).split(", ") == list(inspect.signature(ENTRIES[entry]).parameters)
    assert not re.search(r"^    As in `minimize`\.$", doc, re.MULTILINE)
    assert doc.count("Examples\n--------") == 1


@pytest.mark.parametrize(("entry", "name"), CASES, ids=lambda given: given)
def test_nonsense_is_refused_before_any_query(entry: str, name: str, tmp_path: Any) -> None:
    """So nothing is dropped on the way from a signature to where it is checked."""
    call = ENTRIES[entry]
    names = inspect.signature(call).parameters
    usual: dict[str, Any] = {"fun": never, "x0": np.ones(3), "x": np.ones(3), "journal": tmp_path / "run.db"}
    if entry == "resume":  # of a run that has not ended
        gracezo.minimize(interrupted, np.ones(3), journal=gracezo.Journal(usual["journal"], fingerprint="f"))
        usual["journal"] = gracezo.Journal(usual["journal"], fingerprint="f")
    given = {key: value for key, value in usual.items() if key in names} | {name: Nonsense()}
    with pytest.raises((TypeError, ValueError)) as caught:
        call(**given)
    assert not isinstance(caught.value, gracezo.EvaluationError)
    if name != "x0":
        assert name in str(caught.value) or (name == "journal" and "path" in str(caught.value))


@pytest.mark.parametrize("entry", sorted(ENTRIES.keys() - {"minimize", "resume"}))
def test_shared_arguments_have_the_defaults_of_minimize(entry: str) -> None:
    theirs = inspect.signature(minimize).parameters
    own = {"timeout"} | ({"x0"} if entry == "screen" else set())
    for name, parameter in inspect.signature(ENTRIES[entry]).parameters.items():
        if name in theirs and name not in own:
            assert parameter.default == theirs[name].default, name


def test_words_of_its_own_go_first() -> None:
    def first(x: int, y: int, z: int) -> None:
        """Do something.

        Parameters
        ----------
        x, y
            Both.
        z
            The last.

            In two paragraphs.

        Returns
        -------
        None
        """

    @like(first)
    def second(z: int, y: int, *, own: int, x: int) -> None:
        """Do another thing.

        Parameters
        ----------
        own
            Its own.
        x
            Not that of the first.

        Examples
        --------
        None
        """

    assert second.__doc__ == (
        "Do another thing.\n\nParameters\n----------\n"
        "z\n    The last.\n\n    In two paragraphs.\ny\n    Both.\n"
        "own\n    Its own.\nx\n    Not that of the first.\n"
        "\nExamples\n--------\nNone\n"
    )


def test_what_nobody_describes_is_an_error() -> None:
    def undescribed(nowhere: int) -> None:
        """Do nothing."""

    with pytest.raises(KeyError, match="nowhere"):
        like(minimize)(undescribed)
