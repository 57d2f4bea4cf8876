"""
Several object files as one: an archive, as `ar` makes it.

A program is one object, or the archive of its pieces. Whoever keeps it need not know which.
"""

from __future__ import annotations

from collections.abc import Sequence

_MAGIC = b"!<arch>\n"
_END = b"`\n"
_HEADER = 60
"""The bytes of a header: name, date, owner, group, mode, size, and its end."""
_SIZE = slice(48, 58)


def archive(objects: Sequence[bytes]) -> bytes:
    """Returns the archive of `objects`, and the object itself where there is one."""
    if len(objects) == 1:
        return objects[0]
    parts = [_MAGIC]
    for number, code in enumerate(objects):
        header = f"{number}.o/".ljust(16) + "0".ljust(12) + "0".ljust(6) * 2 + "100644".ljust(8)
        parts += (f"{header}{len(code):<10}".encode() + _END, code, b"\n" * (len(code) % 2))
    return b"".join(parts)


def objects_of(code: bytes) -> list[bytes]:
    """
    Returns the objects that `archive` has put together.

    Raises ValueError where `code` begins as an archive and is none.
    """
    if not code.startswith(_MAGIC):
        return [code]
    found: list[bytes] = []
    place = len(_MAGIC)
    while place < len(code):
        header = code[place : place + _HEADER]
        start = place + _HEADER
        size = int(header[_SIZE]) if header.endswith(_END) and header[_SIZE].strip().isdigit() else -1
        if size < 0 or start + size > len(code):
            raise ValueError(f"the archive of machine code is damaged at byte {place}")
        found.append(code[start : start + size])
        place = start + size + size % 2
    return found
