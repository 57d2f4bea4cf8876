"""Names, blocks and phis of one function as LLVM text. `instructions.py` writes what stands in the blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from ...core.ir.walk import ops_in
from ...core.roles import LOOP
from .constants import EmitError
from .lines import FunctionLines
from .module import ModuleText

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and there are some 30 000 ops.

_INLINE_PROPERTIES = frozenset({"value", "global_name"})


Emit = Callable[["FunctionText", Any], None]
Handlers = Mapping[type[Operation], tuple[Emit, frozenset[str]]]
"""The function that writes each op, and the properties that it takes into account."""
Inline = Mapping[type[Operation], Callable[["FunctionText", Any], str]]
"""Ops that are no instructions: their text stands wherever their result is used."""


class FunctionText:
    """Writes the blocks of one function to the lines of a module."""

    def __init__(self, module: ModuleText, handlers: Handlers, inline: Inline):
        self.module = module
        self.handlers = handlers
        self.inline = inline
        self.names: dict[int, str] = {}
        """The name of each value, or the text of a constant, by `id`. A value's own hash is a call of Python code."""
        self._typed: dict[int, str] = {}
        self.labels: dict[Block, str] = {}
        self.lines: list[str] = []
        self.source: FunctionLines | None = None
        """The lines of the source, where they are wanted."""
        self.phis: dict[Block, list[tuple[str, Sequence[SSAValue]]]] = {}
        self.edges: list[str] = []
        """The blocks that only branch on. They keep two edges between the same two blocks apart."""
        self.type = module.type_text

    # Names

    def assign_names(self, blocks: list[Block]) -> None:
        """Names every argument, block and result. Constants get their text."""
        names, number = self.names, 0
        for position, block in enumerate(blocks):
            self.labels[block] = f"b{position}"
            for argument in block.args:
                names[id(argument)] = f"%{argument.name_hint or 'v'}.{number}"
                number += 1
            for op in ops_in(block):
                results = op.results
                if not results:
                    continue
                if (inline := self.inline.get(type(op))) is not None:
                    self.module.check_op(op, _INLINE_PROPERTIES)
                    names[id(op.results[0])] = self.module.located(op, inline, self, op)
                    continue
                for result in results:
                    names[id(result)] = f"%{result._name or 'v'}.{number}"
                    number += 1

    def name(self, value: SSAValue) -> str:
        """Returns the name of a value, or the text of a constant."""
        return self.names[id(value)]

    def typed(self, value: SSAValue) -> str:
        """Returns `type name`."""
        if (found := self._typed.get(id(value))) is None:
            found = self._typed[id(value)] = f"{self.type(value._type)} {self.names[id(value)]}"
        return found

    # Blocks

    def emit_blocks(self, blocks: list[Block]) -> None:
        """Writes all blocks in order. The text of phis is filled in once every branch is known."""
        self.assign_names(blocks)
        entry = blocks[0]
        places: list[tuple[int, Block]] = []
        lines = self.lines
        handlers, check, source = self.handlers, self.module.check_op, self.source
        first = 0
        for block in blocks:
            lines.append(f"{self.labels[block]}:")
            if block is not entry and block.args:
                places.append((len(lines), block))
                lines.append("")
            for op in ops_in(block):
                handler = handlers.get(type(op))
                if handler is None:
                    if type(op) in self.inline:
                        continue
                    raise EmitError(self.module.describe(op, "has no entry in the LLVM text tables"))
                emit, properties = handler
                if op.attributes or not op.properties.keys() <= properties:
                    check(op, properties)
                if source is not None:
                    first = len(lines)
                try:
                    emit(self, op)
                except EmitError as error:
                    raise EmitError(self.module.describe(op, str(error))) from None
                if source is not None:
                    source.mark(lines, first, op)
        for index, block in places:
            lines[index] = self._phi_lines(block)
        if entry in self.phis:
            raise EmitError("the entry block of a function is the target of a branch")
        lines += self.edges

    def _phi_lines(self, block: Block) -> str:
        incoming = self.phis.get(block, [])
        name = self.name
        texts: list[str] = []
        for index, argument in enumerate(block.args):
            if not incoming:
                texts.append(f"  {name(argument)} = freeze {self.type(argument.type)} poison")
                continue
            pairs = ", ".join(f"[ {name(values[index])}, %{label} ]" for label, values in incoming)
            texts.append(f"  {name(argument)} = phi {self.type(argument.type)} {pairs}")
        return "\n".join(texts)

    def target(self, op: Operation, block: Block, values: Sequence[SSAValue]) -> str:
        """Returns the label of `block` for one edge out of `op`. A second edge with other values gets its own block."""
        assert op.parent is not None
        label = self.labels[op.parent]
        incoming = self.phis.setdefault(block, [])
        for known, known_values in incoming:
            if known == label and tuple(known_values) != tuple(values):
                between = f"{label}.{len(self.edges)}"
                self.edges += [f"{between}:", f"  br label %{self.labels[block]}"]
                incoming.append((between, values))
                return between
        incoming.append((label, values))
        return self.labels[block]

    def loop(self, op: Operation) -> str:
        """Returns the metadata of the loop that this branch closes."""
        hint = op.attributes.get(LOOP)
        if hint is None:
            return ""
        if not isinstance(hint, StringAttr):
            raise EmitError(f"attribute {LOOP} is {hint}, expected a string")
        return f", !llvm.loop !{self.module.loop_metadata(hint.data)}"

    def put(self, op: Operation, text: str) -> None:
        """Writes an instruction with its result, if any."""
        for result in op.results:
            self.lines.append(f"  {self.names[id(result)]} = {text}")
            return
        self.lines.append(f"  {text}")
