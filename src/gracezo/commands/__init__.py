"""The subcommands of the command line, one file each.

A subcommand is a module with `add(subparsers, name)`, which describes its words, and a function that does
the work and returns the exit code. It raises `UsageError` or `Failed` with one line for people.
"""
