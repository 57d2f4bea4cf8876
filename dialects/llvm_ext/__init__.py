"""
Ops that xDSL's `llvm` dialect lacks and that the last level needs. Each is one LLVM instruction or intrinsic, but for
`saturate`, which is a few.

Source: LLVM Language Reference Manual, sections named in each op. `llvm.call_intrinsic` serves every intrinsic that
needs no operand of a kind that MLIR cannot express, such as an alignment on a pointer argument.
"""

from xdsl.ir import Dialect

from .control import SwitchOp
from .memory import AtomicRMWOp, MaskedLoadOp, MaskedStoreOp
from .saturation import SaturateOp
from .values import ExtractElementOp, FCmpOp, FPToSIOp, FPToUIOp, FreezeOp, PoisonOp, SelectOp, SIToFPOp, UIToFPOp

LLVMExt = Dialect(
    "llvm_ext",
    [
        AtomicRMWOp,
        ExtractElementOp,
        FCmpOp,
        FPToSIOp,
        FPToUIOp,
        FreezeOp,
        MaskedLoadOp,
        MaskedStoreOp,
        PoisonOp,
        SIToFPOp,
        SaturateOp,
        SelectOp,
        SwitchOp,
        UIToFPOp,
    ],
    [],
)
"""The dialect as xDSL loads it."""

__all__ = [
    "AtomicRMWOp",
    "ExtractElementOp",
    "FCmpOp",
    "FPToSIOp",
    "FPToUIOp",
    "FreezeOp",
    "LLVMExt",
    "MaskedLoadOp",
    "MaskedStoreOp",
    "PoisonOp",
    "SIToFPOp",
    "SaturateOp",
    "SelectOp",
    "SwitchOp",
    "UIToFPOp",
]
