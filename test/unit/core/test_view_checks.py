"""Types of views of buffers that do not fit their sources are refused by the verifier."""

from __future__ import annotations

import pytest
from stepwell.core.text.parsing import parse
from xdsl.utils.exceptions import VerifyException

MATRIX = "memref<4x6xf32>"
VECTOR = "memref<5xf32>"


def program(op: str) -> str:
    return (
        f"func.func @f(%m: {MATRIX}, %x: {VECTOR}, %n: index, %o: memref<?x6xf32>) {{\n  %v = {op}\n  func.return\n}}"
    )


def reshaped(name: str, result: str, sizes: str = "") -> str:
    return f'"memref.{name}_shape"(%x) <{{reassociation = [[0 : i64, 1 : i64]]{sizes}}}> : ({VECTOR}) -> {result}'


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            f'"memref.cast"(%x) : ({VECTOR}) -> memref<9xf32>',
            "the result has sizes 9, expected 5",
        ),
        (
            f'"memref.cast"(%x) : ({VECTOR}) -> memref<5xi32>',
            "the result has elements of i32, expected f32 as in the source",
        ),
        (
            f'"memref.cast"(%x) : ({VECTOR}) -> memref<5x1xf32>',
            "the result has 2 dimensions, expected 1 as in the source",
        ),
        (
            f'"memref.cast"(%x) : ({VECTOR}) -> memref<5xf32, strided<[2]>>',
            "the result has strides 2, expected 1",
        ),
        (
            f'"memref.cast"(%x) : ({VECTOR}) -> memref<5xf32, strided<[1], offset: 3>>',
            "the result has offset 3, expected 0",
        ),
        (
            '"memref.cast"(%o) : (memref<?x6xf32>) -> memref<4x7xf32>',
            "the result has sizes 4, 7, expected ?, 6",
        ),
        (
            f"memref.subview %x[0] [3] [2] : {VECTOR} to memref<4xf32, strided<[2]>>",
            "the result has sizes 4, expected 3",
        ),
        (
            f"memref.subview %x[0] [3] [2] : {VECTOR} to memref<3xf32, strided<[1]>>",
            "the result has strides 1, expected 2",
        ),
        (
            f"memref.subview %m[0, 0] [4, 2] [1, 1] : {MATRIX} to memref<4x2xf32>",
            "the result has strides 2, 1, expected 6, 1",
        ),
        (
            f"memref.subview %m[0, 0] [1, 6] [1, 1] : {MATRIX} to memref<4xf32>",
            "the result has sizes 4, expected 1, 6, of which those that are 1 may be left out",
        ),
        (
            f"memref.subview %m[0, 0] [4, 1] [1, 1] : {MATRIX} to memref<4xf32>",
            "the result has strides 1, expected 6",
        ),
        (
            f"memref.subview %m[0] [4] [1] : {MATRIX} to memref<4x6xf32>",
            "the op has 1 offsets, expected 2",
        ),
        (
            f"memref.reinterpret_cast %x to offset: [0], sizes: [5], strides: [1] : {VECTOR} to memref<5xf64>",
            "the result has elements of f64, expected f32 as in the source",
        ),
        (
            reshaped("expand", "memref<5x9xf32>", ", static_output_shape = array<i64: 5, 9>"),
            "the result has 45 elements, expected 5 as in the source",
        ),
        (
            f"memref.collapse_shape %x [] : {VECTOR} into memref<f32>",
            "the result has 1 elements, expected 5 as in the source",
        ),
    ],
)
def test_views_of_other_types_are_refused(op: str, message: str) -> None:
    with pytest.raises(VerifyException) as error:
        parse(program(op))
    assert message in str(error.value) and "<text>:2:3: error:" in str(error.value)


@pytest.mark.parametrize(
    "op",
    [
        f'"memref.cast"(%x) : ({VECTOR}) -> memref<?xf32>',
        f'"memref.cast"(%m) : ({MATRIX}) -> memref<?x6xf32, strided<[?, 1], offset: ?>>',
        '"memref.cast"(%o) : (memref<?x6xf32>) -> memref<4x6xf32>',
        f"memref.subview %m[1, 2] [2, 3] [2, 1] : {MATRIX} to memref<2x3xf32, strided<[12, 1], offset: 8>>",
        f"memref.subview %m[1, 0] [1, 6] [1, 1] : {MATRIX} to memref<6xf32, strided<[1], offset: 6>>",
        f"memref.subview %m[0, 1] [4, 1] [1, 1] : {MATRIX} to memref<4xf32, strided<[6], offset: 1>>",
        f"memref.subview %m[0, 1] [1, 1] [1, 1] : {MATRIX} to memref<f32, strided<[], offset: 1>>",
        f"memref.subview %m[%n, 0] [1, 6] [1, 1] : {MATRIX} to memref<1x6xf32, strided<[6, 1], offset: ?>>",
        f"memref.collapse_shape %m [[0 : i64, 1 : i64]] : {MATRIX} into memref<24xf32>",
    ],
)
def test_views_that_fit_verify(op: str) -> None:
    parse(program(op))


@pytest.mark.parametrize("dimension", [-1, 2])
def test_a_dimension_that_is_not_there(dimension: int) -> None:
    text = f"%c = arith.constant {dimension} : index\n  %d = memref.dim %m, %c : {MATRIX}"
    with pytest.raises(VerifyException, match=f"'memref.dim': there is no dimension {dimension} of {MATRIX}"):
        parse(program(text).replace("%v = ", ""))
