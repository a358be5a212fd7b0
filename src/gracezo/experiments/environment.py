"""What a result was made with: versions, processor, date. No paths, host or user names."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gracezo

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def describe() -> dict[str, Any]:
    """Return the versions, the machine and the date.

    Examples
    --------
    >>> sorted(describe())
    ['cores', 'date', 'gracezo', 'machine', 'numpy', 'processor', 'python', 'scikit-learn', 'scipy']
    """
    return {
        "gracezo": gracezo.__version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "processor": _processor(),
        "cores": os.cpu_count(),
        "machine": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).date().isoformat(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")
