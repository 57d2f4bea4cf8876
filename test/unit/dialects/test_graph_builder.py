"""Building and rewriting graph functions from Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.messages.locations import location_string
from stepwell.core.text.parsing import parse
from stepwell.dialects import graph
from stepwell.dialects.graph.builder import BuilderError, GraphBuilder
from stepwell.dialects.graph.mutator import GraphMutator
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

MLP = """builtin.module {
  func.func @main(%x: tensor<1x784xf32>, %w: tensor<128x784xf32>, %b: tensor<128xf32>) -> tensor<1x128xf32> {
    %lv0 = graph.permute_dims %w : (tensor<128x784xf32>) -> tensor<784x128xf32>
    %lv1 = graph.matmul %x, %lv0 : (tensor<1x784xf32>, tensor<784x128xf32>) -> tensor<1x128xf32>
    %lv2 = graph.add %lv1, %b : (tensor<1x128xf32>, tensor<128xf32>) -> tensor<1x128xf32>
    %gv0 = graph.relu %lv2 : (tensor<1x128xf32>) -> tensor<1x128xf32>
    func.return %gv0 : tensor<1x128xf32>
  }
}"""


def build_mlp(builder: GraphBuilder) -> None:
    types = {"x": "tensor<1x784xf32>", "w": "tensor<128x784xf32>", "b": "tensor<128xf32>"}
    with builder.function("main", **types) as (x, w, b):
        with builder.dataflow():
            lv0 = builder.emit(graph.PermuteDimsOp(w), "lv0")
            lv1 = builder.emit(graph.MatmulOp(x, lv0), "lv1")
            lv2 = builder.emit(graph.AddOp(lv1, b), "lv2")
            gv0 = builder.emit_output(graph.ReluOp(lv2), "gv0")
        builder.emit_func_output(gv0)


def test_mlp_is_built_as_written() -> None:
    builder = GraphBuilder()
    build_mlp(builder)
    module = builder.get()
    assert str(module) == MLP == str(parse(MLP))
    assert str(builder.get()) == str(parse("builtin.module {\n}")), "a fresh module after get"


def test_ops_are_located_at_the_python_line() -> None:
    builder = GraphBuilder()
    build_mlp(builder)
    matmul = next(op for op in builder.get().walk() if op.name == "graph.matmul")
    line = build_mlp.__code__.co_firstlineno + 5
    assert location_string(matmul) == f"{__file__}:{line}:1"


def test_several_results() -> None:
    builder = GraphBuilder()
    with builder.function("f", x="tensor<4xf32>") as (x,):
        first, second = builder.emit(graph.SplitOp(x, sections=2), "a", "b")
        builder.emit_func_output(first, second)
    assert "%a, %b = graph.split %x, sections = 2" in str(builder.get())


def misuse(action: Any) -> str:
    with pytest.raises(BuilderError) as caught:
        action(GraphBuilder())
    assert caught.value.diagnostic.point is not None
    assert caught.value.diagnostic.point.file == __file__
    return caught.value.diagnostic.message


def _inside(body: Any) -> Any:
    def action(builder: GraphBuilder) -> None:
        with builder.function("f", x="tensor<4xf32>") as (x,):
            body(builder, x)

    return action


def _emit_twice(builder: GraphBuilder, x: Any) -> None:
    op = graph.ExpOp(x)
    builder.emit(op)
    builder.emit(op)


def _emit_after_output(builder: GraphBuilder, x: Any) -> None:
    builder.emit_func_output(x)
    builder.emit(graph.ExpOp(x))


def _wrong_result(builder: GraphBuilder, x: Any) -> None:
    builder.emit(graph.SumOp(x, result_types=[x.type]))


def _one_function(builder: GraphBuilder, name: str = "f") -> Any:
    with builder.function(name, x="tensor<4xf32>") as (x,):
        builder.emit_func_output(x)
    return x


def _function_twice(builder: GraphBuilder) -> None:
    _one_function(builder)
    _one_function(builder)


def _value_of_another_function(builder: GraphBuilder) -> None:
    x = _one_function(builder)
    with builder.function("g", y="tensor<4xf32>"):
        builder.emit(graph.ExpOp(x))


def _output_of_another_function(builder: GraphBuilder) -> None:
    x = _one_function(builder)
    with builder.function("g", y="tensor<4xf32>"):
        builder.emit_func_output(x)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda b: b.emit(graph.FullOp(1, parse_type("tensor<f32>"))),
            "emit is called outside of a function",
        ),
        (lambda b: b.emit_func_output(), "emit_func_output is called outside of a function"),
        (_inside(lambda b, x: None), "function @f ends without emit_func_output"),
        (_inside(lambda b, x: b.get()), "get is called inside function @f"),
        (_inside(_emit_after_output), "emit is called after emit_func_output of function @f"),
        (_inside(_emit_twice), "'graph.exp' has been emitted before"),
        (_inside(_wrong_result), "'graph.sum': the result has type tensor<4xf32>, expected tensor<f32>"),
        (
            _inside(lambda b, x: b.emit(graph.ExpOp(x), "a", "b")),
            "'graph.exp' has 1 results but 2 names are given",
        ),
        (_inside(lambda b, x: b.function("g").__enter__()), "function @g begins inside function @f"),
        (lambda b: b.function("f", x="tensor<").__enter__(), "'tensor<' is not a type"),
        (_function_twice, "function @f is defined twice, first at "),
        (_value_of_another_function, "'graph.exp': operand 0 (%x) is a value of function @f, expected one of @g"),
        (_output_of_another_function, "'func.return': operand 0 (%x) is a value of function @f, expected one of @g"),
        (
            _inside(lambda b, x: b.emit(graph.ExpOp(graph.ReluOp(x)))),
            "'graph.exp': operand 0 is a result of 'graph.relu', which has not been emitted",
        ),
        (_inside(lambda b, x: b.emit_func_output(None)), "output 0 is None, expected a value"),
        (_inside(lambda b, x: b.emit_func_output(x, x == x)), "output 1 is True, expected a value"),
        (_inside(lambda b, x: b.emit_func_output([x])), ", expected a value"),
        (
            _inside(lambda b, x: b.emit_func_output(np.ones(4, np.float32))),
            "output 0 is an array of float32 and shape (4,), expected a value",
        ),
        (_inside(lambda b, x: b.relu(x, name="1 x%")), "a value cannot have the name '1 x%'"),
        (_inside(lambda b, x: b.relu(x, name=5)), "the name of a value is 5, expected text"),
        (lambda b: b.function("f", x=5).__enter__(), "the type of argument 'x' is 5, expected a type or its text"),
        (lambda b: b.function("f", **{"1 x": "f32"}).__enter__(), "a value cannot have the name '1 x'"),
    ],
)
def test_misuse_is_reported_at_the_python_line(action: Any, message: str) -> None:
    assert message in misuse(action)


@pytest.mark.parametrize(
    ("make", "dtype", "message"),
    [
        (lambda b, x: x + (3 + 1j), "f32", "'graph.add': rhs is (3+1j), expected a real number"),
        (
            lambda b, x: b.constant(np.ones(2, np.complex64), "f32"),
            "f32",
            "the constant is an array of complex64 and shape (2,), expected a real number",
        ),
        (lambda b, x: x + 1e39, "f32", "'graph.add': rhs is 1e+39, which f32 cannot hold"),
        (lambda b, x: x * 70000, "f16", "'graph.multiply': rhs is 70000, which f16 cannot hold"),
        (lambda b, x: b.constant(float("inf"), "f8E4M3FN"), "f32", "the constant is inf, which f8E4M3FN cannot hold"),
        (lambda b, x: x + (-1), "ui64", "'graph.add': rhs is -1, which ui64 cannot hold"),
        (lambda b, x: x + np.array([200], np.uint8), "i8", "shape (1,), which i8 cannot hold"),
        (lambda b, x: b.constant(2**63), "f32", "the constant is 9223372036854775808, which i64 cannot hold"),
        (lambda b, x: b.full(1e39, "tensor<f32>"), "f32", "'graph.full': the value is 1e+39, which f32 cannot hold"),
        (lambda b, x: b.full(10**400, "tensor<f32>"), "f32", "'graph.full': int too large to convert to float"),
    ],
)
def test_a_constant_never_loses_what_it_is(make: Any, dtype: str, message: str) -> None:
    builder = GraphBuilder()
    with pytest.raises(BuilderError) as caught, builder.function("f", x=f"tensor<4x{dtype}>") as (x,):
        make(builder, x)
    assert message in str(caught.value)


def test_a_number_of_python_is_rounded_and_may_be_infinite() -> None:
    builder = GraphBuilder()
    with builder.function("f", x="tensor<4xf32>") as (x,):
        builder.emit_func_output(x + 0.1 + float("inf") + float("nan") + 1e-300 + (2**24 + 1) + 2)
    assert [str(op) for op in builder.get().walk() if op.name == "graph.constant"] == [
        f"%0 = graph.constant dense<{text}> : tensor<f32>"
        for text in ("0.1", '"0x0000807F"', '"0x0000C07F"', "0.0", "16777216.0", "2.0")
    ]


def test_a_constructor_names_the_op_and_points_at_the_python_line() -> None:
    """AUDIT C4."""
    builder = GraphBuilder()
    with pytest.raises(VerifyException) as caught, builder.function("f", x="tensor<4x3xf32>", y="tensor<5xf32>") as xy:
        graph.AddOp(*xy)
    line = test_a_constructor_names_the_op_and_points_at_the_python_line.__code__.co_firstlineno + 4
    assert str(caught.value) == "'graph.add': shapes 4x3 and 5 do not broadcast: dimension 1 is 3 and 5"
    assert str(getattr(caught.value, "diagnostic").point) == f"{__file__}:{line}:1"  # noqa: B009
    with pytest.raises(TypeError, match="operand 0 of graph.relu is 3, expected a value or an op"):
        graph.ReluOp(3)  # pyright: ignore[reportArgumentType]


def test_a_function_that_failed_may_be_built_again() -> None:
    builder = GraphBuilder()
    with pytest.raises(BuilderError), builder.function("f", x="tensor<4xf32>"):
        pass
    _one_function(builder)
    assert "func.func @f" in str(builder.get())
    _one_function(builder)
    assert "func.func @f" in str(builder.get())


@pytest.mark.parametrize(("classes", "message"), [("X", "'X' is no class of element types"), ("", "there is no class")])
def test_classes_of_operands_are_checked_where_they_are_written(classes: str, message: str) -> None:
    """AUDIT C4."""
    with pytest.raises(ValueError, match=f"{message}.*, expected letters of F, S, U, Q, B"):
        graph.tensor_operand(classes)


def parse_type(text: str) -> Any:
    return parse(f"%0 = graph.full 0 : {text}").body.block.first_op.results[0].type  # pyright: ignore


class FuseMultiplyAdd(GraphMutator):
    def visit_add(self, op: graph.AddOp) -> Operation | None:
        product = self.lookup_binding(op.lhs)
        if isinstance(product, graph.MultiplyOp):
            return graph.EwiseFmaOp(product.lhs, product.rhs, op.rhs)
        return None


def test_mutator_fuses_and_leaves_the_multiply() -> None:
    module = parse("""func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %lv0 = graph.multiply %x, %y : (tensor<3x4xf32>, tensor<3x4xf32>)
  %gv0 = graph.add %lv0, %y : (tensor<3x4xf32>, tensor<3x4xf32>)
  func.return %gv0 : tensor<3x4xf32>
}""")
    assert FuseMultiplyAdd().mutate(module)
    module.verify()
    text = str(module)
    assert "%lv0 = graph.multiply %x, %y" in text and "%gv0 = graph.ewise_fma %x, %y, %y" in text
    assert "graph.add" not in text
    fma = next(op for op in module.walk() if op.name == "graph.ewise_fma")
    assert location_string(fma) == "<text>:3:3"
    assert not FuseMultiplyAdd().mutate(module)


def test_mutator_inserts_all_new_ops_and_does_not_recurse() -> None:
    class Grow(GraphMutator):
        def visit_exp(self, op: graph.ExpOp) -> Operation:
            value: Any = op.operand
            for _ in range(3000):
                value = graph.NegativeOp(value)
            return value

    module = parse(
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = graph.exp %x : (tensor<2xf32>)\n"
        "  func.return %y : tensor<2xf32>\n}"
    )
    assert Grow().mutate(module)
    module.verify()
    assert sum(op.name == "graph.negative" for op in module.walk()) == 3000


def test_mutator_checks_the_number_of_results() -> None:
    class Broken(GraphMutator):
        def visit_op(self, op: Operation) -> Any:
            return list(op.operands) * 2

    with pytest.raises(ValueError, match="'graph.exp' has 1 results but its replacement has 2"):
        Broken().mutate(
            parse("func.func @f(%x: tensor<2xf32>) {\n  %y = graph.exp %x : (tensor<2xf32>)\n  func.return\n}")
        )


def test_a_misspelt_visitor_is_an_error() -> None:
    """AUDIT B3: `visit_multiplyy` was never called, in silence."""

    class Misspelt(GraphMutator):
        def visit_multiplyy(self, op: Operation) -> Any:
            return None

    module = parse("func.func @f() {\n  func.return\n}")
    with pytest.raises(StepwellError) as caught:
        Misspelt().mutate(module)
    message = "error: Misspelt.visit_multiplyy: there is no op 'graph.multiplyy'"
    assert str(caught.value) == f"{message}\nhint: did you mean 'visit_multiply'?"
