"""Assembly with the places that its instructions come from, as comments in place of a line table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ...core.messages.points import SourcePoint
from ...machine.code_target import CodeTarget

_FILE: Final = re.compile(r'\t\.file\t(\d+) "([^"]*)"(?: "([^"]*)")?')
_PLACE: Final = re.compile(r"\t\.loc\t(\d+) (\d+) (\d+)")
_OF_THE_TABLE: Final = re.compile(r"\.L(tmp|func_begin|cfi|debug)\w*:|\t\.cfi_|\t\.file\t\d")
"""What stands in assembly for the sake of a line table alone."""


def comment_of(target: CodeTarget) -> str:
    """Returns what begins a comment in assembly for a target."""
    return "#" if target.is_x86_64 else "//"


def listed(assembly: str, comment: str, shown: Callable[[SourcePoint], str] = str) -> str:
    """
    Returns assembly that has a line table without it. A line that begins with `comment` says the place of the
    instructions after it, as `shown` tells it.

    The other lines are those that LLVM writes for the same program without lines.
    """
    return "\n".join([*_lines(assembly.removesuffix("\n"), comment, shown), ""])


def _lines(assembly: str, comment: str, shown: Callable[[SourcePoint], str]) -> Iterator[str]:
    files: dict[int, str] = {}
    waiting, last = "", ""
    in_table = False
    for line in assembly.split("\n"):
        if line.startswith("\t.section\t"):
            in_table = line.startswith(("\t.section\t.debug_", "\t.section\t__DWARF"))
        if match := _FILE.match(line):
            files[int(match[1])] = f"{match[2]}/{match[3]}" if match[3] else match[2]
        elif match := _PLACE.match(line):
            point = SourcePoint(files.get(int(match[1]), "?"), int(match[2]), int(match[3]))
            waiting = shown(point) if point.line else ""
        elif not in_table and not _OF_THE_TABLE.match(line):
            is_instruction = line.startswith("\t") and not line.startswith("\t.")
            if is_instruction and waiting and waiting != last:
                yield f"\t{comment} {waiting}"
                last = waiting
            elif not is_instruction and line.endswith(":") and not line.startswith(".L"):
                last = ""
            yield line


def instructions_by_place(listing: str) -> dict[str, dict[str, int]]:
    """Returns how many instructions each function of a listing has from each place, by function and place."""
    found: dict[str, dict[str, int]] = {}
    function, place = "", ""
    for line in listing.split("\n"):
        if line.startswith(("\t# ", "\t// ")):
            place = line.split(" ", 1)[1]
        elif line.startswith("\t") and not line.startswith("\t."):
            counts = found.setdefault(function, {})
            counts[place] = counts.get(place, 0) + 1
        elif line.endswith(":") and not line.startswith(".L"):
            function, place = line.removesuffix(":").strip('"'), ""
    return found
