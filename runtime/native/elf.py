"""What an ELF object file says of its functions. Other formats have none here."""

from __future__ import annotations

import struct
from typing import NamedTuple

_MAGIC = b"\x7fELF\x02\x01"
"""ELF of 64 bits, the low byte first."""

_SYMBOLS, _FUNCTION, _GLOBAL = 2, 2, 1


class ObjectFunction(NamedTuple):
    """A function of an object: its name, its section, where in that it begins, and its bytes."""

    name: str
    section: int
    offset: int
    size: int
    is_global: bool


def functions_of_object(code: bytes) -> list[ObjectFunction]:
    """Returns the functions of an object file in the order of their places, none for what is no ELF object."""
    if not code.startswith(_MAGIC):
        return []
    (table,) = struct.unpack_from("<Q", code, 40)
    width, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + width * number) for number in range(count)]
    found: list[ObjectFunction] = []
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SYMBOLS:
            continue
        names = sections[link][4]
        for place in range(offset, offset + size, 24):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", code, place)
            if info & 15 == _FUNCTION and 0 < section < count:
                text = code[names + name : code.index(b"\0", names + name)].decode()
                found.append(ObjectFunction(text, section, value, length, info >> 4 == _GLOBAL))
    return sorted(found, key=lambda each: (each.section, each.offset))
