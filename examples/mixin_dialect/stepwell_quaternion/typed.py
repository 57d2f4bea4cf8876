"""A type to write programs in, its ops, and the pass that takes both down to tensors of numbers."""

from dataclasses import dataclass
from typing import ClassVar

from stepwell.core import StepwellPass, copy_location
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .product import MulOp


@irdl_attr_definition
class QuatType(ParametrizedAttribute, TypeAttribute):
    """A quaternion of four f32. It is the element type of tensors, such as `tensor<8x!quaternion.quat>`."""

    name = "quaternion.quat"


QUATS = base(TensorType[QuatType])


def numbers(quats: TensorType) -> TensorType:
    """Returns the type of the components: `tensor<8x4xf32>` for `tensor<8x!quaternion.quat>`."""
    return TensorType(f32, (*quats.get_shape(), 4))


def check_components(components: TensorType, quats: TensorType) -> None:
    if components != numbers(quats):
        raise VerifyException(f"the components have type {components}, expected {numbers(quats)}")


@irdl_op_definition
class PackOp(IRDLOperation):
    """Makes quaternions of their components `w, x, y, z`."""

    name = "quaternion.pack"
    components = operand_def(TensorType)
    result = result_def(QUATS)
    traits = traits_def(Pure())
    assembly_format = "$components attr-dict `:` type($components) `->` type($result)"

    def verify_(self):
        check_components(self.components.type, self.result.type)


@irdl_op_definition
class UnpackOp(IRDLOperation):
    """Takes quaternions apart into their components."""

    name = "quaternion.unpack"
    quats = operand_def(QUATS)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$quats attr-dict `:` type($quats) `->` type($result)"

    def verify_(self):
        check_components(self.result.type, self.quats.type)


@irdl_op_definition
class TimesOp(IRDLOperation):
    """Multiplies quaternions."""

    name = "quaternion.times"
    T: ClassVar = VarConstraint("T", QUATS)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"


@dataclass(frozen=True)
class LowerQuatsPass(StepwellPass):
    """
    Turns tensors of quaternions into tensors of their components.

    Before: `%r = quaternion.times %p, %q : tensor<8x!quaternion.quat>`
    After: `%r = quaternion.mul %p, %q : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>`
    """

    name = "lower-quats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            arguments = [each for region in inner.regions for block in region.blocks for each in block.args]
            for value in (*inner.results, *arguments):
                if QUATS.verifies(value.type):
                    Rewriter.replace_value_with_new_type(value, numbers(value.type))
            if isinstance(inner, PackOp | UnpackOp):
                Rewriter.replace_op(inner, [], [inner.operands[0]])
            elif isinstance(inner, TimesOp):
                product = MulOp(inner.lhs, inner.rhs)
                copy_location(inner, product)
                Rewriter.replace_op(inner, product)
                self.count("products")
        for function in op.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                function.update_function_type()
