"""Moves on the text of a program: sizes and element types everywhere at once, and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..move import Move
from ..subject import Program

_SIZE: Final = re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)")
_NUMBER: Final = re.compile(r"(?<![\w.%@#\"x<^+-])(\d+)(?![\w.\"])")
_TYPE: Final = re.compile(
    r"(?<![\w.%@#\"])((?:\d+x|\?x)*)(f64|f32|f16|bf16|f8\w+|[su]?i64|[su]?i16|[su]?i8|i32)\b(?!\")"
)

Size = tuple[str, str, bool, bool]


class ShrinkSizes(Move):
    """
    Makes one size smaller in all types of the program: the size alone or with its multiples, and in attributes too.

    All sizes at once come first, then 1, 2, 3 and the half for each size.
    """

    name = "shrink sizes"
    one_by_one = True

    def edits(self, subject: Program) -> list[Any]:
        sizes = dict.fromkeys(_SIZE.findall(subject.text))
        known = sorted((each for each in sizes if each.isdigit() and int(each) > 1), key=int, reverse=True)
        found: list[Size] = [("*", "1", False, True), ("*", "1", False, False)] if known else []
        found += [("?", "2", False, False)] if "?" in sizes else []
        for size in known:
            targets = dict.fromkeys((1, 2, 3, int(size) // 2))
            found += [
                (size, str(new), multiples, attributes)
                for new in targets
                if new < int(size)
                for multiples in (False, True)
                for attributes in (True, False)
            ]
        return found

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for old, new, multiples, attributes in edits:
            change = _changer(old, new, multiples)
            text = _SIZE.sub(change, subject.text)
            if attributes:
                text = _NUMBER.sub(change, text)
            subject.text = text


def _changer(old: str, new: str, multiples: bool) -> Callable[[re.Match[str]], str]:
    def change(match: re.Match[str]) -> str:
        found = match[0]
        if old == "*":
            return new if found.isdigit() and int(found) > 1 else found
        if found == old:
            return new
        if multiples and found.isdigit() and int(found) > 0 and int(found) % int(old) == 0:
            return str(int(found) // int(old) * int(new))
        return found

    return change


class SimplifyTypes(Move):
    """Makes one element type a simpler one in the whole program."""

    name = "simplify element types"
    one_by_one = True

    def edits(self, subject: Program) -> list[Any]:
        known = dict.fromkeys(found for _, found in _TYPE.findall(subject.text))
        return [(each, "f32" if each[0] in "fb" else "i32") for each in known if each not in ("f32", "i32")]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for old, new in edits:
            subject.text = _TYPE.sub(
                lambda match, old=old, new=new: match[1] + (new if match[2] == old else match[2]), subject.text
            )


class DropLines(Move):
    """Leaves out lines of the text, the last resort."""

    name = "drop lines"

    def __init__(self) -> None:
        self._lines: dict[int, str] = {}

    def edits(self, subject: Program) -> list[Any]:
        self._lines = dict(enumerate(subject.text.splitlines()))
        return list(self._lines)[::-1]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        gone = set(edits)
        lines = {number: line for number, line in self._lines.items() if number not in gone}
        subject.text = "\n".join(lines.values()) + "\n"
        self._lines = lines


TYPES: Final = (ShrinkSizes(), SimplifyTypes())
LINES: Final = (DropLines(),)
