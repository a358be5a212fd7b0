"""How a command ends when it cannot do what was asked: one line, and an exit code."""

from __future__ import annotations


class CommandError(Exception):
    """The message is shown as it is; `code` is the exit code."""

    code = 1


class Failed(CommandError):
    """The words were right, but it did not work."""


class WrongWords(CommandError):
    """The words were wrong."""

    code = 2
