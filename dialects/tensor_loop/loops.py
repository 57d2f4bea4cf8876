"""Loops: perfect nests (`tensor_loop.grid`) and single loops with a kind (`tensor_loop.for`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IndexType, StringAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.reprs import ShownOp
from .syntax import (
    Extent,
    join_extents,
    parse_extent,
    print_attributes,
    print_body,
    print_extent,
    split_extents,
    verify_extents,
)
from .terminators import YieldOp, complete_bodies

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled")
"""The kinds of a `tensor_loop.for`: iterations in order, independent ones, lanes of a vector, copies of the body."""


def loop_body(names: Sequence[str | None]) -> Region:
    """Makes a region with one `index` argument per name and no ops yet."""
    block = Block(arg_types=[IndexType()] * len(names))
    for variable, name in zip(block.args, names, strict=True):
        variable.name_hint = name
    return Region(block)


class LoopOp(ShownOp):
    """The base of grid and for. It has extents, variables and a body of one block."""

    dynamic_extents = var_operand_def(IndexType)
    static_extents = prop_def(DenseArrayBase.constr(i64))
    body = region_def("single_block")

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp))

    def __post_init__(self) -> None:
        super().__post_init__()
        complete_bodies(self)

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Returns the iterations of each loop, outermost first."""
        numbers: Any = self.properties["static_extents"]
        return join_extents(numbers, self._operands)

    @property
    def variables(self) -> tuple[BlockArgument, ...]:
        """Returns the loop variables, outermost first. Each runs from 0 in steps of 1."""
        return self.regions[0].block._args  # pyright: ignore[reportPrivateUsage]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Returns the kind of each loop, outermost first."""
        return ("serial",) * len(self.variables)

    def verify_(self) -> None:
        """
        Checks the extents and the variables.

        Raises `VerifyException` where the numbers of both differ, and where a variable is no index.
        """
        verify_extents("loop", self.static_extents, self.dynamic_extents)
        if len(self.static_extents) != len(self.variables):
            raise VerifyException(f"{len(self.variables)} loop variables but {len(self.static_extents)} extents")
        for variable in self.variables:
            if not isinstance(variable.type, IndexType):
                raise VerifyException(f"loop variable is of type {variable.type}, expected index")


@irdl_op_definition
class GridOp(LoopOp):
    """
    A perfect nest of serial loops. The body runs for every point of the box, in row-major order.

    ```mlir
    tensor_loop.grid (%i, %j) in (128, 10) { ... }
    ```
    """

    name = "tensor_loop.grid"

    def __init__(self, extents: Sequence[Extent], body: Region | Sequence[str | None]):
        """
        Makes a grid. `body` is a region with one argument per extent, or the names of the variables of an empty one.
        """
        numbers, values = split_extents(extents)
        region = body if isinstance(body, Region) else loop_body(body)
        fill_op(self, values, properties={"static_extents": numbers}, regions=[region])
        complete_bodies(self)

    @classmethod
    def parse(cls, parser: Parser) -> GridOp:
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False).resolve(IndexType())
        )
        parser.parse_keyword("in")
        position = parser.pos
        extents = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_extent(parser))
        if len(extents) != len(variables):
            parser.raise_error(f"{len(variables)} loop variables but {len(extents)} extents", position)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(extents, parser.parse_region(variables))
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.variables, printer.print_ssa_value)
        printer.print_string(" in ")
        with printer.in_parens():
            printer.print_list(self.extents, lambda extent: print_extent(printer, extent))
        print_attributes(printer, self)
        print_body(printer, self.body)


@irdl_op_definition
class ForOp(LoopOp):
    """
    A single loop, whose kind says how the iterations may run.

    They run in order (serial, not printed), on several threads (`parallel`), several at a time (`vectorized`), or
    written out (`unrolled`). All kinds compute the same, except that a `vectorized` reduction may sum in another order.

    ```mlir
    tensor_loop.for %i in 16 vectorized { ... }
    ```
    """

    name = "tensor_loop.for"

    kind = opt_prop_def(StringAttr)

    def __init__(self, extent: Extent, body: Region | str | None = None, kind: str = "serial"):
        """Makes a loop. `body` is a region with one argument, or the name of the variable of an empty one."""
        numbers, values = split_extents([extent])
        region = body if isinstance(body, Region) else loop_body([body])
        properties: dict[str, Attribute] = {"static_extents": numbers}
        if kind != "serial":
            properties["kind"] = StringAttr(kind)
        fill_op(self, values, properties=properties, regions=[region])
        complete_bodies(self)

    @property
    def extent(self) -> Extent:
        return self.extents[0]

    @property
    def variable(self) -> BlockArgument:
        return self.variables[0]

    @property
    def kind_name(self) -> str:
        return "serial" if self.kind is None else self.kind.data

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind_name,)

    def verify_(self) -> None:
        super().verify_()
        if len(self.variables) != 1:
            raise VerifyException(f"expected one loop variable, found {len(self.variables)}")
        if self.kind_name not in LOOP_KINDS:
            raise VerifyException(_unknown_kind(self.kind_name))

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        variable = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_keyword("in")
        extent = parse_extent(parser)
        kind = "serial"
        position = parser.pos
        word = parser.parse_optional_identifier()
        attributes = None
        if word is not None and word != "attributes":
            if word not in LOOP_KINDS:
                parser.raise_error(_unknown_kind(word), position, position + len(word))
            kind = word
            attributes = parser.parse_optional_attr_dict_with_keyword()
        elif word is not None:
            attributes = parser.parse_optional_attr_dict_with_reserved_attr_names()
        op = cls(extent, parser.parse_region([variable]), kind)
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.variable)
        printer.print_string(" in ")
        print_extent(printer, self.extent)
        if self.kind is not None:
            printer.print_string(f" {self.kind.data}")
        print_attributes(printer, self)
        print_body(printer, self.body)


def _unknown_kind(kind: str) -> str:
    return f"unknown loop kind '{kind}', expected parallel, vectorized or unrolled"


def loop_variable_range(value: SSAValue) -> tuple[int, int] | None:
    """Returns the interval of a loop variable with a known extent. It is `None` for any other value."""
    if not isinstance(value, BlockArgument) or not isinstance(loop := value.block.parent_op(), LoopOp):
        return None
    extent = loop.extents[value.index]
    return (0, extent - 1) if isinstance(extent, int) else None
