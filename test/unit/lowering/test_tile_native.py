"""Register tiles in native code: loads, stores, products, maps and control flow against NumPy."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counts import FULL
from llvm_jit import Program, aligned
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.machine.host import host_machine
from tile_programs import DTYPES

Array = np.ndarray[Any, Any]
SEEDS = 40 if FULL else 1
PROGRAMS = Path(__file__).parents[2] / "support" / "tile_programs.py"


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("cpu", ["host", "x86-64-v3", "x86-64"])
def test_random_places(cpu: str, seed: int) -> None:
    """Nothing outside the buffers is touched, on registers of 64, 32 and 16 bytes."""
    lesser = [] if cpu == "host" or platform.machine() != "x86_64" else [cpu, ""]
    count = "25" if FULL else "2" if lesser else "3"
    command = [sys.executable, str(PROGRAMS), "move,mma,groups", str(seed), count, *lesser]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def prepared(text: str, pipeline: str) -> str:
    """The text after some passes, verified after each."""
    ctx = make_context()
    module = parse_text(ctx, text, "tile.mlir")
    for pass_ in parse_pipeline(pipeline):
        pass_.apply(ctx, module)
        verify_module(module)
    return str(module)


@pytest.mark.parametrize("dtype", ["i1", "i8", "bf16", "f32", "f64"])
@pytest.mark.parametrize("columns", [1, 5, 16, 37, 64])
@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_tiles_stored_by_columns(rows: int, columns: int, dtype: str) -> None:
    """Rows and columns change places in memory. What lies around them stays."""
    wide, tall = f"memref<{rows}x{columns}x{dtype}>", f"memref<{columns + 2}x{rows}x{dtype}>"
    type_ = f"vector<{rows}x{columns}x{dtype}>"
    text = f"""func.func @f(%x: {wide}, %y: {tall}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %t = tile.load %x[%c0, %c0] : {wide}, {type_}
      tile.store %t, %y[%c1, %c0] along [1, 0] : {type_}, {tall}
      func.return }}"""
    x = aligned(np.random.default_rng(rows * columns).integers(0, 2, (rows, columns)).astype(DTYPES[dtype]))
    y = aligned(np.ones((columns + 2, rows), DTYPES[dtype]))
    Program(text).call("f", x, y)
    np.testing.assert_array_equal(y[1:-1], x.T)
    assert (y[0] == 1).all() and (y[-1] == 1).all()


@pytest.mark.parametrize("dtype", ["f32", "f64", "i8", "i32", "i64"])
def test_multiply_add(dtype: str) -> None:
    rows, columns = 3, 21
    buffer, type_ = f"memref<3x{rows}x{columns}x{dtype}>", f"vector<{rows}x{columns}x{dtype}>"
    loads = "".join(f"%t{n} = tile.load %x[%c{n}, %c0, %c0] : {buffer}, {type_}\n" for n in range(3))
    text = f"""func.func @f(%x: {buffer}, %y: memref<{rows}x{columns}x{dtype}>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      {loads}
      %r = tile.multiply_add %t0, %t1, %t2 : {type_}
      tile.store %r, %y[%c0, %c0] : {type_}, memref<{rows}x{columns}x{dtype}>
      func.return }}"""
    x = aligned(np.random.default_rng(0).integers(-100, 100, (3, rows, columns)).astype(DTYPES[dtype]))
    y = aligned(np.zeros((rows, columns), DTYPES[dtype]))
    Program(text).call("f", x, y)
    np.testing.assert_array_equal(y, x[0] * x[1] + x[2])


def mapped(body: list[str], inputs: list[tuple[str, Array]], output: str, pipeline: str = "") -> Array:
    """
    `tile.map` over whole arrays; the body has `%x0`, `%x1`, ... and `%s`, an f32 of 0.5 from outside, and makes `%y`.
    """
    rows, columns = inputs[0][1].shape
    types = [*(dtype for dtype, _ in inputs), output]
    arguments = ", ".join(f"%b{number}: memref<{rows}x{columns}x{t}>" for number, t in enumerate(types))
    tiles = [f"vector<{rows}x{columns}x{dtype}>" for dtype in types]
    loads = [
        f"%t{number} = tile.load %b{number}[%c0, %c0] : memref<{rows}x{columns}x{dtype}>, {tile}"
        for number, (dtype, tile) in enumerate(zip(types[:-1], tiles, strict=False))
    ]
    pairs = ", ".join(f"%x{number} = %t{number}" for number in range(len(inputs)))
    text = "\n".join(
        [
            f"func.func @f({arguments}) {{",
            "%c0 = arith.constant 0 : index",
            "%s = arith.constant 0.5 : f32",
            *loads,
            f"%r = tile.map({pairs}) : ({', '.join(tiles[:-1])}) -> {tiles[-1]} {{",
            *body,
            f"tile.yield %y : {output}",
            "}",
            f"tile.store %r, %b{len(inputs)}[%c0, %c0] : {tiles[-1]}, memref<{rows}x{columns}x{output}>",
            "func.return }",
        ]
    )
    program = Program(prepared(text, pipeline) if pipeline else text)
    result = aligned(np.zeros((rows, columns), DTYPES[output]))
    program.call("f", *(aligned(array) for _, array in inputs), result)
    return result


PAIRS = ["", *(['using "vdpbf16ps"'] if "avx512bf16" in host_machine().features else [])]


@pytest.mark.parametrize("using", PAIRS)
def test_pairs_of_bf16(using: str) -> None:
    """Groups of two bf16 against double precision. Subnormal numbers count in full, except by `vdpbf16ps`."""
    program = Program(f"""
func.func @f(%a: memref<3x8xbf16>, %b: memref<4x24x2xbf16>, %t: memref<3x24xf32>) {{
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<3x24xf32>, vector<3x24xf32>
  %1 = tile.mma %0, %a[%c0, %c0], %b[%c0, %c0, %c0] along [0, 1] depth 4 groups {using}
    : vector<3x24xf32>, memref<3x8xbf16>, memref<4x24x2xbf16>
  tile.store %1, %t[%c0, %c0] : vector<3x24xf32>, memref<3x24xf32>
  func.return
}}""")
    a, b = (numbers("bf16", shape, seed) for seed, shape in enumerate(((3, 8), (4, 48))))
    a[0, :] = 2.0**-130
    pairs = b.reshape(4, 24, 2)
    total = aligned(numbers("f32", (3, 24), 2))
    total[0] = 0
    wide = pairs.astype(np.float64).transpose(0, 2, 1).reshape(8, 24)
    expected = a.astype(np.float64) @ wide + total
    program.call("f", aligned(a), aligned(pairs), total)
    np.testing.assert_allclose(total[1:], expected[1:], rtol=0, atol=1e-5)
    np.testing.assert_allclose(total[0], expected[0] * (not using), rtol=1e-6, atol=2.0**-149 * 8)


def test_pairs_of_bf16_of_some_rows() -> None:
    """Columns of a as rows of the tile, of which two take part. Two instructions per product and sum are as exact."""
    program = Program("""
func.func @f(%a: memref<6x2xbf16>, %b: memref<3x37x2xbf16>, %t: memref<4x37xf32>) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %t[%c0, %c0] : memref<4x37xf32>, vector<4x37xf32>
  %1 = tile.mma %0, %a[%c0, %c0] along [1, 0], %b[%c0, %c0, %c0] along [0, 1] depth 3 rows [1, 2] groups
    : vector<4x37xf32>, memref<6x2xbf16>, memref<3x37x2xbf16>
  tile.store %1, %t[%c0, %c0] : vector<4x37xf32>, memref<4x37xf32>
  func.return
}""")
    a, b, total = numbers("bf16", (6, 2), 0), numbers("bf16", (3, 74), 1).reshape(3, 37, 2), numbers("f32", (4, 37), 2)
    expected = total.astype(np.float64)
    expected[1:3] += a.T.astype(np.float64) @ b.astype(np.float64).transpose(0, 2, 1).reshape(6, 37)
    found = aligned(total)
    program.call("f", aligned(a), aligned(b), found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


SHAPES = [(1, 1), (3, 16), (2, 37)]


def numbers(dtype: str, shape: tuple[int, int], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if dtype[0] == "i":
        return rng.integers(*((0, 2) if dtype == "i1" else (-100, 101)), shape).astype(DTYPES[dtype])
    return rng.uniform(-4, 4, shape).astype(DTYPES[dtype])


BINARY = [
    *((f"arith.{op}", "f32", f) for op, f in (("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply))),
    *(("arith.divf", "f64", np.divide), ("arith.maximumf", "f32", np.maximum)),
    *(("arith.minnumf", "f64", np.fmin), ("math.copysign", "f32", np.copysign)),
    *((f"arith.{op}", "i32", f) for op, f in (("addi", np.add), ("subi", np.subtract), ("muli", np.multiply))),
    *((f"arith.{op}", "i8", f) for op, f in (("minsi", np.minimum), ("maxsi", np.maximum))),
    *((f"arith.{op}", "i64", f) for op, f in (("andi", np.bitwise_and), ("xori", np.bitwise_xor))),
    *((f"arith.{op}", "i1", f) for op, f in (("ori", np.logical_or), ("andi", np.logical_and))),
]


def test_binary_ops_of_maps() -> None:
    for number, (op, dtype, expected) in enumerate(BINARY):
        shape = SHAPES[number % 3]
        x, y = numbers(dtype, shape, 1), numbers(dtype, shape, 2)
        found = mapped([f"%y = {op} %x0, %x1 : {dtype}"], [(dtype, x), (dtype, y)], dtype)
        np.testing.assert_array_equal(found, expected(x, y), err_msg=op)


CASTS = [
    *(("arith.extf", "f16", "f32"), ("arith.extf", "bf16", "f64"), ("arith.truncf", "f64", "bf16")),
    *(("arith.truncf", "f32", "f16"), ("arith.extsi", "i8", "i64"), ("arith.extui", "i1", "i32")),
    *(("arith.trunci", "i64", "i16"), ("arith.sitofp", "i16", "f32"), ("arith.fptosi", "f64", "i8")),
    *(("arith.uitofp", "i1", "f64"), ("arith.trunci", "i32", "i8")),
]


def test_casts_of_maps() -> None:
    for number, (op, source, target) in enumerate(CASTS):
        x = numbers(source, SHAPES[number % 3], number)
        found = mapped([f"%y = {op} %x0 : {source} to {target}"], [(source, x)], target)
        np.testing.assert_array_equal(found, x.astype(DTYPES[target]), err_msg=f"{op} {source} {target}")


@pytest.mark.parametrize("shape", SHAPES)
def test_constants_comparisons_and_numbers_from_outside(shape: tuple[int, int]) -> None:
    x, y = numbers("f32", shape, 3), numbers("i8", shape, 4)
    found = mapped(
        [
            "%zero = arith.constant 0.0 : f32",
            "%three = arith.constant 3 : i8",
            "%positive = arith.cmpf ogt, %x0, %zero : f32",
            "%small = arith.cmpi slt, %x1, %three : i8",
            "%both = arith.andi %positive, %small : i1",
            "%product = arith.mulf %x0, %s : f32",
            "%y = arith.select %both, %product, %s : f32",
        ],
        [("f32", x), ("i8", y)],
        "f32",
    )
    np.testing.assert_array_equal(found, np.where((x > 0) & (y < 3), x * np.float32(0.5), np.float32(0.5)))


def test_comparison_results_are_stored_as_bytes() -> None:
    x, y = numbers("f32", (5, 33), 5), numbers("f32", (5, 33), 6)
    found = mapped(["%y = arith.cmpf olt, %x0, %x1 : f32"], [("f32", x), ("f32", y)], "i1")
    np.testing.assert_array_equal(found.view(np.uint8), (x < y).view(np.uint8))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    ("op", "expected"), [("exp", np.exp), ("tanh", np.tanh), ("log1p", lambda v: np.log1p(np.abs(v)))]
)
def test_math_in_maps_is_expanded(op: str, expected: Any) -> None:
    x = numbers("f32", (3, 21), 7)
    body = ["%a = math.absf %x0 : f32" if op == "log1p" else "%a = arith.addf %x0, %s : f32"]
    shifted = x if op == "log1p" else x + np.float32(0.5)
    found = mapped([*body, f"%y = math.{op} %a : f32"], [("f32", x)], "f32", "expand-math")
    np.testing.assert_allclose(found, expected(shifted), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_small_floats_in_maps_are_computed_in_f32(dtype: str) -> None:
    x, y = numbers(dtype, (3, 19), 8), numbers(dtype, (3, 19), 9)
    body = [f"%p = arith.mulf %x0, %x1 : {dtype}", f"%y = arith.addf %p, %x0 : {dtype}"]
    found = mapped(body, [(dtype, x), (dtype, y)], dtype, "expand-math")
    product = (x.astype(np.float32) * y.astype(np.float32)).astype(DTYPES[dtype])
    expected = (product.astype(np.float32) + x.astype(np.float32)).astype(DTYPES[dtype])
    np.testing.assert_array_equal(found, expected)


def test_divisions_by_constants_in_maps() -> None:
    x = numbers("i32", (3, 19), 10)
    body = ["%d = arith.constant 7 : i32", "%y = arith.divsi %x0, %d : i32"]
    found = mapped(body, [("i32", x)], "i32", "guard-divisions")
    np.testing.assert_array_equal(found, np.trunc(x / 7).astype(np.int32))


CONTROL = """
func.func @f(%flag: i1, %n: index, %a: memref<3x40xf32>, %out: memref<3x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : vector<3x40xf32>
  %one = arith.constant dense<1.0> : vector<3x40xf32>
  %t = tile.load %a[%c0, %c0] : memref<3x40xf32>, vector<3x40xf32>
  %sum, %count = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %k = %c0) -> (vector<3x40xf32>, index) {
    %inner = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %s) -> (vector<3x40xf32>) {
      %more = tile.map(%x = %u, %y = %t) : (vector<3x40xf32>, vector<3x40xf32>) -> vector<3x40xf32> {
        %z = arith.addf %x, %y : f32
        tile.yield %z : f32
      }
      scf.yield %more : vector<3x40xf32>
    }
    %chosen, %step = scf.if %flag -> (vector<3x40xf32>, index) {
      %less = tile.map(%x = %inner, %y = %one) : (vector<3x40xf32>, vector<3x40xf32>) -> vector<3x40xf32> {
        %z = arith.subf %x, %y : f32
        tile.yield %z : f32
      }
      scf.yield %less, %c1 : vector<3x40xf32>, index
    } else {
      scf.yield %inner, %c2 : vector<3x40xf32>, index
    }
    %next = arith.addi %k, %step : index
    scf.yield %chosen, %next : vector<3x40xf32>, index
  }
  %asf = arith.index_cast %count : index to i32
  %scale = arith.sitofp %asf : i32 to f32
  %scaled = tile.map(%x = %sum) : (vector<3x40xf32>) -> vector<3x40xf32> {
    %z = arith.mulf %x, %scale : f32
    tile.yield %z : f32
  }
  tile.store %scaled, %out[%c0, %c0] : vector<3x40xf32>, memref<3x40xf32>
  func.return
}
"""


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("opt", [0, 2])
def test_tiles_are_carried_by_loops_and_branches(flag: bool, opt: int) -> None:
    program = Program(CONTROL, opt)
    a = aligned(np.arange(120, dtype=np.float32).reshape(3, 40))
    for runs in (0, 1, 5):
        out = aligned(np.full((3, 40), 7, np.float32))
        program.call("f", ctypes.c_bool(flag), ctypes.c_int64(runs), a, out)
        expected = (2 * runs * a - flag * runs) * (runs * (1 if flag else 2))
        np.testing.assert_array_equal(out, expected)
