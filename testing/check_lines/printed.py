"""A printed program as functions with their lines, and where the functions of a test stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...lazy_dataclass import dataclass

_HEADER: Final = re.compile(r'^( *)([a-z_]\w*\.)?func(?:\.func)?(?: \w+)* @([\w$.-]+|"[^"]*")')
_GENERIC: Final = re.compile(r'^ *"(?:\w+\.)?func(?:\.func)?"\(.*\bsym_name = "([^"]*)"')


@dataclass(frozen=True)
class Printed:
    """A function as a command prints it: its name, and its lines without the bracket that closes it."""

    name: str
    lines: tuple[str, ...]


def name_in(line: str) -> str | None:
    """Returns the name of the function whose header a line is, or `None`."""
    if found := _HEADER.match(line):
        return found[3]
    found = _GENERIC.match(line)
    return None if found is None else found[1]


def functions_in(text: str) -> list[Printed]:
    """Returns the functions of a printed program in their order. Other lines of the module are left out."""
    return list(_functions(text.splitlines()))


def _functions(lines: Sequence[str]) -> Iterator[Printed]:
    number = 0
    while number < len(lines):
        name = name_in(lines[number])
        if name is None:
            number += 1
            continue
        last = number + 1
        indent = len(lines[number]) - len(lines[number].lstrip())
        if lines[number].rstrip().endswith("{"):
            end = " " * indent + "}"
            while last < len(lines) and not lines[last].startswith(end):
                last += 1
        yield Printed(name, tuple(each.strip() for each in lines[number:last] if each.strip()))
        number = last


def places_of(lines: Sequence[str]) -> dict[str, int]:
    """Returns the lines of a test at which its functions begin, counted from 0. The first of a name counts."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines):
        name = None if line.lstrip().startswith("//") else name_in(line)
        if name is not None:
            found.setdefault(name, number)
    return found


def text_of(lines: Sequence[str], name: str) -> str:
    """Returns the text from a function of a test to the next one."""
    places = places_of(lines)
    if name not in places:
        return ""
    start = places[name]
    end = min((each for each in places.values() if each > start), default=len(lines))
    return "\n".join(each for each in lines[start:end] if not each.lstrip().startswith("//"))
