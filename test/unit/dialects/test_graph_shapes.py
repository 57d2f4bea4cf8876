"""Shape algebra: tables of operand shapes and results, static and with `?` (None)."""

from __future__ import annotations

from typing import Any

import pytest
from stepwell.dialects.graph import shapes
from stepwell.dialects.graph.contraction import Conv2dOp
from stepwell.dialects.graph.pooling import MaxPool2dOp
from stepwell.dialects.graph.shapes import Shaped, ShapeError


def parse(text: str) -> shapes.Shape:
    """`3x?` as a shape; the empty string is rank 0."""
    return tuple(None if dim == "?" else int(dim) for dim in text.split("x")) if text else ()


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        ("1x128", "128", "1x128"),
        ("", "", ""),
        ("", "3", "3"),
        ("3x1", "1x4", "3x4"),
        ("0", "1", "0"),
        ("2x0", "", "2x0"),
        ("?", "4", "4"),
        ("?", "1", "?"),
        ("?", "?", "?"),
        ("?x1", "4", "?x4"),
        ("5x?", "?x1", "5x?"),
    ],
)
def test_broadcast(lhs: str, rhs: str, expected: str) -> None:
    assert shapes.broadcast(parse(lhs), parse(rhs)) == parse(expected)
    assert shapes.broadcast(parse(rhs), parse(lhs)) == parse(expected)


@pytest.mark.parametrize(("lhs", "rhs"), [("3x4", "4x3"), ("0", "2"), ("2x3", "2")])
def test_broadcast_names_both_shapes(lhs: str, rhs: str) -> None:
    with pytest.raises(ShapeError, match=f"shapes {lhs} and {rhs} do not broadcast: dimension"):
        shapes.broadcast(parse(lhs), parse(rhs))


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        ("1x784", "784x128", "1x128"),
        ("4", "4", ""),
        ("4", "4x5", "5"),
        ("3x4", "4", "3"),
        ("2x3x4", "4x5", "2x3x5"),
        ("3x4", "7x4x5", "7x3x5"),
        ("2x1x3x4", "6x4x5", "2x6x3x5"),
        ("4", "7x4x5", "7x5"),
        ("7x3x4", "4", "7x3"),
        ("3x0", "0x5", "3x5"),
        ("?x4", "4x5", "?x5"),
        ("3x?", "4x?", "3x?"),
        ("?x3x4", "4x5", "?x3x5"),
        ("0x4", "4x0", "0x0"),
    ],
)
def test_matmul(lhs: str, rhs: str, expected: str) -> None:
    assert shapes.matmul(parse(lhs), parse(rhs)) == parse(expected)


@pytest.mark.parametrize(
    ("lhs", "rhs", "message"),
    [
        ("4x8", "9x2", "lhs has K = 8 columns but rhs has K = 9 rows"),
        ("8", "9", "lhs has K = 8 elements but rhs has K = 9 elements"),
        ("", "9", "lhs has rank 0, expected at least 1"),
        ("2x3x4", "3x4x5", "leading dimensions 2 of lhs and 3 of rhs do not broadcast"),
    ],
)
def test_matmul_errors(lhs: str, rhs: str, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        shapes.matmul(parse(lhs), parse(rhs))


CONV = {
    "strides": (1, 1),
    "padding": (0, 0, 0, 0),
    "dilation": (1, 1),
    "groups": 1,
    "data_layout": "NCHW",
    "kernel_layout": "OIHW",
    "out_dtype": None,
}


@pytest.mark.parametrize(
    ("data", "kernel", "properties", "expected"),
    [
        ("1x3x224x224", "32x3x3x3", {"padding": (1, 1, 1, 1)}, "1x32x224x224"),
        ("1x3x224x224", "64x3x7x7", {"padding": (3, 3, 3, 3), "strides": (2, 2)}, "1x64x112x112"),
        ("2x4x9x9", "8x4x3x3", {}, "2x8x7x7"),
        ("1x1x5x5", "1x1x2x2", {"strides": (3, 3)}, "1x1x2x2"),
        ("1x1x5x7", "1x1x1x3", {"padding": (0, 2, 1, 0)}, "1x1x6x7"),
        ("1x1x9x9", "1x1x3x3", {"dilation": (2, 3)}, "1x1x5x3"),
        ("1x8x6x6", "8x1x3x3", {"groups": 8}, "1x8x4x4"),
        ("1x6x6x6", "4x3x1x1", {"groups": 2}, "1x4x6x6"),
        ("1x6x5x3", "2x3x3x4", {"data_layout": "NHWC", "kernel_layout": "HWIO"}, "1x5x3x4"),
        ("1x3x6x5", "2x3x3x4", {"kernel_layout": "HWIO"}, "1x4x5x3"),
        ("?x3x32x32", "8x3x3x3", {}, "?x8x30x30"),
        ("1x3x?x32", "8x3x3x?", {}, "1x8x?x?"),
        ("1x?x8x8", "?x3x3x3", {}, "1x?x6x6"),
        ("0x3x8x8", "4x3x3x3", {}, "0x4x6x6"),
        ("1x0x4x4", "2x0x3x3", {}, "1x2x2x2"),
        ("1x1x0x4", "1x1x1x1", {}, "1x1x0x4"),
        ("1x1x3x3", "1x1x3x3", {"strides": (5, 5)}, "1x1x1x1"),
    ],
)
def test_conv2d(data: str, kernel: str, properties: dict[str, Any], expected: str) -> None:
    (result,) = Conv2dOp.infer(Shaped(parse(data), "f32"), Shaped(parse(kernel), "f32"), **CONV | properties)  # pyright: ignore
    assert result == Shaped(parse(expected), "f32")


@pytest.mark.parametrize(
    ("data", "kernel", "properties", "message"),
    [
        ("1x3x8x8", "4x2x3x3", {}, "data has 3 channels but filter takes 2"),
        ("1x3x8x8", "4x2x3x3", {"groups": 2}, "data has 3 channels but filter takes 2 in each of 2 groups"),
        (
            "1x4x8x8",
            "3x2x3x3",
            {"groups": 2},
            "filter has 3 output channels, which do not divide into 2 groups",
        ),
        ("1x3x2x8", "4x3x3x3", {}, "a kernel of height 3 does not fit into height 2 padded by 0 and 0"),
        (
            "1x3x8x4",
            "4x3x3x3",
            {"dilation": (1, 2)},
            r"a kernel of width 3 \(dilated to 5\) does not fit into width 4",
        ),
        ("1x3x8x8", "4x3x0x3", {}, "the kernel has height 0, expected at least 1"),
        ("3x8x8", "4x3x3x3", {}, r"data has rank 3, expected 4 \(NCHW\)"),
        ("1x3x8x8", "4x3x3x3", {"strides": (0, 1)}, r"strides is \[0, 1\], expected each at least 1"),
        (
            "1x3x8x8",
            "4x3x3x3",
            {"padding": (0, -1, 0, 0)},
            r"padding is \[0, -1, 0, 0\], expected each at least 0",
        ),
        ("1x3x8x8", "4x3x3x3", {"groups": 0}, "groups is 0, expected at least 1"),
        ("1x3x8x8", "4x3x3x3", {"out_dtype": "i32"}, "out_dtype is i32, expected a float type"),
    ],
)
def test_conv2d_errors(data: str, kernel: str, properties: dict[str, Any], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Conv2dOp.infer(Shaped(parse(data), "f32"), Shaped(parse(kernel), "f32"), **CONV | properties)  # pyright: ignore


def test_pool_padding_is_less_than_the_window() -> None:
    pool: dict[str, Any] = {"strides": (1, 1), "dilation": (1, 1), "layout": "NHWC", "pool_size": (2, 3)}
    image = Shaped((1, 4, 4, 1), "f32")
    assert MaxPool2dOp.infer(image, padding=(1, 2, 1, 2), **pool)[0].shape == (1, 5, 6, 1)
    with pytest.raises(ShapeError, match="padding of 2 is not less than the window, whose height is 2"):
        MaxPool2dOp.infer(image, padding=(0, 0, 2, 0), **pool)
    with pytest.raises(ShapeError, match="padding of 3 is not less than the window, whose width is 3"):
        MaxPool2dOp.infer(image, padding=(0, 3, 0, 0), **pool)


@pytest.mark.parametrize(
    ("shape", "axes", "keepdims", "expected"),
    [
        ("2x3x4", None, False, ""),
        ("2x3x4", None, True, "1x1x1"),
        ("2x3x4", [1], False, "2x4"),
        ("2x3x4", [-1, 0], False, "3"),
        ("2x3x4", [-1, 0], True, "1x3x1"),
        ("2x3x4", [], False, "2x3x4"),
        ("?x3", [1], False, "?"),
        ("", None, True, ""),
        ("0x3", [0], False, "3"),
    ],
)
def test_reduce(shape: str, axes: list[int] | None, keepdims: bool, expected: str) -> None:
    assert shapes.reduce(parse(shape), axes, keepdims) == parse(expected)


def test_axes() -> None:
    with pytest.raises(ShapeError, match="axis 2 is out of range for rank 2, expected -2 to 1"):
        shapes.normalise_axis(2, 2)
    with pytest.raises(ShapeError, match="axis 0 is out of range for rank 0, a tensor of rank 0 has no axes"):
        shapes.normalise_axis(0, 0)
    with pytest.raises(ShapeError, match=r"axis -1 is given twice in \[1, -1\]"):
        shapes.normalise_axes([1, -1], 2)


@pytest.mark.parametrize(
    ("shape", "new", "expected"),
    [
        ("4x6", [2, -1], "2x12"),
        ("4x6", [24], "24"),
        ("", [1, 1], "1x1"),
        ("1", [], ""),
        ("0x3", [3, 0], "3x0"),
        ("0x3", [-1, 3], "0x3"),
        ("?x784", [-1, 784], "?x784"),
        ("?x4", [2, 2], "2x2"),
        ("?x0", [-1, 5], "0x5"),
    ],
)
def test_reshape(shape: str, new: list[int], expected: str) -> None:
    assert shapes.reshape(parse(shape), new) == parse(expected)


@pytest.mark.parametrize(
    ("shape", "new", "message"),
    [
        ("4x6", [5, 5], r"4x6 has 24 elements but shape \[5, 5\] has 25"),
        ("4x6", [5, -1], r"24 elements of 4x6 do not divide into shape \[5, -1\]"),
        ("4x6", [-1, -1], "at most one -1"),
        ("4x6", [-2, 3], "at most one -1"),
        ("0x6", [0, -1], r"the -1 in shape \[0, -1\] is ambiguous"),
        ("?x4", [3, 3], r"shape \[3, 3\] has 9 elements, not a multiple of the 4 known of \?x4"),
    ],
)
def test_reshape_errors(shape: str, new: list[int], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        shapes.reshape(parse(shape), new)


def test_permute() -> None:
    assert shapes.permute((2, 3, 4), None) == (4, 3, 2)
    assert shapes.permute((2, None, 4), [2, 0, -2]) == (4, 2, None)
    assert shapes.permute((), None) == ()
    with pytest.raises(ShapeError, match="axes has 1 entries, expected one per dimension of 2x3"):
        shapes.permute((2, 3), [0])
    with pytest.raises(ShapeError, match="axes entry 0 is given twice"):
        shapes.permute((2, 3), [0, 0])


def test_expand_and_squeeze() -> None:
    assert shapes.expand_dims((4,), [0, -1]) == (1, 4, 1)
    assert shapes.expand_dims((), [0, 1]) == (1, 1)
    assert shapes.expand_dims((2, None), [1]) == (2, 1, None)
    assert shapes.squeeze((1, 4, 1), None) == (4,)
    assert shapes.squeeze((1, None, 1), [-1]) == (1, None)
    assert shapes.squeeze((None, 4), [0]) == (4,)
    with pytest.raises(ShapeError, match="axis 1 of 1x4 has extent 4, expected 1"):
        shapes.squeeze((1, 4), [1])
    with pytest.raises(ShapeError, match=r"axis must be given because \?x1 has a \? extent"):
        shapes.squeeze((None, 1), None)
    with pytest.raises(ShapeError, match="axis 3 is out of range for rank 2"):
        shapes.expand_dims((4,), [3])


def test_broadcast_to() -> None:
    assert shapes.broadcast_to((8,), [4, 8]) == (4, 8)
    assert shapes.broadcast_to((), [2]) == (2,)
    assert shapes.broadcast_to((1, None), [0, 3]) == (0, 3)
    for shape, new in (((2, 3), [3]), ((2,), [3]), ((1, 2), [2, 1])):
        with pytest.raises(ShapeError, match="does not broadcast to"):
            shapes.broadcast_to(shape, new)
    with pytest.raises(ShapeError, match=r"shape is \[-1\], expected extents of at least 0"):
        shapes.broadcast_to((1,), [-1])


def test_concat() -> None:
    assert shapes.concat([(2, 3), (2, 4)], -1) == (2, 7)
    assert shapes.concat([(2, 3)], 0) == (2, 3)
    assert shapes.concat([(None, 3), (2, None)], 0) == (None, 3)
    assert shapes.concat([(0, 3), (2, 3)], 0) == (2, 3)
    with pytest.raises(ShapeError, match="operand 1 is 3x4 but operand 0 is 2x3: they differ in dimension 1"):
        shapes.concat([(2, 3), (3, 4)], 0)
    with pytest.raises(ShapeError, match="operand 1 has rank 1 but operand 0 has rank 2"):
        shapes.concat([(2, 3), (3,)], 0)
    with pytest.raises(ShapeError, match="rank 0 has no axes"):
        shapes.concat([(), ()], 0)


def test_split() -> None:
    assert shapes.split((4, 8), 1, 2, None) == ((4, 4), (4, 4))
    assert shapes.split((4, None), 1, 2, None) == ((4, None), (4, None))
    assert shapes.split((7,), 0, None, [2, 2, 5]) == ((2,), (0,), (3,), (2,))
    assert shapes.split((None,), 0, None, [2]) == ((2,), (None,))
    assert shapes.split((3,), 0, None, []) == ((3,),)
    for sections, indices, message in (
        (3, None, "8 elements do not divide into 3 equal sections"),
        (0, None, "sections is 0, expected at least 1"),
        (None, None, "either sections or indices must be given, but neither is given"),
        (2, [1], "either sections or indices must be given, but both are given"),
        (None, [5, 3], r"indices is \[5, 3\], expected cut points in increasing order"),
        (None, [-1], "expected cut points in increasing order from 0"),
        (None, [9], "expected cut points of at most 8"),
    ):
        with pytest.raises(ShapeError, match=message):
            shapes.split((8,), 0, sections, indices)


@pytest.mark.parametrize("extent", [0, 1, 5, 8])
@pytest.mark.parametrize("begin", [-100, -3, 0, 2, 100])
@pytest.mark.parametrize("end", [-100, -1, 0, 4, 100])
@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_strided_slice_is_that_of_python(extent: int, begin: int, end: int, step: int) -> None:
    expected = len(list(range(extent))[begin:end:step])
    assert shapes.strided_slice((2, extent), [1], [begin], [end], [step]) == (2, expected)


def test_strided_slice_errors() -> None:
    assert shapes.strided_slice((None, 3), [0], [0], [2], None) == (None, 3)
    with pytest.raises(ShapeError, match="begin has 2 entries but axes has 1"):
        shapes.strided_slice((4,), [0], [0, 1], [2], None)
    with pytest.raises(ShapeError, match="strides has an entry 0"):
        shapes.strided_slice((4,), [0], [0], [2], [0])


def test_pad_and_take() -> None:
    assert shapes.pad((2, None), [1, 0, 0, 2]) == (3, None)
    assert shapes.pad((), []) == ()
    with pytest.raises(ShapeError, match="pad_width has 2 entries, expected 2 per dimension of 2x3"):
        shapes.pad((2, 3), [0, 0])
    with pytest.raises(ShapeError, match=r"pad_width is \[-1, 0\], expected each at least 0"):
        shapes.pad((2,), [-1, 0])
    assert shapes.take((4, 8), (3,), 1) == (4, 3)
    assert shapes.take((4, 8), (), 0) == (8,)
    assert shapes.take((4, 8), (2, None), -1) == (4, 2, None)


def test_size_and_compatible() -> None:
    assert shapes.size((2, 3)) == 6 and shapes.size(()) == 1
    assert shapes.size((None, 0)) == 0 and shapes.size((None, 2)) is None
    assert shapes.compatible((None, 3), (2, 3)) and not shapes.compatible((2,), (2, 1))
    assert shapes.text(()) == "()" and shapes.text((None, 3)) == "?x3"
