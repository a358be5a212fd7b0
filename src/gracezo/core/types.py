"""Array types used everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyFloatArray: TypeAlias = npt.NDArray[np.floating[Any]]

# What goes to and fro at every query. The type checker sees to it that nobody writes into a record; that
# Python does so too would make each of them three times as dear.
if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True, eq_default=False)
    def record(cls: type[T]) -> type[T]:
        """Make a dataclass whose objects are cheap."""
else:
    record = dataclass(eq=False, slots=True)
