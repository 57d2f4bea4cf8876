"""The multiply-accumulate of register tiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Self, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
    VectorType,
    bf16,
    f32,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
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
from xdsl.traits import MemoryReadEffect
from xdsl.utils.exceptions import VerifyException

from ...core.ir.element_types import is_small_float
from ...core.ir.reprs import ShownOp
from ..traits import AccessesBoxes, BoxAccess, ElementAccess
from .instructions import AMX, INSTRUCTIONS
from .ops import box, elements, pair, resolve, verify_pairs, verify_tile
from .places import Place, numbers, parse_pair, parse_place, print_place, verify_place

MAX_DEPTH = 64
"""The most steps of the sum that one `tile.mma` may write out."""

GROUP = 4
"""The bytes of a group. Instructions add the dot product of four bytes to a 32-bit number."""


def group_of(element: Attribute) -> int:
    """Returns the number of elements of a group: four of one byte, or two of 16 bits."""
    return GROUP // 2 if element in (bf16, i16) else GROUP


GROUPED = ((i8, i8, i32), (bf16, bf16, f32), (i16, i16, i32))
"""The elements of both operands of groups, and of their sums."""

AMX_ROWS = 16
"""
The rows, columns and groups of a tile register (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1,
chapter 18).
"""

AMX_MOST = 2 * AMX_ROWS
"""
The most rows and columns of a product by `amx`. Of eight tile registers four hold sums, two rows of A and two columns
of B.
"""


@irdl_op_definition
class MmaOp(ShownOp, AccessesBoxes):
    """
    Multiplies and accumulates: `result[r, c] = acc[r, c] + sum over d < depth of A(r, d) * B(d, c)`, one `d` after the
    other.

        %next = tile.mma %acc, %A[%i, %k], %B[%k, %j] depth 4
            : vector<8x48xf32>, memref<100x64xf32>, memref<64x96xf32>

    `A(r, d)` walks the rows of the tile and the depth, and `B(d, c)` the depth and the columns, as places do
    (`tile.load`). Floats are multiplied and added with one rounding where the machine has an instruction for that. f16
    and bf16 elements, of A, of B or of both, are widened to an f32 tile. Integers wrap. Narrower integers are widened
    with their sign, except those of A after `unsigned` and those of B after `right_unsigned`.

        %next = tile.mma %acc, %A[%i, %k], %B[%q, %j, %zero] along [0, 1] depth 2 groups unsigned using "vpdpbusd"
            : vector<8x48xi32>, memref<100x64xi8>, memref<16x96x4xi8>

    With `groups` each of the `depth` steps is a dot product of four bytes: `A(r, 4 * d + e) * B(d, c)[e]` for `e` in
    0..3. Here `[e]` moves in the last dimension of B, which has four elements. `using` names the instruction of the
    machine that computes it. Without it the products are exact as well, by whatever instructions there are. `vpdpbusd`
    (AVX-512 VNNI), `vex.vpdpbusd` (AVX-VNNI) and `usdot` (Arm) take one of the operands without a sign, and the other
    with one; `sdot` takes both with signs, and `udot` both without. `vpmaddwd` (AVX-512), `vex.vpmaddwd` (AVX2) and
    `pmaddwd` (any x86-64) take both with or without signs.

        %next = tile.mma %acc, %X[%n, %y, %x, %c], %B[%k, %j] depth 4 rows [1, 5]
            : vector<6x64xf32>, memref<1x56x56x64xf32>, memref<64x128xf32>

    Groups of two i16, which have signs, are added to an i32 tile, by `vpmaddwd` and its like in one instruction and a
    sum. Groups of two bf16 are added to an f32 tile. `vdpbf16ps` and `bfdot` take numbers below 2**-126 for zeros, in
    the columns that fill registers. `bfdot` may also round the sum of two products to odd before it is added.
    Elsewhere, and without `using`, numbers count in full.

        %next = tile.mma %acc, %A[%i, %k], %B[%q, %j, %zero] along [0, 1] depth 2 groups nibbles using "vpdpbusd"
            : vector<1x64xi32>, memref<100x64xi8>, memref<16x64x4xi8>

    With `nibbles` a byte of B holds two numbers from 0 to 15. Each step is a dot product of the four in the lower
    halves and of the four in the upper ones: `A(r, 8 * d + e)` times the lower half and `A(r, 8 * d + 4 + e)` times the
    upper half of `B(d, c)[e]`. `vpmaddubsw` (AVX2) multiplies groups of these alone, as larger numbers would saturate.

    `rows [first, count]` are the rows of the tile that something is added to. A starts at the first of them. The other
    rows stay as they are. `amx` adds to all rows.

        %sum = tile.mma %zeros, %A[%i, %zero], %B[%p, %zero, %zero, %zero] along [1, 2] depth 256 groups using "amx"
            : vector<32x32xi32>, memref<64x1024xi8>, memref<3x256x32x4xi8>

    `amx` sums up on tile registers, all of the `depth` in one op. It reads whole tile registers, 16 rows of A and 16
    columns of B or twice as many, even where the result is smaller. The depth is a multiple of 16 groups. It also takes
    groups of two bf16, whose products are added to an f32 tile in an order of its own. Numbers below 2**-126 count as
    zeros there.
    """

    name = "tile.mma"

    acc = operand_def(VectorType)
    a = operand_def(MemRefType)
    a_indices = var_operand_def(IndexType)
    b = operand_def(MemRefType)
    b_indices = var_operand_def(IndexType)
    a_along = prop_def(DenseArrayBase.constr(i64))
    a_by = prop_def(DenseArrayBase.constr(i64))
    b_along = prop_def(DenseArrayBase.constr(i64))
    b_by = prop_def(DenseArrayBase.constr(i64))
    depth = prop_def(IntegerAttr)
    rows = opt_prop_def(DenseArrayBase.constr(i64))
    groups = opt_prop_def(UnitAttr)
    nibbles = opt_prop_def(UnitAttr)
    unsigned = opt_prop_def(UnitAttr)
    right_unsigned = opt_prop_def(UnitAttr)
    using = opt_prop_def(StringAttr)
    result = result_def(VectorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        acc: SSAValue,
        a: Place,
        b: Place,
        depth: int,
        *,
        groups: bool = False,
        nibbles: bool = False,
        unsigned: bool = False,
        right_unsigned: bool = False,
        using: str | None = None,
        rows: tuple[int, int] | None = None,
    ):
        super().__init__(
            operands=[acc, a.buffer, list(a.indices), b.buffer, list(b.indices)],
            result_types=[acc.type],
            properties={
                "a_along": numbers(a.along),
                "a_by": numbers(a.by),
                "b_along": numbers(b.along),
                "b_by": numbers(b.by),
                "depth": IntegerAttr(depth, i64),
                "rows": None if rows is None else numbers(rows),
                "groups": UnitAttr() if groups else None,
                "nibbles": UnitAttr() if nibbles else None,
                "unsigned": UnitAttr() if unsigned else None,
                "right_unsigned": UnitAttr() if right_unsigned else None,
                "using": None if using is None else StringAttr(using),
            },
        )

    @property
    def a_place(self) -> Place:
        """Returns the place of the left operand, which moves with rows and depth."""
        return Place(self.a, tuple(self.a_indices), pair(self.a_along), pair(self.a_by))

    @property
    def b_place(self) -> Place:
        """Returns the place of the right operand, which moves with depth and columns."""
        return Place(self.b, tuple(self.b_indices), pair(self.b_along), pair(self.b_by))

    @property
    def uses_amx(self) -> bool:
        """Returns whether the product is computed on tile registers."""
        return self.using is not None and self.using.data == AMX

    @property
    def products(self) -> int:
        """Returns the products that each step of the depth adds to an element of the tile."""
        if self.groups is None:
            return 1
        return group_of(self.a_place.type.element_type) * (1 if self.nibbles is None else 2)

    @property
    def row_range(self) -> range:
        """Returns the rows of the tile that something is added to."""
        if self.rows is None:
            return range(cast(VectorType, self.acc.type).get_shape()[0])
        first, count = pair(self.rows)
        return range(first, first + count)

    @property
    def sums(self) -> int:
        """Returns the number of elements of the tile that something is added to."""
        return len(self.row_range) * cast(VectorType, self.acc.type).get_shape()[1]

    def _extents(self) -> tuple[int, int]:
        """Returns the numbers of rows of A and columns of B that are read."""
        rows, columns = len(self.row_range), cast(VectorType, self.acc.type).get_shape()[1]
        if self.uses_amx:
            return -(-rows // AMX_ROWS) * AMX_ROWS, -(-columns // AMX_ROWS) * AMX_ROWS
        return rows, columns

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        rows, columns = self._extents()
        depth = self.depth.value.data
        right = box(self.b_place, (depth, columns), is_store=False)
        if self.groups is not None:
            group = group_of(self.a_place.type.element_type)
            right = replace(right, sizes=(*right.sizes[:-1], group))
        depth *= self.products
        return (box(self.a_place, (rows, depth), is_store=False), right)

    def elements(self) -> tuple[ElementAccess, ...]:
        rows, columns = len(self.row_range), cast(VectorType, self.acc.type).get_shape()[1]
        depth = self.depth.value.data
        right = elements(self.b_place, (depth, columns), is_store=False)
        if self.groups is not None:
            group = group_of(self.a_place.type.element_type)
            right = replace(right, moves=(*right.moves, (len(right.indices) - 1, 1, group)))
        depth *= self.products
        return (elements(self.a_place, (rows, depth), is_store=False), right)

    def verify_(self) -> None:
        verify_pairs(self, ("a_along", "a_by", "b_along", "b_by"))
        type_ = cast(VectorType, self.acc.type)
        verify_tile(type_)
        if self.result.type != type_:
            raise VerifyException(f"the result has type {self.result.type}, expected {type_}")
        self._verify_rows(type_.get_shape()[0])
        depth = self.depth.value.data
        if depth < 1 or (depth > MAX_DEPTH and not self.uses_amx):
            raise VerifyException(f"the depth is {depth}, expected 1 to {MAX_DEPTH}")
        rows, columns = self._extents()
        verify_place(self.a_place, "the left operand", (rows, depth * self.products))
        verify_place(self.b_place, "the right operand", (depth, columns))
        left, right = self.a_place.type.element_type, self.b_place.type.element_type
        if not _fits(left, right, type_.element_type):
            raise VerifyException(f"a product of {left} and {right} cannot be added to a tile of {type_}")
        for side, flag, element in (
            ("left", self.unsigned, left),
            ("right", self.right_unsigned, right),
        ):
            if flag is not None and not isinstance(element, IntegerType):
                raise VerifyException(f"the {side} operand is unsigned, expected integers, found {element}")
        if self.groups is not None:
            self._verify_groups(type_)
        elif self.nibbles is not None:
            raise VerifyException("nibbles are multiplied in groups, which the op has not")
        self._verify_instruction(type_, depth)

    def _verify_rows(self, rows: int) -> None:
        if self.rows is None:
            return
        verify_pairs(self, ("rows",))
        first, count = pair(self.rows)
        if first < 0 or count < 1 or first + count > rows:
            raise VerifyException(f"{count} rows from row {first} on, expected some of the {rows} of the tile")
        if self.uses_amx:
            raise VerifyException(f"the instruction {self.using} adds to all rows of a tile")

    def _verify_instruction(self, type_: VectorType, depth: int) -> None:
        if self.using is None:
            return
        instruction = INSTRUCTIONS.get(self.using.data)
        if instruction is None:
            raise VerifyException(f"the instruction is {self.using}, expected {' or '.join(INSTRUCTIONS)}")
        if self.groups is None:
            raise VerifyException(f"the instruction {self.using} multiplies groups")
        unsigned = (self.unsigned is not None) + (self.right_unsigned is not None)
        if instruction.nibbles and self.nibbles is None:
            raise VerifyException(
                f"the instruction {self.using} multiplies groups of nibbles, as others would saturate"
            )
        if instruction.unsigned is not None and unsigned != instruction.unsigned:
            raise VerifyException(f"the instruction {self.using} multiplies groups {instruction.signs}")
        if self.uses_amx and (max(type_.get_shape()) > AMX_MOST or depth % AMX_ROWS):
            raise VerifyException(
                f"the instruction {self.using} makes tiles of up to {AMX_MOST}x{AMX_MOST} from a multiple of "
                f"{AMX_ROWS} groups, "
                f"found {type_} and depth {depth}"
            )

    def _verify_groups(self, type_: VectorType) -> None:
        right = self.b_place
        types = (self.a_place.type.element_type, right.type.element_type, type_.element_type)
        if types not in GROUPED:
            found = f"{types[0]}, {types[1]} and {types[2]}"
            expected = " or ".join(f"{a}, {b} and {sum_}" for a, b, sum_ in GROUPED)
            raise VerifyException(f"groups are of elements of {found}, expected {expected}")
        instruction = None if self.using is None else INSTRUCTIONS.get(self.using.data)
        if instruction is not None and str(types[0]) not in instruction.elements:
            raise VerifyException(
                f"the instruction {self.using} multiplies groups of {' or '.join(instruction.elements)}"
            )
        if types[0] == i16 and (self.unsigned is not None or self.right_unsigned is not None):
            raise VerifyException("groups of i16 have signs")
        if self.nibbles is not None and (types[0] != i8 or self.uses_amx):
            raise VerifyException("nibbles are halves of bytes in vector registers")
        group = group_of(types[1])
        shape = right.type.get_shape()
        if shape[-1:] != (group,):
            raise VerifyException(
                f"groups lie in the last dimension of {self.b.type}, expected {group} elements in that"
            )
        if len(shape) - 1 in right.along:
            raise VerifyException(f"the right operand runs along dimension {len(shape) - 1}, in which its groups lie")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        acc = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        left = parse_place(parser)
        parser.parse_punctuation(",")
        right = parse_place(parser)
        parser.parse_keyword("depth")
        depth = parser.parse_integer()
        rows = parse_pair(parser, "rows")
        groups = parser.parse_optional_keyword("groups") is not None
        nibbles = parser.parse_optional_keyword("nibbles") is not None
        unsigned = parser.parse_optional_keyword("unsigned") is not None
        right_unsigned = parser.parse_optional_keyword("right_unsigned") is not None
        using = parser.parse_str_literal() if parser.parse_optional_keyword("using") is not None else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) != 3:
            parser.raise_error(f"expected the types of the tile and of two buffers, found {len(types)}")
        a, a_along, a_by = resolve(parser, left, types[1])
        b, b_along, b_by = resolve(parser, right, types[2])
        op = cls(
            parser.resolve_operand(acc, types[0]),
            Place(a, tuple(left.indices), a_along, a_by),
            Place(b, tuple(right.indices), b_along, b_by),
            depth,
            groups=groups,
            nibbles=nibbles,
            unsigned=unsigned,
            right_unsigned=right_unsigned,
            using=using,
            rows=None if rows is None else (rows[0], rows[1]),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.acc)
        for place in (self.a_place, self.b_place):
            printer.print_string(", ")
            print_place(printer, place)
        printer.print_string(f" depth {self.depth.value.data}")
        if self.rows is not None:
            first, count = pair(self.rows)
            printer.print_string(f" rows [{first}, {count}]")
        if self.groups is not None:
            printer.print_string(" groups")
        if self.nibbles is not None:
            printer.print_string(" nibbles")
        if self.unsigned is not None:
            printer.print_string(" unsigned")
        if self.right_unsigned is not None:
            printer.print_string(" right_unsigned")
        if self.using is not None:
            printer.print_string(" using ")
            printer.print_string_literal(self.using.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.acc.type, self.a.type, self.b.type), printer.print_attribute)


def _fits(left: Attribute, right: Attribute, tile: Attribute) -> bool:
    """Returns whether products of these elements can be summed up in a tile of that element."""
    if isinstance(tile, IntegerType):
        widths = [each.width.data for each in (left, right) if isinstance(each, IntegerType)]
        return len(widths) == 2 and min(widths) > 1 and max(widths) <= tile.width.data
    if not isinstance(left, AnyFloat):
        return False
    widened = isinstance(tile, Float32Type)
    return all(each == tile or (widened and is_small_float(each)) for each in (left, right))
