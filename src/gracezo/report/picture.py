"""A matrix as a picture: blue below zero, red above, in a small PNG of our own making."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from gracezo.core.types import FloatArray

_MOST = 256  # pixels a side; a larger matrix is shown by the largest number of each block
_BLUE, _WHITE, _RED = (0x21, 0x66, 0xAC), (0xF7, 0xF7, 0xF7), (0xB2, 0x18, 0x2B)


def png(matrix: FloatArray) -> bytes:
    r"""Return a picture of a matrix; zero is white, the largest number of either sign has its full colour.

    Examples
    --------
    >>> import numpy as np
    >>> png(np.eye(3))[:4]
    b'\x89PNG'
    """
    shown = _blocks(matrix)
    most = float(np.abs(shown).max()) or 1.0
    shade = np.round(127.0 * (shown / most)).astype(np.int64) + 127
    palette = [_mixed(level / 127.0 - 1.0) for level in range(255)]
    rows = b"".join(b"\0" + row.astype(np.uint8).tobytes() for row in shade)
    height, width = shade.shape
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", b"".join(map(bytes, palette))),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        )
    )


def data_url(matrix: FloatArray) -> str:
    """Return the picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(png(matrix)).decode()


def _blocks(matrix: FloatArray) -> FloatArray:
    """Return the matrix, or of each block of it the number farthest from zero."""
    for axis in (0, 1):
        size = matrix.shape[axis]
        if size <= _MOST:
            continue
        edges = np.linspace(0, size, _MOST + 1).astype(np.int64)[:-1]
        low, high = np.minimum.reduceat(matrix, edges, axis), np.maximum.reduceat(matrix, edges, axis)
        matrix = np.where(-low > high, low, high)
    return matrix


def _mixed(share: float) -> tuple[int, ...]:
    end = _RED if share > 0 else _BLUE
    return tuple(round(white + abs(share) * (far - white)) for white, far in zip(_WHITE, end, strict=True))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
