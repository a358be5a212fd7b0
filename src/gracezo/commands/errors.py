"""How a command ends: its exit code, and one line where it could not do what was asked.

| code | meaning                                    |
|------|--------------------------------------------|
| 0    | done: converged, or the target is reached  |
| 1    | failed                                     |
| 2    | usage error                                |
| 3    | the budget is spent: queries, steps, time  |
| 4    | nothing found, or stuck                    |
| 130  | interrupted                                |
"""

from __future__ import annotations

from gracezo.core.result import Status

DONE, FAILED, USAGE, SPENT, STUCK, INTERRUPTED = 0, 1, 2, 3, 4, 130

CODES: dict[int, int] = {
    Status.CONVERGED: DONE,
    Status.SPENT: SPENT,
    Status.STOPPED: INTERRUPTED,
    Status.FAILED: FAILED,
}


def code(status: int) -> int:
    """Return the exit code of a run that ended with this status."""
    return CODES.get(status, STUCK)


class CommandError(Exception):
    """The message is shown as it is; `code` is the exit code."""

    code = FAILED


class Failed(CommandError):
    """The command line was right, but it did not work."""


class UsageError(CommandError):
    """The command line is not right: nothing was evaluated."""

    code = USAGE


class Interrupted(CommandError):
    """Somebody stopped it."""

    code = INTERRUPTED
