"""The interpreter of loops beside plain NumPy: nests, inits, control flow, views, vectors and tiles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from loop_programs import LoopProgram, loop_programs
from stepwell.core.ir.verification import VerificationError
from stepwell.reference import LoopFault
from stepwell.testing import interpret
from tolerances import check_program, check_same

Array = np.ndarray[Any, Any]

RACES = re.compile(r"(for %k\w* in (?!1 )\d+) parallel")
"""Loops over parts of a sum, of more than one iteration, that are marked as parallel."""


@given(program=loop_programs(), seed=st.integers(0, 1000))
def test_reductions_under_any_split_and_order(program: LoopProgram, seed: int) -> None:
    m, n, k = program.sizes
    choose = np.random.default_rng(seed)
    a, b = choose.standard_normal((m, k)).astype(np.float32), choose.standard_normal((k, n)).astype(np.float32)
    text = RACES.sub(r"\1", program.text)
    check_program(k + 1, interpret(text, [a, b]), [program.expected(a, b)])
    if text != program.text and k > 1 and m and n:
        with pytest.raises((LoopFault, VerificationError), match="race"):  # the verifier proves some of them
            interpret(program.text, [a, b])


def run(body: str, arguments: str, *arrays: Any) -> tuple[Array, ...]:
    """Runs a function on buffers, which returns all of them."""
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 5, 8))
    return interpret(f"func.func @f({arguments}) {{\n{constants}\n{body}\nfunc.return\n}}\n", arrays)


A = np.arange(24, dtype=np.float32).reshape(4, 6)


def test_an_init_runs_where_no_iteration_does() -> None:
    text = """
    tensor_loop.func @f(%A: memref<3x5xf32>) outs(%B: memref<3xf32>) {
      tensor_loop.for %k in 5 {
        tensor_loop.for %i in 3 {
          tensor_loop.block "sum" spatial(%vi in 3 = %i) reduce(%vk in 5 = %k) where(%k + %i * 5 < 5) {
            init {
              %z = arith.constant 7.0 : f32
              memref.store %z, %B[%vi] : memref<3xf32>
            }
            %x = memref.load %A[%vi, %vk] : memref<3x5xf32>
            %y = memref.load %B[%vi] : memref<3xf32>
            %s = arith.addf %x, %y : f32
            memref.store %s, %B[%vi] : memref<3xf32>
          }
        }
      }
    }"""
    (found,) = interpret(text, [np.ones((3, 5), np.float32)])
    assert found.tolist() == [12.0, 7.0, 7.0]


def test_an_init_runs_again_in_a_loop_around_the_reduction() -> None:
    text = """
    tensor_loop.func @f(%A: memref<4xf32>) outs(%B: memref<1xf32>) {
      tensor_loop.for %t in 3 {
        tensor_loop.for %k in 4 {
          tensor_loop.block "sum" spatial(%v in 1 = 0) reduce(%vk in 4 = %k) {
            init {
              %z = arith.constant 0.0 : f32
              memref.store %z, %B[%v] : memref<1xf32>
            }
            %x = memref.load %A[%vk] : memref<4xf32>
            %y = memref.load %B[%v] : memref<1xf32>
            %s = arith.addf %x, %y : f32
            memref.store %s, %B[%v] : memref<1xf32>
          }
        }
      }
    }"""
    (found,) = interpret(text, [np.arange(4, dtype=np.float32)])
    assert found.tolist() == [6.0]


def test_open_sizes() -> None:
    text = """
    tensor_loop.func @f(%A: memref<?x?xf32>) outs(%B: memref<?x?xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = memref.dim %A, %c0 : memref<?x?xf32>
      %n = memref.dim %A, %c1 : memref<?x?xf32>
      tensor_loop.grid (%i, %j) in (%m, %n) {
        tensor_loop.block "t" spatial(%vi in %m = %i, %vj in %n = %j) {
          %x = memref.load %A[%vi, %vj] : memref<?x?xf32>
          memref.store %x, %B[%vj, %vi] : memref<?x?xf32>
        }
      }
    }"""
    check_same(interpret(text, [A, np.empty((6, 4), np.float32)]), [A.T])


def test_loops_and_choices_of_scf() -> None:
    _, found = run(
        """%s = scf.for %i = %c0 to %c4 step %c2 iter_args(%t = %c0) -> (index) {
          %odd = arith.cmpi eq, %i, %c2 : index
          %r = scf.if %odd -> (index) { %u = arith.addi %t, %c5 : index scf.yield %u : index }
               else { %u = arith.addi %t, %c1 : index scf.yield %u : index }
          scf.yield %r : index
        }
        memref.store %s, %B[%c0] : memref<3xindex>
        %w = scf.while (%k = %c1) : (index) -> index {
          %go = arith.cmpi slt, %k, %n : index
          scf.condition(%go) %k : index
        } do {
        ^bb0(%k: index):
          %twice = arith.addi %k, %k : index
          scf.yield %twice : index
        }
        memref.store %w, %B[%c1] : memref<3xindex>
        %c = scf.index_switch %n -> index case 3 { scf.yield %c4 : index } default { scf.yield %c8 : index }
        memref.store %c, %B[%c2] : memref<3xindex>""",
        "%n: index, %A: memref<1xf32>, %B: memref<3xindex>",
        np.int64(20),
        np.zeros(1, np.float32),
        np.zeros(3, np.int64),
    )
    assert found.tolist() == [6, 32, 8]


def test_views() -> None:
    _, found = run(
        """%v = memref.subview %A[1, 2] [2, 2] [2, 3] : memref<4x6xf32> to memref<2x2xf32, strided<[12, 3], offset: 8>>
        %x = memref.load %v[%c1, %c1] : memref<2x2xf32, strided<[12, 3], offset: 8>>
        memref.store %x, %B[%c0] : memref<4xf32>
        %w = memref.reinterpret_cast %A to offset: [3], sizes: [2], strides: [6]
            : memref<4x6xf32> to memref<2xf32, strided<[6], offset: 3>>
        %y = memref.load %w[%c1] : memref<2xf32, strided<[6], offset: 3>>
        memref.store %y, %B[%c1] : memref<4xf32>
        %bytes = memref.alloc() : memref<16xi8>
        %f = memref.view %bytes[%c8][] : memref<16xi8> to memref<2xf32>
        memref.store %x, %f[%c1] : memref<2xf32>
        %z = memref.load %f[%c1] : memref<2xf32>
        memref.store %z, %B[%c2] : memref<4xf32>
        memref.dealloc %bytes : memref<16xi8>
        %row = memref.subview %A[3, 0] [1, 4] [1, 1] : memref<4x6xf32> to memref<4xf32, strided<[1], offset: 18>>
        %last = memref.load %row[%c3] : memref<4xf32, strided<[1], offset: 18>>
        memref.store %last, %B[%c3] : memref<4xf32>""",
        "%A: memref<4x6xf32>, %B: memref<4xf32>",
        A,
        np.zeros(4, np.float32),
    )
    assert found.tolist() == [A[3, 5], A[1, 3], A[3, 5], A[3, 3]]


def test_copies_and_strides_of_types() -> None:
    text = """
    func.func @f(%A: memref<2x3xf32, strided<[4, 1], offset: 1>>, %B: memref<2x3xf32>) {
      "memref.copy"(%A, %B) : (memref<2x3xf32, strided<[4, 1], offset: 1>>, memref<2x3xf32>) -> ()
      func.return
    }
    """
    a = A[:2, :3]
    check_same(interpret(text, [a, np.zeros((2, 3), np.float32)]), [a, a])


def test_vectors() -> None:
    _, found = run(
        """%zero = arith.constant 0.0 : f32
        %v = vector.load %A[%c1, %c1] : memref<4x6xf32>, vector<4xf32>
        %t = vector.transfer_read %A[%c2, %c4], %zero {permutation_map = affine_map<(d0, d1) -> (d1)>}
            : memref<4x6xf32>, vector<4xf32>
        %m = vector.create_mask %c2 : vector<4xi1>
        %k = vector.maskedload %A[%c3, %c4], %m, %v : memref<4x6xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
        %f = vector.fma %v, %t, %k : vector<4xf32>
        %s = vector.reduction <add>, %v : vector<4xf32> into f32
        %b = vector.broadcast %s : f32 to vector<4xf32>
        vector.store %f, %B[%c0, %c0] : memref<3x4xf32>, vector<4xf32>
        vector.maskedstore %B[%c1, %c0], %m, %b : memref<3x4xf32>, vector<4xi1>, vector<4xf32>
        %x = vector.extract %v[3] : f32 from vector<4xf32>
        %u = vector.insert %x, %v[0] : f32 into vector<4xf32>
        %p = vector.shuffle %u, %v [3, 0, 7, 4] : vector<4xf32>, vector<4xf32>
        vector.transfer_write %p, %B[%c2, %c1] {permutation_map = affine_map<(d0, d1) -> (d1)>}
            : vector<4xf32>, memref<3x4xf32>""",
        "%A: memref<4x6xf32>, %B: memref<3x4xf32>",
        A,
        np.full((3, 4), -1, np.float32),
    )
    v, t = A[1, 1:5], np.array([A[2, 4], A[2, 5], 0, 0], np.float32)
    k = np.array([A[3, 4], A[3, 5], v[2], v[3]], np.float32)
    expected = np.full((3, 4), -1, np.float32)
    expected[0], expected[1, :2] = v * t + k, v.sum()
    expected[2, 1:] = [v[3], v[3], v[3]]
    check_same([found], [expected])


def test_tiles() -> None:
    choose = np.random.default_rng(0)
    a, b = choose.standard_normal((4, 6)).astype(np.float32), choose.standard_normal((6, 5)).astype(np.float32)
    *_, found = run(
        """%acc = arith.constant dense<1.0> : vector<2x5xf32>
        %p = tile.mma %acc, %A[%c1, %c2], %B[%c2, %c0] depth 4 : vector<2x5xf32>, memref<4x6xf32>, memref<6x5xf32>
        %r = tile.load %B[%c0, %c0] along [-1, 1] : memref<6x5xf32>, vector<2x5xf32>
        %m = tile.map(%x = %p, %y = %r) : (vector<2x5xf32>, vector<2x5xf32>) -> vector<2x5xf32> {
          %s = arith.addf %x, %y : f32
          tile.yield %s : f32
        }
        tile.store %m, %C[%c0, %c1] by [2, 1] : vector<2x5xf32>, memref<3x6xf32>""",
        "%A: memref<4x6xf32>, %B: memref<6x5xf32>, %C: memref<3x6xf32>",
        a,
        b,
        np.zeros((3, 6), np.float32),
    )
    expected = np.zeros((3, 6), np.float32)
    expected[::2, 1:] = 1 + a[1:3, 2:6].astype(np.float64) @ b[2:6] + b[0]
    check_program(8, [found], [expected])


@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
def test_tiles_that_are_multiplied_and_added(dtype: str) -> None:
    kind = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype]
    a = (np.random.default_rng(0).standard_normal((3, 2, 5)) * 1e5).astype(kind)
    buffer, tile = f"memref<3x2x5x{dtype}>", f"vector<2x5x{dtype}>"
    *_, found = run(
        f"""%a = tile.load %A[%c0, %c0, %c0] : {buffer}, {tile}
        %b = tile.load %A[%c1, %c0, %c0] : {buffer}, {tile}
        %c = tile.load %A[%c2, %c0, %c0] : {buffer}, {tile}
        %d = tile.multiply_add %a, %b, %c : {tile}
        tile.store %d, %C[%c0, %c0] : {tile}, memref<2x5x{dtype}>""",
        f"%A: {buffer}, %C: memref<2x5x{dtype}>",
        a,
        np.zeros((2, 5), kind),
    )
    wide = np.float64 if dtype == "f32" else kind
    check_program(2, [found], [(a[0].astype(wide) * a[1] + a[2]).astype(kind)])


def test_columns_that_repeat_an_element() -> None:
    a = np.random.default_rng(0).standard_normal((2, 6)).astype(np.float32)
    *_, found = run(
        """%v = tile.load %A[%c0, %c1] by [1, 2] repeat 2 : memref<2x6xf32>, vector<2x5xf32>
        tile.store %v, %C[%c0, %c0] : vector<2x5xf32>, memref<2x5xf32>""",
        "%A: memref<2x6xf32>, %C: memref<2x5xf32>",
        a,
        np.zeros((2, 5), np.float32),
    )
    check_program(1, [found], [a[:, [1, 1, 3, 3, 5]]])


def test_groups_of_bytes() -> None:
    choose = np.random.default_rng(0)
    a, b = choose.integers(-128, 128, (3, 8), np.int8), choose.integers(-128, 128, (2, 5, 4), np.int8)
    *_, found = run(
        """%acc = arith.constant dense<0> : vector<3x5xi32>
        %p = tile.mma %acc, %A[%c0, %c0], %B[%c0, %c0, %c0] along [0, 1] depth 2 groups unsigned
            : vector<3x5xi32>, memref<3x8xi8>, memref<2x5x4xi8>
        tile.store %p, %C[%c0, %c0] : vector<3x5xi32>, memref<3x5xi32>""",
        "%A: memref<3x8xi8>, %B: memref<2x5x4xi8>, %C: memref<3x5xi32>",
        a,
        b,
        np.zeros((3, 5), np.int32),
    )
    right = b.transpose(0, 2, 1).reshape(8, 5).astype(np.int32)
    check_same([found], [a.view(np.uint8).astype(np.int32) @ right])


def test_blocks_of_a_function() -> None:
    text = """
    func.func @f(%n: index) -> index {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      cf.br ^head(%c0, %c0 : index, index)
    ^head(%i: index, %s: index):
      %go = arith.cmpi slt, %i, %n : index
      cf.cond_br %go, ^body, ^end
    ^body:
      %j = arith.addi %i, %c1 : index
      %t = arith.addi %s, %i : index
      cf.br ^head(%j, %t : index, index)
    ^end:
      func.return %s : index
    }
    """
    (found,) = interpret(text, [np.int64(5)], "f")
    assert found == 10


ARITH = [
    ("arith.cmpf une, %a, %a : f32", np.float32("nan"), True),
    ("arith.cmpf ueq, %a, %a : f32", np.float32("nan"), True),
    ("arith.cmpf uno, %a, %a : f32", np.float32("nan"), True),
    ("arith.cmpf ord, %a, %a : f32", np.float32("nan"), False),
    ("arith.cmpf oeq, %a, %a : f32", np.float32("nan"), False),
    ("arith.cmpf une, %a, %a : f32", np.float32(1), False),
    ("arith.cmpf ugt, %a, %a : f32", np.float32(1), False),
    ("arith.cmpf ule, %a, %a : f32", np.float32(1), True),
    ("arith.cmpi ult, %a, %a : i8", np.int8(-1), False),
    ("arith.shrui %a, %a : i8", np.int8(-1), np.int8(0)),
    ("arith.divui %a, %a : i8", np.int8(-1), np.int8(1)),
    ("arith.extsi %a : i1 to i8", True, np.int8(-1)),
    ("arith.extui %a : i1 to i8", True, np.int8(1)),
    ("arith.extui %a : i8 to i16", np.int8(-1), np.int16(255)),
    ("arith.addi %a, %a : i8", np.int8(100), np.int8(-56)),
    ("arith.addi %a, %a : i1", True, False),
    ("arith.trunci %a : i16 to i1", np.int16(2), False),
    ("arith.ceildivsi %a, %b : i8", np.int8(7), np.int8(4)),
    ("arith.floordivsi %a, %b : i8", np.int8(-7), np.int8(-4)),
    ("arith.remsi %a, %b : i8", np.int8(-7), np.int8(-1)),
    ("arith.fptoui %a : f32 to i8", np.float32(200), np.int8(-56)),
    ("arith.uitofp %a : i8 to f32", np.int8(-56), np.float32(200)),
    ("arith.bitcast %a : f32 to i32", np.float32(1), np.int32(0x3F800000)),
    ("arith.maxnumf %a, %n : f32", np.float32(1), np.float32(1)),
    ("arith.maximumf %a, %n : f32", np.float32(1), np.float32("nan")),
    ("math.round %a : f32", np.float32(-2.5), np.float32(-3)),
    ("math.roundeven %a : f32", np.float32(-2.5), np.float32(-2)),
    ("math.ctpop %a : i8", np.int8(-1), np.int8(8)),
    ("math.ctlz %a : i8", np.int8(1), np.int8(7)),
    ("math.cttz %a : i8", np.int8(-128), np.int8(7)),
    ("math.fpowi %a, %two : f32, i32", np.float32(3), np.float32(9)),
]


@pytest.mark.parametrize("op, operand, expected", ARITH)
def test_scalar_ops(op: str, operand: Any, expected: Any) -> None:
    operand, expected = np.asarray(operand), np.asarray(expected)
    names = {"bool": "i1", "float32": "f32"}
    types = [names.get(str(each.dtype), f"i{8 * each.itemsize}") for each in (operand, expected)]
    text = f"""
    func.func @f(%a: {types[0]}) -> {types[1]} {{
      %b = arith.constant 2 : i8
      %two = arith.constant 2 : i32
      %n = arith.constant 0x7FC00000 : f32
      %r = {op}
      func.return %r : {types[1]}
    }}
    """
    check_same(interpret(stepwell.parse(text), [operand], "f"), [expected])
