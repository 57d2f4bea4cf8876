"""Loop functions for the tests of patterns of loops: copies, sums, loops that are parallel or of unknown extent."""

from __future__ import annotations

from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()

COPY = """tensor_loop.grid (%i, %j) in (96, 64) {
  tensor_loop.block "copy" spatial(%vi in 96 = %i, %vj in 64 = %j) {
    %v = memref.load %x[%vj, %vi] : memref<64x96xf32>
    memref.store %v, %o[%vi, %vj] : memref<96x64xf32>
  }
}"""
STRAIGHT = COPY.replace("%x[%vj, %vi] : memref<64x96xf32>", "%p[%vi, %vj] : memref<96x64xf32>")
NEGATED = COPY.replace("memref.store %v", "%w = arith.negf %v : f32 memref.store %w")
CHOICE = COPY.replace("memref.store", "%t = arith.constant true scf.if %t { memref.store").replace("\n  }", "}\n  }")
SUM = """tensor_loop.grid (%i, %k) in (96, 64) {
  tensor_loop.block "sum" spatial(%vi in 96 = %i) reduce(%vk in 64 = %k) {
    init { %z = arith.constant 0.0 : f32 memref.store %z, %s[%vi] : memref<96xf32> }
    %a = memref.load %s[%vi] : memref<96xf32>
    %v = memref.load %x[%vk, %vi] : memref<64x96xf32>
    %b = arith.addf %a, %v : f32
    memref.store %b, %s[%vi] : memref<96xf32>
  }
}"""
PARALLEL = """tensor_loop.for %i in 96 parallel { tensor_loop.for %j in 64 {
  tensor_loop.block "copy" spatial(%vi in 96 = %i, %vj in 64 = %j) {
    %v = memref.load %x[%vj, %vi] : memref<64x96xf32>
    memref.store %v, %o[%vi, %vj] : memref<96x64xf32>
  }
} }"""


def program(*nests: str, extent: str = "") -> ModuleOp:
    """A loop function that runs the nests one after the other."""
    head = f"tensor_loop.func private @f({extent}%x: memref<64x96xf32>, %p: memref<96x64xf32>)"
    outs = "outs(%o: memref<96x64xf32>, %s: memref<96xf32>)"
    return parse_text(CTX, "\n".join([f"{head} {outs} {{", *nests, "}"]), "p.mlir")


OPEN = """tensor_loop.grid (%i) in (%n) {
  tensor_loop.block "open" spatial(%vi in %n = %i) {
    %v = memref.load %s[%vi] : memref<96xf32>
    memref.store %v, %s[%vi] : memref<96xf32>
  }
}"""
