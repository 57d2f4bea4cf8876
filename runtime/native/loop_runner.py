"""Runs one loop function natively on arrays, for checks of schedules and not for programs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.passes.context import set_config
from ...core.passes.pipeline_text import parse_pipeline
from ...core.text.parsing import make_context
from ...dialects.tensor_loop import CallOp, ForOp, FuncOp
from ...lowering.llvm_text.emit_llvm_text import emit_llvm_text
from .jit import NativeLibrary, compile_object

PIPELINE = "lower-loops-to-scf,expand-math,guard-divisions,lower-to-llvm-dialect"


def run_loops(module: ModuleOp, function: str, arrays: Sequence[Any]) -> None:
    """
    Runs the loop function `@function` of `module` on NumPy arrays: its inputs, then its outputs.

    The arrays have the shapes and element types of its arguments. The module is left as it is. Loops that may run on
    several threads run on one.
    """
    compile_loops(module, function)(arrays)


def compile_loops(module: ModuleOp, function: str) -> Callable[[Sequence[Any]], None]:
    """
    Compiles a loop function once, and returns what `run_loops` does with it, to be called with arrays.

    The code is for this machine, whatever machine the pass context names and the function is scheduled for.
    """
    copy = ModuleOp([op.clone() for op in _needed(module, function)])
    for op in copy.walk():
        if isinstance(op, ForOp) and op.kind_name == "parallel":
            op.kind = None
        elif isinstance(op, FuncOp) and op.sym_name.data == function:
            op.sym_visibility = None  # A private function has no symbol in machine code.
    copy_context().run(_lower, copy)
    library = NativeLibrary(compile_object(emit_llvm_text(copy)), [function])

    def run(arrays: Sequence[Any]) -> None:
        types = [ctypes.c_void_p] * len(arrays)
        native = ctypes.CFUNCTYPE(None, *types)(library.address(function))
        native(*(array.ctypes.data for array in arrays))

    return run


def _lower(module: ModuleOp) -> None:
    """Lowers loops in place to the llvm dialect, for this machine."""
    set_config({"target": "host"})
    context = make_context()
    for pass_ in parse_pipeline(PIPELINE):
        pass_.apply(context, module)


def _needed(module: ModuleOp, function: str) -> list[Operation]:
    """Returns the function and what it calls, directly or not."""
    functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
    pending, found = [function], dict[str, Operation]()
    while pending:
        name = pending.pop()
        if name not in found:
            found[name] = functions[name]
            pending += [op.callee.string_value() for op in functions[name].walk() if isinstance(op, CallOp)]
    return list(found.values())
