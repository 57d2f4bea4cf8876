"""
The custom form of a block. It is written by hand, because axes are named before the regions that use them, and both are
affine expressions of SSA names. `assembly_format` cannot express that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, IndexType, MemRefType
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from ...core.messages.diagnostics import did_you_mean
from ...lazy_dataclass import dataclass
from .affine_expressions import AxisNames, OperandCollector, parse_affine, print_affine
from .regions import BufferRegion
from .syntax import AXIS_KINDS, Constraint, Extent, parse_extent, print_extent

PARTS = (*AXIS_KINDS, "where", "reads", "writes", "attributes")
"""The words that parts of a block begin with, in their order."""


@dataclass(frozen=True)
class BlockParts:
    """The parts of the text of a block. The fields are the arguments that make the op."""

    name: str
    kinds: Sequence[str]
    extents: Sequence[Extent]
    bindings: Sequence[AffineExpr]
    binding_operands: Sequence[SSAValue]
    body: Region
    constraints: Sequence[Constraint]
    reads: Sequence[BufferRegion] | None
    writes: Sequence[BufferRegion] | None


def parse_block(parser: Parser) -> tuple[BlockParts, DictionaryAttr | None]:
    """Parses `string axes* where? reads? writes? (attributes dict)? region` after `tensor_loop.block`."""
    name = parser.parse_str_literal(" for the name of the block")
    operands = OperandCollector(parser)
    arguments: list[Parser.Argument] = []
    kinds: list[str] = []
    extents: list[Extent] = []
    bindings: list[AffineExpr] = []

    def parse_axis() -> None:
        arguments.append(parser.parse_argument(expect_type=False).resolve(IndexType()))
        parser.parse_keyword("in")
        extents.append(parse_extent(parser))
        parser.parse_punctuation("=", " and the binding of the axis")
        bindings.append(parse_affine(parser, operands.dimension))

    while (kind := _parse_optional_axis_kind(parser)) is not None:
        parsed = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_axis)
        kinds.extend([kind] * len(parsed))
    axes = [argument.name.text for argument in arguments]
    constraints = _parse_where(parser, operands)
    if (inside := operands.first_of(axes)) is not None:
        raise ParseError(
            inside, f"{inside.text} is an axis of this block; bindings and where are affine in values from outside"
        )
    axis_names = AxisNames(parser, axes)
    reads = _parse_regions(parser, "reads", axis_names)
    writes = _parse_regions(parser, "writes", axis_names)
    attributes = parser.parse_optional_attr_dict_with_keyword()
    _refuse_other_words(parser)
    body = parser.parse_region(arguments)
    parts = BlockParts(name, kinds, extents, bindings, operands.operands, body, constraints, reads, writes)
    return parts, attributes


def _parse_optional_axis_kind(parser: Parser) -> str | None:
    return next((kind for kind in AXIS_KINDS if parser.parse_optional_keyword(kind) is not None), None)


def _refuse_other_words(parser: Parser) -> None:
    """Raises ParseError for a word where the body should begin: a part that is misspelt or out of order."""
    start = parser.pos
    word = parser.parse_optional_identifier()
    if word is not None:
        hint = did_you_mean(word, PARTS)
        expected = f"the parts of a block are, in this order, {', '.join(PARTS)} and its body"
        parser.raise_error(
            f"found '{word}' before the body, {expected}" + (f"; {hint}" if hint else ""), start, start + len(word)
        )


def _parse_where(parser: Parser, operands: OperandCollector) -> list[Constraint]:
    if parser.parse_optional_keyword("where") is None:
        return []

    def parse_constraint() -> Constraint:
        expr = parse_affine(parser, operands.dimension)
        parser.parse_punctuation("<", " in a where clause")
        return expr, parser.parse_integer(allow_boolean=False, context_msg=" after '<' in a where clause")

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_constraint)


def _parse_regions(parser: Parser, keyword: str, axis_names: AxisNames) -> list[BufferRegion] | None:
    if parser.parse_optional_keyword(keyword) is None:
        return None
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_region(parser, axis_names))


def _parse_region(parser: Parser, axis_names: AxisNames) -> BufferRegion:
    def parse_range() -> tuple[AffineExpr, int]:
        low = parse_affine(parser, axis_names.dimension)
        if parser.parse_optional_punctuation(":") is None:
            return low, 1
        if parser.parse_optional_punctuation("?") is not None:
            return low, DYNAMIC_INDEX
        position = parser.pos
        size = parser.parse_integer(allow_boolean=False, context_msg=" for the size of a region")
        if size < 0:
            parser.raise_error(f"size of a region must be 0 or more, found {size}", position, parser.pos)
        return low, size

    buffer = _parse_buffer(parser)
    ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
    return BufferRegion(buffer, tuple(low for low, _ in ranges), tuple(size for _, size in ranges))


def _parse_buffer(parser: Parser) -> SSAValue:
    """Parses a buffer by name alone. Its type is that of its definition, which comes before the block."""
    operand = parser.parse_unresolved_operand("expected a buffer")
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        raise ParseError(operand.span, f"buffer %{operand.operand_name} is not defined before this block")
    buffer = values[operand.index]
    if not isinstance(buffer.type, MemRefType):
        raise ParseError(operand.span, f"%{operand.operand_name} is of type {buffer.type}, expected a memref")
    return buffer


def print_head(printer: Printer, op: BlockParts) -> None:
    """Prints the text before the attributes and the body of a block."""
    printer.print_string(" ")
    printer.print_string_literal(op.name)
    _print_axes(printer, op)
    _print_where(printer, op)
    for keyword, regions in (("reads", op.reads or ()), ("writes", op.writes or ())):
        printer.print_string(f" {keyword}")
        with printer.in_parens():
            printer.print_list(regions, lambda region: _print_region(printer, op, region))


def _print_axes(printer: Printer, op: BlockParts) -> None:
    """Prints the axes. Axes of one kind that follow each other share one pair of parentheses."""

    def print_axis(axis: int) -> None:
        printer.print_ssa_value(op.body.block.args[axis])
        printer.print_string(" in ")
        print_extent(printer, extents[axis])
        printer.print_string(" = ")
        print_affine(printer, exprs[axis], op.binding_operands)

    extents, exprs, kinds = op.extents, op.bindings, op.kinds
    for kind, group in groupby(range(len(kinds)), key=lambda axis: kinds[axis]):
        printer.print_string(f" {kind}")
        with printer.in_parens():
            printer.print_list(list(group), print_axis)


def _print_where(printer: Printer, op: BlockParts) -> None:
    def print_constraint(constraint: Constraint) -> None:
        print_affine(printer, constraint[0], op.binding_operands)
        printer.print_string(f" < {constraint[1]}")

    if op.constraints:
        printer.print_string(" where")
        with printer.in_parens():
            printer.print_list(op.constraints, print_constraint)


def _print_region(printer: Printer, op: BlockParts, region: BufferRegion) -> None:
    def print_range(dim: int) -> None:
        print_affine(printer, region.lows[dim], op.body.block.args)
        size = region.sizes[dim]
        if size != 1:
            printer.print_string(" : ?" if size == DYNAMIC_INDEX else f" : {size}")

    printer.print_ssa_value(region.buffer)
    with printer.in_square_brackets():
        printer.print_list(range(len(region.lows)), print_range)
