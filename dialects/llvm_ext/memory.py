"""Atomic and masked accesses to memory."""

from typing import ClassVar

from xdsl.dialects.builtin import I1, AnyFloatConstr, IntegerAttr, IntegerType, StringAttr, VectorType, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    BaseAttr,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .values import element_and_lanes

ATOMIC_KINDS = (
    *("xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin"),
    *("fadd", "fsub", "fmax", "fmin", "fmaximum", "fminimum"),
)
ATOMIC_ORDERINGS = ("monotonic", "acquire", "release", "acq_rel", "seq_cst")


@irdl_op_definition
class AtomicRMWOp(ShownOp):
    """
    Computes `result = *ptr; *ptr = kind(result, value)` as one atomic step. `alignment` is in bytes.

    ```mlir
    %old = llvm_ext.atomicrmw %p, %v {alignment = 4 : i64, kind = "add", ordering = "monotonic"} : i32
    ```

    Source: LLVM LangRef, "atomicrmw".
    """

    name = "llvm_ext.atomicrmw"

    T: ClassVar = VarConstraint("T", BaseAttr(IntegerType) | AnyFloatConstr)

    ptr = operand_def(LLVMPointerType())
    value = operand_def(T)
    kind = prop_def(StringAttr)
    ordering = prop_def(StringAttr)
    alignment = prop_def(IntegerAttr)
    result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $value attr-dict `:` type($value)"

    def __init__(self, kind: str, ptr: SSAValue, value: SSAValue, alignment: int, ordering: str = "monotonic"):
        super().__init__(
            operands=[ptr, value],
            properties={
                "kind": StringAttr(kind),
                "ordering": StringAttr(ordering),
                "alignment": IntegerAttr(alignment, i64),
            },
            result_types=[value.type],
        )

    def verify_(self) -> None:
        if (kind := self.kind.data) not in ATOMIC_KINDS:
            raise VerifyException(f"kind is '{kind}', expected one of {', '.join(ATOMIC_KINDS)}")
        if (ordering := self.ordering.data) not in ATOMIC_ORDERINGS:
            raise VerifyException(f"ordering is '{ordering}', expected one of {', '.join(ATOMIC_ORDERINGS)}")
        _verify_alignment(self.alignment)


def _verify_alignment(alignment: IntegerAttr) -> None:
    """Raises unless `alignment` (bytes) is a power of two."""
    if (size := alignment.value.data) <= 0 or size & (size - 1):
        raise VerifyException(f"alignment is {size}, expected a power of two")


@irdl_op_definition
class MaskedLoadOp(ShownOp):
    """
    Loads `result[l] = mask[l] ? ptr[l] : pass_thru[l]`. Lanes that are switched off are not read. `alignment` is in
    bytes.

    Source: LLVM LangRef, "llvm.masked.load".
    """

    name = "llvm_ext.masked_load"

    T: ClassVar = VarConstraint("T", VectorType.constr())

    ptr = operand_def(LLVMPointerType())
    mask = operand_def(VectorType.constr(I1))
    pass_thru = operand_def(T)
    alignment = prop_def(IntegerAttr)
    result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $mask `,` $pass_thru attr-dict `:` type($mask) `,` type($result)"

    def __init__(self, ptr: SSAValue, mask: SSAValue, pass_thru: SSAValue, alignment: int):
        super().__init__(
            operands=[ptr, mask, pass_thru],
            properties={"alignment": IntegerAttr(alignment, i64)},
            result_types=[pass_thru.type],
        )

    def verify_(self) -> None:
        _verify_alignment(self.alignment)
        if element_and_lanes(self.mask.type)[1] != element_and_lanes(self.result.type)[1]:
            raise VerifyException(f"mask is {self.mask.type} but result is {self.result.type}")


@irdl_op_definition
class MaskedStoreOp(ShownOp):
    """
    Stores `ptr[l] = value[l]` where `mask[l]`. Lanes that are switched off are not written. `alignment` is in bytes.

    Source: LLVM LangRef, "llvm.masked.store".
    """

    name = "llvm_ext.masked_store"

    value = operand_def(VectorType.constr())
    ptr = operand_def(LLVMPointerType())
    mask = operand_def(VectorType.constr(I1))
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$value `,` $ptr `,` $mask attr-dict `:` type($mask) `,` type($value)"

    def __init__(self, value: SSAValue, ptr: SSAValue, mask: SSAValue, alignment: int):
        super().__init__(operands=[value, ptr, mask], properties={"alignment": IntegerAttr(alignment, i64)})

    def verify_(self) -> None:
        _verify_alignment(self.alignment)
        if element_and_lanes(self.mask.type)[1] != element_and_lanes(self.value.type)[1]:
            raise VerifyException(f"mask is {self.mask.type} but value is {self.value.type}")
