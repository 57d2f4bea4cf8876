"""Ops of two programs aligned by what they came from, or by what they say where they have nothing in common."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from ...core.ir.walk import walk
from ...core.messages.origins import Origin, origins_of
from ...lazy_dataclass import dataclass

_VALUE: Final = re.compile(r"%[\w$.-]+|\^\w+")


@dataclass(frozen=True)
class Line:
    """An op as it is printed, what it says apart from the names of values, and what it came from."""

    text: str
    says: str
    origins: frozenset[Origin]


@dataclass(frozen=True)
class Hunk:
    """Ops that are not the same in both programs, with what they have come from."""

    origins: tuple[Origin, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]

    def __str__(self) -> str:
        where = ", ".join(map(str, self.origins[:3])) or "made by the compiler"
        more = f" and {len(self.origins) - 3} more" if len(self.origins) > 3 else ""
        return "\n".join([f"@@ {where}{more} @@", *(f"- {e}" for e in self.one), *(f"+ {e}" for e in self.other)])


def lines_of(module: ModuleOp) -> list[Line]:
    """Returns the ops of a program in their order. An op with regions is its first line."""
    stream = io.StringIO()
    printer = Printer(stream)
    printer.print_op(module)
    found: list[Line] = []
    for op in walk(module)[1:]:
        if _is_implicit(op):
            continue
        stream.seek(0)
        stream.truncate()
        printer.print_op(op)
        text = stream.getvalue().partition("\n")[0].strip()
        found.append(Line(text, _VALUE.sub("%", text), frozenset(origins_of(op.location))))
    return found


def _is_implicit(op: Operation) -> bool:
    return not op.operands and not op.results and op.has_trait(IsTerminator, value_if_unregistered=False)


def hunks(one: ModuleOp, other: ModuleOp) -> tuple[list[Hunk], bool]:
    """Returns where two programs differ, and whether they were aligned by what their ops came from."""
    left, right = lines_of(one), lines_of(other)
    shared = {each for line in left for each in line.origins} & {each for line in right for each in line.origins}
    if not shared:
        return list(_by_text(left, right)), False
    return list(_by_origin(left, right, shared)), True


def _by_text(left: Sequence[Line], right: Sequence[Line]) -> Iterator[Hunk]:
    matcher = SequenceMatcher(None, [each.says for each in left], [each.says for each in right], autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            origins = tuple(
                dict.fromkeys(origin for line in left[start:end] for origin in sorted(line.origins, key=str))
            )
            yield Hunk(origins, _texts(left[start:end]), _texts(right[first:last]))


def _texts(lines: Sequence[Line]) -> tuple[str, ...]:
    return tuple(each.text for each in lines)


def _by_origin(left: Sequence[Line], right: Sequence[Line], shared: set[Origin]) -> Iterator[Hunk]:
    """Ops that have come from the same op belong together, and so do those that belong to the same third one."""
    group: dict[Origin, Origin] = {each: each for each in shared}

    def root(each: Origin) -> Origin:
        while group[each] is not each:
            group[each] = each = group[group[each]]
        return each

    for line in (*left, *right):
        known = [root(each) for each in line.origins if each in shared]
        for each in known[1:]:
            group[root(each)] = root(known[0])
    members: dict[object, tuple[list[Line], list[Line]]] = {}
    for side, lines in enumerate((left, right)):
        for line in lines:
            known = next((each for each in line.origins if each in shared), None)
            members.setdefault(line.origins if known is None else root(known), ([], []))[side].append(line)
    for ours, theirs in members.values():
        if [each.says for each in ours] != [each.says for each in theirs]:
            yield Hunk(_origins((*ours, *theirs)), *_changed(ours, theirs))


def _origins(lines: Sequence[Line]) -> tuple[Origin, ...]:
    return tuple(sorted({each for line in lines for each in line.origins}, key=_order))


def _changed(ours: Sequence[Line], theirs: Sequence[Line]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the lines of each side that the other has not."""
    matcher = SequenceMatcher(None, [each.says for each in ours], [each.says for each in theirs], autojunk=False)
    gone: list[Line] = []
    new: list[Line] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            gone += ours[start:end]
            new += theirs[first:last]
    return _texts(gone), _texts(new)


def _order(origin: Origin) -> tuple[str, int, int, str]:
    point = origin.point
    return ("", 0, 0, origin.name) if point is None else (point.file, point.line, point.column, origin.name)
