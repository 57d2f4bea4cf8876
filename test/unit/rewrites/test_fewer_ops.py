"""Programs that have fewer ops since identities of logic, functions, reductions and movement are known."""

from __future__ import annotations

import pytest
from stepwell.core.ir.walk import walk
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.graph.builder import GraphBuilder
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
PASSES = "eliminate-common-subexpr,simplify-expr,fold-constant,eliminate-common-subexpr,eliminate-dead-code"

F, G, P, S = "tensor<2x3xf32>", "tensor<3x2xf32>", "tensor<4xf32>", "tensor<6xf32>"

PROGRAMS = {
    # Name: arguments, ops, ops that are left without these rules and with them.
    "permuted-around": (f"%x: {F}", f"""
        %a = graph.permute_dims %x : ({F}) -> {G}
        %b = graph.tanh %a : ({G}) -> {G}
        %r = graph.permute_dims %b : ({G}) -> {F}""", F, 3, 1),
    "both-permuted": (f"%x: {F}, %y: {F}", f"""
        %a = graph.permute_dims %x : ({F}) -> {G}
        %b = graph.permute_dims %y : ({F}) -> {G}
        %r = graph.add %a, %b : ({G}, {G}) -> {G}""", G, 3, 2),
    "reshaped-around": (f"%x: {F}", f"""
        %a = graph.reshape %x, shape = [6] : ({F}) -> {S}
        %b = graph.exp %a : ({S}) -> {S}
        %r = graph.reshape %b, shape = [2, 3] : ({S}) -> {F}""", F, 3, 1),
    "total": (f"%x: {F}", f"""
        %a = graph.permute_dims %x : ({F}) -> {G}
        %b = graph.max %a, axis = [0] : ({G}) -> tensor<2xf32>
        %r = graph.max %b : (tensor<2xf32>) -> tensor<f32>""", "tensor<f32>", 3, 1),
    "mean": (f"%x: {F}", f"""
        %n = graph.full 3.0 : tensor<f32>
        %a = graph.sum %x, axis = [1] : ({F}) -> tensor<2xf32>
        %r = graph.divide %a, %n : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>""", "tensor<2xf32>", 3, 1),
    "softmax": (f"%x: {F}", f"""
        %m = graph.max %x, axis = [1], keepdims = true : ({F}) -> tensor<2x1xf32>
        %d = graph.subtract %x, %m : ({F}, tensor<2x1xf32>) -> {F}
        %e = graph.exp %d : ({F}) -> {F}
        %s = graph.sum %e, axis = [1], keepdims = true : ({F}) -> tensor<2x1xf32>
        %r = graph.divide %e, %s : ({F}, tensor<2x1xf32>) -> {F}""", F, 5, 1),
    "slices": (f"%x: {S}", f"""
        %a = graph.strided_slice %x, axes = [0], begin = [1], end = [6] : ({S}) -> tensor<5xf32>
        %r = graph.strided_slice %a, axes = [0], begin = [0], end = [4] : (tensor<5xf32>) -> {P}""", P, 2, 1),
    "concats": (f"%x: {P}", f"""
        %a = graph.concat %x, %x, axis = 0 : ({P}, {P}) -> tensor<8xf32>
        %b = graph.concat %a, %x, axis = 0 : (tensor<8xf32>, {P}) -> tensor<12xf32>
        %r = graph.strided_slice %b, axes = [0], begin = [8], end = [12] : (tensor<12xf32>) -> {P}""", P, 3, 0),
    "transposed-product": (f"%x: {G}, %y: tensor<4x3xf32>", f"""
        %a = graph.permute_dims %x : ({G}) -> {F}
        %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
        %p = graph.matmul %a, %b : ({F}, tensor<3x4xf32>) -> tensor<2x4xf32>
        %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>""", "tensor<4x2xf32>", 4, 1),
    "nots": ("%x: tensor<4xi1>, %y: tensor<4xi1>", """
        %a = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
        %b = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
        %r = graph.logical_and %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>""", "tensor<4xi1>", 3, 2),
    "pads": (f"%x: {P}", f"""
        %a = graph.pad %x, pad_width = [0, 2], value = 1.0 : ({P}) -> {S}
        %r = graph.pad %a, pad_width = [1, 0], value = 1.0 : ({S}) -> tensor<7xf32>""", "tensor<7xf32>", 2, 1),
}  # fmt: skip


def _optimised(module: ModuleOp) -> int:
    """Returns how many graph ops the passes leave."""
    run_pipeline(CTX, module, parse_pipeline(PASSES))
    return sum(op.name.startswith("graph.") for op in walk(module))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_fewer_ops(name: str) -> None:
    arguments, ops, result, before, after = PROGRAMS[name]
    text = f"func.func @main({arguments}) -> {result} {{{ops}\nfunc.return %r : {result}\n}}"
    assert _optimised(parse_text(CTX, text, name)) == after < before


def test_a_network_with_functions_in_parts_has_fewer_ops() -> None:
    b = GraphBuilder()
    with b.function("main", x="tensor<2x4xf32>", w="tensor<4x4xf32>", v="tensor<4x4xf32>") as (x, w, v):
        h = b.matmul(x, w)
        inner = b.multiply(h, b.add(b.erf(b.multiply(h, 0.70710677)), 1.0))
        h = b.matmul(b.multiply(inner, 0.5), v)
        h = b.divide(1.0, b.add(b.exp(b.negative(h)), 1.0))
        b.emit_func_output(b.divide(b.sum(h, axis=[1]), 4.0))
    assert _optimised(b.get()) == 5 < 17


def test_a_network_with_paddings_and_slices_has_fewer_ops() -> None:
    b = GraphBuilder()
    with b.function("main", x="tensor<1x2x6x6xf32>", w="tensor<2x2x3x3xf32>") as (x, w):
        around = [0, 0, 0, 0, 1, 1, 1, 1]
        one = b.relu(b.conv2d(b.pad(x, pad_width=around, value=0.0), w))
        two = b.relu(b.conv2d(b.pad(one, pad_width=around, value=0.0), w))
        both = b.concat([one, two], axis=1)
        second = b.strided_slice(both, axes=[1], begin=[2], end=[4])
        b.emit_func_output(b.mean(b.mean(second, axis=[3]), axis=[2]))
    assert _optimised(b.get()) == 5 < 10
