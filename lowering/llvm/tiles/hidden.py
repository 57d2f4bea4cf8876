"""
Constants that LLVM does not know.

Where LLVM knows a constant, it may find other instructions for what is done with it, which are not always faster. An
empty piece of assembly at the start of a function keeps it from LLVM.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from ..llvm_body import LLVMBody


def hidden_constant(builder: LLVMBody, value: Attribute, type_: Attribute) -> SSAValue:
    """Returns a constant, made once per function. `type_` is an integer or a vector that fills a register."""
    key = (value, type_)
    if key not in builder.hidden_constants:
        constraints = "=r,0" if isinstance(type_, IntegerType) else "=v,0"
        known = llvm.ConstantOp.create(result_types=(type_,), properties={"value": value})
        hidden = llvm.InlineAsmOp("", constraints, [known.results[0]], [type_])
        for op in (known, hidden):
            op.location = builder.source.location if builder.source is not None else op.location
        builder.prologue += (known, hidden)
        assert hidden.res is not None
        builder.hidden_constants[key] = hidden.res
    return builder.hidden_constants[key]
