"""The text that functions of one module share: types, declarations of intrinsics, metadata, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation

from ...core.messages.locations import location_string
from ...core.roles import LINK_NAME
from .constants import EmitError, mangled, metadata_string, type_text
from .names import symbol_text, text_name
from .tables import INTRINSICS, LOOP_METADATA


def is_foreign(name: str) -> bool:
    """
    Returns whether an attribute belongs to a dialect other than llvm (`stepwell.role`, `mine.note`).

    It is for passes, the runtime or its author, and says nothing to LLVM. What llvm means by a name must have a text
    form.
    """
    dialect, dot, _ = name.partition(".")
    return bool(dot) and dialect != "llvm"


class ModuleText:
    """Collects the pieces of a module that its functions ask for."""

    def __init__(self) -> None:
        self._types: dict[int, tuple[Attribute, str]] = {}
        self._suffixes: dict[int, tuple[Attribute, str]] = {}
        self._callees: dict[tuple[str | int, ...], tuple[str, Attribute | None, Sequence[Attribute]]] = {}
        self.declarations: dict[str, str] = {}
        self.metadata: list[str] = []
        self._shared_nodes: dict[str, int] = {}
        self._symbols: dict[str, str] = {}

    def type_text(self, value_type: Attribute) -> str:
        """Returns `type_text`, made once per attribute object."""
        if (entry := self._types.get(id(value_type))) is None:
            entry = self._types[id(value_type)] = (value_type, type_text(value_type))
        return entry[1]

    def name_symbols(self, ops: Iterable[Operation]) -> None:
        """Fixes the text of every symbol of the module. Raises `EmitError` when two would be one."""
        named = [op for op in ops if isinstance(op, llvm.FuncOp | llvm.GlobalOp)]
        taken = {op.sym_name.data for op in named}
        owners: dict[str, str] = {}
        for op in named:
            symbol = op.sym_name.data
            link_name = op.attributes.get(LINK_NAME)
            if isinstance(link_name, StringAttr):
                name = link_name.data
            else:
                name = text_name(symbol, op.linkage.linkage.data, taken)
            if owners.setdefault(name, symbol) != symbol:
                raise EmitError(self.describe(op, f"@{symbol} and @{owners[name]} both have the name '{name}'"))
            self._symbols[symbol] = symbol_text(name)

    def rename(self, names: Mapping[str, str]) -> None:
        """Gives symbols other names in the text."""
        self._symbols.update({symbol: symbol_text(name) for symbol, name in names.items()})

    def symbol(self, name: str) -> str:
        """Returns the text of a symbol with its `@`."""
        return self._symbols.get(name) or symbol_text(name)

    def _suffix(self, value_type: Attribute) -> str:
        if (entry := self._suffixes.get(id(value_type))) is None:
            entry = self._suffixes[id(value_type)] = (value_type, mangled(value_type))
        return entry[1]

    def intrinsic(self, base: str, result: Attribute | None, operands: Sequence[Attribute]) -> str:
        """Returns the symbol of the overload of `llvm.<base>` for these types, declared on first use."""
        name = f"@llvm.{base}"
        overload = INTRINSICS.get(base)
        if overload is not None:
            for position in overload:
                overloaded = result if position == -1 else operands[position] if position < len(operands) else None
                if overloaded is None:
                    raise EmitError(f"intrinsic llvm.{base} has {len(operands)} operands and result {result}")
                name += f".{self._suffix(overloaded)}"
        returned = "void" if result is None else self.type_text(result)
        signature = f"declare {returned} {name}({', '.join(map(self.type_text, operands))})"
        if self.declarations.setdefault(name, signature) != signature:
            raise EmitError(f"intrinsic {name} is used with two signatures")
        return name

    def callee(self, base: str, result: Attribute | None, operands: Sequence[Attribute]) -> str:
        """Returns the type of the result of an intrinsic and its symbol, found once for the same attribute objects."""
        key = (base, id(result), *map(id, operands))
        if (found := self._callees.get(key)) is None:
            returned = "void" if result is None else self.type_text(result)
            text = f"{returned} {self.intrinsic(base, result, operands)}"
            found = self._callees[key] = (text, result, operands)
        return found[0]

    def node(self, content: str) -> int:
        """Returns the number of the metadata node with this content."""
        if (found := self._shared_nodes.get(content)) is None:
            found = self._shared_nodes[content] = len(self.metadata)
            self.metadata.append(f"!{found} = {content}")
        return found

    def one_node(self) -> int:
        """Returns the node `!{i32 1}` of non-temporal accesses."""
        return self.node("!{i32 1}")

    def loop_metadata(self, hint: str) -> int:
        """Returns a distinct node for one loop with the properties that the words of `hint` stand for."""
        parts: list[str] = []
        for word in hint.split(","):
            if (properties := LOOP_METADATA.get(word)) is None:
                raise EmitError(f"loop hint '{word}' is unknown, expected one of {', '.join(LOOP_METADATA)}")
            parts += (f"!{self.node(f'!{{{content}}}')}" for content in properties)
        number = len(self.metadata)
        self.metadata.append(f"!{number} = distinct !{{!{number}, {', '.join(parts)}}}")
        return number

    @staticmethod
    def quoted(text: str) -> str:
        return metadata_string(text)

    @staticmethod
    def describe(op: Operation, reason: str) -> str:
        """Returns the message of an error about `op`."""
        return f"{location_string(op)}: '{op.name}': {reason}"

    def located(self, op: Operation, function: Callable[..., str], *arguments: Any) -> str:
        """Calls `function(*arguments)` and lets its error name `op`."""
        try:
            return function(*arguments)
        except EmitError as error:
            raise EmitError(self.describe(op, str(error))) from None

    def check_op(self, op: Operation, properties: frozenset[str]) -> None:
        """Raises an error when `op` has a property or attribute that its text would drop."""
        for name in op.properties:
            if name not in properties:
                raise EmitError(self.describe(op, f"property '{name}' has no text form"))
        for name in op.attributes:
            if is_foreign(name):
                continue
            if isinstance(op, llvm.LoadOp) and name == "nontemporal":
                continue
            raise EmitError(self.describe(op, f"attribute '{name}' has no text form"))
