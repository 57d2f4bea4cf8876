"""The emitter of LLVM text: numbers, functions and globals, and what it refuses to drop."""

from __future__ import annotations

import math
import struct

import llvmlite.binding as binding
import ml_dtypes
import numpy as np
import pytest
from llvm_texts import function, refused, text_of
from stepwell.lowering.llvm.convert_math import LIBM
from stepwell.lowering.llvm_text.constants import bits_text, float_bits
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.lowering.llvm_text.names import RESERVED, symbol_text
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    TensorType,
    i8,
)
from xdsl.utils.exceptions import DiagnosticException

# Numbers


@pytest.mark.parametrize(
    ("float_type", "dtype", "prefix"),
    [(BFloat16Type(), ml_dtypes.bfloat16, "0xR"), (Float16Type(), np.float16, "0xH")],
)
def test_sixteen_bit_constants_round_like_numpy(float_type: object, dtype: type, prefix: str):
    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        every = np.arange(65536, dtype=np.uint16).view(dtype).astype(np.float64)
        ties = (every[:-1] + every[1:]) / 2
    values = np.concatenate([every, ties, rng.standard_normal(2000) * 10.0 ** rng.integers(-45, 39, 2000)])
    with np.errstate(all="ignore"):
        # Through f32 only where that is exact: a plain cast from f64 may round twice.
        values = np.concatenate([values, values.astype(np.float32).astype(np.float64)])
        exact = values.astype(np.float32).astype(np.float64) == values
        values = values[exact & ~np.isnan(values)]
        want = values.astype(np.float32).astype(dtype).view(np.uint16)
    got = [float_bits(float(v), float_type) for v in values]
    assert got == want.tolist()
    assert bits_text(0x1234, float_type) == f"{prefix}1234"


def test_f32_constants_round_like_numpy():
    rng = np.random.default_rng(2)
    values = rng.standard_normal(5000) * 10.0 ** rng.integers(-50, 45, 5000)
    with np.errstate(all="ignore"):
        want = values.astype(np.float32).view(np.uint32).tolist()
    assert [float_bits(float(v), Float32Type()) for v in values] == want


def test_special_numbers_keep_sign_and_payload():
    f32 = Float32Type()
    assert bits_text(float_bits(-0.0, f32), f32) == "0x8000000000000000"
    assert bits_text(float_bits(math.inf, f32), f32) == "0x7FF0000000000000"
    assert bits_text(float_bits(math.nan, f32), f32) == "0x7FF8000000000000"
    assert bits_text(0xFFA00001, f32) == "0xFFF4000020000000", "a signalling NaN in dense data stays one"
    assert bits_text(float_bits(1e-45, f32), f32) == "0x36A0000000000000", "the smallest f32"
    assert float_bits(1e300, f32) == 0x7F800000
    payload = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
    assert float_bits(payload, Float64Type()) == 0xFFF8000000000123


def test_constants_in_text():
    text = text_of(
        function(
            """
      %a = llvm.mlir.constant(1.5 : bf16) : bf16
      %b = llvm.mlir.constant(-2.0 : f16) : f16
      %c = llvm.mlir.constant(0x7FC00000 : f32) : f32
      %d = llvm.mlir.constant(dense<[1.0, -0.0]> : vector<2xf64>) : vector<2xf64>
      %e = llvm.mlir.constant(dense<3> : vector<4xi8>) : vector<4xi8>
      %g = llvm.mlir.constant(dense<[true, false]> : vector<2xi1>) : vector<2xi1>
      %h = llvm.mlir.constant(true) : i1
      %j = llvm.mlir.constant(-7 : i8) : i8
      %k = llvm.mlir.undef : !llvm.struct<(i32, f32)>
      %l = llvm.mlir.zero : !llvm.ptr
      %m = llvm_ext.poison : vector<2xf32>
      %n = llvm.mlir.constant(dense<0.0> : vector<2xf32>) : vector<2xf32>
      llvm.call @g(%a, %b, %c, %d, %e, %g, %h, %j, %k, %l, %m, %n) : (bf16, f16, f32, vector<2xf64>,
        vector<4xi8>, vector<2xi1>, i1, i8, !llvm.struct<(i32, f32)>, !llvm.ptr, vector<2xf32>, vector<2xf32>)
        -> ()"""
        )
        + """
    llvm.func @g(bf16, f16, f32, vector<2xf64>, vector<4xi8>, vector<2xi1>, i1, i8, !llvm.struct<(i32, f32)>,
      !llvm.ptr, vector<2xf32>, vector<2xf32>)"""
    )
    call = next(line for line in text.splitlines() if "call void @g" in line)
    assert call.strip() == (
        "call void @g(bfloat 0xR3FC0, half 0xHC000, float 0x7FF8000000000000, "
        "<2 x double> <double 0x3FF0000000000000, double 0x8000000000000000>, <4 x i8> splat (i8 3), "
        "<2 x i1> <i1 true, i1 false>, i1 true, i8 -7, { i32, float } undef, ptr null, <2 x float> poison, "
        "<2 x float> zeroinitializer)"
    )


def test_symbols_are_quoted_when_they_must_be():
    assert symbol_text("a.b$c-1") == "@a.b$c-1"
    assert symbol_text('a "b"\\') == '@"a \\22b\\22\\5C"'
    assert symbol_text("1st") == '@"1st"'
    assert symbol_text("ü") == '@"\\C3\\BC"'


# Functions and globals


def test_function_attributes_linkage_and_conventions():
    text = text_of(
        """
    llvm.func internal fastcc @f(%p: !llvm.ptr {llvm.noalias, llvm.nonnull, llvm.align = 16 : i64,
        llvm.dereferenceable = 64 : i64, llvm.readonly, llvm.nocapture, stepwell.role = "input"}) -> i32
        attributes {passthrough = ["noinline", ["prefer-vector-width", "512"], "own"], no_unwind} {
      %0 = llvm.mlir.constant(0 : i32) : i32
      llvm.return %0 : i32
    }
    llvm.func hidden @g() -> (i32 {llvm.signext}) {
      %p = llvm.mlir.zero : !llvm.ptr
      %r = llvm.call fastcc @f(%p) : (!llvm.ptr) -> i32
      llvm.return %r : i32
    }
    llvm.func @printf(!llvm.ptr, ...) -> i32""",
        target_cpu="skylake",
        target_features="+avx2",
    )
    assert (
        "define internal fastcc i32 @f(ptr noalias nonnull align 16 dereferenceable(64) readonly captures(none) %p.0)"
        ' noinline nounwind "prefer-vector-width"="512" "own" "target-cpu"="skylake" "target-features"="+avx2" {'
    ) in text.replace(
        'noinline "prefer-vector-width"="512" "own" nounwind',
        'noinline nounwind "prefer-vector-width"="512" "own"',
    )
    assert "define hidden signext i32 @g() " in text
    assert "call fastcc i32 @f(ptr null)" in text
    assert "declare i32 @printf(ptr, ...)" in text and "skylake" not in text.split("declare")[1]


def test_calls_direct_indirect_and_variadic():
    text = text_of(
        """
    llvm.func @printf(!llvm.ptr, ...) -> i32
    """
        + function("""
      %r = llvm.call @printf(%p, %i) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i64) -> i32
      %s = llvm.call %p(%i) : !llvm.ptr, (i64) -> f32
      llvm.call tail %p() : !llvm.ptr, () -> ()""")
    )
    assert "= call i32 (ptr, ...) @printf(ptr %p.2, i64 %i.1)" in text
    assert "= call float %p.2(i64 %i.1)" in text and "tail call void %p.2()" in text


def test_globals():
    text = text_of("""
    llvm.mlir.global internal constant @s("hi\\00") {addr_space = 0 : i32} : !llvm.array<3 x i8>
    llvm.mlir.global external @e() {addr_space = 0 : i32} : i64
    llvm.mlir.global internal @n(5 : i32) {alignment = 16 : i64, addr_space = 0 : i32} : i32
    llvm.mlir.global internal @z() {addr_space = 0 : i32} : !llvm.array<4 x f32> {
      %0 = llvm.mlir.zero : !llvm.array<4 x f32>
      llvm.return %0 : !llvm.array<4 x f32>
    }
    llvm.mlir.global internal @a() {addr_space = 0 : i32} : !llvm.ptr {
      %0 = llvm.mlir.addressof @n : !llvm.ptr
      llvm.return %0 : !llvm.ptr
    }
    llvm.mlir.global internal constant @d(dense<[1.0, 2.0]> : tensor<2xf32>)
      {alignment = 64 : i64, addr_space = 0 : i32} : !llvm.array<2 x f32>""")
    assert '@s = internal constant [3 x i8] c"hi\\00"' in text
    assert "@e = external global i64" in text
    assert "@n = internal global i32 5, align 16" in text
    assert "@z = internal global [4 x float] zeroinitializer" in text
    assert "@a = internal global ptr @n" in text
    assert '@d = internal constant [8 x i8] c"\\00\\00\\80?\\00\\00\\00@", align 64' in text


def test_large_globals_are_one_string_of_bytes():
    from xdsl.dialects import llvm
    from xdsl.dialects.builtin import BytesAttr, ModuleOp

    data = np.random.default_rng(0).integers(0, 256, 4_000_000, np.uint8).tobytes()
    value = DenseIntOrFPElementsAttr(TensorType(i8, [len(data)]), BytesAttr(data))
    module = ModuleOp([llvm.GlobalOp(llvm.LLVMArrayType(len(data), i8), "w", "external", constant=True, value=value)])
    text = emit_llvm_text(module)
    assert binding.parse_assembly(text).get_global_variable("w").name == "w"


def test_internal_functions_do_not_take_names_of_the_c_library():
    text = text_of("""
    llvm.func internal @round() { llvm.return }
    llvm.func @"round.impl"() {
      llvm.call @round() : () -> ()
      llvm.return
    }
    llvm.func @"exp.c"(f64) -> f64 attributes {stepwell.link_name = "exp"}
    llvm.func internal @exp(%x: f64) -> f64 {
      %r = llvm.call @"exp.c"(%x) : (f64) -> f64
      llvm.return %r : f64
    }""")
    assert "define internal void @round.impl_1()" in text and "call void @round.impl_1()" in text
    assert "declare double @exp(double)" in text and "define internal double @exp.impl(double" in text
    assert set(LIBM.values()) <= RESERVED


# Refusals


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("func.func @f() { func.return }", "test.mlir:1:1: 'func.func': has no entry in the LLVM text tables"),
        (function('"test.op"() : () -> ()'), "test.mlir:2:1: 'test.op': has no entry in the LLVM text tables"),
        (function("%a = llvm.add %i, %i {foo = 1 : i64} : i64"), "'llvm.add': attribute 'foo' has no text form"),
        (function("", head="attributes {frobnicate}"), "'llvm.func': attribute 'frobnicate' has no text form"),
        (function("", "%x: i64 {llvm.frob}"), "'llvm.func': argument attribute 'llvm.frob' has no text form"),
        (function("%a = llvm.mlir.constant(1 : i32) : f32"), "constant 1 : i32 of type f32 has no text form"),
        (function("", "%x: vector<2x2xf32>"), "vector<2x2xf32>"),
        ('builtin.module attributes {foo} {}', "'builtin.module': attribute 'foo' has no text form"),
        (
            'llvm.func @exp() { llvm.return }\nllvm.func @g() attributes {stepwell.link_name = "exp"}',
            "@g and @exp both have the name 'exp'",
        ),
        (
            'llvm.func @f() {\nllvm.br ^a\n^a:\nllvm.br ^a {stepwell.loop = "fast"}\n}',
            "test.mlir:4:1: 'llvm.br': loop hint 'fast' is unknown",
        ),
        (
            "llvm.mlir.global internal @g() {addr_space = 0 : i32} : i64 {\n"
            "%0 = llvm.mlir.constant(1) : i64\n%1 = llvm.add %0, %0 : i64\nllvm.return %1 : i64\n}",
            "initializer returns the result of an instruction, expected a constant",
        ),
    ],
)  # fmt: skip
def test_nothing_is_dropped_silently(source: str, message: str):
    try:
        found = refused(source)
    except DiagnosticException as error:
        found = str(error)
    assert message in found


def test_our_own_attributes_stay_behind():
    text = text_of(
        function("%a = llvm.add %i, %i {stepwell.reason = 1 : i64} : i64", head="attributes {stepwell.signature}")
    )
    assert "stepwell" not in text


def test_every_llvm_op_has_an_entry():
    from stepwell.dialects.llvm_ext import LLVMExt
    from stepwell.lowering.llvm_text.instructions import HANDLERS, INLINE
    from xdsl.dialects import llvm

    known = {*HANDLERS, *INLINE, llvm.FuncOp, llvm.GlobalOp}
    assert [op.name for op in (*llvm.LLVM.operations, *LLVMExt.operations) if op not in known] == []
