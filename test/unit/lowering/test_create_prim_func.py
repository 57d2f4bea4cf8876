"""`create_prim_func`: hand-written tensor expressions as loop functions that verify, round-trip and run natively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.core.ir.verification import verify_module
from stepwell.dialects import tensor_loop
from stepwell.lowering.graph_to_loops.convert_te_to_tensor_loop import convert_te_to_tensor_loop, create_prim_func
from xdsl.dialects.builtin import ModuleOp

Array = np.ndarray[Any, Any]


def module_of(arguments: Sequence[te.Tensor]) -> ModuleOp:
    """The verified module of the function; its text reads back as the same text."""
    module = ModuleOp([create_prim_func(arguments)])
    verify_module(module)
    text = str(module)
    again = stepwell.parse(text)
    assert str(again) == text
    return module


def run(arguments: Sequence[te.Tensor], *arrays: Array) -> tuple[Array, ...]:
    return stepwell.compile(module_of(arguments), cache=False)(*arrays)


def floats(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def blocks_of(module: ModuleOp) -> list[str]:
    return [op.block_name.data for op in module.walk() if isinstance(op, tensor_loop.BlockOp)]


def allocs_of(module: ModuleOp) -> int:
    return sum(isinstance(op, tensor_loop.AllocOp) for op in module.walk())


def matmul(dtype: str) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a, b = te.placeholder((3, 4), dtype, "A"), te.placeholder((4, 5), dtype, "B")
    k = te.reduce_axis(4, "k")
    return a, b, te.compute((3, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def test_matmul() -> None:
    a, b, c = matmul("f32")
    module = module_of([a, b, c])
    assert blocks_of(module) == ["C"] and allocs_of(module) == 0
    x, y = floats(3, 4), floats(4, 5)
    np.testing.assert_allclose(run([a, b, c], x, y)[0], x @ y, rtol=1e-5, atol=1e-6)


def test_int64_wraps() -> None:
    x = np.full((3, 4), 2**62, np.int64)
    y = np.arange(20, dtype=np.int64).reshape(4, 5)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run(matmul("i64"), x, y)[0], x @ y)


def test_elementwise_chain_has_a_block_and_a_buffer_per_stage() -> None:
    a = te.placeholder((2, 3), "f32", "A")
    b = te.compute((2, 3), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((2, 3), lambda i, j: b[i, j] + 1.0, name="C")
    assert blocks_of(module_of([a, c])) == ["B", "C"] and allocs_of(module_of([a, c])) == 1
    assert allocs_of(module_of([a, b, c])) == 0
    x = floats(2, 3)
    np.testing.assert_array_equal(run([a, c], x)[0], x * 2 + 1)
    for found, expected in zip(run([a, b, c], x), (x * 2, x * 2 + 1), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_stages_of_one_name_give_blocks_of_different_names() -> None:
    a = te.placeholder((4,), "f32", "A")
    b = te.compute((4,), lambda i: a[i] + 1.0, name="step")
    c = te.compute((4,), lambda i: b[i] + 1.0, name="step")
    assert blocks_of(module_of([a, c])) == ["step", "step_1"]
    np.testing.assert_array_equal(run([a, c], np.zeros(4, np.float32))[0], np.full(4, 2, np.float32))


def test_conv2d_with_padding() -> None:
    image, kernel = te.placeholder((1, 2, 5, 5), "f32", "I"), te.placeholder((3, 2, 3, 3), "f32", "K")
    padded = te.compute(
        (1, 2, 7, 7),
        lambda n, c, h, w: te.if_then_else(te.all(h >= 1, h < 6, w >= 1, w < 6), image[n, c, h - 1, w - 1], 0.0),
        name="padded",
    )
    c, i, j = te.reduce_axis(2, "c"), te.reduce_axis(3, "i"), te.reduce_axis(3, "j")
    out = te.compute(
        (1, 3, 5, 5),
        lambda n, f, h, w: te.sum(padded[n, c, h + i, w + j] * kernel[f, c, i, j], axis=[c, i, j]),
        name="conv",
    )
    x, w = floats(1, 2, 5, 5), floats(3, 2, 3, 3)
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = np.zeros((1, 3, 5, 5), np.float32)
    for p in range(3):
        for q in range(3):
            expected += np.einsum("nchw,fc->nfhw", wide[:, :, p : p + 5, q : q + 5], w[:, :, p, q])
    np.testing.assert_allclose(run([image, kernel, out], x, w)[0], expected, rtol=1e-4, atol=1e-5)


def test_several_outputs_of_one_stage() -> None:
    a = te.placeholder((4,), "f32", "A")
    double, negative = te.compute((4,), lambda i: (a[i] * 2.0, 0.0 - a[i]), name="both")
    x = floats(4)
    assert blocks_of(module_of([a, double, negative])) == ["both"]
    for found, expected in zip(run([a, double, negative], x), (2 * x, 0 - x), strict=True):
        np.testing.assert_array_equal(found, expected)
    # One of them alone: the other gets a buffer nobody reads.
    np.testing.assert_array_equal(run([a, negative], x)[0], 0 - x)


def test_both_components_of_argmax_and_one_alone() -> None:
    a = te.placeholder((3, 4), "f32", "A")
    k = te.reduce_axis(4, "k")
    index, value = te.compute((3,), lambda i: te.argmax(te.cast("i64", k), a[i, k], axis=k), name="best")
    x = np.array([[1, 3, 3, 2], [0, -1, np.nan, 5], [4, 4, 4, 4]], np.float32)
    found = run([a, index, value], x)
    assert found[0].tolist() == [1, 2, 0] and np.array_equal(found[1], [3, np.nan, 4], equal_nan=True)
    assert run([a, index], x)[0].tolist() == [1, 2, 0]
    assert np.array_equal(run([a, value], x)[0], [3, np.nan, 4], equal_nan=True)


def test_arguments_keep_their_order_and_names() -> None:
    a, b = te.placeholder((2,), "f32", "A"), te.placeholder((2,), "f32", "B")
    c = te.compute((2,), lambda i: a[i] - b[i], name="C")
    x, y = floats(2), floats(2) + 1
    np.testing.assert_array_equal(run([b, a, c], y, x)[0], x - y)
    head = str(create_prim_func([b, a, c], "minus")).splitlines()[0]
    arguments = "(%B: memref<2xf32>, %A: memref<2xf32>) outs(%out: memref<2xf32>)"
    assert head == f"tensor_loop.func @minus{arguments} attributes {{stepwell.written}} {{"


def test_unused_arguments_stay() -> None:
    a, b = te.placeholder((2,), "f32", "A"), te.placeholder((7,), "i8", "B")
    c = te.compute((2,), lambda i: a[i] + a[i], name="C")
    x = floats(2)
    np.testing.assert_array_equal(run([a, b, c], x, np.zeros(7, np.int8))[0], 2 * x)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("f32", -0.0),
        ("f32", np.inf),
        ("f16", 65504.0),
        ("bf16", 1.5),
        ("i8", -128),
        ("ui64", 2**64 - 1),
        ("i1", True),
    ],
)
def test_constants_of_every_kind(dtype: str, value: Any) -> None:
    b = te.compute((3,), lambda i: te.const(value, dtype), name="B")
    (found,) = run([b])
    if dtype == "ui64":
        found = found.view(np.uint64)  # loop functions are signless
    assert found.tolist() == [value] * 3
    if value == 0:
        assert np.signbit(found).all()


def test_data_dependent_access() -> None:
    a, i = te.placeholder((5,), "f32", "A"), te.placeholder((3,), "i32", "I")
    b = te.compute((3,), lambda j: a[te.cast("index", i[j])], name="B")
    x = floats(5)
    np.testing.assert_array_equal(run([a, i, b], x, np.array([4, 0, 4], np.int32))[0], x[[4, 0, 4]])


def test_rank_0_and_no_elements() -> None:
    a = te.placeholder((), "f32", "A")
    b = te.compute((), lambda: a[()] + 1.0, name="B")
    assert run([a, b], np.array(2, np.float32))[0].tolist() == 3
    empty = te.placeholder((0, 3), "f32", "E")
    k = te.reduce_axis(0, "k")
    total = te.compute((3,), lambda j: te.sum(empty[k, j], axis=k), name="S")
    assert run([empty, total], np.zeros((0, 3), np.float32))[0].tolist() == [0, 0, 0]
    same = te.compute((0, 3), lambda i, j: empty[i, j] + 1.0, name="T")
    assert run([empty, same], np.zeros((0, 3), np.float32))[0].shape == (0, 3)


def test_reduction_that_does_not_start_at_0() -> None:
    a = te.placeholder((6,), "i32", "A")
    k = te.reduce_axis((2, 5), "k")
    b = te.compute((), lambda: te.sum(a[k], axis=k), name="B")
    assert run([a, b], np.arange(6, dtype=np.int32))[0].tolist() == 9


def test_outputs_that_are_inputs_or_equal_are_copied() -> None:
    a = te.placeholder((4,), "f32", "A")
    b = te.compute((4,), lambda i: a[i] + 1.0, name="B")
    function = convert_te_to_tensor_loop("several", [a], [b, a, b])
    del function.properties["sym_visibility"]
    module = ModuleOp([function])
    verify_module(module)
    assert blocks_of(module) == ["B", "copy", "copy_1"]
    x = floats(4)
    for found, expected in zip(
        stepwell.compile(module, entry="several", cache=False)(x), (x + 1, x, x + 1), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_symbolic_sizes_are_read_off_the_inputs() -> None:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, m), "f32", "A")
    k = te.reduce_axis(m, "k")
    b = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="B")
    c = te.compute((n,), lambda i: b[i] * b[i], name="C")
    text = str(module_of([a, c]))
    assert text.count("memref.dim") == 2 and "tensor_loop.alloc(%n) : memref<?xf32>" in text


def test_what_cannot_be_a_function_is_refused_by_name() -> None:
    a, b = te.placeholder((2,), "f32", "A"), te.placeholder((2,), "f32", "forgotten")
    c = te.compute((2,), lambda i: a[i] + b[i], name="C")
    with pytest.raises(te.TEError, match="stage 'C' reads 'forgotten', which is not among the arguments"):
        create_prim_func([a, c])
    with pytest.raises(te.TEError, match="the placeholders must come before the computed tensors"):
        create_prim_func([a, c, b])
    with pytest.raises(te.TEError, match="at least one argument must be a computed tensor"):
        create_prim_func([a, b])
    n = te.var("n")
    d = te.compute((n,), lambda i: a[0], name="D")
    with pytest.raises(te.TEError, match="size 'n' is not a dimension of any input"):
        create_prim_func([a, d])
