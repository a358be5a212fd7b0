"""What is loaded, and when: `import gracezo` is cheap, and every part is paid for by who uses it."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest

import gracezo


def loaded(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has after running some code."""
    words = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())


def of_scipy(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "scipy"}


def test_importing_the_package_loads_next_to_nothing() -> None:
    modules = loaded("import gracezo")
    assert {name for name in modules if name.startswith("gracezo")} == {"gracezo", "gracezo.methods"}
    assert not {"numpy", "scipy", "rich", "sqlite3"} & modules


EACH_ALONE = """
import importlib, pkgutil, sys
import gracezo
names = [module.name for module in pkgutil.walk_packages(gracezo.__path__, "gracezo.")]
for name in [name for name in names if not name.endswith("__main__")]:
    for known in [known for known in sys.modules if known.partition(".")[0] == "gracezo"]:
        del sys.modules[known]
    importlib.import_module(name)
    print(name)
"""


def test_every_module_can_be_the_first_that_is_loaded() -> None:
    """No circle of imports that only some ways in can pass: a worker loads what its function needs."""
    done = subprocess.run([sys.executable, "-c", EACH_ALONE], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout.split()[-1:] + done.stderr.splitlines()[-3:]
    assert len(done.stdout.split()) > 200


def test_a_run_loads_what_it_uses() -> None:
    """A `Result` is SciPy's OptimizeResult, so `scipy.optimize` it is, with what that brings, and no more."""
    modules = loaded("import gracezo\ngracezo.minimize(lambda x: float(x @ x), [1.0] * 9, max_queries=20)")
    assert not {"rich", "sqlite3", "sklearn", "gracezo.problems", "gracezo.experiments"} & modules
    assert of_scipy(modules) <= of_scipy(loaded("import scipy.optimize"))


def test_every_name_is_there() -> None:
    names = gracezo.__all__
    assert all(getattr(gracezo, name) is getattr(gracezo, name) for name in names)


def test_the_function_methods_is_not_taken_for_the_package_of_that_name() -> None:
    loaded("import gracezo\nimport gracezo.methods.catalog\nassert 'auto' in gracezo.methods()")
    loaded("import gracezo.methods.catalog\nimport gracezo\nassert 'auto' in gracezo.methods()")


def test_the_names_are_the_same_for_tools_that_read_types() -> None:
    tree = ast.parse(inspect.getsource(gracezo))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {
        alias.name: None if node.module == "gracezo" else node.module.removeprefix("gracezo.")
        for node in typed.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert homes == gracezo._HOME
    assert {*homes, "methods"} == set(gracezo.__all__)
    assert gracezo.__all__ == sorted(gracezo.__all__)
    assert set(dir(gracezo)) == {*gracezo.__all__, "__version__"}


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'gracezo' has no attribute 'minimise'"):
        gracezo.minimise  # type: ignore[attr-defined]  # noqa: B018
