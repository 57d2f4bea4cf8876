"""Moves about what is inside of ops: regions, calls, operands, attributes and constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DictionaryAttr, IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....core.ir.cloning import clone_op
from ....core.ir.symbols import lookup_symbol
from ....core.ir.walk import ops_in, walk
from ..move import Move
from ..subject import Program
from .ops import is_in
from .zeros import zero_like


class InlineRegions(Move):
    """Puts the ops of a region in place of the op around it. Arguments become operands of the same type, or zeros."""

    name = "inline regions"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        return [
            (op, number)
            for op in walk(subject.module)[1:]
            if "function_type" not in op.properties
            for number, region in enumerate(op.regions)
            if len(region.blocks) == 1
        ]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for op, number in edits:
            if is_in(op, subject.module):
                inline(op, op.regions[number].blocks[0], op.operands)


def inline(op: Operation, block: Block, given: Sequence[SSAValue]) -> None:
    """Moves the ops of a block before an op, which goes. Raises `ValueError` where a value has no replacement."""
    home = op.parent
    assert home is not None
    taken: list[SSAValue] = list(given)
    for argument in block.args:
        if argument.first_use is not None:
            other = next((each for each in taken if each.type == argument.type), None)
            if other is not None and len(given) == len(block.args):
                taken.remove(other)
            argument.replace_all_uses_with(other or _zero(op, argument.type))
    last = block.last_op
    yielded = list(last.operands) if last is not None and last.has_trait(IsTerminator) else []
    inner = ops_in(block)
    for each in inner:
        if each is last and each.has_trait(IsTerminator, value_if_unregistered=False):
            continue
        each.detach()
        home.insert_op_before(each, op)
    for result in op.results:
        if result.first_use is not None:
            other = next((each for each in yielded if each.type == result.type), None)
            if other is not None and len(yielded) == len(op.results):
                yielded.remove(other)
            result.replace_all_uses_with(other or _zero(op, result.type))
    op.detach()
    op.erase(safe_erase=False)


def _zero(op: Operation, type_: Attribute) -> SSAValue:
    found = zero_like(op, type_)
    if found is None:
        raise ValueError(f"there is no zero of type {type_}")
    return found


class InlineCalls(Move):
    """Puts the body of a function in place of a call."""

    name = "inline calls"
    grows = True

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        return [op for op in walk(subject.module)[1:] if isinstance(op.properties.get("callee"), SymbolRefAttr)]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for op in edits:
            if not is_in(op, subject.module):
                continue
            callee = op.properties["callee"].root_reference.data
            function = lookup_symbol(op, callee)
            if function is None or function.is_ancestor(op) or len(function.regions[0].blocks) != 1:
                raise ValueError(f"@{callee} has no body of one block")
            copy = clone_op(function)
            inline(op, copy.regions[0].blocks[0], op.operands)


class SimplifyOperands(Move):
    """Makes ops take values that stand earlier, of the same type: the first argument, or the operand of an operand."""

    name = "simplify operands"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        return [
            (op, number) for op in walk(subject.module)[1:] for number, each in enumerate(op.operands) if _earlier(each)
        ]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for op, number in edits:
            if is_in(op, subject.module):
                op.operands[number] = _earlier(op.operands[number]) or op.operands[number]


def _earlier(value: SSAValue) -> SSAValue | None:
    """Returns the first argument of the same type around a value, where the value is another one."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if block is None:
        return None
    found = next((each for each in block.args if each.type == value.type), None)
    return None if found is value else found


class DropAttributes(Move):
    """Leaves out attributes, and properties that may be missing."""

    name = "drop attributes"
    kept: Final = ("sym_name", "function_type", "operandSegmentSizes", "resultSegmentSizes")

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        found: list[tuple[Operation, str, str]] = []
        for op in walk(subject.module):
            found += [(op, "attributes", name) for name in op.attributes]
            found += [(op, "properties", name) for name in op.properties if name not in self.kept]
        return found

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for op, kind, name in edits:
            if is_in(op, subject.module):
                getattr(op, kind).pop(name, None)


class SimplifyNumbers(Move):
    """Makes tensors of constants one number each, and numbers 0 or 1."""

    name = "simplify constants"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        return [
            (op, name)
            for op in walk(subject.module)
            for name, value in op.properties.items()
            if simpler(value) is not None
        ]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for op, name in edits:
            if is_in(op, subject.module) and name in op.properties:
                op.properties[name] = simpler(op.properties[name]) or op.properties[name]


def simpler(value: Attribute) -> Attribute | None:
    """Returns a simpler constant: the first number of a tensor for all, half of an integer."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        if value.is_splat():
            return None
        return DenseIntOrFPElementsAttr.from_list(value.type, [next(iter(value.iter_values()))])  # pyright: ignore
    if isinstance(value, IntegerAttr) and abs(value.value.data) > 1:
        return IntegerAttr(value.value.data // 2 if value.value.data > 0 else -(-value.value.data // 2), value.type)
    if isinstance(value, DictionaryAttr) and value.data:
        return DictionaryAttr({})
    return None


INSIDE: Final = (InlineRegions(), InlineCalls())
DETAILS: Final = (SimplifyOperands(), DropAttributes(), SimplifyNumbers())
