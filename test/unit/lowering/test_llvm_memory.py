"""memref and vector through the llvm dialect to native code, compared with NumPy."""

from __future__ import annotations

import ctypes
import re

import ml_dtypes
import numpy as np
import pytest
from llvm_jit import Program, aligned, lower
from stepwell.core.messages.diagnostics import OperationError

I64 = ctypes.c_int64

CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(9))


def run(body: str, arguments: str, *values: object, result: object = None, opt: int = 2) -> object:
    source = f"func.func @f({arguments}) {{\n{CONSTANTS}\n{body}\nfunc.return\n}}"
    return Program(source, opt).call("f", *values, result=result)


def test_views_of_an_arena():
    arena = aligned(np.zeros(256, np.int8))
    body = """
      %s = arith.constant 64 : index
      %a = memref.view %arena[%c0][] : memref<256xi8> to memref<4x4xf32>
      %b = memref.view %arena[%s][] : memref<256xi8> to memref<3xf64>
      %x = arith.constant 1.5 : f32
      %y = arith.constant 2.5 : f64
      memref.store %x, %a[%c1, %c2] : memref<4x4xf32>
      memref.store %y, %b[%c2] : memref<3xf64>"""
    run(body, "%arena: memref<256xi8>", arena)
    assert arena.view(np.float32)[6] == 1.5
    assert arena.view(np.float64)[10] == 2.5
    assert np.count_nonzero(arena) == 4


def test_views_outside_of_the_arena_are_refused():
    with pytest.raises(OperationError, match="view of bytes 240 to 272 of a source of 256 bytes"):
        run(
            """%s = arith.constant 240 : index
            %a = memref.view %arena[%s][] : memref<256xi8> to memref<8xf32>""",
            "%arena: memref<256xi8>",
        )


def test_subviews_with_static_and_dynamic_offsets():
    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    out = np.zeros(3, np.float32)
    body = """
      %s = memref.subview %x[1, 2] [3, 4] [2, 1] : memref<6x8xf32> to memref<3x4xf32, strided<[16, 1], offset: 10>>
      %a = memref.load %s[%c1, %c3] : memref<3x4xf32, strided<[16, 1], offset: 10>>
      memref.store %a, %o[%c0] : memref<3xf32>
      %t = memref.subview %s[1, 1] [1, 2] [1, 1] : memref<3x4xf32, strided<[16, 1], offset: 10>>
        to memref<2xf32, strided<[1], offset: 27>>
      %b = memref.load %t[%c1] : memref<2xf32, strided<[1], offset: 27>>
      memref.store %b, %o[%c1] : memref<3xf32>
      %d = memref.subview %x[%i, 3] [1, 4] [1, 1] : memref<6x8xf32> to memref<4xf32, strided<[1], offset: ?>>
      %c = memref.load %d[%c2] : memref<4xf32, strided<[1], offset: ?>>
      memref.store %c, %o[%c2] : memref<3xf32>"""
    run(body, "%x: memref<6x8xf32>, %o: memref<3xf32>, %i: index", x, out, I64(4))
    assert out.tolist() == [x[3, 5], x[3, 4], x[4, 5]]


def test_views_of_views_pass_through_calls():
    source = """
    func.func private @last(%m: memref<2x2xf32, strided<[8, 1], offset: 11>>) -> f32 {
      %c1 = arith.constant 1 : index
      %v = memref.load %m[%c1, %c1] : memref<2x2xf32, strided<[8, 1], offset: 11>>
      func.return %v : f32
    }
    func.func @f(%x: memref<6x8xf32>, %o: memref<f32>) {
      %s = memref.subview %x[1, 3] [2, 2] [1, 1] : memref<6x8xf32>
        to memref<2x2xf32, strided<[8, 1], offset: 11>>
      %v = func.call @last(%s) : (memref<2x2xf32, strided<[8, 1], offset: 11>>) -> f32
      memref.store %v, %o[] : memref<f32>
      func.return
    }"""
    x, out = np.arange(48, dtype=np.float32).reshape(6, 8), np.zeros((), np.float32)
    Program(source).call("f", x, out)
    assert out == x[2, 4]


def test_reinterpret_cast_counts_from_the_start_of_the_buffer():
    x, out = np.arange(48, dtype=np.float32), np.zeros(2, np.float32)
    body = """
      %s = memref.subview %x[5] [4] [1] : memref<48xf32> to memref<4xf32, strided<[1], offset: 5>>
      %r = memref.reinterpret_cast %s to offset: [10], sizes: [2, 3], strides: [12, 2]
        : memref<4xf32, strided<[1], offset: 5>> to memref<2x3xf32, strided<[12, 2], offset: 10>>
      %a = memref.load %r[%c1, %c2] : memref<2x3xf32, strided<[12, 2], offset: 10>>
      memref.store %a, %o[%c0] : memref<2xf32>
      %k = "memref.cast"(%r) : (memref<2x3xf32, strided<[12, 2], offset: 10>>)
        -> memref<2x3xf32, strided<[12, 2], offset: ?>>
      %b = memref.load %k[%c0, %c1] : memref<2x3xf32, strided<[12, 2], offset: ?>>
      memref.store %b, %o[%c1] : memref<2xf32>"""
    run(body, "%x: memref<48xf32>, %o: memref<2xf32>", x, out)
    assert out.tolist() == [26, 12]


def test_negative_strides_walk_backwards():
    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    body = """
      %r = memref.reinterpret_cast %x to offset: [7], sizes: [8], strides: [-1]
        : memref<8xi32> to memref<8xi32, strided<[-1], offset: 7>>
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %r[%i] : memref<8xi32, strided<[-1], offset: 7>>
        memref.store %v, %o[%i] : memref<8xi32>
      }"""
    run(body, "%x: memref<8xi32>, %o: memref<8xi32>", x, out)
    assert (out == x[::-1]).all()


def test_copies_contiguous_and_strided():
    x, y, z = (
        np.arange(24, dtype=np.int16).reshape(4, 6),
        np.zeros((4, 6), np.int16),
        np.zeros((4, 3), np.int16),
    )
    body = """
      "memref.copy"(%x, %y) : (memref<4x6xi16>, memref<4x6xi16>) -> ()
      %s = memref.subview %x[0, 1] [4, 3] [1, 2] : memref<4x6xi16> to memref<4x3xi16, strided<[6, 2], offset: 1>>
      "memref.copy"(%s, %z) : (memref<4x3xi16, strided<[6, 2], offset: 1>>, memref<4x3xi16>) -> ()"""
    run(body, "%x: memref<4x6xi16>, %y: memref<4x6xi16>, %z: memref<4x3xi16>", x, y, z)
    assert (y == x).all() and (z == x[:, 1::2]).all()


def test_copies_of_nothing_do_nothing():
    source = """func.func @f(%x: memref<0x4xf32, strided<[8, 2]>>, %y: memref<0x4xf32>) {
      "memref.copy"(%x, %y) : (memref<0x4xf32, strided<[8, 2]>>, memref<0x4xf32>) -> ()
      func.return
    }"""
    assert "memmove" not in str(lower(source)) and "llvm.load" not in str(lower(source))


def test_globals_of_every_kind():
    source = """
    "memref.global"() <{sym_name = "t", sym_visibility = "private", type = memref<2x3xf32>,
      initial_value = dense<[[1.0, 2.0, 3.0], [4.0, 0x7FC00000, -0.0]]> : tensor<2x3xf32>, constant}> : () -> ()
    "memref.global"() <{sym_name = "b", sym_visibility = "private", type = memref<4xi1>,
      initial_value = dense<[true, false, true, true]> : tensor<4xi1>, constant}> : () -> ()
    "memref.global"() <{sym_name = "s", sym_visibility = "private", type = memref<i64>,
      initial_value = dense<-5> : tensor<i64>}> : () -> ()
    "memref.global"() <{sym_name = "z", sym_visibility = "private", type = memref<100xf64>,
      initial_value = dense<0.0> : tensor<100xf64>}> : () -> ()
    "memref.global"() <{sym_name = "u", sym_visibility = "private", type = memref<100xf64>, initial_value}>
      : () -> ()
    func.func @f(%o: memref<2x3xf32>, %p: memref<4xi1>, %q: memref<i64>) -> index {
      %t = memref.get_global @t : memref<2x3xf32>
      "memref.copy"(%t, %o) : (memref<2x3xf32>, memref<2x3xf32>) -> ()
      %b = memref.get_global @b : memref<4xi1>
      "memref.copy"(%b, %p) : (memref<4xi1>, memref<4xi1>) -> ()
      %s = memref.get_global @s : memref<i64>
      %v = memref.load %s[] : memref<i64>
      memref.store %v, %q[] : memref<i64>
      %w = arith.addi %v, %v : i64
      memref.store %w, %s[] : memref<i64>
      %z = memref.get_global @z : memref<100xf64>
      %a = "memref.extract_aligned_pointer_as_index"(%z) : (memref<100xf64>) -> index
      func.return %a : index
    }"""
    program = Program(source)
    o, p, q = np.zeros((2, 3), np.float32), np.zeros(4, np.uint8), np.zeros((), np.int64)
    address = program.call("f", o, p, q, result=I64)
    assert address % 64 == 0
    assert np.array_equal(o, [[1, 2, 3], [4, np.nan, 0]], equal_nan=True) and np.signbit(o[1, 2])
    assert p.tolist() == [1, 0, 1, 1] and q == -5
    program.call("f", o, p, q, result=I64)
    assert q == -10, "a global that is not constant keeps what was stored"
    assert '@t = internal constant [24 x i8] c"\\00\\00\\80?' in program.text
    assert "@z = internal global [800 x i8] zeroinitializer, align 64" in program.text


def test_booleans_are_one_byte_holding_0_or_1():
    x, out = np.array([0, 1, 255, 2], np.uint8), np.full(4, 7, np.uint8)
    body = """
      scf.for %i = %c0 to %c4 step %c1 {
        %v = memref.load %x[%i] : memref<4xi1>
        memref.store %v, %o[%i] : memref<4xi1>
      }"""
    run(body, "%x: memref<4xi1>, %o: memref<4xi1>", x, out)
    assert out.tolist() == [0, 1, 1, 1]


def test_boolean_vectors_are_bytes_in_memory():
    x, out = np.array([0, 1, 0, 1, 1, 1, 0, 0], np.uint8), np.full(8, 7, np.uint8)
    body = """
      %v = vector.load %x[%c0] : memref<8xi1>, vector<8xi1>
      %m = vector.create_mask %c6 : vector<8xi1>
      %f = arith.constant dense<true> : vector<8xi1>
      %w = arith.xori %v, %f : vector<8xi1>
      vector.maskedstore %o[%c0], %m, %w : memref<8xi1>, vector<8xi1>, vector<8xi1>"""
    run(body, "%x: memref<8xi1>, %o: memref<8xi1>", x, out)
    assert out.tolist() == [1, 0, 1, 0, 0, 0, 7, 7]


def test_small_float_and_index_buffers():
    a, b = np.array([1.5, -2], ml_dtypes.bfloat16), np.zeros(2, ml_dtypes.bfloat16)
    n = np.array([3, 4], np.int64)
    body = """
      %v = memref.load %a[%c1] : memref<2xbf16>
      memref.store %v, %b[%c0] : memref<2xbf16>
      %k = arith.constant 1.0 : bf16
      memref.store %k, %b[%c1] : memref<2xbf16>
      %i = memref.load %n[%c0] : memref<2xindex>
      memref.store %i, %n[%c1] : memref<2xindex>"""
    run(body, "%a: memref<2xbf16>, %b: memref<2xbf16>, %n: memref<2xindex>", a, b, n)
    assert b.astype(np.float32).tolist() == [-2, 1] and n.tolist() == [3, 3]


def test_dimensions_are_constants():
    out = np.zeros(2, np.int64)
    body = """
      %d = memref.dim %x, %c1 : memref<3x7xf32>
      memref.store %d, %o[%c0] : memref<2xindex>
      %r = "memref.rank"(%x) : (memref<3x7xf32>) -> index
      memref.store %r, %o[%c1] : memref<2xindex>"""
    run(body, "%x: memref<3x7xf32>, %o: memref<2xindex>", np.zeros((3, 7), np.float32), out)
    assert out.tolist() == [7, 2]


def test_reshapes_keep_the_elements():
    x, out = np.arange(12, dtype=np.float32), np.zeros(1, np.float32)
    body = """
      %e = "memref.expand_shape"(%x) <{reassociation = [[0, 1]], static_output_shape = array<i64: 3, 4>,
        operandSegmentSizes = array<i32: 1, 0>}> : (memref<12xf32>) -> memref<3x4xf32>
      %v = memref.load %e[%c2, %c1] : memref<3x4xf32>
      memref.store %v, %o[%c0] : memref<1xf32>"""
    run(body, "%x: memref<12xf32>, %o: memref<1xf32>", x, out)
    assert out[0] == 9


def test_atomic_updates():
    x = np.array([5, 7], np.int32)
    body = """
      %v = arith.constant 10 : i32
      %o = "memref.atomic_rmw"(%v, %x, %c0) <{kind = 1 : i64}> : (i32, memref<2xi32>, index) -> i32
      memref.store %o, %x[%c1] : memref<2xi32>"""
    run(body, "%x: memref<2xi32>", x)
    assert x.tolist() == [15, 5]


@pytest.mark.parametrize(
    ("body", "arguments", "message"),
    [
        ("", "%x: memref<?xf32>", "has a dynamic dimension; run specialize-shapes first"),
        ("", "%x: memref<4xf32, strided<[?]>>", "has a dynamic stride; run specialize-shapes first"),
        ('', '%x: memref<4xf32, "shared">', 'has memory space "shared"; expected the default space'),
        ("", "%x: memref<4xi7>", "element type i7 has no form in memory"),
        ("", "%x: memref<4xi4>", "element type i4 has no form in memory, where an i8 holds it"),
        ("", "%x: memref<4xui8>", "has a sign; below tensor_loop integers are signless"),
        ("", "%x: tensor<4xf32>", "type tensor<4xf32> has no counterpart in the llvm dialect"),
        ("%v = arith.constant dense<0.0> : vector<2x2x2xf32>", "", "is neither a 1-D vector nor"),
        (
            "%v = vector.load %x[%c0, %c0] : memref<4x4xf32, strided<[4, 2]>>, vector<2xf32>",
            "%x: memref<4x4xf32, strided<[4, 2]>>",
            "last dimension has stride 2, expected 1",
        ),
        ("%d = memref.dim %x, %i : memref<4xf32>", "%x: memref<4xf32>, %i: index", "not a constant from 0 to 0"),
    ],
)  # fmt: skip
def test_what_bare_pointers_cannot_say_is_refused(body: str, arguments: str, message: str):
    with pytest.raises(OperationError, match=re.escape(message)):
        run(body, arguments)


# Vectors


def test_vector_arithmetic_and_broadcast():
    x, y = np.linspace(-2, 2, 16).astype(np.float32), np.zeros(16, np.float32)
    body = """
      %k = arith.constant 3.0 : f32
      scf.for %i = %c0 to %n step %c8 {
        %v = vector.load %x[%i] : memref<16xf32>, vector<8xf32>
        %b = vector.broadcast %s : f32 to vector<8xf32>
        %k8 = vector.broadcast %k : f32 to vector<8xf32>
        %w = vector.fma %v, %b, %k8 : vector<8xf32>
        %z = arith.maximumf %w, %v : vector<8xf32>
        vector.store %z, %y[%i] : memref<16xf32>, vector<8xf32>
      }"""
    arguments = "%x: memref<16xf32>, %y: memref<16xf32>, %s: f32, %n: index"
    run(body, arguments, x, y, ctypes.c_float(2.5), I64(16))
    assert np.allclose(y, np.maximum(x * np.float32(2.5) + 3, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_vectors_need_no_alignment(offset: int):
    x = aligned(np.arange(32, dtype=np.float32))[offset : offset + 16]
    y = aligned(np.zeros(32, np.float32))[offset : offset + 16]
    body = """%v = vector.load %x[%c0] : memref<16xf32>, vector<16xf32>
      vector.store %v, %y[%c0] : memref<16xf32>, vector<16xf32>"""
    run(body, "%x: memref<16xf32>, %y: memref<16xf32>", x, y)
    assert (x == y).all()


def test_alignment_is_that_of_the_element_unless_more_is_known():
    source = f"""func.func @f(%x: memref<64xf32>) {{
      {CONSTANTS}
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %a = memref.alloca() : memref<64xf32>
      scf.for %i = %c0 to %c64 step %c16 {{
        %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
        vector.store %v, %a[%i] : memref<64xf32>, vector<16xf32>
      }}
      %w = vector.load %a[%c4] : memref<64xf32>, vector<16xf32>
      %q = vector.load %a[%c0] : memref<64xf32>, vector<16xf32>
      %u = vector.load %a[%c3] : memref<64xf32>, vector<16xf32>
      func.return
    }}"""
    text = str(lower(source))
    alignments = [int(a) for a in re.findall(r"llvm\.(?:load|store)[^{]*{alignment = (\d+)", text)]
    assert alignments == [4, 64, 16, 64, 4]


KINDS = {
    "add": ("i32", np.int32, np.sum), "mul": ("i32", np.int32, np.prod), "minsi": ("i32", np.int32, np.min),
    "maxsi": ("i32", np.int32, np.max), "minui": ("i32", np.uint32, np.min), "maxui": ("i32", np.uint32, np.max),
    "and": ("i32", np.int32, np.bitwise_and.reduce), "or": ("i32", np.int32, np.bitwise_or.reduce),
    "xor": ("i32", np.int32, np.bitwise_xor.reduce), "minimumf": ("f32", np.float32, np.min),
    "maximumf": ("f32", np.float32, np.max), "minnumf": ("f32", np.float32, np.nanmin),
    "maxnumf": ("f32", np.float32, np.nanmax),
}  # fmt: skip


@pytest.mark.ci_cases(15)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_accumulator", [False, True])
def test_reductions_match_numpy(kind: str, with_accumulator: bool):
    name, dtype, function = KINDS[kind]
    values = np.array([5, -3, 9, 2, -7, 1, 4, 8]).astype(np.int32).view(np.uint32)
    x = values.view(dtype) if name == "i32" else values.view(np.int32).astype(np.float32)
    out = np.zeros(1, dtype)
    accumulator = ", %a" if with_accumulator else ""
    body = f"""
      %v = vector.load %x[%c0] : memref<8x{name}>, vector<8x{name}>
      %a = vector.extract %v[2] : {name} from vector<8x{name}>
      %r = vector.reduction <{kind}>, %v{accumulator} : vector<8x{name}> into {name}
      memref.store %r, %o[%c0] : memref<1x{name}>"""
    run(body, f"%x: memref<8x{name}>, %o: memref<1x{name}>", x, out)
    want = function(np.concatenate([x, x[2:3]]) if with_accumulator else x)
    assert out[0] == want.astype(dtype)


def test_float_sums_are_ordered_unless_they_may_be_reassociated():
    x, out = np.array([1e8, 1, -1e8, 1], np.float32), np.zeros(1, np.float32)
    body = """
      %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
      %a = arith.constant 0.5 : f32
      %r = vector.reduction <add>, %v, %a FLAGS : vector<4xf32> into f32
      memref.store %r, %o[%c0] : memref<1xf32>"""
    run(body.replace("FLAGS", ""), "%x: memref<4xf32>, %o: memref<1xf32>", x, out)
    total = np.float32(0.5)
    for value in x:
        total = np.float32(total + value)
    assert out[0] == total
    source = f"func.func @f(%x: memref<4xf32>, %o: memref<1xf32>) {{ {CONSTANTS} {body} func.return }}"
    text = Program(source.replace("FLAGS", "fastmath<reassoc>"), 0).text
    assert "call reassoc float @llvm.vector.reduce.fadd.v4f32(float 0x3FE0000000000000, " in text


def test_extract_insert_shuffle_and_bitcast():
    x, out = np.arange(4, dtype=np.int32), np.zeros(8, np.int32)
    body = """
      %v = vector.load %x[%c0] : memref<4xi32>, vector<4xi32>
      %e = vector.extract %v[%i] : i32 from vector<4xi32>
      %k = arith.constant 50 : i32
      %w = vector.insert %k, %v[1] : i32 into vector<4xi32>
      %y = vector.insert %e, %w[%c0] : i32 into vector<4xi32>
      %h = arith.constant dense<[7, 8]> : vector<2xi32>
      %s = vector.shuffle %y, %h [5, 0, 1, 2, 3, 4, 0, 3] : vector<4xi32>, vector<2xi32>
      vector.store %s, %o[%c0] : memref<8xi32>, vector<8xi32>"""
    run(body, "%x: memref<4xi32>, %o: memref<8xi32>, %i: index", x, out, I64(3))
    assert out.tolist() == [8, 3, 50, 2, 3, 7, 3, 3]


@pytest.mark.parametrize("count", [-3, 0, 1, 5, 8, 100])
def test_masks_cover_the_first_lanes(count: int):
    x, out = np.arange(1, 9, dtype=np.float32), np.full(8, -1, np.float32)
    body = """
      %m = vector.create_mask %n : vector<8xi1>
      %p = arith.constant dense<9.0> : vector<8xf32>
      %v = vector.maskedload %x[%c0], %m, %p : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      vector.store %v, %o[%c0] : memref<8xf32>, vector<8xf32>"""
    run(body, "%x: memref<8xf32>, %o: memref<8xf32>, %n: index", x, out, I64(count))
    lanes = max(0, min(count, 8))
    assert out.tolist() == [*x[:lanes], *[9.0] * (8 - lanes)]
    run(
        """%m = vector.create_mask %n : vector<8xi1>
        %p = arith.constant dense<9.0> : vector<8xf32>
        vector.maskedstore %o[%c0], %m, %p : memref<8xf32>, vector<8xi1>, vector<8xf32>""",
        "%o: memref<8xf32>, %n: index", x, I64(count),
    )  # fmt: skip
    assert x.tolist() == [*[9.0] * lanes, *range(lanes + 1, 9)]


def test_masked_accesses_may_begin_outside_of_the_buffer():
    page = np.arange(8, dtype=np.float32)
    out = np.zeros(8, np.float32)
    body = """
      %m = arith.constant dense<[false, false, true, true, true, true, true, true]> : vector<8xi1>
      %p = arith.constant dense<0.0> : vector<8xf32>
      %v = vector.maskedload %x[%i], %m, %p : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      vector.store %v, %o[%c0] : memref<8xf32>, vector<8xf32>"""
    source = f"func.func @f(%x: memref<8xf32>, %o: memref<8xf32>, %i: index) {{ {CONSTANTS} {body} func.return }}"
    program = Program(source)
    program.call("f", page, out, I64(-2))
    assert out.tolist() == [0, 0, 0, 1, 2, 3, 4, 5]
    assert "getelementptr float" in program.text, "not inbounds: the first element does not exist"


def test_transfers_stop_at_the_end_of_the_row():
    x, out = np.arange(12, dtype=np.float32).reshape(2, 6), np.zeros((2, 6), np.float32)
    body = """
      %p = arith.constant 7.0 : f32
      %v = "vector.transfer_read"(%x, %c1, %c4, %p) <{in_bounds = [false],
        permutation_map = affine_map<(d0, d1) -> (d1)>, operandSegmentSizes = array<i32: 1, 2, 1, 0>}>
        : (memref<2x6xf32>, index, index, f32) -> vector<4xf32>
      "vector.transfer_write"(%v, %o, %c1, %c3) <{in_bounds = [false],
        permutation_map = affine_map<(d0, d1) -> (d1)>, operandSegmentSizes = array<i32: 1, 1, 2, 0>}>
        : (vector<4xf32>, memref<2x6xf32>, index, index) -> ()
      %w = "vector.transfer_read"(%x, %c0, %c1, %p) <{in_bounds = [true],
        permutation_map = affine_map<(d0, d1) -> (d1)>, operandSegmentSizes = array<i32: 1, 2, 1, 0>}>
        : (memref<2x6xf32>, index, index, f32) -> vector<2xf32>
      vector.store %w, %o[%c0, %c0] : memref<2x6xf32>, vector<2xf32>"""
    run(body, "%x: memref<2x6xf32>, %o: memref<2x6xf32>", x, out)
    assert out.tolist() == [[1, 2, 0, 0, 0, 0], [0, 0, 0, 10, 11, 7]]


def test_bf16_vectors_convert_lane_by_lane():
    x = np.array([1.0, -2.5, 3.1415927, np.inf, 1e-40, 255.5, 65280, -0.0], np.float32)
    out = np.zeros(8, ml_dtypes.bfloat16)
    body = """
      %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
      %t = arith.truncf %v : vector<8xf32> to vector<8xbf16>
      vector.store %t, %o[%c0] : memref<8xbf16>, vector<8xbf16>"""
    run(body, "%x: memref<8xf32>, %o: memref<8xbf16>", x, out)
    assert (out.view(np.uint16) == x.astype(ml_dtypes.bfloat16).view(np.uint16)).all()


def test_nontemporal_accesses_keep_their_hint():
    source = """func.func @f(%x: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] {nontemporal = true} : memref<4xf32>
      memref.store %v, %x[%c0] {nontemporal = true} : memref<4xf32>
      func.return
    }"""
    assert Program(source).text.count("!nontemporal !0") == 2
