"""
Products of bytes by each instruction for dot products, whether this machine has it or not. Loop functions that are
scheduled for a machine run in the interpreter, and natively where LLVM encodes the instruction for this machine.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import stepwell
from ml_dtypes import bfloat16
from named_machines import runs_here, scheduled_for
from stepwell.core import codegens
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.machine import named
from stepwell.machine.code_target import CodeTarget
from stepwell.machine.host import host_machine
from stepwell.machine.intrinsics import lacking_feature
from stepwell.machine.named import machine_named, register_machine
from stepwell.runtime.errors import CompileError
from stepwell.testing import interpret

M, K, N = 17, 22, 19
"""Neither whole tiles, nor whole groups, nor whole registers."""

SIGNS = ("s", "u")
TYPES = {"s": np.int8, "u": np.uint8}
EXPECTED = {
    "alder-lake": {"ss": "vex.vpdpbusd", "su": "vex.vpdpbusd", "us": "vex.vpdpbusd", "uu": "vex.vpdpbusd"},
    "neoverse-v2": {"ss": "sdot", "su": "usdot", "us": "usdot", "uu": "udot"},
    "dotprod": {"ss": "sdot", "su": "udot", "us": "sdot", "uu": "udot"},
    "zen4": {"ss": "vpdpbusd", "su": "vpdpbusd", "us": "vpdpbusd", "uu": "vpdpbusd"},
    "aarch64-neon": dict.fromkeys(("ss", "su", "us", "uu")),
    "x86-64-v4": dict.fromkeys(("ss", "su", "us", "uu"), "vpmaddwd"),
    "x86-64-v3": dict.fromkeys(("ss", "su", "us", "uu"), "vex.vpmaddwd"),
    "x86-64": dict.fromkeys(("ss", "su", "us", "uu"), "pmaddwd"),
}


@pytest.fixture
def without_mixed_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers, for the test, a machine whose dot products take two signs or none."""
    monkeypatch.setattr(named, "_registered", {})
    monkeypatch.setattr(codegens, "_registrations", dict(codegens._registrations))
    register_machine(replace(machine_named("aarch64-neon"), name="dotprod", features=frozenset({"dotprod"})))


def product(signs: str, m: int = M, k: int = K, n: int = N) -> str:
    left, right = (f"arith.ext{sign}i" for sign in signs)
    return f"""
tensor_loop.func @main(%A: memref<{m}x{k}xi8>, %B: memref<{k}x{n}xi8>) outs(%C: memref<{m}x{n}xi32>) {{
  tensor_loop.grid (%i, %j, %l) in ({m}, {n}, {k}) {{
    tensor_loop.block "matmul" spatial(%vi in {m} = %i, %vj in {n} = %j) reduce(%vk in {k} = %l) {{
      tensor_loop.init {{
        %zero = arith.constant 3 : i32
        memref.store %zero, %C[%vi, %vj] : memref<{m}x{n}xi32>
      }}
      %a = memref.load %A[%vi, %vk] : memref<{m}x{k}xi8>
      %aw = {left} %a : i8 to i32
      %b = memref.load %B[%vk, %vj] : memref<{k}x{n}xi8>
      %bw = {right} %b : i8 to i32
      %c = memref.load %C[%vi, %vj] : memref<{m}x{n}xi32>
      %p = arith.muli %aw, %bw : i32
      %s = arith.addi %c, %p : i32
      memref.store %s, %C[%vi, %vj] : memref<{m}x{n}xi32>
    }}
  }}
}}"""


def operands(signs: str, m: int = M, k: int = K, n: int = N) -> tuple[list[np.ndarray], np.ndarray]:
    """Bytes with the extreme ones among them, as signed arrays, and 3 + their products."""
    rng = np.random.default_rng(ord(signs[0]) + 2 * ord(signs[1]))
    arrays = [rng.integers(-128, 128, shape, np.int8) for shape in ((m, k), (k, n))]
    arrays[0][0], arrays[1][:, 0], arrays[1][:, 1] = -128, -128, 127
    left, right = (a.view(TYPES[sign]).astype(np.int64) for a, sign in zip(arrays, signs, strict=True))
    return arrays, (left @ right + 3).astype(np.int32)


@pytest.mark.ci_cases(4)
@pytest.mark.usefixtures("without_mixed_signs")
@pytest.mark.parametrize("right", SIGNS)
@pytest.mark.parametrize("left", SIGNS)
@pytest.mark.parametrize("machine", EXPECTED)
def test_sums_are_exact_by_the_instruction_of_the_machine(machine: str, left: str, right: str) -> None:
    module = parse(product(left + right))
    run_pipeline(make_context(), module, f'schedule-cpu{{target="{machine}"}}')
    wanted = EXPECTED[machine][left + right]
    assert ("tile.mma" in str(module)) and (f'using "{wanted}"' in str(module)) == (wanted is not None)
    arrays, expected = operands(left + right)
    (found,) = interpret(module, arrays)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.ci_cases(1)
@pytest.mark.skipif("avx512vnni" not in host_machine().features, reason="LLVM encodes none for this machine")
@pytest.mark.parametrize("size", [(M, K, N), (33, 128, 96), (16, 16, 36)])
@pytest.mark.parametrize("signs", ["ss", "us", "su", "uu"])
def test_registers_of_32_bytes_give_the_same(signs: str, size: tuple[int, int, int]) -> None:
    arrays, expected = operands(signs, *size)
    with scheduled_for("alder-lake"):
        compiled = stepwell.compile(product(signs, *size), cache=False)
    assert "llvm.x86.avx512.vpdpbusd.256" in compiled.ir("llvm-ir") and "vpdpbusd.512" not in compiled.ir("llvm-ir")
    np.testing.assert_array_equal(compiled(*arrays)[0], expected)


@pytest.mark.ci_cases(4)
@pytest.mark.skipif(not host_machine().code_target.is_x86_64, reason="runs code for x86-64")
@pytest.mark.parametrize("size", [(M, K, N), (33, 128, 96), (16, 16, 36), (20, 23, 130)])
@pytest.mark.parametrize("signs", ["ss", "us", "su", "uu"])
@pytest.mark.parametrize(("target", "registers"), [("x86-64", "xmm"), ("x86-64-v3", "ymm"), ("x86-64-v4", "zmm")])
def test_bytes_are_multiplied_in_16_bits_without_dot_products(
    target: str, registers: str, signs: str, size: tuple[int, int, int]
) -> None:
    if not runs_here(target):
        pytest.skip(f"this processor cannot run code for {target}")
    arrays, expected = operands(signs, *size)
    compiled = stepwell.compile(product(signs, *size), target=target, cache=False)
    assert re.search(rf"pmaddwd.*%{registers}", compiled.ir("asm"))
    np.testing.assert_array_equal(compiled(*arrays)[0], expected)


@pytest.mark.skipif(not host_machine().code_target.is_x86_64, reason="names instructions that Arm has")
def test_instructions_of_another_machine_are_refused() -> None:
    message = "the program has instructions of dotprod, which .* does not have; schedule it for another target"
    with scheduled_for("neoverse-v2"), pytest.raises(CompileError, match=message):
        stepwell.compile(product("ss"), cache=False)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("target", "instruction"), [("neoverse-v2", "bfdot"), ("zen4", "vdpbf16ps")])
def test_pairs_of_bf16(target: str, instruction: str) -> None:
    text = """
func.func @main(%x: tensor<32x64xbf16>ARGUMENT) -> tensor<32x32xf32> {
  WEIGHT
  %y = graph.matmul %x, %w, out_dtype = f32 : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xf32>
  func.return %y : tensor<32x32xf32>
}"""
    made = text.replace("ARGUMENT", ", %w: tensor<64x32xbf16>").replace("WEIGHT", "")
    given = text.replace("ARGUMENT", "").replace("WEIGHT", '%w = graph.weight "w" : tensor<64x32xbf16>')
    weights = {"w": np.ones((64, 32), bfloat16)}
    for numerics in ("fast", "default", "strict"):
        for program, held in ((made, None), (given, weights)):
            code = stepwell.compile(program, weights=held, target=target, numerics=numerics, cache=False).ir("asm")
            assert (instruction in code) == (numerics == "fast" or (numerics == "default" and held is not None))


@pytest.mark.parametrize(
    ("text", "cpu", "features", "lacking"),
    [
        ("@llvm.x86.avx512.vpdpbusd.512", "cascadelake", "", None),
        ("@llvm.x86.avx512.vpdpbusd.512", "alderlake", "+avxvnni", "avx512vnni"),
        ("@llvm.x86.avx512.vpdpbusd.256", "alderlake", "+avxvnni", None),
        ("@llvm.x86.avx512.vpdpbusd.256", "x86-64-v3", "", "avxvnni"),
        ("@llvm.x86.avx512bf16.dpbf16ps.512", "x86-64-v4", "", "avx512bf16"),
        ("@llvm.x86.avx512.max.ps.512", "x86-64-v3", "", "avx512f"),
        ("@llvm.x86.avx512.pmaddw.d.512", "x86-64-v4", "", None),
        ("@llvm.x86.avx512.pmaddw.d.512", "x86-64-v3", "", "avx512bw"),
        ("@llvm.x86.avx2.pmadd.wd", "x86-64-v3", "", None),
        ("@llvm.x86.avx2.pmadd.wd", "x86-64", "-avx2", "avx2"),
        ("@llvm.x86.ssse3.pmadd.ub.sw.128", "x86-64-v3", "", None),
        ("@llvm.x86.sse2.pmadd.wd", "x86-64", "", None),
        ("@llvm.x86.avx512.permvar.qi.512", "skylake-avx512", "", "avx512vbmi"),
        ("@llvm.x86.avx512.vpermi2var.qi.512", "icelake-server", "", None),
        ("@llvm.x86.avx512.max.ps.512", "some-other", "", None),
        ("@llvm.aarch64.neon.sdot.v4i32.v16i8", "x86-64-v4", "", "dotprod"),
        ("@llvm.fma.f32", "x86-64", "", None),
    ],
)
def test_what_intrinsics_need(text: str, cpu: str, features: str, lacking: str | None) -> None:
    assert lacking_feature(text, CodeTarget("x86_64-unknown-linux-gnu", cpu, features)) == lacking


def test_what_intrinsics_of_arm_need() -> None:
    generic = CodeTarget("aarch64-unknown-linux-gnu", "generic", "+dotprod")
    assert lacking_feature("@llvm.aarch64.neon.sdot.v4i32.v16i8", generic) is None
    assert lacking_feature("@llvm.aarch64.neon.bfdot.v4f32.v8bf16 @llvm.aarch64.neon.udot", generic) == "bf16"
    assert lacking_feature("@llvm.aarch64.neon.usdot.v4i32.v16i8", machine_named("neoverse-v2").code_target) is None
