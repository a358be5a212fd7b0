"""A run that kills its process at a call: `python -m tests.sensitivity.killed NAME FOLDER CALL`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.sensitivity import functions

if __name__ == "__main__":
    {"screen": functions.screened, "global": functions.searched}[sys.argv[1]](
        Path(sys.argv[2]), int(sys.argv[3])
    )
