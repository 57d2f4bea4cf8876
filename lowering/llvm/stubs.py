"""
Functions whose text has been written keep their head and what they name, and no longer hold the rest in memory.

The llvm dialect of a large program is a hundred thousand ops, some 30 MB for a ResNet-50. Allocators give pages back
only where nothing is left on them, so what is alive at the same time stays with the process.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, UnitAttr
from xdsl.ir import Block, Operation, Region

from ...core.ir.teardown import take_apart
from ...core.ir.walk import ops_of

STUB: Final = "stepwell.stub"
"""Marks a function that is a stub. It is in no text."""

ADDRESS: Final = llvm.LLVMPointerType()


def named_symbols(op: Operation) -> dict[str, None]:
    """Returns the functions and globals that `op` names, in order."""
    named = (
        each.global_name if isinstance(each, llvm.AddressOfOp) else each.callee
        for each in ops_of(op, llvm.AddressOfOp, llvm.CallOp)
    )
    return dict.fromkeys(symbol.string_value() for symbol in named if symbol is not None)


def make_stub(function: llvm.FuncOp) -> None:
    """
    Replaces the body of `function` by one that names what it named and never returns.

    Whoever calls this has the text of the function, since nothing can be made of the stub.
    """
    addresses = [llvm.AddressOfOp(SymbolRefAttr(name), ADDRESS) for name in named_symbols(function)]
    stub = Block([*addresses, llvm.UnreachableOp()], arg_types=function.function_type.inputs.data)
    body = Region()
    function.body.move_blocks(body)
    function.body.add_block(stub)
    function.attributes[STUB] = UnitAttr()
    take_apart(ModuleOp(body))
