"""Any program as an objective: the point goes out in a file, one number comes back, or many.

The rules of this file:

- No shell: the template is split into words once, and `{input}` and `{output}`
  are replaced inside them; other braces mean nothing.
- Each evaluation has a folder of its own, which is gone afterwards, so any
  number can run at the same time. The program itself runs where the `Command`
  was made, so that relative names mean what they mean in a terminal there.
- What a program says is read as text and never evaluated. It goes to files,
  not pipes: no amount of it fills the memory, and nobody who keeps a pipe open
  can keep us waiting.
- A program never outlives its evaluation: it and what it started are killed
  when it ends, at the time-out, when the evaluation is interrupted or given up,
  and when this process dies. `programs` and `supervisor` see to that.
"""

from __future__ import annotations

import copy
import json
import math
import numbers
import os
import re
import shlex
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gracezo import programs
from gracezo.core.errors import EvaluationFailure
from gracezo.core.types import FloatArray

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NPY = b"\x93NUMPY"  # how a file in NumPy's format begins
_LARGEST_TEXT = 2**28  # bytes of text that are read as numbers
_TAIL = 4096  # bytes from the end of what a program said that are looked at
_LAST_WORDS = 500  # characters of them in a message


def _write_npy(path: Path, x: FloatArray) -> None:
    np.save(path, x, allow_pickle=False)


def _write_text(path: Path, x: FloatArray) -> None:
    path.write_text("".join(f"{number!r}\n" for number in x.ravel().tolist()))


def _write_json(path: Path, x: FloatArray) -> None:
    path.write_text(json.dumps(x.tolist()))


_FORMATS: dict[str, tuple[str, Callable[[Path, FloatArray], None]]] = {
    "npy": ("input.npy", _write_npy),
    "text": ("input.txt", _write_text),
    "json": ("input.json", _write_json),
}


@dataclass(frozen=True)
class Command:
    """An executable as an objective.

    Parameters
    ----------
    template
        The command line, split as a shell would split it, but run without a
        shell. `{input}` stands for the file with the point. With `{output}`
        the program writes its answer into that file: one decimal number as
        text, or many, with blanks or line breaks between them, or a
        vector in NumPy's format (then `{output}.npy` will do too). Without,
        the answer is one number on the last line of its standard output.
    format
        How the point is written: "npy" (NumPy's format, in x0's shape), "text" (one number a line),
        "json" (a list; of lists, for a point of several dimensions).
    timeout
        Seconds after which the program, with all that it started, is killed. None: never.

    Notes
    -----
    An exit code other than zero, a time-out and an answer that is not one
    finite number are failed evaluations; the message has the program's last
    words. A `Command` can be sent to workers; there it runs in the folder of the
    same name. `TMPDIR` is the evaluation's own folder.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> total = gracezo.Command("awk '{s += $1 * $1} END {print s}' {input}", format="text")
    >>> total(np.array([3.0, 4.0]))
    25.0
    """

    template: str
    format: str = field(default="npy", kw_only=True)
    timeout: float | None = field(default=None, kw_only=True)
    _folder: str = field(default_factory=os.getcwd, init=False, repr=False, compare=False)

    @property
    def fingerprint(self) -> str:
        """What a journal knows it by: the command line, and how the point is written."""
        return f"{self.template} ({self.format})"

    def __post_init__(self) -> None:
        if not isinstance(self.template, str):
            raise TypeError(
                f"template must be a string; given: {self.template!r} ({type(self.template).__name__})"
            )
        try:
            words = self._words()
        except ValueError as error:
            raise ValueError(
                f"template cannot be split into words: {error}; given: {self.template!r}"
            ) from None
        if not any("{input}" in word for word in words):
            raise ValueError(
                f"template must say {{input}} where the file with the point goes; given: {self.template!r}"
            )
        if self.format not in _FORMATS:
            raise ValueError(f"format must be one of {', '.join(_FORMATS)}; given: {self.format!r}")
        if self.timeout is not None and not _is_positive(self.timeout):
            raise ValueError(
                f"timeout must be a positive number of seconds, or None; given: {self.timeout!r}"
            )

    def __call__(self, x: FloatArray) -> float | FloatArray:
        """Run the program at one point; return the number that it answers with, or the vector.

        Raises
        ------
        EvaluationFailure
            When there is no answer.
        """
        with programs.folder() as made:
            return self._evaluate(x, made)

    def within(self, seconds: float) -> Command:
        """Return the same command with a time-out that is not longer than this."""
        made = copy.copy(self)
        object.__setattr__(made, "timeout", min(seconds, self.timeout or math.inf))
        return made

    def _evaluate(self, x: FloatArray, folder: Path) -> float | FloatArray:
        name, write = _FORMATS[self.format]
        files = {"{input}": folder / name, "{output}": folder / "output"}
        write(files["{input}"], np.asarray(x, dtype=np.float64))
        words = self._words()
        for mark, path in files.items():
            words = [word.replace(mark, str(path)) for word in words]
        self._run(words, folder)
        if "{output}" not in self.template:
            return self._number(_last_line(folder / "stdout"), "the last line of its output", folder)
        return self._answer(files["{output}"], folder)

    def _run(self, words: list[str], folder: Path) -> None:
        try:
            code = programs.run(words, self._folder, folder, self.timeout)
        except programs.Late:
            how = f"was killed after {self.timeout:g} seconds, its time-out"
            raise self._failure(how, folder) from None
        except programs.Trouble as trouble:
            raise EvaluationFailure(f"the program {words[0]!r} cannot be started: {trouble}") from None
        if code < 0:
            raise self._failure(f"was ended by signal {-code} ({signal.strsignal(-code)})", folder)
        if code:
            raise self._failure(f"ended with exit code {code}", folder)

    def _answer(self, path: Path, folder: Path) -> float | FloatArray:
        """Return what the program wrote: numbers as text, or NumPy's format."""
        if not path.is_file():
            path = path.with_name(path.name + ".npy")  # NumPy's `save` adds the ending
            if not path.is_file():
                raise self._failure("gave no answer: it left no file {output}", folder)
        with path.open("rb") as file:
            start = file.read(len(_NPY))
        if start == _NPY:
            try:
                loaded: FloatArray = np.load(path, allow_pickle=False)
            except (OSError, ValueError, EOFError) as error:
                raise self._failure(f"gave no answer: {{output}} cannot be read, {error}", folder) from error
            return loaded
        if path.stat().st_size <= _LARGEST_TEXT:
            words = path.read_bytes().split()
            if len(words) > 1 and all(map(_NUMBER.fullmatch, words)):
                return np.array(words, np.float64)
        return self._number(_tail(path), "what it wrote to {output}", folder)

    def _number(self, text: bytes, what: str, folder: Path) -> float:
        text = text.strip()
        if _NUMBER.fullmatch(text):
            value = float(text)
            if math.isfinite(value):
                return value
        shown = text.decode(errors="replace")
        shown = repr(shown if len(shown) <= 60 else shown[:57] + "...")
        raise self._failure(
            f"gave no answer: {what} must be one finite decimal number, and is {shown}", folder
        )

    def _failure(self, how: str, folder: Path) -> EvaluationFailure:
        said = _tail(folder / "stderr").strip() or _tail(folder / "stdout").strip()
        words = said.decode(errors="replace")[-_LAST_WORDS:]
        return EvaluationFailure(
            f"the program {self._words()[0]!r} {how}; "
            + (f"its last words: {words}" if words else "it said nothing")
        )

    def _words(self) -> list[str]:
        return shlex.split(self.template)


def _is_positive(given: object) -> bool:
    return isinstance(given, numbers.Real) and not isinstance(given, bool) and 0 < float(given) < math.inf


def _tail(path: Path) -> bytes:
    """Return the end of a file, with dots for what is left out; nothing, if the program removed it."""
    if not path.is_file():  # nor may it be a pipe, which would never end
        return b""
    left_out = max(0, path.stat().st_size - _TAIL)
    with path.open("rb") as file:
        file.seek(left_out)
        return b"..." * bool(left_out) + file.read(_TAIL)


def _last_line(path: Path) -> bytes:
    """Return the last line that is not blank."""
    return _tail(path).rstrip().rpartition(b"\n")[2]
