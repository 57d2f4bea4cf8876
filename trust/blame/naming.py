"""What `--blame` and `--became` take: lines, functions, values, nodes of a model, places. Each stands for some ops."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import PurePath
from typing import Any, Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.printer import Printer

from ...analysis.lineage import Lineage, Lineages
from ...core.ir.walk import walk
from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...core.messages.origins import Origin
from ...lazy_dataclass import dataclass
from .history import symbol_of

NO_NODES: Final = "no op has the name of a node; 'stepwell import-onnx --print-debuginfo' writes them"
_PLACE: Final = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_DEFINED: Final = re.compile(r"%([\w$.-]+)(?::\d+)?")


@dataclass(frozen=True)
class Named:
    """What a name stands for, and from which ops of the source that was made."""

    title: str
    lineage: Lineage


class _LinePrinter(Printer):
    """Prints a program and notes on which line each op begins, and what values are called."""

    def __init__(self) -> None:
        self.text = _CountingStream()
        super().__init__(stream=self.text)
        self.starts: list[tuple[int, Operation]] = []

    def print_op(self, op: Operation) -> None:
        self.starts.append((self.text.line, op))
        super().print_op(op)

    def called(self, value: SSAValue) -> str | None:
        """Returns the name that a value was printed with."""
        return self._ssa_values.get(value)


class _CountingStream(StringIO):
    """A text that knows its number of lines."""

    line = 1

    def write(self, text: str, /) -> int:
        self.line += text.count("\n")
        return super().write(text)


class Names:
    """
    The names in a program. Lines are those of its text: as it is printed, or as it was read where `sources` has it.

    `whose` says in messages which program it is.
    """

    def __init__(
        self, module: ModuleOp, lineages: Lineages, whose: str, sources: Mapping[str, str] | None = None
    ) -> None:
        self._module, self._lineages, self._whose = module, lineages, whose
        self._sources = sources
        self._printer = _LinePrinter()
        self._printer.print_op(module)

    def find(self, name: str) -> Named:
        """
        Returns what `name` stands for: `12`, `@function`, `%value`, `@function:%value`, `file:12`, or a node.

        Raises StepwellError where there is none, with the name that is most like it.
        """
        if name.isdecimal():
            return self._at_line(int(name))
        function, colon, value = name.partition(":")
        if function.startswith("@") and colon and value.startswith("%"):
            return self._value(value, [self._function(function)])
        if name.startswith("@"):
            op = self._function(name)
            return self._named(f"{name}: {op.name} of {len(walk(op)) - 1} ops", walk(op))
        if name.startswith("%"):
            return self._value(name, self._module.body.block.ops)
        return self._node(name)

    def _named(self, title: str, ops: Iterable[Operation]) -> Named:
        return Named(title, self._lineages.of_all(ops))

    # Lines

    def _at_line(self, line: int) -> Named:
        if self._sources is not None:
            return self._at_source_line(line)
        if not 1 <= line <= self._printer.text.line:
            message = f"{self._whose} has {self._printer.text.line} lines when it is printed, found line {line}"
            raise StepwellError(Diagnostic(message))
        found = [op for start, op in self._printer.starts if start <= line]
        here = [op for start, op in self._printer.starts if start == line] or found[-1:]
        names = ", ".join(dict.fromkeys(op.name for op in here))
        return self._named(f"line {line}: {names}", here)

    def _at_source_line(self, line: int) -> Named:
        lines = {point.line for op in walk(self._module) for point in self._points(op)}
        ops = [op for op in walk(self._module) if any(point.line == line for point in self._points(op))]
        if not ops:
            near = min(lines, key=lambda each: (abs(each - line), each), default=None)
            hint = None if near is None else f"the nearest op is on line {near}"
            raise StepwellError(Diagnostic(f"no op of {self._whose} begins on line {line}", hint=hint))
        return self._named(f"line {line}: {', '.join(dict.fromkeys(op.name for op in ops))}", ops)

    def _points(self, op: Operation) -> list[Any]:
        return [origin.point for origin in self._lineages.of(op).origins if origin.point is not None]

    # Functions and values

    def _function(self, name: str) -> Operation:
        known = {f"@{symbol_of(op)}": op for op in self._module.body.block.ops if symbol_of(op)}
        if name not in known:
            raise self._unknown(f"no function {name}", name, known)
        return known[name]

    def _value(self, name: str, functions: Iterable[Operation]) -> Named:
        found: list[tuple[str, SSAValue]] = []
        known: dict[str, None] = {}
        for function in functions:
            for value in _values(function):
                called = self._called(value)
                if called is None:
                    continue
                known[f"%{called}"] = None
                if f"%{called}" == name:
                    found.append((symbol_of(function), value))
        if not found:
            raise self._unknown(f"no value {name}", name, known)
        places = list(dict.fromkeys(function for function, _ in found))
        if len(places) > 1:
            shown = ", ".join(f"@{place}:{name}" for place in places[:6]) + (", …" if len(places) > 6 else "")
            message = f"{len(places)} functions of {self._whose} have a value {name}"
            raise StepwellError(Diagnostic(message, hint=f"name one: {shown}"))
        ops = [op for _, value in found if (op := _maker(value)) is not None]
        what = ", ".join(dict.fromkeys(_described(value) for _, value in found))
        return self._named(f"{name} in @{places[0]}: {what}", ops)

    def _called(self, value: SSAValue) -> str | None:
        """Returns the name of a value in the text of the program, which may number values in another way than we do."""
        op = value.owner
        if self._sources is None or not isinstance(op, Operation) or value.name_hint is not None:
            printed = self._printer.called(value)
            return None if printed is None else printed.removeprefix("%")
        for point in self._points(op)[:1]:
            lines = self._sources.get(point.file, "").splitlines()
            text = lines[point.line - 1][point.column - 1 :] if point.line <= len(lines) else ""
            defined = _DEFINED.findall(text.partition("=")[0])
            if defined:
                return defined[min(list(op.results).index(value), len(defined) - 1)]  # pyright: ignore
        printed = self._printer.called(value)
        return None if printed is None else printed.removeprefix("%")

    # Nodes and places

    def _node(self, name: str) -> Named:
        by_origin = self._lineages.by_origin(self._module)
        place = _PLACE.fullmatch(name)
        chosen = [origin for origin in by_origin if origin.name == name]
        if not chosen and place is not None:
            chosen = [origin for origin in by_origin if _is_at(origin, place)]
        if not chosen:
            nodes = [origin.name for origin in by_origin if origin.name]
            what = f"nothing made of {name}" if place is not None else f"nothing made of a node '{name}'"
            hint = None if nodes or place is not None else NO_NODES
            raise self._unknown(what, name, nodes, hint)
        ops = {id(op): op for origin in chosen for op in by_origin[origin]}
        return self._named(", ".join(map(str, chosen)), ops.values())

    def _unknown(self, what: str, name: str, known: Iterable[str], otherwise: str | None = None) -> StepwellError:
        known = list(known)
        listed = f"it has {', '.join(known[:6])}{', …' if len(known) > 6 else ''}" if known else otherwise
        return StepwellError(Diagnostic(f"{self._whose} has {what}", hint=did_you_mean(name, known) or listed))


def _is_at(origin: Origin, place: re.Match[str]) -> bool:
    point = origin.point
    if point is None or point.line != int(place["line"]):
        return False
    is_column = place["column"] is None or point.column == int(place["column"])
    return is_column and place["file"] in (point.file, PurePath(point.file).name)


def _values(function: Operation) -> Iterable[SSAValue]:
    for op in walk(function):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def _maker(value: SSAValue) -> Operation | None:
    owner = value.owner
    return owner.parent_op() if isinstance(owner, Block) else owner


def _described(value: SSAValue) -> str:
    owner = value.owner
    if not isinstance(owner, Block):
        return owner.name
    parent = owner.parent_op()
    return f"argument of {'a block' if parent is None else parent.name}"
