"""The reference of contractions, reductions, movement, normalisation and pooling against hand-computed cases."""

from __future__ import annotations

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from stepwell import reference
from stepwell.reference import ReferenceFailure

BF16 = np.dtype(ml_dtypes.bfloat16)
INF, NAN = math.inf, math.nan


def apply(op: str, *arrays: np.ndarray, **properties: object) -> np.ndarray:
    return reference.evaluate(f"graph.{op}", properties, *arrays)[0]


def same(found: np.ndarray, expected: object) -> None:
    wanted = np.asarray(expected).astype(found.dtype)
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    assert np.array_equal(found.astype(np.float64), wanted.astype(np.float64), equal_nan=True), (
        found,
        wanted,
    )


def small(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Small integers as float32: every sum of products of them is exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


class TestMatmul:
    @pytest.mark.parametrize(
        ("lhs", "rhs"),
        [
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((3,), (3, 4)),
            ((2, 3), (3,)),
            ((5, 1, 2, 3), (7, 3, 4)),
            ((3,), (2, 3, 4)),
            ((6, 2, 3), (3,)),
        ],
    )
    def test_agrees_with_numpy(self, lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
        x, y = small(lhs), small(rhs, 1)
        same(apply("matmul", x, y), np.matmul(x, y))

    def test_empty_sum_is_zero(self) -> None:
        same(apply("matmul", np.ones((2, 0), np.float16), np.ones((0, 3), np.float16)), np.zeros((2, 3)))
        assert apply("matmul", np.ones((0, 4)), np.ones((4, 3))).shape == (0, 3)

    def test_accumulates_beyond_the_element_type(self) -> None:
        x = np.full((1, 4096), 1.0, BF16)
        same(apply("matmul", x, x.T), [[4096.0]])
        found = apply("matmul", np.full((1, 3), 200.0, np.float16), np.full((3, 1), 200.0, np.float16), out_dtype="f32")
        assert found.dtype == np.float32
        same(found, [[120000.0]])

    def test_integers_wrap_unless_out_dtype_is_wider(self) -> None:
        x = np.full((1, 2), 100, np.int8)
        same(apply("matmul", x, x.T), [[20000 - 78 * 256]])
        same(apply("matmul", x, x.T, out_dtype="i32"), [[20000]])

    def test_infinity_times_zero_is_nan(self) -> None:
        same(apply("matmul", np.array([[INF, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])), [[NAN, INF]])


def conv_by_definition(x: np.ndarray, w: np.ndarray, strides, padding, dilation, groups) -> np.ndarray:
    """The sum over the window written out, NCHW and OIHW."""
    top, left, bottom, right = padding
    n, c, h, width = x.shape
    o, i, kh, kw = w.shape
    oh = (h + top + bottom - dilation[0] * (kh - 1) - 1) // strides[0] + 1
    ow = (width + left + right - dilation[1] * (kw - 1) - 1) // strides[1] + 1
    y = np.zeros((n, o, oh, ow), np.float64)
    for b, f, r, s in itertools.product(range(n), range(o), range(oh), range(ow)):
        for ci, a, e in itertools.product(range(i), range(kh), range(kw)):
            row, column = r * strides[0] + a * dilation[0] - top, s * strides[1] + e * dilation[1] - left
            if 0 <= row < h and 0 <= column < width:
                y[b, f, r, s] += x[b, f // (o // groups) * i + ci, row, column] * w[f, ci, a, e]
    return y


class TestConv2d:
    @pytest.mark.parametrize("groups", [1, 2])
    @pytest.mark.parametrize("strides", [[1, 1], [2, 3]])
    @pytest.mark.parametrize("padding", [[0, 0, 0, 0], [1, 2, 0, 3]])
    @pytest.mark.parametrize("dilation", [[1, 1], [2, 1]])
    def test_agrees_with_its_definition(self, groups, strides, padding, dilation) -> None:
        x, w = small((2, 4, 7, 6)), small((6, 4 // groups, 3, 2), 1)
        expected = conv_by_definition(x, w, strides, padding, dilation, groups)
        properties = {"strides": strides, "padding": padding, "dilation": dilation, "groups": groups}
        same(apply("conv2d", x, w, **properties), expected)
        last = apply(
            "conv2d",
            x.transpose(0, 2, 3, 1),
            w.transpose(2, 3, 1, 0),
            data_layout="NHWC",
            kernel_layout="HWIO",
            **properties,
        )
        same(last, expected.transpose(0, 2, 3, 1))

    def test_empty_batch_and_no_input_channels(self) -> None:
        assert apply("conv2d", np.ones((0, 2, 5, 5)), np.ones((3, 2, 2, 2))).shape == (0, 3, 4, 4)
        same(apply("conv2d", np.ones((1, 0, 3, 3)), np.ones((2, 0, 2, 2))), np.zeros((1, 2, 2, 2)))

    def test_padding_is_a_zero_that_is_multiplied(self) -> None:
        same(
            apply("conv2d", np.ones((1, 1, 1, 1)), np.array([[[[INF, 1.0]]]]), padding=[0, 1, 0, 0]),
            [[[[NAN]]]],
        )


class TestReductions:
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)

    def test_axes(self) -> None:
        same(apply("sum", self.x, axis=[1]), self.x.sum(1))
        same(apply("sum", self.x, axis=[-1, 0]), self.x.sum((0, 2)))
        same(apply("sum", self.x, axis=[-1, 0], keepdims=True), self.x.sum((0, 2), keepdims=True))
        same(apply("sum", self.x), self.x.sum())
        same(apply("max", self.x, axis=[2, 0], keepdims=True), self.x.max((0, 2), keepdims=True))
        same(apply("max", self.x, keepdims=True), [[[23]]])
        with pytest.raises(ValueError, match="axis 3 is out of range for rank 3"):
            apply("sum", self.x, axis=[3])
        with pytest.raises(ValueError, match="repeat"):
            apply("sum", self.x, axis=[1, -2])

    def test_empty(self) -> None:
        nothing = np.zeros((2, 0), np.float32)
        same(apply("sum", nothing, axis=[1]), [0, 0])
        same(apply("prod", nothing, axis=[1]), [1, 1])
        same(apply("mean", nothing, axis=[1]), [NAN, NAN])
        same(apply("any", np.zeros((2, 0), np.bool_), axis=[1]), [False, False])
        same(apply("all", np.zeros((2, 0), np.bool_), axis=[1]), [True, True])
        assert apply("max", nothing, axis=[0]).shape == (0,)
        for op in ("max", "min", "argmax", "argmin"):
            with pytest.raises(ReferenceFailure, match=f"graph.{op}: reduction over an empty axis"):
                apply(op, nothing, axis=1 if op.startswith("arg") else [1])

    def test_integers_wrap(self) -> None:
        x = np.array([100, 100, 100], np.int8)
        found = apply("sum", x)
        assert found.dtype == np.int8 and found == 300 - 256
        assert apply("prod", x) == (100**3 + 128) % 256 - 128

    def test_accumulation_is_wider_than_small_floats(self) -> None:
        same(apply("sum", np.ones(5000, BF16)), 4992.0)
        same(apply("mean", np.full(70000, 2.0, np.float16)), 2.0)

    def test_nan_and_signed_zero(self) -> None:
        x = np.array([[-0.0, 0.0], [NAN, 1.0]], np.float32)
        assert not np.signbit(apply("max", x[0])) and np.signbit(apply("min", x[0]))
        same(apply("max", x, axis=[1]), [0.0, NAN])
        same(apply("min", x, axis=[1]), [0.0, NAN])

    @pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16])
    def test_first_best_index_and_first_nan(self, dtype) -> None:
        x = np.array([[1, 5, 5], [3, NAN, NAN], [-0.0, 0.0, -1.0]], dtype)
        found = apply("argmax", x, axis=1)
        assert found.dtype == np.int64
        same(found, [1, 1, 0])
        same(apply("argmin", x, axis=-1), [0, 1, 2])
        same(apply("argmax", x), 4)
        same(apply("argmax", x, keepdims=True), [[4]])
        same(apply("argmax", x, axis=0, keepdims=True), [[1, 1, 1]])

    def test_softmax(self) -> None:
        same(apply("softmax", np.array([[1000.0, 1000.0], [-INF, 3.0]])), [[0.5, 0.5], [0.0, 1.0]])
        same(apply("softmax", np.array([1.0, INF])), [NAN, NAN])
        same(apply("log_softmax", np.array([1000.0, 1000.0])), [-math.log(2)] * 2)
        assert apply("softmax", np.zeros((0, 3)), axis=0).shape == (0, 3)
        x = np.random.default_rng(0).standard_normal((3, 4))
        same(apply("softmax", x, axis=0).sum(0).round(12), np.ones(4))
        assert np.allclose(np.exp(apply("log_softmax", x, axis=1)), apply("softmax", x))


class TestMovement:
    x = np.arange(24).reshape(2, 3, 4)

    def test_permute_dims(self) -> None:
        same(apply("permute_dims", self.x), self.x.T)
        same(apply("permute_dims", self.x, axes=[1, -1, 0]), self.x.transpose(1, 2, 0))

    def test_shapes(self) -> None:
        same(apply("reshape", self.x, shape=[4, -1]), self.x.reshape(4, 6))
        assert apply("expand_dims", self.x, axis=[0, -1]).shape == (1, 2, 3, 4, 1)
        assert apply("squeeze", np.ones((1, 2, 1)), axis=[-1]).shape == (1, 2)
        assert apply("squeeze", np.ones((1, 2, 1))).shape == (2,)
        assert apply("broadcast_to", np.ones((2, 1)), shape=[3, 2, 0]).shape == (3, 2, 0)

    def test_concat_and_split(self) -> None:
        same(apply("concat", self.x, self.x[:, :0], self.x, axis=1), np.concatenate([self.x, self.x], 1))
        parts = reference.evaluate("graph.split", {"axis": -1, "indices": [1, 1, 3]}, self.x)
        assert [part.shape[-1] for part in parts] == [1, 0, 2, 1]
        same(parts[2], self.x[..., 1:3])
        halves = reference.evaluate("graph.split", {"sections": 2}, self.x)
        assert len(halves) == 2
        same(halves[1], self.x[1:])

    def test_strided_slice(self) -> None:
        same(apply("strided_slice", self.x, axes=[2], begin=[1], end=[3]), self.x[..., 1:3])
        same(
            apply("strided_slice", self.x, axes=[2, -2], begin=[-1, 0], end=[-100, 100], strides=[-2, 2]),
            self.x[:, ::2, ::-2],
        )
        assert apply("strided_slice", self.x, axes=[0], begin=[2], end=[1]).shape == (0, 3, 4)

    def test_pad(self) -> None:
        same(apply("pad", np.array([1, 2], np.int8), pad_width=[1, 2], value=-3), [-3, 1, 2, -3, -3])
        same(apply("pad", np.array([True]), pad_width=[1, 0]), [False, True])
        same(apply("pad", np.ones((1, 1), BF16), pad_width=[0, 1, 0, 0], value=0.1), [[1.0], [0.10009765625]])

    def test_take(self) -> None:
        same(apply("take", self.x, np.array([[-1, 0]]), axis=1), self.x[:, [[2, 0]]])
        same(apply("take", self.x, np.array(1, np.uint8), axis=-1), self.x[..., 1])
        for index in (3, -4):
            with pytest.raises(ReferenceFailure, match=r"^graph\.take: index out of range$"):
                apply("take", self.x, np.array([0, index]), axis=1)
        assert apply("take", self.x, np.empty((0, 5), np.int64), axis=0).shape == (0, 5, 3, 4)


class TestNormalizationAndPooling:
    def test_batch_norm(self) -> None:
        x = small((2, 3, 2))
        gamma, beta, mean, var = (small((3,), seed) for seed in range(1, 5))
        var = np.abs(var)
        y, mean_out, var_out = reference.evaluate("graph.batch_norm", {"epsilon": 0.5}, x, gamma, beta, mean, var)
        expected = (float(x[1, 2, 0]) - float(mean[2])) / math.sqrt(float(var[2]) + 0.5) * float(gamma[2]) + float(
            beta[2]
        )
        assert y[1, 2, 0] == np.float32(expected)
        same(mean_out, mean)
        same(var_out, var)

    def test_layer_norm(self) -> None:
        x = np.array([[1.0, 3.0], [2.0, 2.0]])
        same(apply("layer_norm", x, np.array([2.0, 1.0]), np.array([0.0, 5.0]), epsilon=0.0)[0], [-2.0, 6.0])
        same(apply("layer_norm", x, np.array([2.0, 1.0]), np.array([0.0, 5.0]))[1], [0.0, 5.0])
        y = apply(
            "layer_norm",
            small((2, 3, 4)),
            np.ones((3, 4), np.float32),
            np.zeros((3, 4), np.float32),
            axes=[1, -1],
        )
        assert np.all(np.abs(y.reshape(2, -1).mean(1)) < 1e-6)
        swapped = apply("layer_norm", small((2, 3, 4)), small((4, 3)), small((4, 3), 2), axes=[2, 1])
        same(swapped, apply("layer_norm", small((2, 3, 4)), small((4, 3)).T, small((4, 3), 2).T, axes=[1, 2]))

    def test_max_pool(self) -> None:
        x = np.array([[[[-1.0, -2.0, NAN], [-0.0, 0.0, -3.0]]]], np.float32)
        same(apply("max_pool2d", x, pool_size=[2, 2]), [[[[0.0, NAN]]]])
        same(
            apply("max_pool2d", x, pool_size=[1, 2], padding=[0, 1, 0, 0], strides=[1, 2])[0, 0, 0],
            [-1.0, NAN],
        )
        same(
            apply("max_pool2d", np.array([[[[-5]]]], np.int8), pool_size=[2, 2], padding=[1, 1, 1, 1]),
            np.full((1, 1, 2, 2), -5),
        )
        same(apply("max_pool2d", x.transpose(0, 2, 3, 1), pool_size=[2, 2], layout="NHWC"), [[[[0.0], [NAN]]]])
        same(
            apply("max_pool2d", np.arange(5.0).reshape(1, 1, 1, 5), pool_size=[1, 2], dilation=[1, 3]),
            [[[[3.0, 4.0]]]],
        )

    def test_avg_pool_counts_what_is_inside(self) -> None:
        x = np.array([[[[2.0, 4.0]]]])
        properties = {"pool_size": [1, 2], "padding": [0, 1, 0, 1]}
        same(apply("avg_pool2d", x, **properties), [[[[2.0, 3.0, 4.0]]]])
        same(apply("avg_pool2d", x, count_include_pad=True, **properties), [[[[1.0, 3.0, 2.0]]]])
