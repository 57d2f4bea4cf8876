"""The machine code of tile loops: sums stay in registers, products are the instructions that the machine has."""

from __future__ import annotations

import re

import llvmlite.binding as binding
import pytest
from counts import FULL
from llvm_jit import lower
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.machine.aarch64 import AARCH64_NEON
from stepwell.machine.code_target import CodeTarget
from stepwell.machine.machine import Machine
from stepwell.machine.x86_64 import X86_64, X86_64_V3, X86_64_V4
from stepwell.runtime.native.jit import assembly, host_code_target
from stepwell.schedule.kernels.register_tiles import choose_tile


def code(text: str, triple: str, cpu: str) -> list[str]:
    """The instructions of the innermost loop: from the label that the last backward branch names to that branch."""
    host_code_target()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    lines = assembly(emit_llvm_text(lower(text)), CodeTarget(triple, cpu, ""), 2).splitlines()
    labels = {line.split(":")[0]: number for number, line in enumerate(lines) if re.match(r"\.?\w+:", line)}
    loops: list[list[str]] = []
    for number, line in enumerate(lines):
        words = line.split()
        if words and re.match(r"j[a-z]+$|b\.?[a-z]*$|cbn?z$", words[0]) and labels.get(words[-1], number) < number:
            loops.append(lines[labels[words[-1]] : number + 1])
    assert loops, "\n".join(lines)
    return min(loops, key=len)


def kernel(rows: int, columns: int, element: str, total: str) -> str:
    """The loop over k of a tile, b in panels."""
    tile = f"vector<{rows}x{columns}x{total}>"
    types = (
        f"memref<{rows}x256x{element}>",
        f"memref<256x{columns}x{element}>",
        f"memref<{rows}x{columns}x{total}>",
    )
    return f"""
func.func @f(%a: {types[0]}, %b: {types[1]}, %out: {types[2]}) {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : {tile}
  %sum = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zero) -> ({tile}) {{
    %next = tile.mma %acc, %a[%c0, %k], %b[%k, %c0] depth 4 : {tile}, {types[0]}, {types[1]}
    scf.yield %next : {tile}
  }}
  tile.store %sum, %out[%c0, %c0] : {tile}, {types[2]}
  func.return
}}"""


MACHINES = [
    (X86_64_V4, "vfmadd", r"zmm\d+", r"zmm\d+.*\(%r[sb]p\)|\(%r[sb]p\).*zmm\d+"),
    (X86_64_V3, "vfmadd", r"ymm\d+", r"ymm\d+.*\(%r[sb]p\)|\(%r[sb]p\).*ymm\d+"),
    (X86_64, "mulp", r"xmm\d+", r"xmm\d+.*\(%r[sb]p\)|\(%r[sb]p\).*xmm\d+"),
    (AARCH64_NEON, "fmla", r"v\d+\.", r"\bq\d+.*\[sp"),
]


SIZES = [(1000, 1000), (8, 768), (13, 32), (6, 64), (1, 512)]


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("size", SIZES if FULL else SIZES[:1])
@pytest.mark.parametrize(
    ("machine", "product", "register", "spill"), MACHINES, ids=[machine.name for machine, *_ in MACHINES]
)
def test_sums_stay_in_registers(
    machine: Machine, product: str, register: str, spill: str, size: tuple[int, int]
) -> None:
    tile = choose_tile(*size, 4, machine)
    loop = code(kernel(tile.rows, tile.columns, "f32", "f32"), machine.triple, machine.cpu)
    vectors = -(-tile.columns // machine.lanes(4))
    products = [line for line in loop if product in line and re.search(register, line)]
    assert len(products) == 4 * tile.rows * vectors, "\n".join(loop)
    assert not [line for line in loop if re.search(spill, line)], "\n".join(loop)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_half_floats_are_widened_in_registers(element: str) -> None:
    loop = code(kernel(8, 32, element, "f32"), X86_64_V4.triple, X86_64_V4.cpu)
    assert len([line for line in loop if "vfmadd" in line and "zmm" in line]) == 4 * 8 * 2
    widening = "vcvtph2ps" if element == "f16" else "vpmovzxwd"
    assert any(widening in line for line in loop)
    assert not [line for line in loop if "call" in line or re.search(r"zmm\d+.*\(%r[sb]p\)", line)]


def test_products_of_bf16_are_dot_products_of_two() -> None:
    text = """
func.func @f(%a: memref<8x256xbf16>, %b: memref<128x48x2xbf16>, %out: memref<8x48xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 128 : index
  %first = arith.constant dense<0.0> : vector<8x48xf32>
  %sum = scf.for %q = %c0 to %n step %c4 iter_args(%acc = %first) -> (vector<8x48xf32>) {
    %k = arith.muli %q, %c2 : index
    %next = tile.mma %acc, %a[%c0, %k], %b[%q, %c0, %c0] along [0, 1] depth 4 groups using "vdpbf16ps"
      : vector<8x48xf32>, memref<8x256xbf16>, memref<128x48x2xbf16>
    scf.yield %next : vector<8x48xf32>
  }
  tile.store %sum, %out[%c0, %c0] : vector<8x48xf32>, memref<8x48xf32>
  func.return
}"""
    loop = code(text, X86_64_V4.triple, "cooperlake")
    assert len([line for line in loop if "vdpbf16ps" in line and "zmm" in line]) == 4 * 8 * 3
    assert not [line for line in loop if re.search(r"zmm\d+.*\(%r[sb]p\)|vpslld|vfmadd", line)]


def test_products_of_bytes_are_dot_products() -> None:
    text = """
func.func @f(%a: memref<8x256xi8>, %b: memref<64x48x4xi8>, %start: memref<48xi32>, %out: memref<8x48xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 64 : index
  %first = tile.load %start[%c0] : memref<48xi32>, vector<8x48xi32>
  %sum = scf.for %q = %c0 to %n step %c4 iter_args(%acc = %first) -> (vector<8x48xi32>) {
    %k = arith.muli %q, %c4 : index
    %next = tile.mma %acc, %a[%c0, %k], %b[%q, %c0, %c0] along [0, 1] depth 4 groups unsigned using "vpdpbusd"
      : vector<8x48xi32>, memref<8x256xi8>, memref<64x48x4xi8>
    scf.yield %next : vector<8x48xi32>
  }
  tile.store %sum, %out[%c0, %c0] : vector<8x48xi32>, memref<8x48xi32>
  func.return
}"""
    loop = code(text, X86_64_V4.triple, "cascadelake")
    assert len([line for line in loop if "vpdpbusd" in line and "zmm" in line]) == 4 * 8 * 3
    assert not [line for line in loop if re.search(r"zmm\d+.*\(%r[sb]p\)|vpmull|vpmadd", line)]
