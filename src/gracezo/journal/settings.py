"""What a user says about a journal."""

from __future__ import annotations

import os
from pathlib import Path


class Journal:
    """A file that keeps every value a run has paid for.

    ``journal="run.db"`` is short for ``journal=Journal("run.db")``.

    Parameters
    ----------
    path
        Where it is, or will be. A run that is recorded there goes on.
    durable
        What a recorded value survives: "process", the end of the process by
        whatever cause; "power", a power cut or a crash of the operating
        system too, at the price of a disk flush for each value.
    fingerprint
        A name for the function and its args, instead of what can be found out about them: whatever
        changes when f does, say a version of its data. (An attribute `fingerprint` of the function does
        the same for the function alone.)
    same
        Whether the function is to be taken for the recorded one although it differs from it: the user's
        word, which is recorded.

    Examples
    --------
    >>> import gracezo, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = gracezo.Journal(folder + "/run.db", durable="power", fingerprint="the square, 2nd try")
    ...     result = gracezo.minimize(lambda x: float(x @ x), [1.0, 2.0], method="fdsa", max_queries=4,
    ...                               journal=journal)
    >>> result.nfev
    4
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durable: str = "process",
        fingerprint: str | None = None,
        same: bool = False,
    ) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"a journal needs the path of a file; given: {path!r} ({type(path).__name__})")
        if durable not in ("process", "power"):
            raise ValueError(f"durable must be 'process' or 'power'; given: {durable!r}")
        if fingerprint is not None and not isinstance(fingerprint, str):
            raise TypeError(f"fingerprint must be a string; given: {fingerprint!r}")
        if not isinstance(same, bool):
            raise TypeError(f"same must be True or False; given: {same!r}")
        self.path = Path(os.fsdecode(path))
        self.same = same
        self.durable = durable
        self.fingerprint = fingerprint
        self.pausing = False

    @classmethod
    def of(cls, given: str | os.PathLike[str] | Journal) -> Journal:
        """Return a journal, from its path if need be."""
        return given if isinstance(given, Journal) else cls(given)

    def pause(self) -> None:
        """End the run that writes here when its current batch is answered, as Ctrl-C would.

        Safe to call in a signal handler or in another thread.
        """
        self.pausing = True

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r}, durable={self.durable!r})"
