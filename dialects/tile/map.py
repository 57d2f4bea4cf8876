"""Elementwise computation on register tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import ContainerType, VectorType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.reprs import ShownOp
from .ops import is_tile

ON_ELEMENTS = ("tile.larger", "tile.limit", "tile.lookup", "tile.scale", "tile.smaller")
"""The ops of this dialect that the body of a `tile.map` may hold."""


@irdl_op_definition
class YieldOp(ShownOp):
    """The element that a `tile.map` makes: `tile.yield %y : f32`."""

    name = "tile.yield"

    value = operand_def(AnyAttr())

    traits = lazy_traits_def(lambda: (Pure(), IsTerminator(), HasParent(MapOp)))

    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        fill_op(self, (value,))


@irdl_op_definition
class MapOp(ShownOp):
    """
    `result[r, c] = body(tiles[0][r, c], tiles[1][r, c], ...)`, for tiles of one shape.

        %y = tile.map(%a = %acc, %b = %bias) : (vector<8x48xf32>, vector<8x48xf32>) -> vector<8x48xf32> {
          %s = arith.addf %a, %b : f32
          %z = arith.constant 0.0 : f32
          %r = arith.maximumf %s, %z : f32
          tile.yield %r : f32
        }

    The body is scalar arithmetic without effects, which may include the ops of `elements.py`. It may use
    numbers from outside.
    """

    name = "tile.map"

    tiles = var_operand_def(VectorType)
    result = result_def(VectorType)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, tiles: Sequence[SSAValue], result_type: Attribute, body: Region):
        fill_op(self, tiles, (result_type,), regions=(body,))

    @property
    def yielded(self) -> SSAValue:
        """Returns the element of the result."""
        last = self.regions[0].block.last_op
        assert isinstance(last, YieldOp)
        return last._operands[0]

    def verify_(self) -> None:
        result = cast(VectorType, self.result.type)
        types = [cast(VectorType, each.type) for each in self.tiles]
        for type_ in (*types, result):
            if not is_tile(type_):
                raise VerifyException(f"the op has a value of type {type_}, expected tiles")
            if type_.get_shape() != result.get_shape():
                raise VerifyException(f"a tile of type {type_} is mapped to one of {result}: their shapes differ")
        if [argument.type for argument in self.body.block.args] != [type_.element_type for type_ in types]:
            raise VerifyException("the arguments of the body are not the elements of the tiles")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or last.value.type != result.element_type:
            raise VerifyException(f"the body must end in a tile.yield of {result.element_type}")
        for op in self.body.block.ops:
            on_elements = op.dialect_name() in ("arith", "math") or op.name in ON_ELEMENTS
            if op is not last and (op.regions or not on_elements):
                raise VerifyException(f"the body has '{op.name}', expected scalar arithmetic")
            for value in (*op.operands, *op.results):
                if isinstance(value.type, ContainerType):
                    raise VerifyException(f"'{op.name}' computes on {value.type}, expected numbers")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = []

        def tile() -> object:
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation("=")
            return parser.parse_unresolved_operand()

        tiles = parser.parse_comma_separated_list(parser.Delimiter.PAREN, tile)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        if len(types) != len(tiles):
            parser.raise_error(f"{len(tiles)} tiles but {len(types)} types")
        arguments = [
            name.resolve(type_.element_type if isinstance(type_, VectorType) else type_)
            for name, type_ in zip(names, types, strict=True)
        ]
        values = [parser.resolve_operand(t, type_) for t, type_ in zip(tiles, types, strict=True)]  # pyright: ignore
        op = cls(values, result_type, parser.parse_region(arguments))
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        arguments = self.body.block.args
        with printer.in_parens():
            printer.print_list(
                list(zip(arguments, self.tiles, strict=True)),
                lambda pair: (
                    printer.print_ssa_value(pair[0]),
                    printer.print_string(" = "),
                    printer.print_ssa_value(pair[1]),
                ),
            )
        printer.print_string(" : (")
        printer.print_list([each.type for each in self.tiles], printer.print_attribute)
        printer.print_string(") -> ")
        printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
