"""Makes machine code of a module of the llvm dialect. A program from the compile cache does not load this file."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ..core.messages.diagnostics import fail
from ..core.roles import LINK_NAME, RUN_PARALLEL
from ..lowering.llvm_text.pieces import emit_llvm_pieces
from ..machine.code_target import CodeTarget, uses_tile_registers
from .native.jit import is_in_process
from .native.pieces import compile_pieces
from .native.targets import check_runs_here


def machine_code(
    module: ModuleOp, externals: Collection[str], target: str, code_target: CodeTarget, use_cache: bool
) -> bytes:
    """
    Returns the machine code of a module of the llvm dialect that calls `externals`, for the machine called `target`.

    Raises ProcessorError where this process cannot run it, `OperationError` where it calls what is defined nowhere.
    """
    check_that_calls_are_defined(module, externals)
    pieces = emit_llvm_pieces(module)
    if target != "host":
        pieces = list(pieces)
        check_runs_here(target, any(map(uses_tile_registers, pieces)))
    return compile_pieces(pieces, code_target, use_cache)


def check_that_calls_are_defined(module: ModuleOp, externals: Collection[str]) -> None:
    """Raises `OperationError` at a declaration of a function that is not ours, not outside code, not of the process."""
    ours = {RUN_PARALLEL, *externals}
    for op in module.body.ops:
        if isinstance(op, llvm.FuncOp) and not op.body.blocks:
            linked = op.attributes.get(LINK_NAME)
            name = linked.data if isinstance(linked, StringAttr) else op.sym_name.data
            if not (name.startswith("llvm.") or name in ours or is_in_process(name)):
                message = f"function @{name} has no body and is not a function of this process"
                fail(op, message, hint="give it a body, or compile it by a code generator (docs/external.md)")
