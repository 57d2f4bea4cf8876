"""The emitter of LLVM text: what it writes for instructions, and what LLVM makes of them."""

from __future__ import annotations

import re

from llvm_texts import function, text_of


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
    text = text_of(function('%r = llvm.inline_asm has_side_effects "bswap $0", "=r,r" %i : (i64) -> i64', "%i: i64"))
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
