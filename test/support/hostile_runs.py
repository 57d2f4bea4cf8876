"""
Runs hostile loop programs by the interpreter and natively, each in a process of its own, on guarded memory.

`python hostile_runs.py FIRST COUNT` judges programs number FIRST to FIRST + COUNT - 1. It prints a line for each that
is not as it must be, then the number of each verdict. The exit code is 1 where there was such a line.

- The interpreter, which sees programs unverified, finds a fault in each wrong one. Of each right one it gives the
  results that plain NumPy gives.
- Natively a right program gives the same. A wrong one is refused before it runs, or stops with an error. No program
  ends its process by a signal, and no wrong one runs through.

Inputs, outputs and the arena lie against pages without access, at their end or at their start. Temporaries share the
arena, so an access that goes from one into the next is not seen by the pages. Buffers on the stack or the heap have no
such pages.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import hostile_memory
import hostile_templates
import hostile_unwritten
import numpy as np
import stepwell
from guarded_arrays import guarded, guarded_like
from hostile_loops import HostileProgram, hostile_program
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import OperationError, StepwellError
from stepwell.reference import LoopFault, ReferenceFailure
from stepwell.runtime.errors import CompileError, ExecutionError
from stepwell.runtime.program import bound_entry as entry_module
from stepwell.testing import interpret

NOT_PROVEN = "are not proven to be free of races"
"""A right program may be refused for a parallel loop of which nothing is proven. So says docs/safety.md."""

TEMPLATES = (*hostile_templates.TEMPLATES, *hostile_memory.TEMPLATES, *hostile_unwritten.TEMPLATES)

RIGHT, REFUSED, STOPPED, FAULT = "right", "refused", "stopped", "fault found"

REFUSALS = (StepwellError, VerificationError, OperationError, CompileError)
"""What says before a program runs that it is wrong."""

MOST_SECONDS = 60
"""A program that takes longer hangs."""


class Unexpected(Exception):
    """Raised where a program is not judged as it must be."""


def program_of(seed: int) -> HostileProgram:
    """Returns program number `seed`."""
    return hostile_program(seed, TEMPLATES)


def interpreted(program: HostileProgram) -> str:
    """Returns the verdict of the interpreter. Raises `Unexpected` where it is not that of the program."""
    module = stepwell.parse(program.text, verify=False)
    outputs = [np.empty_like(output) for output in program.outputs] if "?x" in program.text else []
    try:
        results = interpret(module, [*program.arrays, *outputs], "main")
    except (LoopFault, ReferenceFailure) as fault:
        if not program.why or getattr(fault, "kind", "") == "unknown":
            raise Unexpected(f"the interpreter finds a fault in a right program: {fault}") from fault
        return FAULT
    if program.why:
        raise Unexpected(f"the interpreter finds nothing, but there is {program.why}")
    _check_same(results, program.outputs, "the interpreter")
    return RIGHT


def native(program: HostileProgram, level: int, at_end: bool) -> str:
    """Returns what becomes of a program natively. Raises `Unexpected` where that must not be."""
    # Pages of `guarded` are shared with children, so nothing else of this process may get them.
    with patch.object(entry_module, "aligned_bytes", lambda size: guarded(size, at_end)):
        return _native(program, level, at_end)


def _native(program: HostileProgram, level: int, at_end: bool) -> str:
    try:
        executable = stepwell.compile(stepwell.parse(program.text), opt_level=level, cache=False)
    except REFUSALS as error:
        return _only_where_wrong(program, REFUSED, error)
    inputs = [guarded_like(array, at_end) for array in program.arrays]
    for copy, array in zip(inputs, program.arrays, strict=True):
        copy[...] = array
    outputs = [guarded_like(array, at_end) for array in program.outputs]
    try:
        executable.run_into(outputs, *inputs)
    except ExecutionError as error:
        return _only_where_wrong(program, STOPPED, error)
    except REFUSALS as error:  # Programs with open sizes are compiled when they are called.
        return _only_where_wrong(program, REFUSED, error)
    if program.why:
        raise Unexpected(f"a program runs through at level {level}, but there is {program.why}")
    _check_same(outputs, program.outputs, f"native code of level {level}")
    for copy, array in zip(inputs, program.arrays, strict=True):
        if copy.tobytes() != array.tobytes():
            raise Unexpected(f"native code of level {level} changes an input")
    return RIGHT


def _only_where_wrong(program: HostileProgram, verdict: str, error: Exception) -> str:
    if not program.why and NOT_PROVEN not in str(error):
        raise Unexpected(f"a right program is {verdict}: {error}") from error
    return verdict


def _check_same(found: Sequence[Any], expected: Sequence[Any], what: str) -> None:
    for one, wanted in zip(found, expected, strict=True):
        if one.dtype != wanted.dtype or one.shape != wanted.shape or one.tobytes() != wanted.tobytes():
            raise Unexpected(f"{what} gives {one.tolist()}, expected {wanted.tolist()}")


def judged(seed: int) -> str:
    """Returns the verdicts about program number `seed`. Raises `Unexpected`, or anything, where one is wrong."""
    program = program_of(seed)
    verdict = interpreted(program)
    return f"{verdict}, {native(program, seed % 4, seed % 8 < 4)} natively"


def forked(seed: int) -> tuple[bool, str]:
    """Judges a program in a process of its own. Returns whether it is as it must be, and the verdict or the problem."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(MOST_SECONDS)
        try:
            text = "+" + judged(seed)
        except Unexpected as problem:
            text = f"-{problem}"
        except BaseException:
            text = "-" + traceback.format_exc(limit=-4)
        os.write(writing, text.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False, f"signal {signal.Signals(os.WTERMSIG(status)).name}"
    return text.startswith("+"), text[1:]


def load_the_compiler() -> None:
    """Compiles and runs one program at each level, so that the processes made from this one have all modules."""
    copy = """
    tensor_loop.func @main(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
      tensor_loop.for %i in 4 {
        tensor_loop.block "copy" spatial(%vi in 4 = %i) {
          %x = memref.load %A[%vi] : memref<4xf32>
          memref.store %x, %B[%vi] : memref<4xf32>
        }
      }
    }"""
    array = np.ones(4, np.float32)
    for level in range(4):
        stepwell.compile(copy, opt_level=level, cache=False)(array)
    interpret(copy, [array])


def main(first: int, count: int) -> int:
    """Judges programs and prints what it finds."""
    load_the_compiler()
    verdicts: Counter[str] = Counter()
    failed = False
    for seed in range(first, first + count):
        is_right, text = forked(seed)
        if is_right:
            verdicts[text] += 1
            continue
        failed = True
        program = program_of(seed)
        print(f"program {seed} ({program.name}, {program.why or 'right'}): {text}\n{program.text}", flush=True)
    for verdict, number in sorted(verdicts.items()):
        print(f"{number} {verdict}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
