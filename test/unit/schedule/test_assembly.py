"""
The machine code of every class of kernel on every target: the instructions that the target has for it, nothing on the
stack and no call in a tile loop. `SHORT_OF_REGISTERS` lists what does spill.
"""

from __future__ import annotations

import io
import re

import pytest
from counts import FULL
from kernel_classes import KERNELS
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.pipelines import PIPELINES
from stepwell.runtime.native.emit_assembly import AssemblyTarget
from stepwell.testing.assembly import Loop, innermost_loops, tile_loops

AVX512, AVX2, SSE2, NEON = "x86-64-v4", "x86-64-v3", "x86-64", "aarch64-neon"
TARGETS = (AVX512, AVX2, SSE2, NEON)

PRODUCT = {
    AVX512: r"v(fn?madd\d+|mul)ps.*%zmm",
    AVX2: r"v(fn?madd\d+|mul)ps.*%ymm",
    SSE2: r"mulps.*%xmm",
    NEON: r"f(mla|mul)\s+v\d+\.4s",
}
BYTES = {
    AVX512: r"(vpmulld|vpmaddwd|vpdpbusd).*%zmm",
    AVX2: r"(vpmulld|vpmaddwd).*%ymm",
    SSE2: r"(pmulld|pmaddwd|pmuludq|pmullw)",
    NEON: r"(smlal|sdot|mla)2?\s+v\d+\.4s",
}

SHORT_OF_REGISTERS = {
    ("softmax", SSE2),  # calls, see below: what they may change is saved
    ("packed", SSE2),
    ("packed", NEON),  # halves of bytes are extended one by one: no dot products
    ("packed", AVX512),  # three rows with three parts each, by `vpmaddubsw` on halves of registers
    ("conv3x3", NEON),  # two of 100 places in the products of Winograd tiles
}
"""Loops that keep something on the stack, however little."""

CALLS = {("gelu", SSE2), ("softmax", SSE2), ("packed", SSE2)}
"""
`math.fma` and `math.roundeven` without the instruction: libm gives the one rounding that these ask for, lane by lane.
"""

CASES = [(name, target) for name in KERNELS if name != "transpose" for target in TARGETS]
FEW = [
    *(("gemm", target) for target in TARGETS),
    *((name, AVX512) for name in ("skinny", "conv1x1", "softmax")),
    ("int8", AVX2),
    ("gemm_odd", SSE2),
]


def assembly(name: str, target: str) -> str:
    with PassContext(config={"target": target}):
        context = make_context()
        module = parse_text(context, KERNELS[name])
        wide = "{wide=true}" if target == AVX512 else ""
        finish = PIPELINES["finish"].replace("vectorize-loops,expand-math", f"vectorize-loops{wide},expand-math{wide}")
        run_pipeline(context, module, parse_pipeline(f"graph-optimize,{finish}"))
        output = io.StringIO()
        AssemblyTarget(machine=target).emit(context, module, output)
    return output.getvalue()


def shown(loops: list[Loop]) -> str:
    return "\n".join(line for loop in loops for line in (loop.summary, *loop.lines))


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(("name", "target"), CASES if FULL else FEW)
def test_tile_loops_hold_products_and_nothing_else(name: str, target: str) -> None:
    loops = tile_loops(assembly(name, target), least=2)
    expected = (BYTES if name == "int8" else PRODUCT)[target]
    if (name, target) not in CALLS:
        assert any(loop.count(expected) for loop in loops), shown(loops)
        assert not any(loop.calls for loop in loops), shown(loops)
    if (name, target) not in SHORT_OF_REGISTERS:
        assert not any(loop.spills for loop in loops), shown(loops)


@pytest.mark.parametrize("target", TARGETS if FULL else (SSE2,))
def test_transforms_of_winograd_stay_in_registers(target: str) -> None:
    loops = innermost_loops(assembly("conv3x3", target))
    adding = [loop for loop in loops if loop.count(r"v?(add|sub)ps|fadd|fsub") >= 4]
    assert len(adding) >= 4, shown(loops)  # filters, inputs down and across, outputs
    assert not any(loop.spills for loop in adding), shown(adding)


@pytest.mark.parametrize("target", TARGETS if FULL else (AVX512,))
def test_transposes_shuffle_in_registers(target: str) -> None:
    shuffle = r"\bv?(unpck|shuf|perm|blend)\w+|\b(trn|zip|uzp)[12]\b|st[234]\b|ld[234]\b"
    loops = innermost_loops(assembly("transpose", target))
    assert any(loop.count(shuffle) and loop.stores for loop in loops), shown(loops)
    assert not any(loop.calls for loop in loops)


X86 = """
f:                                      # @f
\tmovq\t%rdi, -8(%rsp)
.LBB0_1:                                # outer
\txorl\t%ecx, %ecx
.LBB0_2:                                # inner
\tvmovups\t(%rdi,%rcx), %zmm1
\tvfmadd231ps\t(%rsi,%rcx){1to16}, %zmm1, %zmm0
\tvmovups\t64(%rsp), %zmm2
\tvmovups\t%zmm0, (%rdx)
\tvmovss\t%xmm7, 128(%rsp,%r14,4)
\tleaq\t8(%rdi), %rdi
\tcallq\tfmaf@PLT
\tjne\t.LBB0_2
\tjne\t.LBB0_1
\tretq
"""

ARM = """
f:
.LBB0_1:
\tldr\tq0, [x1, #16]                   // 16-byte
\tfmla\tv1.4s, v0.4s, v2.s[0]
\tstr\tq0, [sp, #32]
\tstp\tq1, q2, [x2]
\tb.ne\t.LBB0_1
\tret
"""


def test_what_a_loop_holds_is_counted() -> None:
    (loop,) = innermost_loops(X86)
    assert loop.summary == "loop .LBB0_2: 1 products, 3 loads, 2 stores, 1 of the stack, 1 calls"
    assert loop.spills == ("vmovups\t64(%rsp), %zmm2",)
    assert tile_loops(X86, 1) == [loop]
    assert tile_loops(X86, 2) == []
    (framed,) = innermost_loops(X86.replace("movq\t%rdi, -8(%rsp)", "movq\t%rsp, %rbp").replace("64(%rsp)", "64(%rbp)"))
    assert framed.spills == ("vmovups\t64(%rbp), %zmm2",)
    (free,) = innermost_loops(X86.replace("64(%rsp)", "64(%rbp)"))  # a register as any other
    assert free.spills == ()
    (loop,) = innermost_loops(ARM)
    assert loop.summary == "loop .LBB0_1: 1 products, 1 loads, 2 stores, 1 of the stack, 0 calls"
    assert loop.spills == ("str\tq0, [sp, #32]",)


@pytest.mark.parametrize(
    ("line", "is_product"),
    [
        ("vfmadd213ps %zmm1, %zmm2, %zmm3", True),
        ("mulps %xmm0, %xmm1", True),
        ("vpdpbusd %zmm0, %zmm1, %zmm2", True),
        ("tdpbssd %tmm0, %tmm1, %tmm2", True),
        ("fmla v0.4s, v1.4s, v2.4s", True),
        ("smlal2 v0.4s, v1.8h, v2.8h", True),
        ("addps %xmm0, %xmm1", False),
        ("mulq %rcx", False),
    ],
)
def test_what_counts_as_a_product(line: str, is_product: bool) -> None:
    (loop,) = innermost_loops(f"a:\n{line}\n{'jne' if '%' in line else 'b.ne'} a\n")
    assert loop.products == int(is_product)
    assert re.match(r"\w+", line)
