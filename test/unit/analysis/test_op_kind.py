"""Kinds of every library function, of graph ops, and of stages in edge cases."""

from __future__ import annotations

import pytest
import stepwell
from stepwell import te
from stepwell.analysis.kinds import OpKind
from stepwell.analysis.op_kind import (
    _Numbers,  # pyright: ignore[reportPrivateUsage]
    kind_of_op,
    kind_of_tensors,
)
from stepwell.te import library
from xdsl.dialects.builtin import IntegerAttr

ELEMENTWISE, BROADCAST, INJECTIVE = OpKind.ELEMENTWISE, OpKind.BROADCAST, OpKind.INJECTIVE
REDUCTION, OUT_FUSABLE, OPAQUE = OpKind.REDUCTION, OpKind.OUT_FUSABLE, OpKind.OPAQUE


def tensor(*shape: te.Dim, dtype: str = "f32") -> te.Tensor:
    return te.placeholder(shape, dtype, "x")


def kind(name: str, *operands: te.Tensor, **properties: object) -> OpKind:
    results = getattr(library, name)(*operands, **properties)
    return kind_of_tensors([results] if isinstance(results, te.Tensor) else results, operands)


X, IMAGE, KERNEL = tensor(4, 6), tensor(1, 8, 9, 9), tensor(4, 8, 3, 3)
UNARY_F = [
    "negative",
    "abs",
    "sign",
    "square",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "sigmoid",
    "silu",
]
UNARY_F += [
    "gelu",
    "relu",
    "leaky_relu",
    "floor",
    "ceil",
    "trunc",
    "round",
    "isnan",
    "isinf",
    "isfinite",
    "clip",
]
BINARY_F = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "mod",
    "power",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "less",
    "less_equal",
]
BINARY_F += ["greater", "greater_equal"]

EXPECTED: dict[str, tuple[OpKind, tuple[te.Tensor, ...], dict[str, object]]] = {
    **{name: (ELEMENTWISE, (X,), {}) for name in UNARY_F},
    **{name: (ELEMENTWISE, (X, X), {}) for name in BINARY_F},
    **{name: (ELEMENTWISE, (tensor(4, dtype="i1"),), {}) for name in ("logical_not", "bitwise_not")},
    **{
        name: (ELEMENTWISE, (tensor(4, dtype="i1"), tensor(4, dtype="i1")), {})
        for name in ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
    },
    **{
        name: (ELEMENTWISE, (tensor(4, dtype="i8"), tensor(4, dtype="i8")), {})
        for name in ("left_shift", "right_shift")
    },
    "astype": (ELEMENTWISE, (X,), {"dtype": "bf16"}),
    "bitcast": (ELEMENTWISE, (X,), {"dtype": "i32"}),
    "where": (ELEMENTWISE, (tensor(4, 6, dtype="i1"), X, X), {}),
    "ewise_fma": (ELEMENTWISE, (X, X, X), {}),
    "broadcast_to": (BROADCAST, (tensor(6),), {"shape": (4, 6)}),
    "expand_dims": (ELEMENTWISE, (X,), {"axis": [0, 3]}),
    "squeeze": (ELEMENTWISE, (tensor(4, 1, 6),), {}),
    "permute_dims": (INJECTIVE, (X,), {}),
    "reshape": (INJECTIVE, (X,), {"shape": (8, 3)}),
    "concat": (INJECTIVE, (X, X), {}),
    "strided_slice": (INJECTIVE, (X,), {"axes": [0], "begin": [0], "end": [2]}),
    "pad": (INJECTIVE, (X,), {"pad_width": [0, 1, 0, 0]}),
    "split": (INJECTIVE, (X,), {"sections": 2}),
    "take": (OPAQUE, (X, tensor(3, dtype="i64")), {"axis": 0}),
    "take_along_axis": (OPAQUE, (X, tensor(4, 3, dtype="i64")), {"axis": 1}),
    "gather_nd": (OPAQUE, (X, tensor(3, 1, dtype="i64")), {}),
    **{name: (REDUCTION, (X,), {"axis": 1}) for name in ("sum", "prod", "max", "min")},
    **{name: (OUT_FUSABLE, (X,), {"axis": 1}) for name in ("argmax", "argmin")},
    **{name: (REDUCTION, (tensor(4, 6, dtype="i1"),), {"axis": 0}) for name in ("any", "all")},
    **{name: (OUT_FUSABLE, (X,), {}) for name in ("mean", "softmax", "log_softmax")},
    "layer_norm": (OUT_FUSABLE, (X, tensor(6), tensor(6)), {}),
    "batch_norm": (INJECTIVE, (IMAGE, *(tensor(8) for _ in range(4))), {}),
    "bias_add": (ELEMENTWISE, (IMAGE, tensor(8)), {}),
    "instance_norm": (OUT_FUSABLE, (tensor(2, 8, 4, 4), tensor(8), tensor(8)), {}),
    "group_norm": (OUT_FUSABLE, (tensor(2, 8, 4, 4), tensor(8), tensor(8)), {"num_groups": 2}),
    "l2_normalize": (OUT_FUSABLE, (X,), {}),
    "rms_norm": (OUT_FUSABLE, (X, tensor(6)), {}),
    "dropout": (ELEMENTWISE, (X,), {}),
    "quantize": (ELEMENTWISE, (X, tensor(6), tensor(6, dtype="i8")), {}),
    "requantize": (ELEMENTWISE, (tensor(4, 6, dtype="i32"), tensor(6), tensor(dtype="i8")), {}),
    "dequantize": (ELEMENTWISE, (tensor(4, 6, dtype="i8"), tensor(6), tensor(6, dtype="i8")), {}),
    "matmul_packed": (
        OUT_FUSABLE,
        (X, tensor(5, 4, dtype="ui8"), tensor(5, 2), tensor(5, 2, dtype="ui8")),
        {"block_size": 4},
    ),
    "shape_of": (ELEMENTWISE, (X,), {}),
    "resample": (INJECTIVE, (X, tensor(3, 2, dtype="i64"), tensor(3, 2)), {"axis": 1}),
    "sample": (INJECTIVE, (tensor(1, 2, 4, 4), tensor(1, 3, 3, 2)), {}),
    "matmul": (OUT_FUSABLE, (X, tensor(6, 5)), {}),
    "conv2d": (OUT_FUSABLE, (IMAGE, KERNEL), {"padding": [1, 1, 1, 1]}),
    "max_pool2d": (OUT_FUSABLE, (IMAGE,), {"pool_size": [2, 2]}),
    "avg_pool2d": (OUT_FUSABLE, (IMAGE,), {"pool_size": [2, 2]}),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_library_function(name: str) -> None:
    expected, operands, properties = EXPECTED[name]
    assert kind(name, *operands, **properties) is expected


def test_every_library_function_is_in_the_table() -> None:
    assert set(library.__all__) - EXPECTED.keys() == {"full"}


def test_kinds_are_ordered_by_how_hard_they_are_to_fuse() -> None:
    assert ELEMENTWISE < BROADCAST < INJECTIVE < REDUCTION < OUT_FUSABLE < OPAQUE


class TestElementwise:
    def test_wins_over_a_broadcast_operand(self) -> None:
        assert kind("add", X, tensor(6)) is ELEMENTWISE
        assert kind("add", tensor(6), X) is ELEMENTWISE
        assert kind("add", X, tensor()) is ELEMENTWISE

    def test_not_when_every_operand_is_stretched(self) -> None:
        assert kind("add", tensor(4, 1), tensor(1, 6)) is BROADCAST

    def test_ignores_dimensions_of_size_1(self) -> None:
        assert kind("add", tensor(1, 6), tensor(6)) is ELEMENTWISE
        assert kind("reshape", X, shape=(4, 1, 6)) is ELEMENTWISE
        assert kind("permute_dims", tensor(4, 1, 6), axes=[1, 0, 2]) is ELEMENTWISE
        assert kind("broadcast_to", tensor(6), shape=(1, 6)) is ELEMENTWISE

    def test_of_no_operand(self) -> None:
        assert kind_of_tensors([library.full((4,), 1.0)], []) is ELEMENTWISE

    def test_with_symbolic_sizes(self) -> None:
        n, m = te.var("n"), te.var("m")
        assert kind("add", tensor(n, m), tensor(m)) is ELEMENTWISE
        assert kind("permute_dims", tensor(n, m)) is INJECTIVE

    def test_not_for_a_part_of_the_operand(self) -> None:
        y = te.compute((2, 6), lambda i, j: X[i, j])
        assert kind_of_tensors([y], [X]) is INJECTIVE

    def test_not_for_a_diagonal(self) -> None:
        square = tensor(4, 4)
        y = te.compute((4,), lambda i: square[i, i])
        assert kind_of_tensors([y], [square]) is INJECTIVE

    def test_not_for_a_gather(self) -> None:
        at = tensor(4, dtype="i64")
        y = te.compute((4, 6), lambda i, j: X[te.cast("index", at[i]), j])
        assert kind_of_tensors([y], [X, at]) is INJECTIVE


class TestReduction:
    def test_over_one_element_dimensions_and_all(self) -> None:
        assert kind("sum", X) is REDUCTION
        assert kind("sum", tensor(4, 1), axis=1) is REDUCTION

    def test_of_half_floats_rounds_after_it(self) -> None:
        assert kind("sum", tensor(4, 6, dtype="f16")) is OUT_FUSABLE
        assert kind("max", tensor(4, 6, dtype="f16")) is REDUCTION

    def test_of_squares_of_one_tensor_is_no_contraction(self) -> None:
        k = te.reduce_axis(6)

        def body(i: te.Expr) -> te.Expr:
            element = X[i, k]
            return te.sum(element * element, axis=k)

        assert kind_of_tensors([te.compute((4,), body)], [X]) is REDUCTION

    def test_of_a_reduction_is_opaque(self) -> None:
        y = library.sum(library.exp(library.max(X, axis=1)))
        assert kind_of_tensors([y], [X]) is OPAQUE

    def test_after_a_map_is_still_one(self) -> None:
        assert kind_of_tensors([library.sum(library.exp(X), axis=0)], [X]) is REDUCTION

    def test_at_computed_places_is_opaque(self) -> None:
        k, at = te.reduce_axis(4), tensor(4, dtype="i64")
        y = te.compute((6,), lambda j: te.sum(X[te.cast("index", at[k]), j], axis=k))
        assert kind_of_tensors([y], [X, at]) is OPAQUE


class TestContraction:
    @pytest.mark.parametrize("dtype", ["f16", "f32", "i8"])
    def test_of_any_type(self, dtype: str) -> None:
        assert kind("matmul", tensor(2, 4, 6, dtype=dtype), tensor(6, 5, dtype=dtype)) is OUT_FUSABLE
        assert kind("matmul", tensor(6, dtype=dtype), tensor(6, dtype=dtype)) is OUT_FUSABLE

    def test_to_a_wider_type(self) -> None:
        assert kind("matmul", tensor(4, 6, dtype="i8"), tensor(6, 5, dtype="i8"), out_dtype="i32") is OUT_FUSABLE


class TestOpaque:
    def test_integer_division_may_fail(self) -> None:
        i = tensor(4, dtype="i32")
        assert [kind(name, i, i) for name in ("divide", "floor_divide", "mod")] == [OPAQUE] * 3

    def test_two_results(self) -> None:
        y, z = te.compute((4, 6), lambda i, j: (X[i, j], X[i, j] + 1.0))
        assert kind_of_tensors([y, z], [X]) is OPAQUE
        assert kind_of_tensors([y], [X]) is OPAQUE

    def test_an_operand_as_its_result(self) -> None:
        assert kind_of_tensors([X], [X]) is OPAQUE
        y = te.compute((4, 6), lambda i, j: X[i, j] + 1.0)
        assert kind_of_tensors([X, y], [X]) is OPAQUE

    def test_a_sum_beside_a_second_result(self) -> None:
        k = te.reduce_axis((0, 6), "k")
        total = te.compute((4,), lambda i: te.sum(X[i, k], axis=k))
        y = te.compute((4, 6), lambda i, j: X[i, j] + 1.0)
        assert kind_of_tensors([total], [X]) is REDUCTION
        assert kind_of_tensors([total, y], [X]) is kind_of_tensors([y, total], [X]) is OPAQUE


class TestSeveralResults:
    def test_maps(self) -> None:
        y = te.compute((4, 6), lambda i, j: X[i, j] + 1.0)
        z = te.compute((4, 6), lambda i, j: X[i, j] * y[i, j])
        assert kind_of_tensors([y, z], [X]) is ELEMENTWISE

    def test_elements_of_two_shapes_are_at_no_one_place(self) -> None:
        v = te.placeholder((6,), "f32", "v")
        y = te.compute((4, 6), lambda i, j: X[i, j] + 1.0)
        z = te.compute((6,), lambda j: v[j])
        assert kind_of_tensors([y, z], [X, v]) is kind_of_tensors([z, y], [X, v]) is INJECTIVE

    def test_the_hardest_counts(self) -> None:
        y = te.compute((4, 6), lambda i, j: X[i, j] + 1.0)
        z = te.compute((6, 4), lambda i, j: X[j, i])
        assert kind_of_tensors([y, z], [X]) is kind_of_tensors([z, y], [X]) is INJECTIVE


def test_stages_above_the_inputs_do_not_count() -> None:
    e = library.exp(library.softmax(X))
    assert e.source is not None
    (softmax,) = e.source.inputs
    assert kind_of_tensors([e], [softmax]) is ELEMENTWISE


PROGRAM = """
func.func @main(%x: tensor<4x6xf32>, %b: tensor<6xf32>, %i: tensor<4xi32>, %d: tensor<?x6xf32>) -> tensor<4x5xf32> {
  %w = graph.constant dense<1.0> : tensor<6x5xf32>
  %0 = graph.add %x, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %1 = graph.softmax %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = graph.divide %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %3 = graph.divide %x, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = graph.relu %d : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %5 = graph.reshape %d, shape = [-1] : (tensor<?x6xf32>) -> tensor<?xf32>
  %y = graph.matmul %1, %w : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}
"""


def test_kinds_of_graph_ops() -> None:
    ops = [op for op in stepwell.parse(PROGRAM).walk() if op.name.startswith("graph.")]
    assert [(op.name.removeprefix("graph."), kind_of_op(op)) for op in ops] == [
        ("constant", OPAQUE),
        ("add", ELEMENTWISE),
        ("softmax", OUT_FUSABLE),
        ("divide", OPAQUE),
        ("divide", ELEMENTWISE),
        ("relu", ELEMENTWISE),
        ("reshape", OPAQUE),
        ("matmul", OUT_FUSABLE),
    ]


def test_other_ops_are_opaque() -> None:
    module = stepwell.parse(PROGRAM)
    assert [kind_of_op(op) for op in module.walk() if not op.name.startswith("graph.")] == [OPAQUE] * 3


def test_numbers_of_attributes_are_those_of_equal_ones_and_never_come_again() -> None:
    numbers = _Numbers(most=3)
    one, other = IntegerAttr(1, 64), IntegerAttr(2, 64)
    first = numbers.of(one)
    assert numbers.of(IntegerAttr(1, 64)) == first != numbers.of(other)
    found = [numbers.of(IntegerAttr(each, 64)) for each in range(10, 100)]  # forgets; the objects are gone, too
    assert len({first, *found}) == 91 and numbers.of(one) not in {first, *found}
    assert numbers.of(one) == numbers.of(IntegerAttr(1, 64))
