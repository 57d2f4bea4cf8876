"""Unsigned integers and booleans of tensor expressions, from `create_prim_func` to arrays, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.core.ir.verification import verify_module
from stepwell.lowering.graph_to_loops.convert_te_to_tensor_loop import create_prim_func
from stepwell.runtime.errors import ArgumentError
from stepwell.te import dtypes
from xdsl.utils.exceptions import VerifyException

Array = np.ndarray[Any, Any]

COMPUTED = [dtype for dtype in dtypes.UNSIGNED if dtypes.TABLE[dtype].arithmetic]

COUNT = 75
"""More than the lanes of a vector, and no multiple of them."""

Scalar = Callable[..., te.Expr]
Numpy = Callable[..., Array]

BINARY: dict[str, Numpy] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "truncdiv": np.floor_divide,
    "truncmod": np.remainder,
    "floordiv": np.floor_divide,
    "floormod": np.remainder,
    "shl": lambda a, b: a << b % (8 * a.itemsize),
    "shr": lambda a, b: a >> b % (8 * a.itemsize),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARISONS: dict[str, Numpy] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def values(dtype: str, seed: int) -> Array:
    """Returns numbers of all sizes, both ends among them."""
    _, high = dtypes.integer_range(dtype)
    random = np.random.default_rng(seed)
    kind = dtypes.numpy_dtype(dtype)
    found = random.integers(0, high, COUNT, dtype=kind, endpoint=True)
    found >>= random.integers(0, dtypes.bit_width(dtype), COUNT).astype(kind)
    found[:4] = (0, 1, high, high // 2 + 1)
    return found


def divisor(a: te.Expr, b: te.Expr, function: str) -> te.Expr:
    """Returns `b` in the form that the function is defined on: a divisor above 0, a shift count below the width."""
    if function in ("shl", "shr"):
        return te.binary("floormod", b, te.const(dtypes.bit_width(a.dtype), a.dtype))
    if "div" in function or "mod" in function:
        return te.maximum(b, te.const(1, a.dtype))
    return b


def elementwise(dtype: str, shape: Sequence[te.Dim]) -> tuple[list[te.Tensor], list[Numpy]]:
    """Returns two placeholders and every function of theirs, with the same functions of NumPy."""
    a, b = te.placeholder(shape, dtype, "A"), te.placeholder(shape, dtype, "B")
    results: list[te.Tensor] = []
    references: list[Numpy] = []

    def add(name: str, body: Scalar, reference: Numpy) -> None:
        result = te.compute(shape, lambda i: body(a[i], b[i]), name=name)
        assert isinstance(result, te.Tensor)
        results.append(result)
        references.append(reference)

    for function, reference in BINARY.items():
        divides = "div" in function or "mod" in function
        add(
            function,
            lambda x, y, function=function: te.binary(function, x, divisor(x, y, function)),
            lambda x, y, r=reference, d=divides: r(x, np.maximum(y, 1).astype(y.dtype) if d else y),
        )
    for function, reference in COMPARISONS.items():
        add(function, lambda x, y, function=function: te.compare(function, x, y), reference)
    for target in ("ui8", "ui16", "ui32", "ui64", "i8", "i16", "i32", "i64", "i1", "f32", "f64"):
        kind = dtypes.numpy_dtype(target)
        add(f"to_{target}", lambda x, _, target=target: te.cast(target, x), lambda x, _, kind=kind: x.astype(kind))
    add("neg", lambda x, _: -x, lambda x, _: np.negative(x))
    add("abs", lambda x, _: te.abs(x), lambda x, _: x)
    add("not", lambda x, _: te.unary("not", x), lambda x, _: ~x)
    return [a, b, *results], references


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("dtype", COMPUTED)
@pytest.mark.parametrize(
    ("opt_level", "opened"), [(0, True), (0, False), (1, False), (2, False), (3, False), (3, True)]
)
def test_functions_of_unsigned_integers(dtype: str, opt_level: int, opened: bool) -> None:
    arguments, references = elementwise(dtype, (te.var("n") if opened else COUNT,))
    exe = stepwell.compile(create_prim_func(arguments), opt_level=opt_level)
    x, y = values(dtype, 0), values(dtype, 1)
    y[10:20] = x[10:20]
    for tensor, reference, found in zip(arguments[2:], references, exe(x, y), strict=True):
        wanted = reference(x, y)
        assert found.dtype == wanted.dtype, tensor.name
        np.testing.assert_array_equal(found, wanted, err_msg=tensor.name)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("dtype", COMPUTED)
@pytest.mark.parametrize("opt_level", range(4))
def test_reductions_and_floats_of_unsigned_integers(dtype: str, opt_level: int) -> None:
    kind = dtypes.numpy_dtype(dtype)
    rows, columns = 6, 20
    a, f = te.placeholder((rows, columns), dtype, "A"), te.placeholder((rows,), "f32", "F")
    axes = [te.reduce_axis(columns, f"k{i}") for i in range(4)]
    total = te.compute((rows,), lambda i: te.sum(a[i, axes[0]], axis=axes[0]), name="total")
    most = te.compute((rows,), lambda i: te.max(a[i, axes[1]], axis=axes[1]), name="most")
    least = te.compute((rows,), lambda i: te.min(a[i, axes[2]], axis=axes[2]), name="least")
    wide = te.compute((rows, columns), lambda i, j: te.cast("ui64", a[i, j]), name="wide")
    wide_total = te.compute((rows,), lambda i: te.sum(wide[i, axes[3]], axis=axes[3]), name="wide_total")
    cut = te.compute((rows,), lambda i: te.cast(dtype, f[i]), name="cut")
    exe = stepwell.compile(create_prim_func([a, f, total, most, least, wide_total, cut]), opt_level=opt_level)
    x = np.resize(values(dtype, 2), (rows, columns))
    high = dtypes.integer_range(dtype)[1]
    floats = np.array([-1.5, 200.75, np.nan, np.inf, -np.inf, 1e30], np.float32)
    found = exe(x, floats)
    np.testing.assert_array_equal(found[0], x.sum(axis=1, dtype=kind))
    np.testing.assert_array_equal(found[1], x.max(axis=1))
    np.testing.assert_array_equal(found[2], x.min(axis=1))
    np.testing.assert_array_equal(found[3], x.sum(axis=1, dtype=np.uint64))
    assert found[4].tolist() == [0, 200, 0, high, 0, high]
    assert [each.dtype for each in found] == [kind, kind, kind, np.uint64, kind]


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("opt_level", range(4))
@pytest.mark.parametrize("opened", [False, True])
def test_booleans(opt_level: int, opened: bool) -> None:
    shape = (te.var("n") if opened else 40,)
    a, b = te.placeholder(shape, "i1", "A"), te.placeholder(shape, "i1", "B")
    k = te.reduce_axis(shape[0], "k")
    results = [
        te.compute(shape, lambda i: te.all(a[i], b[i]), name="both"),
        te.compute(shape, lambda i: te.any(a[i], b[i]), name="one"),
        te.compute(shape, lambda i: te.logical_not(a[i]), name="not_a"),
        te.compute(shape, lambda i: te.binary("xor", a[i], b[i]), name="differ"),
        te.compute(shape, lambda i: te.equal(a[i], b[i]), name="same"),
        te.compute(shape, lambda i: te.cast("f32", a[i]), name="float"),
        te.compute(shape, lambda i: te.cast("ui8", a[i]), name="number"),
        te.compute(shape, lambda i: te.select(a[i], te.const(3, "ui16"), te.const(65535, "ui16")), name="chosen"),
        te.compute((1,), lambda i: te.all_of(a[k], axis=k), name="every"),
    ]
    exe = stepwell.compile(create_prim_func([a, b, *results]), opt_level=opt_level)
    x, y = np.random.default_rng(3).integers(0, 2, (2, 40)).astype(bool)
    wanted = [
        *(x & y, x | y, ~x, x ^ y, x == y, x.astype(np.float32), x.astype(np.uint8)),
        *(np.where(x, np.uint16(3), np.uint16(65535)), np.array([x.all()])),
    ]
    for tensor, found, expected in zip(results, exe(x, y), wanted, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=tensor.name)
    assert exe(np.ones(40, bool), y)[-1].tolist() == [True]


# What callers know


def minimum(dtype: str, name: str = "main") -> Any:
    a, b = te.placeholder((4,), dtype, "A"), te.placeholder((4,), dtype, "B")
    return create_prim_func([a, b, te.compute((4,), lambda i: te.minimum(a[i], b[i]), name="least")], name)


def test_the_signature_keeps_the_types() -> None:
    function = minimum("ui8")
    assert "stepwell.signature = (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>" in str(function)
    exe = stepwell.compile(function)
    assert exe.signature == "main(A: tensor<4xui8>, B: tensor<4xui8>) -> (result0: tensor<4xui8>)"
    x = np.array([0, 100, 200, 255], np.uint8)
    with pytest.raises(ArgumentError, match="argument 'A' has element type int8, expected uint8"):
        exe(x.view(np.int8), x)
    for level in ("graph", "tensor_loop", "scf", "llvm"):
        again = stepwell.compile(exe.ir(level))
        assert again(x, x[::-1].copy())[0].tolist() == [0, 100, 100, 0]


def test_signed_kernels_have_no_signature() -> None:
    assert "stepwell.signature" not in str(minimum("i8")) + str(minimum("f32"))


CALL = """
func.func @main(%x: tensor<4xTYPE>, %y: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %z = graph.call_kernel @least(%x, %y) : (tensor<4xTYPE>, tensor<4xTYPE>) -> tensor<4xTYPE>
  func.return %z : tensor<4xTYPE>
}
"""


@pytest.mark.parametrize("opt_level", range(4))
def test_programs_call_unsigned_kernels(opt_level: int) -> None:
    text = str(minimum("ui8", "least")) + CALL.replace("TYPE", "ui8")
    x, y = np.array([[0, 100, 200, 255], [1, 99, 255, 128]], np.uint8)
    for visibility in ("", "private "):
        exe = stepwell.compile(text.replace("tensor_loop.func ", f"tensor_loop.func {visibility}"), opt_level=opt_level)
        assert exe(x, y)[0].tolist() == [0, 99, 200, 128]


def test_a_call_with_other_signs_does_not_verify() -> None:
    with pytest.raises(VerifyException) as error:
        verify_module(stepwell.parse(str(minimum("ui8", "least")) + CALL.replace("TYPE", "i8")))
    assert "operand 0 has type tensor<4xi8> but @least computes on tensor<4xui8> there" in str(error.value)
