"""Library functions at their edges: stages, index forms, wrap and failure of integers, shapes that are refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from stepwell import te
from stepwell.te import dtypes, library, numeric
from stepwell.te.evaluation import CheckFailed, evaluate

INF, NAN = math.inf, math.nan


def tensor(*shape: te.Dim, dtype: str = "f32", name: str = "x") -> te.Tensor:
    return te.placeholder(shape, dtype, name)


def run(name: str, *arrays: tuple[str, object], **properties: object) -> np.ndarray:
    values = [np.asarray(value).astype(numeric.numpy_dtype(dtype)) for dtype, value in arrays]
    operands = [
        te.placeholder(v.shape, dtype, f"x{k}") for k, (v, (dtype, _)) in enumerate(zip(values, arrays, strict=True))
    ]
    result = getattr(library, name)(*operands, **properties)
    return evaluate([result], dict(zip(operands, values, strict=True)))[0]


def stage_names(*outputs: te.Tensor) -> list[str]:
    return [stage.name for stage in te.stages(*outputs)]


def index_nodes(output: te.Tensor) -> set[str]:
    """The functions that the indices of the last stage are made of."""
    assert output.source is not None
    loads = [node for node in te.post_order(*output.source.bodies) if isinstance(node, te.tensor.Load)]
    nodes = te.post_order(*(index for load in loads for index in load.indices))
    return {node.function for node in nodes if isinstance(node, te.expr.Binary)}


class TestStages:
    def test_of_half_floats_accumulate_in_f32_and_round_once(self) -> None:
        y = library.matmul(tensor(4, 6, dtype="f16"), tensor(6, 5, dtype="f16"))
        assert stage_names(y) == ["matmul_acc", "matmul"]
        (accumulated,) = te.stages(y)[1].inputs
        assert (accumulated.dtype, y.dtype) == ("f32", "f16")
        assert stage_names(library.sum(tensor(4, dtype="bf16"))) == ["sum_acc", "sum"]

    def test_of_f32_are_as_few_as_can_be(self) -> None:
        assert stage_names(library.matmul(tensor(4, 6), tensor(6, 5))) == ["matmul"]
        assert stage_names(library.conv2d(tensor(1, 2, 8, 8), tensor(3, 2, 3, 3))) == ["conv2d"]
        assert stage_names(library.sum(tensor(4, 6, 7), axis=[0, 2])) == ["sum"]
        assert stage_names(library.softmax(tensor(4, 6))) == [
            "softmax_max",
            "softmax_exp",
            "softmax_sum",
            "softmax_scale",
            "softmax",
        ]

    def test_pad_only_when_there_is_padding(self) -> None:
        y = library.conv2d(tensor(1, 2, 8, 8), tensor(3, 2, 3, 3), padding=(1, 1, 1, 1))
        assert stage_names(y) == ["conv2d_pad", "conv2d"]

    def test_elementwise_half_floats_stay_in_their_type(self) -> None:
        y = library.add(tensor(4, dtype="f16"), tensor(4, dtype="f16"))
        assert not any(isinstance(node, te.nodes.Cast) for s in te.stages(y) for node in te.post_order(*s.bodies))

    def test_axes_have_names(self) -> None:
        (stage,) = te.stages(library.conv2d(tensor(1, 2, 8, 8), tensor(3, 2, 3, 3)))
        assert [axis.name for axis in (*stage.axes, *stage.reduce_axes)] == [
            "n",
            "co",
            "oh",
            "ow",
            "ci",
            "kh",
            "kw",
        ]
        (stage,) = te.stages(library.sum(tensor(4, 6, 7), axis=[1]))
        assert [axis.name for axis in (*stage.axes, *stage.reduce_axes)] == ["i0", "i2", "k1"]


class TestReshapeIndices:
    @pytest.mark.parametrize(
        ("source", "result", "functions"),
        [
            ((4, 6), (1, 4, 1, 6), set()),
            ((4, 1, 6), (4, 6), set()),
            ((4, 6), (24,), {"floordiv", "floormod"}),
            ((24,), (4, 6), {"add", "mul"}),
            ((2, 24, 7), (2, 4, 6, 7), {"add", "mul"}),
            ((2, 4, 6, 7), (2, 24, 7), {"floordiv", "floormod"}),
        ],
    )
    def test_divide_only_where_dimensions_merge(
        self, source: tuple[int, ...], result: tuple[int, ...], functions: set[str]
    ) -> None:
        assert index_nodes(library.reshape(tensor(*source), result)) == functions

    def test_of_a_part_leave_the_rest_alone(self) -> None:
        y = library.reshape(tensor(8, 3, 5, 16), (8, 15, 16))
        assert y.source is not None
        (load,) = (node for node in te.post_order(*y.source.bodies) if isinstance(node, te.tensor.Load))
        assert (load.indices[0], load.indices[3]) == (y.source.axes[0], y.source.axes[2])

    def test_keep_a_symbolic_size(self) -> None:
        n = te.var("n")
        assert index_nodes(library.reshape(tensor(n, 24), (n, 4, 6))) == {"add", "mul"}
        with pytest.raises(te.TEError, match=re.escape("reshape: a symbolic size of (?, 24) is not kept in (24, ?)")):
            library.reshape(tensor(n, 24), (24, te.var("m")))

    def test_gather_the_same_elements(self) -> None:
        rng = np.random.default_rng(0)
        for source, result in [
            ((6, 4), (8, 3)),
            ((2, 3, 4), (4, 6)),
            ((12, 5), (3, 2, 10)),
            ((2, 2, 3, 5), (6, 10)),
        ]:
            values = rng.integers(0, 99, source)
            assert run("reshape", ("i64", values), shape=result).tolist() == values.reshape(result).tolist()


class TestIntegers:
    def test_divide(self) -> None:
        x, y = [7, -7, 7, -7, -128, -128, 7], [2, 2, -2, -2, -1, 1, -1]
        assert run("divide", ("i8", x), ("i8", y)).tolist() == [3, -3, -3, 3, -128, -128, -7]
        assert run("floor_divide", ("i8", x), ("i8", y)).tolist() == [3, -4, -4, 3, -128, -128, -7]
        assert run("mod", ("i8", x), ("i8", y)).tolist() == [1, 1, -1, -1, 0, 0, 0]

    @pytest.mark.parametrize("name", ["divide", "floor_divide", "mod"])
    @pytest.mark.parametrize("dtype", ["i8", "ui32", "i64"])
    def test_zero_divisors_fail(self, name: str, dtype: str) -> None:
        with pytest.raises(CheckFailed, match=f"^graph.{name}: integer division by zero$"):
            run(name, (dtype, [4, 5]), (dtype, [1, 0]))

    @pytest.mark.parametrize("dtype", ["i8", "ui8", "i32", "ui64"])
    def test_power(self, dtype: str) -> None:
        low, high = dtypes.integer_range(dtype)
        bases = [0, 1, 2, 3, 5, high, low]
        exponents = [0, 1, 2, 7, 31, 100]
        x, y = [bases] * len(exponents), [[e] * len(bases) for e in exponents]
        wrapped = [[numeric.cast("ui64", dtype, np.uint64(pow(b, e, 2**64))).item() for b in bases] for e in exponents]
        found = run("power", (dtype, np.array(x, object)), (dtype, np.array(y, object)))
        assert found.tolist() == wrapped

    def test_power_with_a_negative_exponent(self) -> None:
        x, y = [0, 1, -1, -1, 2, -3, 0], [-1, -2, -3, -128, -1, -128, -128]
        assert run("power", ("i8", x), ("i8", y)).tolist() == [0, 1, -1, 1, 0, 0, 0]

    def test_shifts(self) -> None:
        x, y = [1, -8, -8, 1, 64], [7, 1, 99, -1, 1]
        assert run("left_shift", ("i8", x), ("i8", y)).tolist() == [-128, -16, 0, 0, -128]
        assert run("right_shift", ("i8", x), ("i8", y)).tolist() == [0, -4, -1, 0, 32]
        assert run("right_shift", ("ui8", [255, 255]), ("ui8", [7, 8])).tolist() == [1, 0]

    def test_take(self) -> None:
        rows = [[1, 2], [3, 4], [5, 6]]
        assert run("take", ("f32", rows), ("i64", [2, -1, -3]), axis=0).tolist() == [[5, 6], [5, 6], [1, 2]]
        assert run("take", ("f32", rows), ("ui8", [[1], [0]]), axis=1).tolist() == [
            [[2], [1]],
            [[4], [3]],
            [[6], [5]],
        ]

    @pytest.mark.parametrize(("dtype", "index"), [("i64", 3), ("i64", -4), ("ui8", 255), ("ui64", 2**64 - 1)])
    def test_take_outside_fails(self, dtype: str, index: int) -> None:
        with pytest.raises(CheckFailed, match="^graph.take: index out of range$"):
            run("take", ("f32", [1, 2, 3]), (dtype, np.array([0, index], object)), axis=0)

    def test_clip_limits_bounds_to_the_type(self) -> None:
        assert run("clip", ("ui8", [0, 7, 255]), min=-5, max=300).tolist() == [0, 7, 255]
        assert run("clip", ("i8", [-128, 7, 100]), min=0.5, max=2.5).tolist() == [0, 2, 2]


class TestFloats:
    def test_activations_at_infinities(self) -> None:
        x = ("f32", [-INF, INF, NAN, -0.0, -1e30])
        for name, expected in {
            "sigmoid": [0.0, 1.0, NAN, 0.5, 0.0],
            "silu": [-0.0, INF, NAN, -0.0, -0.0],
            "gelu": [-0.0, INF, NAN, -0.0, -0.0],
            "relu": [0.0, INF, NAN, 0.0, 0.0],
            "leaky_relu": [-INF, INF, NAN, -0.0, float(np.float32(-1e30) * np.float32(0.01))],
            "sign": [-1.0, 1.0, NAN, 0.0, -1.0],
        }.items():
            assert [repr(v) for v in run(name, x).tolist()] == [repr(v) for v in expected], name

    def test_floor_divide_and_mod_are_numpys(self) -> None:
        edges = [0.0, -0.0, 1.0, -1.0, 0.1, 7.5, -7.5, 3.0, -3.0, INF, -INF, NAN, 1e-45, 3e38]
        x, y = (grid.astype(np.float32).ravel() for grid in np.meshgrid(edges, edges))
        with np.errstate(all="ignore"):
            quotient, remainder = np.floor_divide(x, y), np.mod(x, y)
        found = run("floor_divide", ("f32", x), ("f32", y))
        np.testing.assert_array_equal(found, quotient)
        assert (np.signbit(found) == np.signbit(quotient))[~np.isnan(quotient)].all()
        found = run("mod", ("f32", x), ("f32", y))
        np.testing.assert_array_equal(found, remainder)
        assert (np.signbit(found) == np.signbit(remainder))[~np.isnan(remainder)].all()

    def test_softmax_does_not_overflow(self) -> None:
        assert run("softmax", ("f32", [1000.0, 1000.0])).tolist() == [0.5, 0.5]
        assert run("log_softmax", ("f16", [-60000.0, 0.0])).tolist() == [-60000.0, 0.0]

    def test_layer_norm_does_not_cancel(self) -> None:
        x = (10_000 + np.random.default_rng(5).standard_normal((1, 4096))).astype(np.float32)
        ones = ("f32", np.ones(4096))
        found = run("layer_norm", ("f32", x), ones, ("f32", np.zeros(4096)))
        wide = x.astype(np.float64)
        mean = np.float32(wide.mean())
        expected = (wide - mean) / np.sqrt(((wide - mean) ** 2).mean() + 1e-5)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)
        assert abs(float((found.astype(np.float64) ** 2).mean()) - 1) < 1e-4


class TestEmptyAndRankZero:
    def test_reductions_of_nothing(self) -> None:
        empty = ("f32", np.zeros((2, 0)))
        assert run("sum", empty, axis=1).tolist() == [0, 0]
        assert run("prod", empty, axis=-1, keepdims=True).tolist() == [[1], [1]]
        assert [math.isnan(v) for v in run("mean", empty, axis=1).tolist()] == [True, True]
        assert run("any", ("i1", np.zeros((0,)))).tolist() is False
        assert run("all", ("i1", np.zeros((0,)))).tolist() is True
        assert run("matmul", empty, ("f32", np.zeros((0, 3)))).tolist() == [[0] * 3] * 2

    def test_tensors_of_no_dimensions(self) -> None:
        assert run("add", ("f32", 1), ("f32", [2, 3])).tolist() == [3, 4]
        assert run("sum", ("f16", 3)).tolist() == 3
        assert run("argmax", ("f32", 3)).tolist() == 0
        assert run("permute_dims", ("f32", 3)).tolist() == 3
        assert run("reshape", ("f32", 3), shape=(1, 1)).tolist() == [[3]]

    def test_movement_of_nothing(self) -> None:
        assert run("reshape", ("f32", np.zeros((0, 4))), shape=(2, 0)).shape == (2, 0)
        assert run("concat", ("f32", np.zeros((0, 2))), ("f32", [[1, 2]])).tolist() == [[1, 2]]
        assert run("pad", ("f32", []), pad_width=[1, 2], value=7).tolist() == [7, 7, 7]
        assert run("softmax", ("f32", np.zeros((3, 0)))).shape == (3, 0)


X = tensor(4, 6)
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: library.add(X, tensor(5, name="y")), "add: shapes (4, 6) and (5) do not broadcast, 6 against 5"),
    (
        lambda: library.add(X, tensor(6, dtype="f16", name="y")),
        "add: 'y' has element type f16, expected f32 as 'x' has",
    ),
    (lambda: library.exp(tensor(4, dtype="i32")), "exp: 'x' has element type i32, expected a float type"),
    (
        lambda: library.add(*[tensor(4, dtype="i1")] * 2),
        "add: 'x' has element type i1, expected a float or integer type",
    ),
    (lambda: library.logical_not(X), "logical_not: 'x' has element type f32, expected i1"),
    (lambda: library.sum(X, axis=2), "sum: axis 2 is out of range for 2 dimensions"),
    (lambda: library.sum(X, axis=[1, -1]), "sum: axes [1, -1] name a dimension twice"),
    (
        lambda: library.max(tensor(4, 0), axis=1),
        "max: 'x' has no elements along dimensions [1], expected at least one",
    ),
    (
        lambda: library.argmin(tensor(0)),
        "argmin: 'x' has no elements along dimensions [0], expected at least one",
    ),
    (lambda: library.matmul(X, X), "matmul: shapes (4, 6) and (4, 6) disagree, K = 6 against 4"),
    (lambda: library.matmul(X, tensor()), "matmul: an operand has no dimensions, expected at least 1"),
    (
        lambda: library.matmul(X, tensor(6), out_dtype="i32"),
        "matmul: out_dtype is i32, expected one of f16, bf16, f32, f64, f8E4M3FN, f8E5M2 as the products are f32",
    ),
    (
        lambda: library.conv2d(tensor(1, 4, 8, 8), tensor(6, 4, 3, 3), groups=2),
        "conv2d: the kernel has 4 input channels, expected 2 = 4 channels in 2 groups",
    ),
    (
        lambda: library.conv2d(tensor(1, 4, 2, 8), tensor(6, 4, 3, 3)),
        "conv2d: a window of 3 does not fit into 2 elements padded by 0 and 0",
    ),
    (
        lambda: library.conv2d(tensor(1, 4, 8, 8), tensor(6, 4, 3, 3), data_layout="HWC"),
        "conv2d: data_layout is 'HWC', expected 'NCHW' or 'NHWC'",
    ),
    (
        lambda: library.max_pool2d(tensor(1, 4, 8, 8), (2, 2), padding=(2, 0, 0, 0)),
        "max_pool2d: padding 2 is not less than the window of 2",
    ),
    (
        lambda: library.permute_dims(X, [0, 0]),
        "permute_dims: axes [0, 0] are not a permutation of 2 dimensions",
    ),
    (lambda: library.reshape(X, (5, 5)), "reshape: (4, 6) does not have as many elements as (5, 5)"),
    (lambda: library.reshape(X, (-1, 5)), "reshape: 24 elements do not fit into shape (-1, 5)"),
    (lambda: library.reshape(X, (-1, -1)), "reshape: shape (-1, -1) has more than one -1"),
    (lambda: library.reshape(X, (0,)), "reshape: (4, 6) does not have as many elements as (0)"),
    (lambda: library.squeeze(X, 1), "squeeze: dimension 1 has size 6, expected 1"),
    (lambda: library.broadcast_to(X, (6,)), "broadcast_to: (4, 6) does not stretch to (6)"),
    (lambda: library.concat(X, tensor(4, 5, name="y")), "concat: dimension 1 of 'y' is 5, expected 6 as 'x'"),
    (lambda: library.split(X, 1, sections=4), "split: 4 sections do not divide dimension 1 of size 6"),
    (lambda: library.split(X, 1, indices=[3, 2]), "split: indices [3, 2] are not increasing within 0 to 6"),
    (lambda: library.strided_slice(X, [0], [0], [4], [0]), "strided_slice: a stride is 0"),
    (lambda: library.pad(X, [1, 1]), "pad: pad_width has 2 entries, expected 4 for 2 dimensions"),
    (
        lambda: library.pad(tensor(2, dtype="i8"), [1, 1], value=200),
        "pad: 200 is not a value of i8, which holds the integers -128 to 127",
    ),
    (
        lambda: library.layer_norm(X, tensor(4, name="gamma"), tensor(6)),
        "layer_norm: 'gamma' has shape (4), expected (6)",
    ),
    (lambda: library.gelu(X, "erf"), "gelu: approximate is 'erf', expected 'none' or 'tanh'"),
    (
        lambda: library.max_pool2d(tensor(te.var("n"), 4, 8, 8), (2, 2)) and library.split(tensor(te.var("n"))),
        "split: dimension 0 of 'x' is symbolic, expected a static size",
    ),
]


@pytest.mark.parametrize(("build", "message"), REFUSED, ids=[message.split(":")[0] for _, message in REFUSED])
def test_operands_that_do_not_fit_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(te.TEError, match="^" + re.escape(message) + "$"):
        build()


class TestSymbolicSizes:
    @pytest.mark.parametrize(
        ("build", "numpy"),
        [
            (lambda x: library.add(x, x), lambda v: v + v),
            (lambda x: library.sum(x, axis=0), lambda v: v.sum(0)),
            (lambda x: library.mean(x), lambda v: v.mean()),
            (lambda x: library.argmax(x), lambda v: v.argmax()),
            (lambda x: library.matmul(x, library.permute_dims(x)), lambda v: v @ v.T),
            (lambda x: library.pad(x, [1, 1, 0, 0]), lambda v: np.pad(v, [(1, 1), (0, 0)])),
            (lambda x: library.softmax(x), lambda v: np.exp(v) / np.exp(v).sum(-1, keepdims=True)),
        ],
        ids=["add", "sum", "mean", "argmax", "matmul", "pad", "softmax"],
    )
    def test_work(self, build: Callable[..., te.Tensor], numpy: Callable[..., np.ndarray]) -> None:
        x = tensor(te.var("n"), te.var("m"))
        values = np.random.default_rng(2).standard_normal((3, 5)).astype(np.float32)
        (found,) = evaluate([build(x)], {x: values})
        np.testing.assert_allclose(found, numpy(values), rtol=1e-5)

    def test_of_images_work_where_they_can(self) -> None:
        x, w = tensor(te.var("n"), 2, te.var("h"), 5), tensor(3, 2, 3, 3, name="w")
        values = np.random.default_rng(2).standard_normal((2, 2, 7, 5)).astype(np.float32)
        kernel = np.random.default_rng(3).standard_normal((3, 2, 3, 3)).astype(np.float32)
        y = library.conv2d(x, w, strides=(2, 1), padding=(1, 1, 1, 1))
        (found,) = evaluate([y], {x: values, w: kernel})
        (static,) = evaluate(
            [library.conv2d(z := tensor(2, 2, 7, 5), w, strides=(2, 1), padding=(1, 1, 1, 1))],
            {z: values, w: kernel},
        )
        assert found.shape == (2, 3, 4, 5)
        np.testing.assert_array_equal(found, static)


def test_concat_of_many_operands_is_not_deep() -> None:
    parts = [tensor(1, name=f"x{k}") for k in range(1000)]
    y = library.concat(*parts)
    values = [np.full((1,), k, np.float32) for k in range(1000)]
    (found,) = evaluate([y], dict(zip(parts, values, strict=True)))
    assert found.tolist() == list(range(1000))
