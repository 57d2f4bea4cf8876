"""Patterns of loop functions, loops and blocks of `tensor_loop`, and the decisions that rules about them make."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from .ops import IS_VALUE, VALUE, InRule
from .rules import RuleOp

AXIS_KINDS: Final = ("spatial", "reduce", "serial", "parallel", "vectorized", "unrolled")
"""The kinds of the axes of blocks, then those of loops."""


@irdl_op_definition
class AxisOp(InRule):
    """
    An axis of a block, or the variable of a loop: `pattern.axis reduce in 64`.

    The kind is `spatial` or `reduce` for blocks, `serial`, `parallel`, `vectorized` or `unrolled` for loops. Without a
    kind or an extent it is any.
    """

    name = "pattern.axis"
    kind = opt_prop_def(StringAttr)
    extent = opt_prop_def(IntegerAttr)
    result = result_def(IS_VALUE)

    @classmethod
    def parse(cls, parser: Parser) -> AxisOp:
        # Assembly formats print the type of a number.
        properties: dict[str, Attribute] = {}
        kind = next((each for each in AXIS_KINDS if parser.parse_optional_keyword(each) is not None), None)
        if kind is not None:
            properties["kind"] = StringAttr(kind)
        if parser.parse_optional_keyword("in") is not None:
            extent = parser.parse_integer(allow_boolean=False, allow_negative=False, context_msg=" for an extent")
            properties["extent"] = IntegerAttr(extent, i64)
        op = cls.create(properties=properties, result_types=[VALUE])
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        if self.kind is not None:
            printer.print_string(f" {self.kind.data}")
        if self.extent is not None:
            printer.print_string(f" in {self.extent.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.kind is not None and self.kind.data not in AXIS_KINDS:
            raise VerifyException(f"unknown kind '{self.kind.data}', expected one of {', '.join(AXIS_KINDS)}")


class LoopsOp(InRule):
    """A block, loops or a loop function: patterns of its arguments, and of what it does in their order."""

    arguments = var_operand_def(IS_VALUE)
    parts = var_operand_def(IS_VALUE)
    unordered = opt_prop_def(UnitAttr)
    wanted = opt_prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)


_FORMAT = "(`unordered` $unordered^)? `(` $arguments `)` `of` $parts (`with` $wanted^)? attr-dict"


@irdl_op_definition
class BlockOp(LoopsOp):
    """
    A `tensor_loop.block` by its axes and its stores: `pattern.block(%i, %j) of %store`.

    The stores are patterns of `memref.store`. Those of its init do not count. `unordered` axes match in any order.
    """

    name = "pattern.block"
    assembly_format = _FORMAT


@irdl_op_definition
class NestOp(LoopsOp):
    """Loops, one in another with nothing else between, by their variables and what is inside the innermost."""

    name = "pattern.nest"
    assembly_format = _FORMAT


@irdl_op_definition
class KernelOp(LoopsOp):
    """A `tensor_loop.func` by its buffers, and the loops and blocks that run one after the other in it."""

    name = "pattern.kernel"
    assembly_format = _FORMAT


@irdl_op_definition
class DecideOp(InRule):
    """
    A decision about a matched block or loop, for a rule without a replacement:
    `pattern.decide %block with {stepwell.rows = 2} because "two rows fit the cache"`.

    It gives the attributes to the op where that does not have them. `set ["stepwell.rows"](%n)` gives one that
    `pattern.compute` or `pattern.attribute` found. A rule may end in several decisions.
    """

    name = "pattern.decide"
    target = operand_def(IS_VALUE)
    parameters = opt_prop_def(DictionaryAttr)
    captured_names = opt_prop_def(ArrayAttr)
    captured = var_operand_def(IS_VALUE)
    because = prop_def(StringAttr)
    traits = traits_def(HasParent(RuleOp))
    assembly_format = (
        "$target (`with` $parameters^)? (`set` $captured_names^ `(` $captured `)`)? `because` $because attr-dict"
    )

    def verify_(self) -> None:
        names = () if self.captured_names is None else self.captured_names.data
        if len(names) != len(self.captured) or not all(isinstance(name, StringAttr) for name in names):
            raise VerifyException(f"{len(self.captured)} attributes for the names {self.captured_names}")
        if not names and not (self.parameters is not None and self.parameters.data):
            raise VerifyException("decides nothing, expected an attribute")


__all__ = ["AXIS_KINDS", "AxisOp", "BlockOp", "DecideOp", "KernelOp", "LoopsOp", "NestOp"]
