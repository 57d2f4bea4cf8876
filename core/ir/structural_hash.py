"""A hash of what a module says: the same for the same ops, whatever its values are called and where it was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from .walk import walk

DIGITS: Final = 16
"""Hexadecimal digits of a hash, 64 bits: enough to tell the modules of one project apart."""


def structural_hash(op: Operation) -> str:
    """
    The hash of `op` with all it contains, the same in every process.

    Counted in are op names, operands, types, attributes, properties, successors and the nesting. Graph ops count with
    the normal form of their properties (`core.ir.normal_form`). Not counted in are names of values and blocks,
    locations, the order of attributes, and whether one of them is a property.
    """
    return _Hasher([op]).digest()


class Texts:
    """
    The texts of attributes, found out once per object for many hashes.

    By identity: 0.0 and -0.0 make equal attributes. The attributes are kept alive, lest another one gets the place of
    one that went.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Attribute, str]] = {}

    def text(self, attribute: Attribute) -> str:
        """What distinguishes the attribute from all others, as text."""
        known = self._known.get(id(attribute))
        if known is None:
            known = self._known[id(attribute)] = (attribute, _text(attribute))
        return known[1]


def structural_hash_of_ops(ops: Sequence[Operation], inputs: Sequence[SSAValue], texts: Texts | None = None) -> str:
    """
    The hash of ops of one block with what they contain, as the body of a function of `inputs` with the results of the
    last.

    Other values from outside must not be used. It is not the hash of that function, nor of one op. `texts` may be
    shared by hashes.
    """
    return _Hasher(ops, inputs, texts).digest()


class _Hasher:
    """
    Two walks: the first numbers values and blocks, the second writes a line per op and block with these numbers.

    The line of an op names its block and its regions' blocks, so the lines fix the nesting.
    """

    def __init__(self, roots: Sequence[Operation], inputs: Sequence[SSAValue] = (), texts: Texts | None = None):
        self._roots = roots
        self._inputs = inputs
        self._values: dict[SSAValue, int] = {value: number for number, value in enumerate(inputs)}
        self._blocks: dict[Block, int] = {}
        self._text = (Texts() if texts is None else texts).text

    def digest(self) -> str:
        ops = [op for root in self._roots for op in walk(root)]
        for op in ops:
            for block in _blocks(op):
                self._blocks[block] = len(self._blocks)
                for argument in block.args:
                    self._values[argument] = len(self._values)
            for result in op.results:
                self._values[result] = len(self._values)
        digest = sha256(self._list(value.type for value in self._inputs).encode())
        for op in ops:
            digest.update(self._line(op).encode())
        return digest.hexdigest()[:DIGITS]

    def _line(self, op: Operation) -> str:
        parts = [op.name, self._number(op.parent)]
        parts.append(" ".join(str(self._values.get(value, "outside")) for value in op.operands))
        parts.append(self._list(result.type for result in op.results))
        parts.append(" ".join(self._number(block) for block in op.successors))
        # Together: the custom syntax of some ops reads back as an attribute what was a property.
        own = getattr(op, "normal_properties", None)
        named = [*(op.properties if own is None else own()).items(), *op.attributes.items()]
        parts.append(" ".join(sorted(f"{name}={self._text(value)}" for name, value in named)))
        for region in op.regions:
            parts.append("region")
            for block in region.blocks:
                types = self._list(argument.type for argument in block.args)
                parts.append(f"{self._blocks[block]}({types})")
        return "\x1f".join(parts) + "\n"

    def _number(self, block: Block | None) -> str:
        return "-" if block is None else str(self._blocks.get(block, "-"))

    def _list(self, attributes: Iterable[Attribute]) -> str:
        return " ".join(self._text(each) for each in attributes)


def _text(attribute: Attribute) -> str:
    match attribute:
        case IntegerAttr() | StringAttr() | SymbolRefAttr():
            return _printed(attribute)
        case DenseIntOrFPElementsAttr():
            # Printing would be slow, and loses the bits of NaNs.
            return f"dense<{sha256(attribute.data.data).hexdigest()}> : {_text(attribute.type)}"
        case ArrayAttr():
            return f"[{', '.join(map(_text, attribute.data))}]"
        case DictionaryAttr():
            return f"{{{', '.join(f'{name!r} = {_text(attribute.data[name])}' for name in sorted(attribute.data))}}}"
        case FunctionType():
            inputs, outputs = [*map(_text, attribute.inputs)], [*map(_text, attribute.outputs)]
            return f"{_listed(inputs)} -> {outputs[0] if len(outputs) == 1 else _listed(outputs)}"
        case TensorType() if isinstance(attribute.encoding, NoneAttr):
            return _printed(attribute)
        case MemRefType() if isinstance(attribute.layout, NoneAttr) and isinstance(attribute.memory_space, NoneAttr):
            return _printed(attribute)
        case _:
            return str(attribute)


def _listed(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)})"


@lru_cache(4096)
def _printed(attribute: Attribute) -> str:
    """The text of an attribute without floats inside, which equals others only when their texts are the same."""
    return str(attribute)


def _blocks(op: Operation) -> Iterable[Block]:
    for region in op.regions:
        yield from region.blocks
