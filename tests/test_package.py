"""The package as a stranger gets it: wheel and sdist, what PyPI says to them, an empty environment."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from email import message_from_bytes
from email.message import Message
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import gracezo

ROOT = Path(__file__).parent.parent
ADDRESS = "https://github.com/gracezo/gracezo"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(files.read(name))


def run(*words: object, cwd: Path | None = None) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_pypi_would_take_them(dist: Path) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir())


def test_what_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    data = {f"gracezo/problems/data/football_{what}.csv" for what in ("edges", "teams")}
    assert modules | data | {"gracezo/py.typed"} <= names
    assert {name.partition("/")[0] for name in names} == {
        "gracezo",
        f"gracezo-{gracezo.__version__}.dist-info",
    }
    licences = f"gracezo-{gracezo.__version__}.dist-info/licenses/"
    assert {licences + "LICENSE", licences + "src/gracezo/problems/data/README.md"} <= names


def test_what_is_in_the_sdist(dist: Path) -> None:
    (found,) = dist.glob("*.tar.gz")
    with tarfile.open(found) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"pyproject.toml", "LICENSE", "CITATION.cff", "Makefile", "tests/test_package.py"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".db")) or name.startswith(".venv")]


def test_versions_agree(metadata: Message) -> None:
    assert metadata["Version"] == gracezo.__version__
    citation = read("CITATION.cff")
    assert f"\nversion: {gracezo.__version__}\n" in citation
    assert f'\nrepository-code: "{ADDRESS}"\n' in citation
    assert re.search(rf"^## {re.escape(gracezo.__version__)} \(", read("CHANGELOG.md"), re.M)
    needed = SpecifierSet(metadata["Requires-Python"])
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(metadata.get_all("Classifier", [])), re.M)
    assert named
    assert all(version in needed for version in named)
    assert f"3.{min(int(version[2:]) for version in named) - 1}" not in needed


def test_the_readme_leads_somewhere_also_on_pypi(metadata: Message) -> None:
    """Every link and picture is an address; those that lead back here name files that are here."""
    text = metadata.get_payload()
    assert isinstance(text, str)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    here = rf"(?:{ADDRESS}/blob|https://raw\.githubusercontent\.com/gracezo/gracezo)/main/([^#]+)"
    files = [match[1] for target in targets if (match := re.match(here, target))]
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).exists()] == []
    labels = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= labels


def test_in_an_empty_environment(wheel: Path, metadata: Message, tmp_path: Path) -> None:
    """With what the wheel says that it needs, and nothing else, README's first example runs."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in needed(metadata.get_all("Requires-Dist", [])):
        lend(name, site)
    example = re.findall(r"```python\n(.*?)```", read("README.md"), re.DOTALL)[0]
    assert run(python, "-I", "-c", example, cwd=tmp_path).strip()
    assert run(python, "-I", "-m", "gracezo", "--version").split() == ["gracezo", gracezo.__version__]
    where = run(python, "-I", "-c", "import gracezo.problems as p; print(p.__file__, p.make('attack', 0).d)")
    assert where.split() == [str(site / "gracezo" / "problems" / "__init__.py"), "13225"]


def needed(requirements: list[str]) -> set[str]:
    """Return the distributions that requirements without an extra stand for, with what these need."""
    found: set[str] = set()
    todo = [Requirement(text) for text in requirements]
    while todo:
        one = todo.pop()
        if one.name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(one.name)
        todo += map(Requirement, distribution(one.name).requires or [])
    return found


def lend(name: str, site: Path) -> None:
    """Link the files of an installed distribution into another environment."""
    borrowed = distribution(name)
    tops = {file.parts[0] for file in borrowed.files or [] if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        (site / top).symlink_to(Path(str(borrowed.locate_file(top))))


def test_lower_bounds_are_named_and_tested() -> None:
    """`make lowest` installs what `tools/lowest.py` reads: every bound is one that it understands."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    for requirement in [*project["dependencies"], *(r for extra in extras.values() for r in extra)]:
        assert requirement.startswith("gracezo[") or re.fullmatch(r"[a-z-]+>=[\d.]+", requirement)
