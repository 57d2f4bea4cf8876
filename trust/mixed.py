"""
Programs whose functions are in part machine code: those that a pass has made llvm functions of, one after the other.

The llvm dialect and the levels above it cannot be mixed in one module, and nothing interprets it. So the program before
the pass is interpreted, and calls of the functions that count as lowered go to the machine code of what the pass made
of them. What they call is machine code too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, i32

from ..core.ir.cloning import clone_op
from ..core.roles import CHECKS, RUN_PARALLEL
from ..lowering.llvm_text.emit_llvm_text import emit_llvm_text
from ..reference.element_types import Array
from ..reference.failure import ReferenceFailure
from ..reference.loops.faults import LoopFault
from ..reference.loops.run import run_loops
from ..reference.loops.state import Native
from ..reference.loops.storage import WRITTEN, Buffer, span_of
from ..runtime.native.jit import NativeLibrary, compile_object
from .evaluate import STEPS_TO_BE_SURE, CannotRunError, Outcome, in_child

MIXED = "by the reference interpreter, some functions natively"

SCALARS: dict[str, Any] = {
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    **{f"{sign}int{bits}": getattr(ctypes, f"c_int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": ctypes.c_bool,
}


def run_mixed(
    before: ModuleOp,
    after: ModuleOp,
    entry: str,
    names: Collection[str],
    arrays: Sequence[Array],
    weights: Mapping[str, Array],
    outputs: Sequence[Array],
) -> Outcome:
    """
    Runs `@entry` of `before`, where the functions `names` are those of `after`, in a process of its own.

    Raises `CannotRunError` where a value of a call has no form in C.
    """

    def work() -> Iterator[Outcome]:
        yield _run(before, entry, _natives(after, names), arrays, weights, outputs)

    (outcome,) = in_child(work)
    return outcome


def _run(
    before: ModuleOp,
    entry: str,
    natives: Mapping[str, Native],
    arrays: Sequence[Array],
    weights: Mapping[str, Array],
    outputs: Sequence[Array],
) -> Outcome:
    def run(given: Sequence[Array]) -> tuple[Array, ...]:
        copies = [np.array(each) for each in given]
        return run_loops(before, entry, copies, weights=weights, max_steps=STEPS_TO_BE_SURE, natives=natives)

    try:
        try:
            found = run(arrays)
        except LoopFault as fault:
            if fault.kind != "unknown" or "sizes of" not in fault.diagnostic.message:
                raise
            found = run([*arrays, *(np.zeros(each.shape, each.dtype) for each in outputs)])
    except ReferenceFailure as failure:
        return Outcome(failure=failure.message, how=MIXED)
    except LoopFault as fault:
        if fault.kind in ("unknown", "endless"):
            raise CannotRunError(fault.diagnostic.message) from None
        return Outcome(fault=fault.diagnostic.message, how=MIXED)
    return Outcome(tuple(np.array(each) for each in found), how=MIXED)


def _natives(module: ModuleOp, names: Collection[str]) -> dict[str, Native]:
    """Returns the machine code of some functions of a module of the llvm dialect."""
    code = clone_op(module)
    wanted: dict[str, llvm.FuncOp] = {}
    for op in code.body.block.ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data in names and op.body.blocks:
            op.properties["linkage"] = llvm.LinkageAttr("external")
            wanted[op.sym_name.data] = op
    if not wanted:
        return {}
    addresses = {RUN_PARALLEL: ctypes.cast(_run_parallel, ctypes.c_void_p).value or 0}
    library = NativeLibrary(compile_object(emit_llvm_text(code)), list(wanted), (), addresses)
    checks = code.attributes.get(CHECKS)
    texts = [each.data for each in checks if isinstance(each, StringAttr)] if isinstance(checks, ArrayAttr) else []
    return {name: _native(library, name, op, texts) for name, op in wanted.items()}


@ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
def _run_parallel(task: int, frame: int, lower: int, upper: int, chunk: int) -> int:
    """Runs the chunks of a parallel call one after the other."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    call = kind(task)
    return next((found for at in range(lower, upper, chunk) if (found := call(frame, at, min(at + chunk, upper)))), 0)


def _native(library: NativeLibrary, name: str, op: llvm.FuncOp, checks: list[str]) -> Native:
    returned = op.function_type.output
    may_fail = returned == i32
    if not may_fail and not isinstance(returned, llvm.LLVMVoidType):
        return _refusing(f"@{name} returns a value")

    def run(values: Sequence[Any]) -> None:
        given = [_argument(each, name) for each in values]
        kind = ctypes.CFUNCTYPE(ctypes.c_int32 if may_fail else None, *(type(each) for each in given))
        status = kind(library.address(name))(*given)  # The code lives as long as its library.
        if may_fail and status:
            text = checks[status - 1] if status <= len(checks) else f"check {status}"
            message, _, place = text.rpartition("|")
            operation, _, reason = message.partition(": ")
            raise ReferenceFailure(operation, reason or message, place)
        for each in values:
            if isinstance(each, Buffer):
                _mark_written(each)

    return run


def _refusing(reason: str) -> Callable[[Sequence[Any]], None]:
    def run(values: Sequence[Any]) -> None:
        raise CannotRunError(reason)

    return run


def _argument(value: Any, name: str) -> Any:
    """Returns a value as C takes it: the address of the first element of a buffer, a number as it is."""
    if isinstance(value, Buffer):
        return ctypes.c_void_p(value.elements.ctypes.data + value.first * value.itemsize)
    kind = SCALARS.get(str(np.asarray(value).dtype))
    if kind is None:
        raise CannotRunError(f"@{name} takes a number of a type that C has not: {np.asarray(value).dtype}")
    return kind(np.asarray(value).item())


def _mark_written(buffer: Buffer) -> None:
    """Takes all elements of a buffer for written, since nothing says which ones machine code writes."""
    span = span_of(buffer.first, buffer.sizes, buffer.strides)
    if span is not None:
        start, end = buffer.base + span[0] * buffer.itemsize, buffer.base + (span[1] + 1) * buffer.itemsize
        buffer.storage.written[start:end] = WRITTEN
