"""Entries that copy one array, made without the compiler's passes, for tests of calls."""

from __future__ import annotations

from typing import Any

import pytest
from stepwell.runtime.native.jit import compile_object
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.bound_entry import BoundEntry
from stepwell.runtime.program.description import Argument, Description, Entry
from stepwell.runtime.program.program import Program

ADD = """func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}"""

COPY = """
define i32 @_stepwell_entry_main(ptr %arguments) {{
  %from = load ptr, ptr %arguments
  %to.at = getelementptr ptr, ptr %arguments, i64 1
  %to = load ptr, ptr %to.at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {bytes}, i1 false)
  ret i32 {status}
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def is_fast(bound: BoundEntry) -> bool:
    return bound._fast_entry is not None


def both(monkeypatch: pytest.MonkeyPatch, make: Any) -> tuple[Any, Any]:
    """What `make` gives with fast calls and without them."""
    fast = make()
    with monkeypatch.context() as patch:
        patch.setenv("STEPWELL_FASTCALL", "0")
        return fast, make()


def copy_entry(type_: ArrayType, arena: int = 0, status: int = 0) -> BoundEntry:
    """An entry that copies its input to its output; made without the compiler's passes."""
    arguments = [Argument("input", "x", type_), Argument("output", "result0", type_)]
    if arena:
        arguments.append(Argument("arena", "arena", ArrayType("ui8", (arena,))))
    checks = (("first", "a:1:1"), ("second", "a:2:2"))
    code = compile_object(COPY.format(bytes=type_.nbytes, status=status), speed_level=0)
    description = Description((Entry("main", tuple(arguments)),), checks)
    return Program(description, code, {}).entry("main")
