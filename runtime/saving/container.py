"""
The container of a saved program: a zip file of one form (docs/saving.md).

Entries are not compressed and lie one behind the other. The data of each begins at a multiple of 64 bytes, so that it
can be mapped into memory. All sizes are those of zip64, times are 1980-01-01, and there are no comments. So the names,
sizes and checksums of the entries decide every other byte, and a reader compares them all: nothing overlaps, nothing
lies between, and nothing is given twice.

Source: APPNOTE.TXT of PKWARE, 6.3.10, 4.3 and 4.5.3.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NoReturn
from zlib import crc32

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import new_content, reason_of
from ...core.messages.texts import IS_A_DIRECTORY
from ...core.roles import BUFFER_ALIGNMENT
from ...lazy_dataclass import dataclass

Bytes = bytes | memoryview

NAME: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*(/[a-z0-9_-]+(\.[a-z0-9_-]+)*)*")
"""What names of entries are like: no root, no folder above, no capital letters, no blanks."""

MOST_ENTRIES: Final = 10_000
LONGEST_NAME: Final = 200

_VERSION: Final = 45
_DATE: Final = 0x21
_ALIGNMENT: Final = 0xD935
"""The extra field that aligns data, by the number that zipalign uses."""
_ALL_ONES: Final = 0xFFFFFFFF

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_SIZES: Final = struct.Struct("<2H2Q")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_PLACES: Final = struct.Struct("<2H3Q")
_END: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_LAST: Final = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, _ALL_ONES, _ALL_ONES, 0)
_TAIL: Final = _END.size + _LOCATOR.size + len(_LAST)

REPLACED: Final = "it is damaged, or another tool has written it"


class SavedError(StepwellError):
    """A file that is no saved program, or one that cannot be used."""


def refuse(path: str | Path, message: str, hint: str | None = None) -> NoReturn:
    """Raises SavedError about the saved program `path`."""
    raise SavedError(Diagnostic(f"saved program '{path}': {message}", hint=hint))


@dataclass(frozen=True)
class Entry:
    """An entry: its name, how many bytes it has, and their CRC-32."""

    name: str
    size: int
    checksum: int


def _local_header(entry: Entry, offset: int) -> bytes:
    """Returns the header of an entry that begins at `offset`. It ends where the data may begin."""
    name = entry.name.encode()
    fixed = _LOCAL.size + len(name) + _SIZES.size
    padding = 6 + -(offset + fixed + 6) % BUFFER_ALIGNMENT
    head = (b"PK\x03\x04", _VERSION, 0, 0, 0, _DATE, entry.checksum, _ALL_ONES, _ALL_ONES, len(name))
    filler = struct.pack("<3H", _ALIGNMENT, padding - 4, BUFFER_ALIGNMENT).ljust(padding, b"\0")
    sizes = _SIZES.pack(1, 16, entry.size, entry.size)
    return _LOCAL.pack(*head, _SIZES.size + padding) + name + sizes + filler


def _central_header(entry: Entry, offset: int) -> bytes:
    name = entry.name.encode()
    head = (b"PK\x01\x02", _VERSION, _VERSION, 0, 0, 0, _DATE, entry.checksum, _ALL_ONES, _ALL_ONES, len(name))
    places = _PLACES.pack(1, 24, entry.size, entry.size, offset)
    return _CENTRAL.pack(*head, _PLACES.size, 0, 0, 0, 0, _ALL_ONES) + name + places


def _tail(count: int, size: int, begin: int) -> bytes:
    """Returns what follows a directory of `count` entries that takes `size` bytes from `begin` on."""
    head = (b"PK\x06\x06", _END.size - 12, _VERSION, _VERSION, 0, 0)
    end = _END.pack(*head, count, count, size, begin)
    return end + _LOCATOR.pack(b"PK\x06\x07", 0, begin + size, 1) + _LAST


# Writing


def write_container(path: str | Path, entries: Sequence[tuple[str, Sequence[Bytes]]]) -> None:
    """
    Writes a container. Each entry is a name and the pieces of its data. A reader sees the old file or the new one.

    What is not a regular file (a pipe) is written directly. Raises SavedError where the file cannot be written.
    """
    try:
        with new_content(path) as file:
            file.writelines(_pieces(entries))
    except OSError as error:
        refuse(path, f"cannot write it: {reason_of(error)}")


def _pieces(entries: Sequence[tuple[str, Sequence[Bytes]]]) -> Iterator[Bytes]:
    directory: list[bytes] = []
    offset = 0
    for name, data in entries:
        assert NAME.fullmatch(name) and len(name) <= LONGEST_NAME, f"'{name}' cannot be the name of an entry"
        checksum = 0
        for piece in data:
            checksum = crc32(piece, checksum)
        entry = Entry(name, sum(memoryview(piece).nbytes for piece in data), checksum)
        header = _local_header(entry, offset)
        yield header
        yield from data
        directory.append(_central_header(entry, offset))
        offset += len(header) + entry.size
    listing = b"".join(directory)
    yield listing
    yield _tail(len(directory), len(listing), offset)


# Reading


class Container:
    """
    An open container, mapped into memory. Nothing but headers is read before `data`.

    Raises SavedError for a file that cannot be read or that `write_container` has not written as it stands.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.mapped = _mapped(self.path)
        self._places: dict[str, tuple[int, int]] = {}
        self._checksums: dict[str, int] = {}
        whole = len(self.mapped)
        if self.mapped[:4] != b"PK\x03\x04":
            refuse(path, "it is no saved program, which begins with 'PK'", "Executable.save writes one")
        begin, directory = self._directory(whole)
        offset = 0
        rebuilt: list[bytes] = []
        for entry in self._entries(directory):
            header = _local_header(entry, offset)
            data = offset + len(header)
            if data + entry.size > begin or self.mapped[offset:data] != header:
                refuse(path, f"entry '{entry.name}' is not where or what the directory says: {REPLACED}")
            self._places[entry.name] = data, data + entry.size
            self._checksums[entry.name] = entry.checksum
            rebuilt.append(_central_header(entry, offset))
            offset = data + entry.size
        if offset != begin or b"".join(rebuilt) != directory:
            refuse(path, f"its directory is not as stepwell writes it: {REPLACED}")

    def _directory(self, whole: int) -> tuple[int, bytes]:
        """Returns where the directory begins, and the directory."""
        start = whole - _TAIL
        if self.mapped[start : start + 4] != b"PK\x06\x06":
            refuse(
                self.path, "it does not end as a saved program does: it has been cut, or another tool has written it"
            )
        *_, count, _, size, begin = _END.unpack(self.mapped[start : start + _END.size])
        if count > MOST_ENTRIES or begin + size != start or self.mapped[start:] != _tail(count, size, begin):
            refuse(self.path, f"the end of its directory is not as stepwell writes it: {REPLACED}")
        if size > count * (_CENTRAL.size + LONGEST_NAME + _PLACES.size):
            refuse(self.path, f"its directory of {count} entries has {size} bytes: {REPLACED}")
        return begin, self.mapped[begin:start]

    def _entries(self, directory: bytes) -> Iterator[Entry]:
        """Yields what the directory says of its entries. Places and the rest of it are compared later."""
        at = 0
        seen: set[str] = set()
        while at < len(directory):
            name_begin = at + _CENTRAL.size
            if name_begin > len(directory):
                refuse(self.path, f"its directory ends in the middle of an entry: {REPLACED}")
            head = _CENTRAL.unpack(directory[at:name_begin])
            checksum, length = head[7], head[10]
            at = name_begin + length + _PLACES.size
            name = directory[name_begin : name_begin + length].decode("ascii", "replace")
            if not NAME.fullmatch(name) or length > LONGEST_NAME:
                refuse(self.path, f"it has an entry named {ascii(name[:40])}, which no saved program has")
            if name in seen:
                refuse(self.path, f"it has two entries named '{name}'")
            if at > len(directory):
                refuse(self.path, f"its directory ends in the middle of entry '{name}': {REPLACED}")
            seen.add(name)
            _, _, _, size, _ = _PLACES.unpack(directory[at - _PLACES.size : at])
            yield Entry(name, size, checksum)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    @property
    def names(self) -> list[str]:
        """Returns the names of all entries, in the order of the file."""
        return list(self._places)

    def place(self, name: str) -> tuple[int, int]:
        """Returns where the data of an entry begins and ends. Raises SavedError where there is no such entry."""
        if name not in self._places:
            refuse(self.path, f"it has no entry '{name}'")
        return self._places[name]

    def view(self, name: str) -> memoryview:
        """Returns the data of an entry, which stays mapped while the view lives."""
        begin, end = self.place(name)
        return memoryview(self.mapped)[begin:end]

    def data(self, name: str) -> bytes:
        """Returns a copy of the data of an entry. Raises SavedError where the checksum is another one."""
        found = bytes(self.view(name))
        if crc32(found) != self._checksums[name]:
            refuse(self.path, f"the data of entry '{name}' does not have its checksum: the file is damaged")
        return found

    def verify(self, hashes: Mapping[str, str]) -> None:
        """Raises SavedError unless each entry named in `hashes` has that SHA-256, in hexadecimal."""
        for name, wanted in hashes.items():
            if sha256(self.view(name)).hexdigest() != wanted:
                refuse(self.path, f"the data of entry '{name}' does not have its hash: the file is damaged")


def _mapped(path: Path) -> mmap.mmap:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _TAIL:
                refuse(path, f"it has {size} bytes, which is no saved program")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except IsADirectoryError:
        refuse(path, IS_A_DIRECTORY)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        refuse(path, reason_of(error))
