"""Patterns of larger things: dominating values, functions, calls and branches."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from .ops import IS_VALUE, InRule


@irdl_op_definition
class DominatesOp(InRule):
    """
    A value computed from one parent alone: `pattern.dominates %parent by %child over %path`.

    All ways up from the op that `%child` matches end at one value that `%parent` matches. The values in between match
    `%path` and are used nowhere else.
    """

    name = "pattern.dominates"
    parent_pattern = operand_def(IS_VALUE)
    child = operand_def(IS_VALUE)
    path = operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    assembly_format = "$parent_pattern `by` $child `over` $path attr-dict"


@irdl_op_definition
class FunctionOp(InRule):
    """
    A function of one block: `pattern.function(%a, %b) returns %body`, with a pattern per result.

    `pattern.function any () returns %body` takes any number of parameters. `with {…}` holds attributes of the function.
    """

    name = "pattern.function"
    any_parameters = opt_prop_def(UnitAttr, prop_name="any")
    parameters = var_operand_def(IS_VALUE)
    body = var_operand_def(IS_VALUE)
    wanted = opt_prop_def(DictionaryAttr)
    result = result_def(IS_VALUE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "(`any` $any^)? `(` $parameters `)` `returns` $body (`with` $wanted^)? attr-dict"

    def verify_(self) -> None:
        if self.any_parameters is not None and self.parameters:
            raise VerifyException("has parameters and takes any parameters")
        if not self.body:
            raise VerifyException("returns nothing, expected at least one pattern")


@irdl_op_definition
class CallOp(InRule):
    """
    The result of a call.

    * `pattern.call named "f"(%a)` calls a function by name.
    * `pattern.call to %function (%a)` calls a matched function.
    * `pattern.call (%a)` calls any function.
    * `pattern.call any named "f"()` takes any operands.
    """

    name = "pattern.call"
    any_operands = opt_prop_def(UnitAttr, prop_name="any")
    callee = opt_prop_def(StringAttr)
    function = opt_operand_def(IS_VALUE)
    arguments = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "(`any` $any^)? (`named` $callee^)? (`to` $function^)? `(` $arguments `)` attr-dict"

    def verify_(self) -> None:
        if self.callee is not None and self.function is not None:
            raise VerifyException("names a function and has a pattern of one")
        if self.any_operands is not None and self.arguments:
            raise VerifyException("has operands and takes any operands")


@irdl_op_definition
class IfOp(InRule):
    """
    The result of an `scf.if`, by the values that its branches yield for it: `pattern.if %condition then %a else %b`.

    With several values, `then %a, %b else %c, %d`, it is an `scf.if` of as many results. `pattern.result` picks one.
    """

    name = "pattern.if"
    condition = operand_def(IS_VALUE)
    then = var_operand_def(IS_VALUE)
    otherwise = var_operand_def(IS_VALUE)
    result = result_def(IS_VALUE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "$condition `then` $then `else` $otherwise attr-dict"

    def verify_(self) -> None:
        if not self.then or len(self.then) != len(self.otherwise):
            found = f"{len(self.then)} and {len(self.otherwise)}"
            raise VerifyException(f"the branches yield {found} values, expected as many, at least one")


@irdl_op_definition
class ChainOp(InRule):
    """
    A value that steps lead to, one after the other: `pattern.chain %step through %link from %x least 2`.

    `%step` is a pattern of each step, and `%link`, a `pattern.any` below it, the value before. Without a number a chain
    has one step or more.
    """

    name = "pattern.chain"
    step = operand_def(IS_VALUE)
    link = operand_def(IS_VALUE)
    start = operand_def(IS_VALUE)
    least = opt_prop_def(IntegerAttr)
    result = result_def(IS_VALUE)
    assembly_format = "$step `through` $link `from` $start (`least` $least^)? attr-dict"
