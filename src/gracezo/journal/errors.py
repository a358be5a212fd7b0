"""What can be wrong with a journal."""

from __future__ import annotations

from gracezo.core.result import Result


def plain(text: str) -> str:
    r"""Return text from a file without what a terminal would obey: control characters as their codes.

    >>> print(plain("red \x1b[31m"))
    red \x1b[31m
    """
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


class JournalError(ValueError):
    """A journal cannot be used: foreign, damaged, in use, of another run, or not what the method asks now.

    Attributes
    ----------
    result : Result or None
        The best so far, when a run was under way: somebody has changed the file meanwhile, or the replay
        diverges.

    Examples
    --------
    >>> import gracezo
    >>> try:
    ...     gracezo.resume("no-such-run.db", print)
    ... except gracezo.JournalError as error:
    ...     print(error)
    there is no journal at no-such-run.db
    """

    result: Result | None = None


class JournalWriteError(OSError):
    """A journal cannot be written any more; what was written stays readable.

    Attributes
    ----------
    result : Result or None
        The best so far, when a run was under way.

    Examples
    --------
    >>> import gracezo
    >>> try:
    ...     gracezo.minimize(sum, [1.0], method="fdsa", journal="no-such-folder/run.db")
    ... except gracezo.JournalWriteError as error:
    ...     print(error)
    cannot write the journal no-such-folder/run.db: No such file or directory
    """

    result: Result | None = None
