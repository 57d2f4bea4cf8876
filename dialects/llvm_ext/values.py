"""Casts, comparison, selection and other ops on values."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I1, AnyFloat, AnyFloatConstr, IntegerAttr, IntegerType, VectorType, i1, i64
from xdsl.dialects.llvm import ALL_FCMP_FLAGS, FastMathAttr, FCmpPredicateFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp


def element_and_lanes(value_type: Attribute) -> tuple[Attribute, tuple[int, ...] | None]:
    """Returns the element type and the shape of a vector type. The shape of a scalar is `None`."""
    if isinstance(value_type, VectorType):
        return value_type.element_type, value_type.get_shape()
    return value_type, None


class _CastOp(ShownOp, ABC):
    """An element-wise cast between a float and a signless integer type, on scalars or vectors of one shape."""

    FROM_FLOAT: ClassVar[bool]

    arg = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"

    def __init__(self, arg: Operation | SSAValue, result_type: Attribute):
        super().__init__(operands=[arg], result_types=[result_type])

    def verify_(self) -> None:
        source, source_lanes = element_and_lanes(self.arg.type)
        target, target_lanes = element_and_lanes(self.result.type)
        if source_lanes != target_lanes:
            raise VerifyException(f"operand is {self.arg.type} but result is {self.result.type}: lanes differ")
        floating, integer = (source, target) if self.FROM_FLOAT else (target, source)
        if not isinstance(floating, AnyFloat) or not isinstance(integer, IntegerType):
            want = "a float to an integer" if self.FROM_FLOAT else "an integer to a float"
            raise VerifyException(f"converts {want} type, found {self.arg.type} to {self.result.type}")


@irdl_op_definition
class FPToSIOp(_CastOp):
    """
    `result = trunc(arg)` as a signed integer. It is poison when the value does not fit.

    ```mlir
    %i = llvm_ext.fptosi %x : f32 to i32
    ```

    Source: LLVM LangRef, "fptosi .. to".
    """

    name = "llvm_ext.fptosi"
    FROM_FLOAT: ClassVar[bool] = True


@irdl_op_definition
class FPToUIOp(_CastOp):
    """
    `result = trunc(arg)` as an unsigned integer. It is poison when the value does not fit.

    Source: LLVM LangRef, "fptoui .. to".
    """

    name = "llvm_ext.fptoui"
    FROM_FLOAT: ClassVar[bool] = True


@irdl_op_definition
class UIToFPOp(_CastOp):
    """
    The nearest float (ties to even) of `arg` read as an unsigned integer.

    Source: LLVM LangRef, "uitofp .. to".
    """

    name = "llvm_ext.uitofp"
    FROM_FLOAT: ClassVar[bool] = False


@irdl_op_definition
class SIToFPOp(_CastOp):
    """
    The nearest float (ties to even) of `arg` read as a signed integer. It is `llvm.sitofp` with a verifier.

    Source: LLVM LangRef, "sitofp .. to".
    """

    name = "llvm_ext.sitofp"
    FROM_FLOAT: ClassVar[bool] = False


@irdl_op_definition
class FCmpOp(ShownOp):
    """
    Compares floats, lane by lane on vectors, with fast-math flags. `llvm.fcmp` takes scalars only and does not print
    its flags.

    ```mlir
    %m = llvm_ext.fcmp "olt" %a, %b {fastmathFlags = #llvm.fastmath<nnan>} : vector<8xf32>
    ```

    Source: LLVM LangRef, "fcmp".
    """

    name = "llvm_ext.fcmp"

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    lhs = operand_def(T)
    rhs = operand_def(T)
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    result = result_def(AnyAttr())

    traits = traits_def(Pure())

    def __init__(
        self,
        predicate: str,
        lhs: Operation | SSAValue,
        rhs: Operation | SSAValue,
        fastmath: FastMathAttr | None = None,
    ):
        lhs = SSAValue.get(lhs)
        super().__init__(
            operands=[lhs, rhs],
            properties={
                "predicate": IntegerAttr(FCmpPredicateFlag(predicate).to_int(), i64),
                "fastmathFlags": FastMathAttr(None) if fastmath is None else fastmath,
            },
            result_types=[self.result_type(lhs.type)],
        )

    @staticmethod
    def result_type(operand_type: Attribute) -> Attribute:
        """Returns `i1`, or a vector of `i1` with the operand's lanes."""
        if isinstance(operand_type, VectorType):
            return VectorType(i1, operand_type.get_shape())
        return i1

    # This is written by hand, because the predicate is an integer property printed as its name.
    @classmethod
    def parse(cls, parser: Parser) -> "FCmpOp":
        pos = parser.pos
        predicate = parser.parse_str_literal()
        if predicate not in {flag.value for flag in ALL_FCMP_FLAGS}:
            parser.raise_error(f"unknown fcmp predicate '{predicate}'", pos, parser.pos)
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand_type = parser.parse_type()
        operands = parser.resolve_operands([lhs, rhs], [operand_type] * 2, parser.pos)
        fastmath = attributes.pop("fastmathFlags", None)
        op = cls(predicate, operands[0], operands[1], fastmath if isinstance(fastmath, FastMathAttr) else None)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{FCmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_list(self.operands, printer.print_ssa_value)
        attributes = dict(self.attributes)
        if self.fastmathFlags.data:
            attributes["fastmathFlags"] = self.fastmathFlags
        printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(ALL_FCMP_FLAGS):
            raise VerifyException(f"predicate is {self.predicate.value.data}, expected 0 to 15")
        if self.result.type != (expected := self.result_type(self.lhs.type)):
            raise VerifyException(f"result is {self.result.type}, expected {expected}")


@irdl_op_definition
class SelectOp(ShownOp):
    """
    Selects `result[l] = cond[l] ? lhs[l] : rhs[l]` on the lanes of vectors. `llvm.select` takes a scalar condition.

    ```mlir
    %r = llvm_ext.select %m, %a, %b : vector<8xi1>, vector<8xf32>
    ```

    Source: LLVM LangRef, "select".
    """

    name = "llvm_ext.select"

    T: ClassVar = VarConstraint("T", VectorType.constr())

    cond = operand_def(VectorType.constr(I1))
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($result)"

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        if element_and_lanes(self.cond.type)[1] != element_and_lanes(self.result.type)[1]:
            raise VerifyException(f"condition is {self.cond.type} but result is {self.result.type}")


@irdl_op_definition
class ExtractElementOp(ShownOp):
    """
    `result = vector[index]`. It is poison when `index` is past the last lane.

    ```mlir
    %x = llvm_ext.extractelement %v[%i : i64] : vector<8xf32>
    ```

    Source: LLVM LangRef, "extractelement".
    """

    name = "llvm_ext.extractelement"

    T: ClassVar = VarConstraint("T", AnyAttr())

    vector = operand_def(VectorType.constr(T))
    index = operand_def(IntegerType)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$vector `[` $index `:` type($index) `]` attr-dict `:` type($vector)"

    def __init__(self, vector: SSAValue, index: SSAValue):
        super().__init__(operands=[vector, index], result_types=[element_and_lanes(vector.type)[0]])


@irdl_op_definition
class FreezeOp(ShownOp):
    """
    `arg` when it is well defined, else some fixed value of its type.

    Source: LLVM LangRef, "freeze".
    """

    name = "llvm_ext.freeze"

    T: ClassVar = VarConstraint("T", AnyAttr())

    arg = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg)"

    def __init__(self, arg: SSAValue):
        super().__init__(operands=[arg], result_types=[arg.type])


@irdl_op_definition
class PoisonOp(ShownOp):
    """
    The poison value of a type.

    Source: LLVM LangRef, "Poison Values".
    """

    name = "llvm_ext.poison"

    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, result_type: Attribute):
        super().__init__(result_types=[result_type])
