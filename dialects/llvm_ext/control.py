"""A branch on an integer."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i32, i64
from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp


@irdl_op_definition
class SwitchOp(ShownOp):
    """
    Branches on an integer: to the block whose case value equals it, else to the default block.

    ```mlir
    llvm_ext.switch %v : i32, default ^other(%a : i32), [0: ^zero, -1: ^minus(%b : i32)]
    ```

    Source: LLVM LangRef, "switch".
    """

    name = "llvm_ext.switch"

    value = operand_def(IntegerType)
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_values = prop_def(DenseArrayBase.constr(i64))
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))
    default_block = successor_def()
    case_blocks = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def __init__(
        self,
        value: SSAValue,
        default_block: Block,
        default_operands: Sequence[SSAValue],
        cases: Sequence[tuple[int, Block, Sequence[SSAValue]]],
    ):
        super().__init__(
            operands=[value, default_operands, [v for _, _, operands in cases for v in operands]],
            properties={
                "case_values": DenseArrayBase.from_list(i64, [c for c, _, _ in cases]),
                "case_operand_segments": DenseArrayBase.from_list(i32, [len(o) for _, _, o in cases]),
            },
            successors=[default_block, [block for _, block, _ in cases]],
        )

    def cases(self) -> list[tuple[int, Block, tuple[SSAValue, ...]]]:
        """Returns (value, block, operands of the block) for each case in order."""
        operands, start, result = tuple(self.case_operands), 0, []
        for number, block, count in zip(
            self.case_values.iter_values(), self.case_blocks, self.case_operand_segments.iter_values(), strict=True
        ):
            result.append((number, block, operands[start : start + count]))
            start += count
        return result

    # This is written by hand, because declarative formats have no list of successors that carry operands.
    @classmethod
    def parse(cls, parser: Parser) -> "SwitchOp":
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_punctuation(",")
        parser.parse_keyword("default")
        default_block, default_operands = _parse_target(parser)
        parser.parse_punctuation(",")

        def parse_case() -> tuple[int, Block, list[SSAValue]]:
            number = parser.parse_integer()
            parser.parse_punctuation(":")
            return number, *_parse_target(parser)

        cases = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_case)
        op = cls(value, default_block, default_operands, cases)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        def print_case(case: tuple[int, Block, tuple[SSAValue, ...]]) -> None:
            printer.print_string(f"{case[0]}: ")
            _print_target(printer, case[1], case[2])

        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", default ")
        _print_target(printer, self.default_block, self.default_operands)
        printer.print_string(", ")
        with printer.in_square_brackets():
            printer.print_list(self.cases(), print_case)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        counts = tuple(self.case_operand_segments.iter_values())
        values = tuple(self.case_values.iter_values())
        if not len(counts) == len(values) == len(self.case_blocks):
            raise VerifyException(
                f"{len(values)} case values, {len(counts)} operand counts and {len(self.case_blocks)} blocks"
            )
        if sum(counts) != len(self.case_operands):
            raise VerifyException(f"operand counts add up to {sum(counts)}, found {len(self.case_operands)}")
        if len(set(values)) != len(values):
            raise VerifyException(f"case values {list(values)} are not distinct")


def _parse_target(parser: Parser) -> tuple[Block, list[SSAValue]]:
    """Parses `^block` or `^block(%a : type, ...)`."""
    block = parser.parse_successor()

    def parse_one() -> SSAValue:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return parser.resolve_operand(unresolved, parser.parse_type())

    operands = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parse_one)
    return block, [] if operands is None else operands


def _print_target(printer: Printer, block: Block, operands: Sequence[SSAValue]) -> None:
    def print_one(value: SSAValue) -> None:
        printer.print_ssa_value(value)
        printer.print_string(" : ")
        printer.print_attribute(value.type)

    printer.print_block_name(block)
    if operands:
        with printer.in_parens():
            printer.print_list(operands, print_one)
