"""Memory that compilations leave behind, and code that stays while it is used (AUDIT G7)."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.dialects.graph import signature
from stepwell.dialects.graph.shapes import Shaped
from stepwell.dialects.graph.signature import shaped_of
from stepwell.runtime.executable import Executable
from xdsl.dialects.builtin import TensorType, f32

COMPILATIONS, WARM = (500, 200) if FULL else (60, 20)
LEFT = 1_000_000 if FULL else 160_000
"""
Bytes that are still in use. LLVM's builder of passes leaves 1.5 KB each, which llvmlite cannot free: 750 KB of the
1 MB. Linkers hold up to 15 libraries of 9 KB before they go, which counts for more among few compilations.
"""

RESIDENT = LEFT + 300_000
"""Bytes that the process may grow by, with the holes between those in use."""

COMPILES = f"""
import ctypes, gc, stepwell

def program(index):
    body = "".join(
        f"  %v{{i + 1}} = graph.{{op}} %v{{i}} : (tensor<4x16xf32>) -> tensor<4x16xf32>\\n"
        for i, op in enumerate(["negative", "abs", "relu", "floor"][: index % 4 + 1])
    )
    last = f"%v{{index % 4 + 1}}"
    return (
        f"func.func @main(%v0: tensor<4x16xf32>) -> tensor<4x16xf32> {{{{\\n{{body}}"
        f"  return {{last}} : tensor<4x16xf32>\\n}}}}"
    )

class Usage(ctypes.Structure):  # struct mallinfo2 of glibc
    _fields_ = [(name, ctypes.c_size_t) for name in "arena a b c mapped d e used f g".split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Usage

def measured():
    gc.collect()
    libc.malloc_trim(0)
    usage = libc.mallinfo2()
    return usage.used + usage.mapped, int(open("/proc/self/statm").read().split()[1]) * 4096

def compile_some(count):
    for index in range(count):
        stepwell.compile(program(index), cache=False, threads=1)

compile_some({WARM})
before = measured()
compile_some({COMPILATIONS})
print(*[now - then for now, then in zip(measured(), before)])
"""


@pytest.mark.ci_cases(0)
def test_g7_compilations_leave_next_to_nothing_behind() -> None:
    run = subprocess.run([sys.executable, "-c", COMPILES], capture_output=True, text=True, check=True)
    left, resident = map(int, run.stdout.split())
    assert left < LEFT and resident < RESIDENT


def adds(number: int) -> Executable:
    text = f"""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %n = graph.constant dense<{number}.0> : tensor<4xf32>
      %y = graph.add %x, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }}"""
    return stepwell.compile(text, opt_level=0, threads=1)


def test_g7_code_stays_while_an_executable_or_a_copy_or_a_call_uses_it() -> None:
    zeros = np.zeros(4, np.float32)
    first = adds(1000)
    copy = pickle.loads(pickle.dumps(adds(1001)))
    run_into = adds(1002).run_into
    kept = [adds(number) for number in range(40)][::7]  # Several linkers; most lose some of their libraries.
    gc.collect()
    for number in range(40, 60):
        adds(number)
    gc.collect()
    found = [float(each(zeros)[0][0]) for each in (first, copy, *kept)]
    assert found == [1000, 1001, 0, 7, 14, 21, 28, 35]
    run_into([zeros], np.ones(4, np.float32))
    assert zeros[0] == 1003


def test_types_that_go_take_their_shapes_along() -> None:
    known = signature._known
    type_ = TensorType(f32, [3, 12345])
    assert shaped_of(type_, "the value") == Shaped((3, 12345), "f32")
    key = id(type_)
    assert key in known
    del type_
    gc.collect()
    assert key not in known
