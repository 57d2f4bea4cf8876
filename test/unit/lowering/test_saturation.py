"""Conversions of floats to narrow integers in maps: one op in the llvm dialect, the same text, the numbers of NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest
from llvm_jit import Program, aligned
from llvm_texts import function, text_of
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.llvm.tiles import convert_tile
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text


def conversion(bits: int, is_unsigned: bool) -> str:
    """Returns a program that converts a tile of f32 with two widths of registers."""
    low, high = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    nan = "" if is_unsigned else f"%8 = arith.cmpf uno, %x, %x : f32\n%9 = arith.select %8, %zero, %7 : i{bits}"
    return f"""
func.func @f(%m: memref<6x24xf32>, %n: memref<6x24xi{bits}>) {{
  %c0 = arith.constant 0 : index
  %0 = tile.load %m[%c0, %c0] : memref<6x24xf32>, vector<6x24xf32>
  %1 = tile.map(%x = %0) : (vector<6x24xf32>) -> vector<6x24xi{bits}> {{
    %low = arith.constant {low}.0 : f32
    %high = arith.constant {high}.0 : f32
    %zero = arith.constant 0 : i{bits}
    %2 = arith.cmpf ogt, %x, %low : f32
    %3 = arith.select %2, %x, %low : f32
    %4 = arith.cmpf olt, %3, %high : f32
    %5 = arith.select %4, %3, %high : f32
    %6 = arith.fptosi %5 : f32 to i32
    %7 = arith.trunci %6 : i32 to i{bits}
    {nan}
    tile.yield {"%7" if is_unsigned else "%9"} : i{bits}
  }}
  tile.store %1, %n[%c0, %c0] : vector<6x24xi{bits}>, memref<6x24xi{bits}>
  func.return
}}"""


def llvm_text(program: str) -> str:
    """Returns the text for LLVM, with values called by the order in which they appear."""
    ctx = make_context()
    module = parse_text(ctx, program, "test.mlir")
    for pass_ in parse_pipeline("lower-to-llvm-dialect"):
        pass_.apply(ctx, module)
    names: dict[str, str] = {}
    return re.sub(r"%[\w.]+", lambda found: names.setdefault(found[0], f"%{len(names)}"), emit_llvm_text(module))


KINDS = [(8, False), (8, True), (16, False), (16, True)]


@pytest.mark.parametrize(("bits", "is_unsigned"), KINDS)
def test_the_text_is_that_of_the_steps(monkeypatch: pytest.MonkeyPatch, bits: int, is_unsigned: bool) -> None:
    program = conversion(bits, is_unsigned)
    found = llvm_text(program)
    monkeypatch.setattr(convert_tile, "saturation_at", lambda ops, first: None)
    assert found == llvm_text(program)
    assert found.count("fptosi") == 12


@pytest.mark.parametrize(("bits", "is_unsigned"), KINDS)
def test_numbers_are_those_of_numpy(bits: int, is_unsigned: bool) -> None:
    low, high = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, -1e30, low, high, low - 0.5, high + 0.5, low - 1, high + 1]
    rest = np.random.default_rng(0).uniform(1.5 * low - 9, 1.5 * high, 144 - len(special))
    x = aligned(np.array([*special, *rest], np.float32).reshape(6, 24))
    result = aligned(np.zeros((6, 24), f"i{bits // 8}"))
    Program(conversion(bits, is_unsigned)).call("f", x, result)
    whole = np.trunc(np.clip(np.nan_to_num(x.astype(np.float64), posinf=1e9, neginf=-1e9), low, high)).astype(np.int64)
    np.testing.assert_array_equal(result, whole.astype(result.dtype))


def test_scalars_have_the_same_steps() -> None:
    text = text_of(function("%c = llvm_ext.saturate %x : f32 to i8", "%x: f32"))
    lines = [line.strip() for line in text.splitlines() if "%c.1" in line]
    assert lines == [
        "%c.1.low = fcmp ogt float %x.0, 0xC060000000000000",
        "%c.1.least = select i1 %c.1.low, float %x.0, float 0xC060000000000000",
        "%c.1.high = fcmp olt float %c.1.least, 0x405FC00000000000",
        "%c.1.most = select i1 %c.1.high, float %c.1.least, float 0x405FC00000000000",
        "%c.1.whole = fptosi float %c.1.most to i32",
        "%c.1.part = trunc i32 %c.1.whole to i8",
        "%c.1.nan = fcmp uno float %x.0, %x.0",
        "%c.1 = select i1 %c.1.nan, i8 0, i8 %c.1.part",
    ]
