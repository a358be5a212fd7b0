"""The structure of `auto`: few constants in one place, short files, small classes, fields of their own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gracezo.methods import auto
from gracezo.methods.auto import constants

ROOT = Path(auto.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def fields(made: ast.ClassDef) -> set[str]:
    """Return the names of the fields of a class: those declared, and those that it sets."""
    declared = {
        node.target.id
        for node in made.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    return declared | {
        node.attr
        for node in ast.walk(made)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and own(node)
    }


def own(node: ast.Attribute) -> bool:
    """Whether an attribute is one of `self`."""
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def written(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Yield the attributes that are assigned to, as a whole or in part."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            target: ast.expr = node
            while isinstance(target, ast.Subscript):
                target = target.value
            if isinstance(target, ast.Attribute):
                yield target


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_short_its_classes_small_and_their_fields_their_own(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 400
    tree = ast.parse(source)
    sizes = {node.name: len(fields(node)) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert {name: size for name, size in sizes.items() if size > 10} == {}
    assert [ast.unparse(target) for target in written(tree) if not own(target)] == []


def test_every_constant_is_read() -> None:
    read = {
        node.attr
        for path in ROOT.parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "constants"
    }
    assert {name for name in vars(constants) if name.isupper()} <= read


def test_there_are_at_most_forty_constants_and_all_in_one_place() -> None:
    number = re.compile(r"^_?[A-Z][A-Z_]+ *(:[^=]*)?= *[-0-9(]", re.MULTILINE)
    found = {path: len(number.findall(path.read_text(encoding="utf-8"))) for path in FILES}
    assert {path.name for path, count in found.items() if count} == {"constants.py"}
    assert sum(found.values()) == len([name for name in vars(constants) if name.isupper()]) <= 40


def test_there_are_at_most_twenty_eight_files() -> None:
    assert len([path for path in FILES if path.name != "__init__.py"]) <= 28
