"""Runs a program on any level above llvm by its definition, and checks everything that it does to memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.text.parsing import parse
from ..reference.element_types import Array
from ..reference.loops.run import run_loops
from ..reference.loops.state import MAX_DEPTH, MAX_STEPS, symbol_of
from ..reference.run import run


def interpret(
    program: ModuleOp | str | Path,
    arrays: Sequence[Any],
    entry: str | None = None,
    *,
    weights: Mapping[str, Array] | None = None,
    max_steps: int = MAX_STEPS,
    max_depth: int = MAX_DEPTH,
) -> tuple[Array, ...]:
    """
    Returns the outputs of `@entry` of a program, a module or text or a file, on NumPy arrays.

    The program may stand on any level from graph to scf: functions on tensors, `tensor_loop.func` with or without a
    schedule, `func.func` on buffers with `scf`, `memref`, `vector`, `tile`, `arith` and `math`. `entry` may be left out
    where the program has one public function, or `@main`. `arrays` are the inputs in order, then the outputs that hold
    an input (`stepwell.in_place`). Where the sizes of outputs are open, arrays for all outputs are given too. A
    function on buffers that does not tell its outputs takes an array for every argument, and returns its results and
    then all of its buffers. `weights` are the arrays of weights by key.

    Raises `LoopFault` for an access outside of a buffer, a read of an element that nothing has written, a store to an
    input, a race of a `parallel` loop, memory that arguments share and must not, and more than `max_steps` ops or
    calls `max_depth` deep. Its `kind` says which, and its text has the place. Raises `ReferenceFailure` where a check
    of the program fails (`cf.assert`, a division by zero), and `StepwellError` where the program has no such entry.

    ```python
    import numpy as np

    text = '''
    tensor_loop.func @take(%A: memref<4xf32>, %I: memref<4xi32>) outs(%B: memref<4xf32>) {
      tensor_loop.grid (%i) in (4) {
        tensor_loop.block "take" spatial(%vi in 4 = %i) {
          %n = memref.load %I[%vi] : memref<4xi32>
          %k = arith.index_cast %n : i32 to index
          %x = memref.load %A[%k] : memref<4xf32>
          memref.store %x, %B[%vi] : memref<4xf32>
        }
      }
    }'''
    try:
        stepwell.testing.interpret(text, [np.zeros(4, np.float32), np.array([0, 1, 2, 4], np.int32)])
    except stepwell.reference.LoopFault as fault:
        assert fault.kind == "bounds"
        assert fault.diagnostic.message == "'memref.load': index 4 is outside of dimension 0 of %A, which has 4"
    ```
    """
    module = program if isinstance(program, ModuleOp) else parse(program)
    name = _entry(module) if entry is None else entry
    found = next((op for op in module.body.block.ops if symbol_of(op) == name), None)
    if isinstance(found, func.FuncOp) and not any(isinstance(t, MemRefType) for t in found.function_type.inputs):
        if any(_is_tensor(t) for t in (*found.function_type.inputs, *found.function_type.outputs)):
            return run(module, name, *arrays, weights=weights)
    return run_loops(module, name, arrays, weights=weights, max_steps=max_steps, max_depth=max_depth)


def _is_tensor(type_: Any) -> bool:
    return str(type_).startswith("tensor<")


def _entry(module: ModuleOp) -> str:
    """Returns the name of the one public function with a body, or `main`."""
    names = [name for op in module.body.block.ops if _is_public(op) and (name := symbol_of(op)) is not None]
    if "main" in names:
        return "main"
    if len(names) != 1:
        listed = ", ".join(f"@{name}" for name in names) or "none"
        message = f"the program has {len(names)} public functions ({listed}), expected one or @main"
        raise StepwellError(Diagnostic(message, hint="name one by 'entry'"))
    return names[0]


def _is_public(op: Operation) -> bool:
    visibility = op.get_attr_or_prop("sym_visibility")
    is_function = op.name in ("func.func", "tensor_loop.func") and bool(op.regions[0].blocks)
    return is_function and getattr(visibility, "data", "public") != "private"
