"""Print the lowest versions that pyproject.toml allows, as constraints for pip: `make lowest`."""

import sys
import tomllib
from pathlib import Path


def lowest(project: dict[str, object], extras: list[str]) -> list[str]:
    """Return ``name==version`` for each required dependency and each of the named extras.

    Examples
    --------
    >>> lowest({"dependencies": ["a>=1.2"], "optional-dependencies": {"x": ["b>=3"], "y": ["c>=4"]}}, ["x"])
    ['a==1.2', 'b==3']
    """
    required, optional = project["dependencies"], project["optional-dependencies"]
    assert isinstance(required, list)
    assert isinstance(optional, dict)
    requirements = [*required, *(requirement for extra in extras for requirement in optional[extra])]
    for requirement in requirements:
        if requirement.count(">=") != 1:
            raise SystemExit(f"pyproject.toml: {requirement!r} is not of the form name>=version")
    return [requirement.replace(">=", "==") for requirement in requirements]


if __name__ == "__main__":
    path, extras = sys.argv[1:]
    project = tomllib.loads(Path(path).read_text(encoding="utf-8"))["project"]
    print(*lowest(project, extras.split(",")), sep="\n")
