"""
What the machine can do at this moment: the rate of a loop of FMAs, and the least time in which the bytes of a case can
be moved. Bytes are moved in two ways, and the faster counts: by a copy of half of them, and by a loop that reads what
the case reads and writes what it writes. They differ where reads are cheaper than writes (caches) or dearer.
"""

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


SIDE_BY_SIDE = 4
"""Streams that are read at a time, and sums of a loop that only reads: enough to hide the latency of an addition."""


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


def stream_text(lanes: int, read: int, written: int) -> str:
    """
    Returns LLVM IR of `stream(source, target)`, which reads and writes so many vectors.

    It begins with some of each, the source as `read // written` streams side by side (one to `SIDE_BY_SIDE`). Then
    comes the rest of the longer side alone.
    """
    vector = f"<{lanes} x float>"
    streams = min(max(read // written, 1), SIDE_BY_SIDE)
    steps = min(written, read)
    loads, total = [], "zeroinitializer"
    for number in range(streams):
        loads += _load(vector, f"{number}", f"%j{number}", f"%i, {number * steps}")
        loads.append(f"%t{number} = fadd {vector} %v{number}, {total}")
        total = f"%t{number}"
    store = [f"%q = getelementptr {vector}, ptr %target, i64 %i", f"store {vector} {total}, ptr %q, align 64"]
    lines = ["define void @stream(ptr %source, ptr %target) {", "entry:", "br label %both", "both:"]
    lines += _counted("both", "entry", 0, steps, "last", [*loads, *store])
    done = streams * steps
    if done + SIDE_BY_SIDE <= read:
        lines += _reading(vector, done, read - (read - done) % SIDE_BY_SIDE)
    elif steps < written:
        fill = [
            f"%p = getelementptr {vector}, ptr %target, i64 %k",
            f"store {vector} zeroinitializer, ptr %p, align 64",
        ]
        lines += ["last:", "br label %rest", "rest:"]
        lines += [
            *_counted("rest", "last", steps, written, "done", fill, index="%k"),
            "done:",
            "ret void",
            "}",
        ]
    else:
        lines += ["last:", "ret void", "}"]
    return "\n".join(lines)


def _reading(vector: str, start: int, stop: int) -> list[str]:
    """The blocks from `last` on that read the vectors `start` to `stop`, with `SIDE_BY_SIDE` sums."""
    sums = range(SIDE_BY_SIDE)
    lines = ["last:", "br label %rest", "rest:"]
    lines += [f"%s{n} = phi {vector} [ zeroinitializer, %last ], [ %x{n}, %rest ]" for n in sums]
    body = []
    for n in sums:
        body += [*_load(vector, f"r{n}", f"%jr{n}", f"%k, {n}"), f"%x{n} = fadd {vector} %vr{n}, %s{n}"]
    lines += _counted("rest", "last", start, stop, "done", body, index="%k", step=SIDE_BY_SIDE)
    totals = [f"%y{n} = fadd {vector} {f'%y{n - 1}' if n > 1 else '%x0'}, %x{n}" for n in sums[1:]]
    return [
        *lines,
        "done:",
        *totals,
        f"store {vector} %y{SIDE_BY_SIDE - 1}, ptr %target, align 64",
        "ret void",
        "}",
    ]


def _load(vector: str, name: str, at: str, sum_of: str) -> list[str]:
    """`%v<name>`: the vector number `sum_of` (two terms) of the source."""
    return [
        f"{at} = add i64 {sum_of}",
        f"%p{name} = getelementptr {vector}, ptr %source, i64 {at}",
        f"%v{name} = load {vector}, ptr %p{name}, align 64",
    ]


def _counted(
    label: str,
    before: str,
    start: int,
    stop: int,
    after: str,
    body: list[str],
    *,
    index: str = "%i",
    step: int = 1,
) -> list[str]:
    """
    The loop `for index in range(start, stop, step)` in the block `label`, which `before` enters, with `start < stop`.
    """
    return [
        f"{index} = phi i64 [ {start}, %{before} ], [ {index}n, %{label} ]",
        *body,
        f"{index}n = add i64 {index}, {step}",
        f"{index}m = icmp ult i64 {index}n, {stop}",
        f"br i1 {index}m, label %{label}, label %{after}",
    ]


def native(text: str, name: str) -> tuple[Any, int]:
    """The machine code of LLVM IR for this CPU: what keeps it alive, and the address of the function `name`."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    features = binding.get_host_cpu_features().flatten()
    machine = target.create_target_machine(binding.get_host_cpu_name(), features, opt=2, jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), machine)
    engine.finalize_object()
    return engine, engine.get_function_address(name)


class Peak:
    """The compiled loop. A call returns GFLOP/s."""

    def __init__(self) -> None:
        self.lanes = vector_lanes()
        self.engine, address = native(fma_text(self.lanes), "peak")
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(address)
        self.data = np.full(self.lanes, 1e-3, np.float32)

    def __call__(self, clock: Callable[[], float]) -> float:
        address = self.data.ctypes.data
        start = clock()
        self.function(STEPS, address)
        return 2 * CHAINS * self.lanes * STEPS / (clock() - start) / 1e9


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    """A copy of half of the bytes of the program, and a loop that reads and writes as much as the program does."""
    source = np.ones(max(program.bytes // 8, 1), np.float32)
    target = np.empty_like(source)
    yield Variant("copy", lambda: np.copyto(target, source), list[Any])
    yield Variant("stream", streaming(program), list[Any])


def streaming(program: Program) -> Callable[[], None]:
    """A call of `stream` with the vectors that the program reads and writes."""
    lanes = vector_lanes()
    written = max(sum(value.bytes for value in program.outputs) // (4 * lanes), 1)
    read = max(program.bytes // (4 * lanes) - written, 1)
    source, target = aligned(read * lanes), aligned(written * lanes)
    engine, address = native(stream_text(lanes, read, written), "stream")
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    arguments = source.ctypes.data, target.ctypes.data

    def call(keep: Any = (engine, source, target)) -> None:
        function(*arguments)

    return call


def aligned(floats: int) -> Any:
    """An array of ones at an address that is a multiple of 64."""
    array = np.ones(floats + 16, np.float32)
    skip = -array.ctypes.data // 4 % 16
    return array[skip : skip + floats]
