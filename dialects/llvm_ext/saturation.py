"""The conversion of floats to integers that saturates."""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IntegerType, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .values import element_and_lanes

WIDEST = 16
"""The bits of the widest integer whose bounds f32 and f64 hold, and which 32 bits hold before they are cut off."""


@irdl_op_definition
class SaturateOp(ShownOp):
    """
    Each `result = trunc(arg)` as an integer of up to 16 bits, or the bound that it exceeds. It is 0 for a NaN.

    ```mlir
    %a, %b = llvm_ext.saturate %x, %y : vector<16xf32>, vector<16xf32> to vector<16xi8>, vector<16xi8>
    %c = llvm_ext.saturate %z unsigned : f32 to i16
    ```

    The text for LLVM has two comparisons and two selections for the bounds, a conversion to 32 bits and a truncation,
    and for signed integers a comparison and a selection for NaNs. Each step is written for all arguments before the
    next one. So an epilogue that works on registers side by side stays one op per group of registers.

    Source: LLVM LangRef, "fcmp", "select", "fptosi .. to", "trunc .. to".
    """

    name = "llvm_ext.saturate"

    args = var_operand_def()
    is_unsigned = opt_prop_def(UnitAttr)
    results_ = var_result_def()

    traits = traits_def(Pure())
    assembly_format = "$args (`unsigned` $is_unsigned^)? attr-dict `:` type($args) `to` type($results_)"

    def __init__(self, args: Sequence[SSAValue], result_type: Attribute, *, is_unsigned: bool = False):
        properties = {"is_unsigned": UnitAttr()} if is_unsigned else {}
        super().__init__(operands=[args], result_types=[[result_type] * len(args)], properties=properties)

    def verify_(self) -> None:
        sources = {value.type for value in self.operands}
        targets = {value.type for value in self.results}
        if len(sources) != 1 or len(targets) != 1 or len(self.operands) != len(self.results):
            raise VerifyException("expected one or more arguments of one type, and as many results of one type")
        (source,), (target,) = sources, targets
        element, lanes = element_and_lanes(source)
        integer, target_lanes = element_and_lanes(target)
        if lanes != target_lanes:
            raise VerifyException(f"operand is {source} but result is {target}: lanes differ")
        if not isinstance(element, AnyFloat) or not isinstance(integer, IntegerType):
            raise VerifyException(f"converts a float to an integer type, found {source} to {target}")
        if not 1 < integer.width.data <= WIDEST:
            raise VerifyException(f"result is {target}, expected integers of 2 to {WIDEST} bits")
