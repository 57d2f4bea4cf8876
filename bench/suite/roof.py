"""What the machine can do at this moment: the rate of a loop of FMAs, and the time of a copy of as many bytes as a case moves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .engine import Variant
from .reference import Arrays
from .vocabulary import Program

CHAINS = 12
"""Independent accumulators: enough to hide the latency of two FMA units, few enough for 16 registers."""

STEPS = 20_000
"""Iterations of the loop in one call: about 50 µs."""


def vector_lanes() -> int:
    """Floats in the widest vector register that LLVM reports for this CPU."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 16
    return 8 if features.get("avx2") and features.get("fma") else 4


def fma_text(lanes: int) -> str:
    """LLVM IR of `peak(steps, out)`: `CHAINS` accumulators, one FMA each per step."""
    vector = f"<{lanes} x float>"
    chains = range(CHAINS)
    phis = [f"%a{i} = phi {vector} [ %x, %entry ], [ %b{i}, %loop ]" for i in chains]
    fmas = [f"%b{i} = call {vector} @llvm.fma({vector} %a{i}, {vector} %x, {vector} %x)" for i in chains]
    sums = [f"%s{i} = fadd {vector} {f'%s{i - 1}' if i > 1 else '%b0'}, %b{i}" for i in range(1, CHAINS)]
    lines = [
        f"declare {vector} @llvm.fma({vector}, {vector}, {vector})",
        "define void @peak(i64 %steps, ptr %out) {",
        "entry:",
        f"%x = load {vector}, ptr %out, align 4",
        "br label %loop",
        "loop:",
        "%i = phi i64 [ 0, %entry ], [ %n, %loop ]",
        *phis,
        *fmas,
        "%n = add i64 %i, 1",
        "%more = icmp ult i64 %n, %steps",
        "br i1 %more, label %loop, label %done",
        "done:",
        *sums,
        f"store {vector} %s{CHAINS - 1}, ptr %out, align 4",
        "ret void",
        "}",
    ]
    return "\n".join(lines).replace("@llvm.fma(", f"@llvm.fma.v{lanes}f32(")


class Peak:
    """The compiled loop. A call returns GFLOP/s."""

    def __init__(self) -> None:
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self.lanes = vector_lanes()
        target = binding.Target.from_default_triple()
        features = binding.get_host_cpu_features().flatten()
        machine = target.create_target_machine(binding.get_host_cpu_name(), features, opt=2, jit=True)
        self.engine = binding.create_mcjit_compiler(binding.parse_assembly(fma_text(self.lanes)), machine)
        self.engine.finalize_object()
        address = self.engine.get_function_address("peak")
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(address)
        self.data = np.full(self.lanes, 1e-3, np.float32)

    def __call__(self, clock: Callable[[], float]) -> float:
        address = self.data.ctypes.data
        start = clock()
        self.function(STEPS, address)
        return 2 * CHAINS * self.lanes * STEPS / (clock() - start) / 1e9


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    """A copy of half of the bytes: it reads and writes as many as the program moves."""
    source = np.ones(max(program.bytes // 8, 1), np.float32)
    target = np.empty_like(source)
    yield Variant("copy", lambda: np.copyto(target, source), list[Any])
