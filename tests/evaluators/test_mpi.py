"""The executors of mpi4py on a real MPI of three processes, where one is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]  # from where workers import `tests`
# That of the environment that the tests run in, if it has one: it belongs to the mpi4py that is there.
MPIEXEC = shutil.which("mpiexec", path=Path(sys.executable).parent) or shutil.which("mpiexec")

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None or MPIEXEC is None,
    reason="needs mpi4py and an MPI: pip install mpi4py mpich",
)

RUN = """
import os
import sys
from pathlib import Path
import numpy as np
import gracezo
from gracezo.testing import assert_same
from tests.evaluators.objectives import Counted, raises_value_error, value

def descend(fun, workers):
    return gracezo.minimize(fun, np.zeros(50), method="fdsa", max_steps=4, seed=0, workers=workers)

def check(pool):
    counted = Counted(Path(sys.argv[1]))
    result, expected = descend(counted, pool), descend(value, None)
    assert_same(result, expected, "mpi")
    assert counted.calls() == expected.nfev == 205
    assert os.getpid() not in set(pool.map(process, range(8)))
    try:
        descend(raises_value_error, pool)
    except gracezo.EvaluationError as error:
        assert isinstance(error.__cause__, ValueError)
        print("checked")

def process(number):
    return os.getpid()
"""
POOL = """
if __name__ == "__main__":
    from mpi4py.futures import MPIPoolExecutor
    with MPIPoolExecutor() as pool:
        check(pool)
"""
COMMUNICATOR = """
if __name__ == "__main__":
    from mpi4py import MPI
    from mpi4py.futures import MPICommExecutor
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
        if pool is not None:
            check(pool)
"""


@pytest.mark.parametrize(("words", "script"), [(["-m", "mpi4py.futures"], POOL), ([], COMMUNICATOR)])
def test_the_result_and_the_number_of_calls(tmp_path: Path, words: list[str], script: str) -> None:
    assert MPIEXEC is not None
    (tmp_path / "run.py").write_text(RUN + script)
    python = [sys.executable, *words, str(tmp_path / "run.py"), str(tmp_path / "calls")]
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [MPIEXEC, "-n", "3", *python],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": search},
        timeout=120,
        check=False,
    )
    assert done.stdout == "checked\n", done.stderr
