"""``gracezo completion``: what a shell needs to complete our words, made from the words themselves."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gracezo.methods import catalog

_DESCRIPTION = "Print a script that makes a shell complete the words of gracezo."
_EXAMPLES = """\
examples:
  gracezo completion bash >> ~/.bashrc
  gracezo completion zsh >> ~/.zshrc
  gracezo completion fish > ~/.config/fish/completions/gracezo.fish
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="print a script that makes your shell complete these words",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=tuple(SHELLS))
    parser.set_defaults(run=lambda words: run(words, subparsers.choices))


def run(words: argparse.Namespace, parsers: dict[str, argparse.ArgumentParser]) -> int:
    """Print the script."""
    commands = [Command.of(name, parser) for name, parser in parsers.items()]
    print(SHELLS[words.shell](commands))
    return 0


@dataclass(frozen=True)
class Command:
    """The words of one command: `places` what may stand alone, `options` what may follow each."""

    name: str
    about: str
    places: list[str]
    options: dict[str, list[str] | None]  # None: it takes no value; an empty list: any value, or a file

    @classmethod
    def of(cls, name: str, parser: argparse.ArgumentParser) -> Command:
        """Read the words of a parser."""
        places: list[str] = []
        options: dict[str, list[str] | None] = {}
        for action in parser._actions:
            values = [str(choice) for choice in action.choices or ()]
            if "method" in (action.dest, action.metavar):
                values = list(catalog.sentences())
            if not action.option_strings:
                places += values
            for option in action.option_strings:
                options[option] = None if action.nargs == 0 else values
        return cls(name, parser.description or name, places, options)


def _bash(commands: list[Command]) -> str:
    names = " ".join(command.name for command in commands)
    cases = []
    for command in commands:
        words = " ".join([*command.places, *command.options])
        following: dict[str, list[str]] = {}  # what may follow: after which options
        for option, choices in command.options.items():
            if choices is not None:
                following.setdefault(" ".join(choices), []).append(option)
        follow = "\n".join(
            f"                {'|'.join(options)}) words={shlex.quote(values)} ;;"
            for values, options in following.items()
        )
        cases.append(
            f"        {command.name})\n            words={shlex.quote(words)}\n"
            f'            case "$before" in\n{follow}\n            esac ;;'
        )
    body = "\n".join(cases)
    return f"""\
_gracezo() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words
    case "${{COMP_WORDS[1]}}" in
{body}
        *) words={shlex.quote(names + " --help --version")} ;;
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then words={shlex.quote(names + " --help --version")}; fi
    COMPREPLY=( $(compgen -W "$words" -- "$word") )
}}
complete -o default -F _gracezo gracezo"""


def _zsh(commands: list[Command]) -> str:
    bridge = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit"
    return f"{bridge}\n{_bash(commands)}"


def _fish(commands: list[Command]) -> str:
    lines = [
        "complete -c gracezo -f -n __fish_use_subcommand -l help",
        "complete -c gracezo -n __fish_use_subcommand -l version",
    ]
    for command in commands:
        about = shlex.quote(command.about.strip().splitlines()[0])
        lines.append(f"complete -c gracezo -f -n __fish_use_subcommand -a {command.name} -d {about}")
        seen = f"-n '__fish_seen_subcommand_from {command.name}'"
        if command.places:
            lines.append(f"complete -c gracezo {seen} -a {shlex.quote(' '.join(command.places))}")
        for option, choices in command.options.items():
            form = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            value = (
                "" if choices is None else f" -x -a {shlex.quote(' '.join(choices))}" if choices else " -r -F"
            )
            lines.append(f"complete -c gracezo {seen} {form}{value}")
    return "\n".join(lines)


SHELLS: dict[str, Callable[[list[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
