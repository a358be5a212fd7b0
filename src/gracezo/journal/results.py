"""The result of a finished run, as text and numbers: what is returned later is what was returned then.

An array is a piece of one block of bytes; the text says where it lies. x is stored as what differs from x0,
where that is shorter. Versions to come may add fields; none is needed to read the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.result import Result, Trace
from gracezo.core.types import FloatArray

_ARRAY, _CHANGE, _TRACE, _TUPLE, _LIST, _DICT = "array", "change", "trace", "tuple", "list", "dict"


def packed(result: Result, x0: FloatArray) -> tuple[dict[str, Any], bytes] | None:
    """Return the fields as JSON, and the numbers of the arrays in them; None if a field is of another kind.

    The names of coordinates are left out: a journal has them elsewhere.
    """
    block = bytearray()

    def array(given: npt.NDArray[Any]) -> dict[str, Any]:
        numbers = np.ascontiguousarray(given, given.dtype.newbyteorder("<"))
        start = len(block)
        block.extend(numbers.tobytes())
        return {_ARRAY: [start, numbers.dtype.str, list(numbers.shape)]}

    def plain(value: object) -> Any:
        match value:
            case np.ndarray():
                return array(value)
            case np.generic():
                return plain(value.item())
            case None | bool() | int() | float() | str():
                return value
            case Trace():
                return {_TRACE: [array(value.queries), array(value.values)]}
            case tuple() | list():
                return {_TUPLE if isinstance(value, tuple) else _LIST: [plain(item) for item in value]}
            case dict():
                return {_DICT: [[str(name), plain(item)] for name, item in value.items()]}
            case _:
                raise TypeError(f"a result cannot be stored that holds a {type(value).__name__}")

    try:
        fields = {name: plain(value) for name, value in result.items() if name not in ("x", "names")}
    except TypeError:
        return None
    x = np.asarray(result.x)
    changed = np.flatnonzero(x.ravel() != x0.ravel())
    if 2 * len(changed) < x.size:
        fields["x"] = {_CHANGE: [array(changed), array(x.ravel()[changed])]}
    else:
        fields["x"] = array(x)
    return fields, bytes(block)


def unpacked(fields: dict[str, Any], block: bytes, x0: FloatArray) -> Result:
    """Return the result again."""

    def array(start: int, dtype: str, shape: list[int]) -> npt.NDArray[Any]:
        if np.dtype(dtype).kind not in "biuf":
            raise TypeError(f"an array of {dtype}")
        numbers = np.frombuffer(block, dtype, math.prod(shape), start).reshape(shape)
        return numbers.astype(numbers.dtype.newbyteorder("="))

    def change(indices: Any, values: Any) -> FloatArray:
        x = x0.copy()
        x.reshape(-1)[value(indices)] = value(values)
        return x

    kinds: dict[str, Callable[..., Any]] = {
        _ARRAY: array,
        _CHANGE: change,
        _TRACE: lambda *both: Trace(*map(value, both)),
        _TUPLE: lambda *items: tuple(map(value, items)),
        _LIST: lambda *items: list(map(value, items)),
        _DICT: lambda *items: {name: value(item) for name, item in items},
    }

    def value(given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        ((kind, what),) = given.items()
        return kinds[kind](*what)

    return Result({name: value(given) for name, given in fields.items()})
