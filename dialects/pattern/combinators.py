"""Patterns of several things at once: re-associated forms, ops that share values, whole expressions."""

from __future__ import annotations

from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .ops import IS_VALUE, VALUE, InRule, RuleOp
from .rules import DefineOp


@irdl_op_definition
class AssocOp(InRule):
    """
    A quotient of a product, or a product with a quotient, in any of its forms: `pattern.assoc %quotient`.

    The forms are the same real function but do not give the same bits, so a rule of class `exact` may not use it.
    """

    name = "pattern.assoc"
    pattern = operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$pattern attr-dict"


@irdl_op_definition
class TogetherOp(InRule):
    """
    The value that the first pattern matches, where the others match other ops: `pattern.together %q, %k, %v`.

    The others are found from the values that they share with patterns before them.
    """

    name = "pattern.together"
    patterns = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$patterns attr-dict"

    def verify_(self) -> None:
        if len(self.patterns) < 2:
            raise VerifyException("expected at least two patterns")


@irdl_op_definition
class ExpressionOp(ShownOp):
    """
    A value computed by the same ops as in the body, where the patterns stand for its arguments.

    ```mlir
    %h = pattern.expression (%x) {
    ^bb0(%u: tensor<4xf32>):
      %half = graph.full 0.5 : tensor<4xf32>
      %0 = graph.multiply %u, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      pattern.returns %0 : tensor<4xf32>
    }
    ```
    """

    name = "pattern.expression"
    arguments = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    body = region_def("single_block")
    traits = traits_def(HasParent(RuleOp, DefineOp), IsolatedFromAbove())

    def verify_(self) -> None:
        found, expected = len(self.body.block.args), len(self.arguments)
        if found != expected:
            raise VerifyException(f"the body has {found} arguments for {expected} patterns")
        if not isinstance(self.body.block.last_op, ReturnsOp):
            raise VerifyException("the body does not end in 'pattern.returns'")

    @classmethod
    def parse(cls, parser: Parser) -> ExpressionOp:
        # Assembly formats cannot name the arguments of a region beside the operands that they stand for.
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parser.parse_operand(VALUE))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls.create(operands=arguments, result_types=[VALUE], regions=[parser.parse_region()])
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_operand)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


@irdl_op_definition
class ReturnsOp(ShownOp):
    """Ends a `pattern.expression` with the value that it describes."""

    name = "pattern.returns"
    value = operand_def()
    traits = traits_def(HasParent(ExpressionOp), IsTerminator())
    assembly_format = "$value attr-dict `:` type($value)"
