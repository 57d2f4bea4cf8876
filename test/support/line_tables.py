"""
How many instructions of an object have a line: `python test/support/line_tables.py FILE.o …` prints a row for each.

It reads what objdump of binutils says of the code and of its line table. The object is linked first, so that each
section has addresses of its own. What fills gaps between functions and in front of loops is no instruction.
"""

from __future__ import annotations

import re
import subprocess
import sys
from bisect import bisect_right
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\S.*)$", re.MULTILINE)
_ROW = re.compile(r"^(\S.*?) +(\d+|-) +(0x[0-9a-f]+|0)(?: .*)?$", re.MULTILINE)
_FILLING = re.compile(r"(data16 |cs |nop|xchg +%ax,%ax|int3|udf)")


class Row(NamedTuple):
    """A row of a line table: the line from an address on. It is 0 where the table says that there is none."""

    address: int
    line: int
    file: str


def _said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def rows_of(path: Path) -> list[Row]:
    """Returns the line table of a linked object, in order. The end of a sequence has line 0."""
    found = [
        Row(int(match[3], 16), 0 if match[2] == "-" else int(match[2]), match[1])
        for match in _ROW.finditer(_said("objdump", "--dwarf=decodedline", path))
    ]
    # Where a sequence ends another one may begin, and its first row counts.
    return sorted(found, key=lambda row: (row.address, row.line > 0))


def instructions_of(path: Path) -> list[tuple[int, str]]:
    """Returns the addresses and texts of the instructions of an object."""
    text = _said("objdump", "-d", "-w", "--no-show-raw-insn", "-j", ".text", path)
    found = [(int(match[1], 16), match[2]) for match in _INSTRUCTION.finditer(text)]
    return [(address, text) for address, text in found if not _FILLING.match(text)]


def without_line(path: Path) -> tuple[list[str], int]:
    """Returns the instructions of an object file that have no line, and the number of all."""
    with TemporaryDirectory() as folder:
        linked = Path(folder) / "linked.so"
        _said("ld", "-shared", "-o", linked, path)
        rows, instructions = rows_of(linked), instructions_of(linked)
    starts = [row.address for row in rows]
    lacking: list[str] = []
    for address, text in instructions:
        place = bisect_right(starts, address) - 1
        if place < 0 or rows[place].line == 0:
            lacking.append(f"{address:x}: {text}")
    return lacking, len(instructions)


def main() -> None:
    """Prints a row per file of the command line."""
    for name in sys.argv[1:]:
        lacking, count = without_line(Path(name))
        print(f"{name}: {count - len(lacking)} of {count} instructions have a line: {1 - len(lacking) / count:.2%}")


if __name__ == "__main__":
    main()
