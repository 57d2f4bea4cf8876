"""The emitter of LLVM text: what it writes, what LLVM makes of it, and what it refuses to drop."""

from __future__ import annotations

import math
import re
import struct

import llvmlite.binding as binding
import ml_dtypes
import numpy as np
import pytest
from stepwell.core.parsing import make_context, parse_text
from stepwell.lowering.emit_llvm_text import emit_llvm_text
from stepwell.lowering.llvm.convert_math import LIBM
from stepwell.lowering.llvm_text.constants import bits_text, float_bits, symbol_text
from stepwell.lowering.llvm_text.names import RESERVED
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


def text_of(source: str, **options: str) -> str:
    """The text of a module, accepted by LLVM, and the same after the module was printed and parsed."""
    context = make_context()
    module = parse_text(context, source, "test.mlir")
    module.verify()
    text = emit_llvm_text(module, **options)
    assert emit_llvm_text(parse_text(context, str(module))) == text or options
    parsed = binding.parse_assembly(text)
    parsed.verify()
    return text


def function(body: str, arguments: str = "%x: f32, %i: i64, %p: !llvm.ptr", head: str = "") -> str:
    return f"llvm.func @f({arguments}) {head} {{\n{body}\nllvm.return\n}}"


def refused(source: str) -> str:
    """The message of the refusal."""
    with pytest.raises(DiagnosticException) as caught:
        emit_llvm_text(parse_text(make_context(), source, "test.mlir"))
    return str(caught.value)


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
    module = ModuleOp(
        [llvm.GlobalOp(llvm.LLVMArrayType(len(data), i8), "w", "external", constant=True, value=value)]
    )
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


# Instructions


def test_fast_math_stays_on_arithmetic_intrinsics_and_reductions():
    text = text_of(
        function(
            """
      %a = llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<contract,nnan>} : f32
      %b = llvm.fneg %a {fastmathFlags = #llvm.fastmath<fast>} : f32
      %c = llvm.intr.fma(%a, %b, %x) {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, f32, f32) -> f32
      %d = llvm.call_intrinsic "llvm.maximum"(%c, %x) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
      %e = "llvm.intr.vector.reduce.fadd"(%d, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}>
        : (f32, vector<4xf32>) -> f32
      %g = llvm_ext.fcmp "ult" %v, %v {fastmathFlags = #llvm.fastmath<ninf>} : vector<4xf32>
      %h = llvm_ext.select %g, %v, %v : vector<4xi1>, vector<4xf32>""",
            "%x: f32, %v: vector<4xf32>",
        )
    )
    for line in (
        "fadd nnan contract float %x.0, %x.0",
        "fneg fast float",
        "call reassoc float @llvm.fma.f32(",
        "call nsz float @llvm.maximum.f32(",
        "call reassoc float @llvm.vector.reduce.fadd.v4f32(float %d.5, <4 x float> %v.1)",
        "fcmp ninf ult <4 x float> %v.1, %v.1",
        "select <4 x i1> %g.7, <4 x float> %v.1, <4 x float> %v.1",
        "declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)",
    ):
        assert line in text


def test_flags_of_integer_operations():
    text = text_of(
        function("""
      %a = llvm.add %i, %i overflow<nsw,nuw> : i64
      %b = llvm.shl %a, %i overflow<nuw> : i64
      %c = llvm.sdiv exact %b, %i : i64
      %d = llvm.or disjoint %c, %i : i64
      %e = llvm.trunc %d overflow<nsw> : i64 to i8
      %g = llvm.zext nneg %e : i8 to i64
      %h = llvm.lshr exact %g, %i : i64""")
    )
    for line in (
        "add nsw nuw i64",
        "shl nuw i64",
        "sdiv exact",
        "or disjoint",
        "trunc nsw i64",
        "zext nneg i8",
        "lshr exact",
    ):
        assert line in text


def test_memory_operations():
    text = text_of(
        function(
            """
      %a = llvm.load %p {alignment = 2 : i64} : !llvm.ptr -> f32
      %b = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
      llvm.store volatile %a, %p {alignment = 4 : i64} : f32, !llvm.ptr
      llvm.store %a, %p {alignment = 4 : i64, nontemporal} : f32, !llvm.ptr
      %g = llvm.getelementptr inbounds %p[%i, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
      %h = llvm.alloca %i x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
      %j = llvm_ext.atomicrmw %p, %i {alignment = 8 : i64, kind = "umax", ordering = "seq_cst"} : i64
      %m = llvm_ext.masked_load %p, %mask, %v {alignment = 4 : i64} : vector<8xi1>, vector<8xf32>
      llvm_ext.masked_store %m, %p, %mask {alignment = 4 : i64} : vector<8xi1>, vector<8xf32>
      %k = llvm_ext.freeze %m : vector<8xf32>
      %e = llvm_ext.extractelement %k[%i : i64] : vector<8xf32>
      %s = llvm.shufflevector %v, %v [0, -1, 9] : vector<8xf32>""",
            "%i: i64, %p: !llvm.ptr, %mask: vector<8xi1>, %v: vector<8xf32>",
        )
    )
    for line in (
        "load float, ptr %p.1, align 2",
        "load atomic i64, ptr %p.1 acquire, align 8",
        "store volatile float",
        "align 4, !nontemporal !0",
        "getelementptr inbounds [4 x float], ptr %p.1, i64 %i.0, i32 2",
        "alloca float, i64 %i.0, align 64",
        "atomicrmw umax ptr %p.1, i64 %i.0 seq_cst, align 8",
        "call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %p.1, <8 x i1> %mask.2, <8 x float> %v.3)",
        "call void @llvm.masked.store.v8f32.p0(<8 x float> %m.9, ptr align 4 %p.1, <8 x i1> %mask.2)",
        "extractelement <8 x float>",
        "<3 x i32> <i32 0, i32 poison, i32 9>",
    ):
        assert line in text, line


def test_casts_of_every_kind():
    text = text_of(
        function(
            """
      %a = llvm_ext.fptosi %v : vector<4xf32> to vector<4xi8>
      %b = llvm_ext.fptoui %x : f32 to i64
      %c = llvm_ext.uitofp %b : i64 to f64
      %d = llvm_ext.sitofp %a : vector<4xi8> to vector<4xf16>
      %e = llvm.ptrtoint %p : !llvm.ptr to i64
      %g = llvm.inttoptr %e : i64 to !llvm.ptr
      %h = llvm.bitcast %x : f32 to i32""",
            "%x: f32, %p: !llvm.ptr, %v: vector<4xf32>",
        )
    )
    for line in (
        "fptosi <4 x float> %v.2 to <4 x i8>",
        "fptoui float %x.0 to i64",
        "uitofp i64",
        "sitofp <4 x i8>",
        "ptrtoint ptr",
        "inttoptr i64",
        "bitcast float",
    ):
        assert line in text


def test_intrinsics_are_declared_once_per_overload():
    text = text_of(
        function(
            """
      %n = llvm.mlir.constant(false) : i1
      llvm.call_intrinsic "llvm.memcpy"(%p, %p, %i, %n) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
      llvm.call_intrinsic "llvm.memcpy"(%p, %p, %i, %n) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
      %a = llvm.call_intrinsic "llvm.ctlz"(%i, %n) : (i64, i1) -> i64
      %b = llvm.call_intrinsic "llvm.uadd.with.overflow"(%i, %i) : (i64, i64) -> !llvm.struct<(i64, i1)>
      %c = llvm.call_intrinsic "llvm.fptosi.sat"(%x) : (f32) -> i8
      %d = llvm.call_intrinsic "llvm.x86.sse41.phminposuw"(%v) : (vector<8xi16>) -> vector<8xi16>""",
            "%x: f32, %i: i64, %p: !llvm.ptr, %v: vector<8xi16>",
        )
    )
    for line in (
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare i64 @llvm.ctlz.i64(i64, i1)",
        "declare { i64, i1 } @llvm.uadd.with.overflow.i64(i64, i64)",
        "declare i8 @llvm.fptosi.sat.i8.f32(float)",
        "declare <8 x i16> @llvm.x86.sse41.phminposuw(<8 x i16>)",
    ):
        assert text.count(line) == 1, line


def test_phis_of_double_edges_and_switches():
    text = text_of("""
    llvm.func @f(%c: i1, %x: i32, %y: i32) -> i32 {
      llvm.cond_br %c, ^a(%x : i32), ^a(%y : i32)
    ^a(%v: i32):
      llvm_ext.switch %v : i32, default ^b(%v : i32), [0: ^b(%x : i32), -1: ^b(%x : i32), 7: ^c]
    ^b(%w: i32):
      llvm.return %w : i32
    ^c:
      llvm.cond_br %c, ^b(%x : i32), ^b(%x : i32)
    }""")
    assert "%v.3 = phi i32 [ %x.1, %b0 ], [ %y.2, %b0.0 ]" in text
    assert "switch i32 %v.3, label %b2 [ i32 0, label %b1." in text
    assert re.search(r"^b0\.0:\n  br label %b1$", text, re.M)


def test_loops_get_distinct_metadata_and_shared_properties():
    loop = """
    ^bb{n}(%i{n}: i64):
      %n{n} = llvm.add %i{n}, %one : i64
      llvm.cond_br %c, ^bb{n}(%n{n} : i64), ^next{n} {{stepwell.loop = "no-vectorize,unroll"}}
    ^next{n}:"""
    text = text_of(
        f"""llvm.func @f(%one: i64, %c: i1) {{
      llvm.br ^bb0(%one : i64)
      {loop.format(n=0)}
      llvm.br ^bb1(%one : i64)
      {loop.format(n=1)}
      llvm.return
    }}"""
    )
    assert text.count("= distinct !{") == 2
    assert text.count('!{!"llvm.loop.vectorize.enable", i1 false}') == 1


def test_inline_assembly():
    text = text_of(
        function('%r = llvm.inline_asm has_side_effects "bswap $0", "=r,r" %i : (i64) -> i64', "%i: i64")
    )
    assert 'call i64 asm sideeffect "bswap $0", "=r,r"(i64 %i.0)' in text


def test_values_may_be_used_in_blocks_that_stand_before_their_own():
    text = text_of(
        """
    llvm.func @f(%x: i64) -> i64 {
      llvm.br ^late
    ^early:
      llvm.return %y : i64
    ^late:
      %y = llvm.add %x, %x : i64
      llvm.br ^early
    }""".replace("return %y : i64\n", "return %y : i64\n")
    )
    assert "ret i64 %y." in text


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
        function(
            "%a = llvm.add %i, %i {stepwell.note = 1 : i64} : i64", head="attributes {stepwell.signature}"
        )
    )
    assert "stepwell" not in text


def test_every_llvm_op_has_an_entry():
    from stepwell.dialects.llvm_ext import LLVMExt
    from stepwell.lowering.llvm_text.instructions import HANDLERS, INLINE
    from xdsl.dialects import llvm

    known = {*HANDLERS, *INLINE, llvm.FuncOp, llvm.GlobalOp}
    assert [op.name for op in (*llvm.LLVM.operations, *LLVMExt.operations) if op not in known] == []
