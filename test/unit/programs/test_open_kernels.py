"""Loop functions with `?` that programs on tensors call: copies for known sizes, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from stepwell import te
from stepwell.core.messages.diagnostics import OperationError, render
from stepwell.lowering.graph_to_loops.convert_te_to_tensor_loop import create_prim_func
from stepwell.runtime.errors import ArgumentError
from xdsl.utils.exceptions import DiagnosticException, VerifyException

Array = np.ndarray[Any, Any]

TWICE = """
tensor_loop.func private @k(%A: memref<?xf32>) outs(%C: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf32>
  tensor_loop.grid (%i) in (%n) {
    tensor_loop.block "twice" spatial(%vi in %n = %i) {
      %a = memref.load %A[%vi] : memref<?xf32>
      %s = arith.addf %a, %a : f32
      memref.store %s, %C[%vi] : memref<?xf32>
    }
  }
}
"""


def call(kernel: str, types: list[str], result: str) -> str:
    """Returns a program whose `@main` calls `@k` on tensors of these types."""
    names = [f"%x{number}" for number in range(len(types))]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
    return f"""{kernel}
    func.func @main({arguments}) -> {result} {{
      %y = graph.call_kernel @k({", ".join(names)}) : ({", ".join(types)}) -> {result}
      func.return %y : {result}
    }}
    """


def refusal(text: str, *arrays: Array) -> str:
    """Returns the error of compiling and calling a program."""
    with pytest.raises(OperationError) as error:
        stepwell.compile(text, cache=False)(*arrays)
    return render(error.value.diagnostic)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("opt_level", range(4))
@pytest.mark.parametrize("size", ["5", "?"])
def test_a_kernel_is_copied_for_the_sizes_of_its_calls(size: str, opt_level: int) -> None:
    type_ = f"tensor<{size}xf32>"
    exe = stepwell.compile(call(TWICE, [type_], type_), opt_level=opt_level, verify_each=True)
    for count in (5,) if size == "5" else (0, 1, 5, 33):
        x = np.arange(count, dtype=np.float32)
        np.testing.assert_array_equal(exe(x)[0], x + x)


def test_kernels_that_call_kernels_and_have_buffers() -> None:
    text = (
        TWICE.replace("@k(", "@inner(")
        + """
    tensor_loop.func private @k(%A: memref<?xf32>) outs(%C: memref<?xf32> {stepwell.dims = ["= 2 * A"]}) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %n = memref.dim %A, %c0 : memref<?xf32>
      %m = arith.muli %c2, %n : index
      %T = tensor_loop.alloc(%n) : memref<?xf32>
      tensor_loop.call @inner(%A) outs(%T) : (memref<?xf32>) outs(memref<?xf32>)
      tensor_loop.grid (%i) in (%m) {
        tensor_loop.block "repeat" spatial(%vi in %m = %i) {
          %half = arith.floordivsi %vi, %c2 : index
          %a = memref.load %T[%half] : memref<?xf32>
          memref.store %a, %C[%vi] : memref<?xf32>
        }
      }
    }
    """
    )
    text = text.replace("(%A: memref<?xf32>", '(%A: memref<?xf32> {stepwell.dims = ["A"]}')
    exe = stepwell.compile(call(text, ["tensor<?xf32>"], "tensor<?xf32>"), verify_each=True)
    for count in (0, 3, 20):
        x = np.arange(count, dtype=np.float32)
        np.testing.assert_array_equal(exe(x)[0], np.repeat(2 * x, 2))


def test_a_kernel_that_is_an_entry_too_stays_open() -> None:
    text = call(TWICE.replace("private ", ""), ["tensor<5xf32>"], "tensor<5xf32>")
    x = np.arange(7, dtype=np.float32)
    np.testing.assert_array_equal(stepwell.compile(text, entry="k")(x)[0], 2 * x)
    np.testing.assert_array_equal(stepwell.compile(text)(x[:5])[0], 2 * x[:5])


def test_a_kernel_of_known_sizes_gives_a_result_of_unknown_size_its_size() -> None:
    text = call(TWICE.replace("memref<?xf32>", "memref<5xf32>"), ["tensor<5xf32>"], "tensor<?xf32>")
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(stepwell.compile(text)(x)[0], 2 * x)


def test_copies_are_no_entries() -> None:
    """A loop function whose arguments have roles is an entry, and its copies are not."""
    kernel_text = TWICE.replace("private ", "").replace(
        "(%A: memref<?xf32>", '(%A: memref<?xf32> {stepwell.role = "input"}'
    )
    kernel_text = kernel_text.replace("(%C: memref<?xf32>", '(%C: memref<?xf32> {stepwell.role = "output"}')
    x = np.arange(5, dtype=np.float32)
    exe = stepwell.compile(call(kernel_text, ["tensor<5xf32>"], "tensor<5xf32>"))
    np.testing.assert_array_equal(exe(x)[0], 2 * x)
    assert exe.entry_names == ("k", "main")


def test_names_of_sizes_go_with_the_argument_that_gives_them() -> None:
    """The second call writes its result over its operand, so the kernel has an argument less."""
    known = TWICE.replace("memref<?xf32>", "memref<5xf32>").replace("%n = memref.dim %A, %c0 : memref<5xf32>", "")
    known = known.replace("in (%n)", "in (5)").replace("in %n =", "in 5 =")
    known = known.replace("(%A: memref<5xf32>", '(%A: memref<5xf32> {stepwell.dims = ["n"]}')
    known = known.replace("(%C: memref<5xf32>", '(%C: memref<5xf32> {stepwell.dims = ["= n + 0"]}')
    text = f"""{known}
    func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {{
      %y = graph.call_kernel @k(%x) : (tensor<5xf32>) -> tensor<5xf32>
      %z = graph.call_kernel @k(%y) : (tensor<5xf32>) -> tensor<5xf32>
      %w = graph.call_kernel @k(%z) : (tensor<5xf32>) -> tensor<5xf32>
      func.return %w : tensor<5xf32>
    }}
    """
    exe = stepwell.compile(text, pipeline="bufferize", verify_each=True)
    assert "@k_in_place" in exe.ir("scf")
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(exe(x)[0], 8 * x)


# Tensor expressions


def kernel() -> te.Tensor | Any:
    """`B[i] = sum_k A[i, k] * x[k]` for `i < n`, then the elements of `y`, which has one more than `A` has rows."""
    n, m = te.var("n"), te.var("m")
    matrix, row = te.placeholder((n, m), "f32", "A"), te.placeholder((m,), "f32", "x")
    more = te.placeholder((n + 1,), "f32", "y")
    k = te.reduce_axis(m, "k")
    product = te.compute((n,), lambda i: te.sum(matrix[i, k] * row[k], axis=k), name="product")
    joined = te.compute((n * 2 + 1,), lambda i: te.if_then_else(i < n, product[i], more[i - n]), name="B")
    return create_prim_func([matrix, row, more, joined], "k")


def arrays_for(n: int, m: int) -> list[Array]:
    random = np.random.default_rng(n * 100 + m)
    return [random.standard_normal(shape).astype(np.float32) for shape in ((n, m), (m,), (n + 1,))]


def expected(a: Array, x: Array, y: Array) -> Array:
    return np.concatenate([a @ x, y])


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("opt_level", range(4))
def test_kernels_of_tensor_expressions_at_known_and_open_sizes(opt_level: int) -> None:
    direct = stepwell.compile(kernel(), entry="k", opt_level=opt_level)
    text = str(kernel())
    known = ["tensor<3x4xf32>", "tensor<4xf32>", "tensor<4xf32>"]
    opened = ["tensor<?x?xf32>", "tensor<?xf32>", "tensor<?xf32>"]
    static = stepwell.compile(call(text, known, "tensor<7xf32>"), opt_level=opt_level)
    half = stepwell.compile(call(text, known, "tensor<?xf32>"), opt_level=opt_level)
    open_ = stepwell.compile(call(text, opened, "tensor<?xf32>"), opt_level=opt_level)
    arrays = arrays_for(3, 4)
    for exe in (direct, static, half, open_):
        np.testing.assert_allclose(exe(*arrays)[0], expected(*arrays), rtol=1e-5, atol=1e-6)


def test_a_program_uses_a_kernel_at_several_sizes() -> None:
    text = (
        str(kernel())
        + """
    func.func @main(%a: tensor<?x?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<7xf32>) {
      %0 = graph.call_kernel @k(%a, %x, %y) : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %1 = graph.negative %0 : (tensor<?xf32>)
      %b = graph.full 1.0 : tensor<3x2xf32>
      %u = graph.full 2.0 : tensor<2xf32>
      %v = graph.full 3.0 : tensor<4xf32>
      %2 = graph.call_kernel @k(%b, %u, %v) : (tensor<3x2xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<7xf32>
      func.return %1, %2 : tensor<?xf32>, tensor<7xf32>
    }
    """
    )
    exe = stepwell.compile(text)
    for n, m in ((1, 1), (5, 3), (0, 2)):
        arrays = arrays_for(n, m)
        first, second = exe(*arrays)
        np.testing.assert_allclose(first, -expected(*arrays), rtol=1e-5, atol=1e-6)
        assert second.tolist() == [4, 4, 4, 3, 3, 3, 3]


@pytest.fixture(scope="module")
def programs() -> list[stepwell.Executable]:
    opened = ["tensor<?x?xf32>", "tensor<?xf32>", "tensor<?xf32>"]
    return [
        stepwell.compile(kernel(), entry="k"),
        stepwell.compile(call(str(kernel()), opened, "tensor<?xf32>"), opt_level=0),
    ]


@given(n=st.integers(0, 6), m=st.integers(0, 6), wrong=st.sampled_from([None, "x", "y", "A"]))
def test_sizes_that_fit_compute_and_others_are_refused(
    programs: list[stepwell.Executable], n: int, m: int, wrong: str | None
) -> None:
    """No array is ever read or written outside: `A` is n times m, `x` has m elements, `y` n + 1."""
    arrays = arrays_for(n, m)
    if wrong is not None:
        place = "Axy".index(wrong)
        arrays[place] = np.concatenate([arrays[place], arrays[place][:1], np.ones_like(arrays[place][:1])])
        if arrays[place].shape == arrays_for(n, m)[place].shape:
            return
    for exe in programs:
        if wrong is None:
            np.testing.assert_allclose(exe(*arrays)[0], expected(*arrays), rtol=1e-4, atol=1e-5)
        else:
            with pytest.raises((ArgumentError, DiagnosticException)):
                exe(*arrays)


# What is refused


@pytest.mark.parametrize(
    ("kernel_text", "types", "result", "message"),
    [
        (TWICE, ["tensor<5xf32>"], "tensor<3xf32>", "the result has the shape 5 with the given sizes, declared is 3"),
        (TWICE, ["tensor<?xf32>"], "tensor<3xf32>", "the result has the shape 5 with the given sizes, declared is 3"),
        (
            TWICE.replace("%C[%vi]", "%C[%n]"),
            ["tensor<?xf32>"],
            "tensor<?xf32>",
            "the size of dimension 0 of result 0 does not follow from the operands of @k",
        ),
        (
            TWICE.replace("(%A: memref<?xf32>", '(%A: memref<?xf32> {stepwell.dims = ["n"]}').replace(
                "(%C: memref<?xf32>", '(%C: memref<?xf32> {stepwell.dims = ["= n - 6"]}'
            ),
            ["tensor<?xf32>"],
            "tensor<?xf32>",
            "@k: the size n - 6 is -1, where n is 5",
        ),
    ],
)
def test_results_of_other_sizes_are_refused(kernel_text: str, types: list[str], result: str, message: str) -> None:
    error = refusal(call(kernel_text, types, result), np.zeros(5, np.float32))
    assert message in error and "<text>:" in error


def test_the_hint_says_how_to_give_a_size() -> None:
    text = call(TWICE.replace("%C[%vi]", "%C[%n]"), ["tensor<?xf32>"], "tensor<?xf32>")
    assert 'hint: name it in @k: {stepwell.dims = ["n"]}, or give its size in the type' in refusal(
        text, np.zeros(5, np.float32)
    )


def test_operands_of_two_sizes_for_one_name_do_not_verify() -> None:
    types = ["tensor<3x4xf32>", "tensor<5xf32>", "tensor<4xf32>"]
    with pytest.raises(VerifyException) as error:
        stepwell.parse(call(str(kernel()), types, "tensor<7xf32>"))
    wanted = "@k: dimension 'm' is 4 (dimension 1 of argument 0) and 5 (dimension 0 of argument 1)"
    assert wanted in str(error.value)
    types[1:] = ["tensor<4xf32>", "tensor<9xf32>"]
    with pytest.raises(VerifyException) as error:
        stepwell.parse(call(str(kernel()), types, "tensor<7xf32>"))
    wanted = "@k: the size (dimension 0 of argument 2) is 9, expected 4: it is n + 1, where n is 3"
    assert wanted in str(error.value)


def test_operands_of_two_sizes_for_one_name_are_refused_by_the_call() -> None:
    text = call(str(kernel()), ["tensor<?x?xf32>", "tensor<?xf32>", "tensor<?xf32>"], "tensor<?xf32>")
    a, x, y = arrays_for(3, 4)
    error = refusal(text, a, x[:3], y)
    assert "@k: dimension 'm' is 4 (dimension 1 of operand 0) and 3 (dimension 0 of operand 1)" in error
    error = refusal(text, a, x, y[:3])
    assert "@k: the size (dimension 0 of operand 2) is 3, expected 4: it is n + 1, where n is 3" in error


def test_a_buffer_of_its_own_of_negative_size_is_refused() -> None:
    n = te.var("n")
    a = te.placeholder((n,), "f32", "A")
    part = te.compute((n - 6,), lambda i: a[i] * 2.0, name="part")
    result = te.compute((n,), lambda i: te.if_then_else(i < n - 6, part[i], a[i]), name="B")
    text = call(str(create_prim_func([a, result], "k")), ["tensor<?xf32>"], "tensor<?xf32>")
    error = refusal(text, np.zeros(5, np.float32))
    assert "with the given sizes an extent in @k_0 is -1" in error
    x = np.arange(8, dtype=np.float32)
    assert stepwell.compile(text)(x)[0].tolist() == [0, 2, 2, 3, 4, 5, 6, 7]


def test_a_kernel_of_known_sizes_takes_no_others() -> None:
    text = call(TWICE.replace("memref<?xf32>", "memref<5xf32>"), ["tensor<?xf32>"], "tensor<5xf32>")
    assert "with the given sizes operand 0 has the shape 3, expected memref<5xf32>" in refusal(
        text, np.zeros(3, np.float32)
    )
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(stepwell.compile(text)(x)[0], 2 * x)


def test_a_kernel_with_other_strides_does_not_take_tensors() -> None:
    strided = TWICE.replace("%A: memref<?xf32>", "%A: memref<?xf32, strided<[2]>>")
    strided = strided.replace("%c0 : memref<?xf32>", "%c0 : memref<?xf32, strided<[2]>>")
    strided = strided.replace("%A[%vi] : memref<?xf32>", "%A[%vi] : memref<?xf32, strided<[2]>>")
    with pytest.raises(VerifyException) as error:
        stepwell.parse(call(strided, ["tensor<5xf32>"], "tensor<5xf32>"))
    assert "a buffer of type memref<?xf32, strided<[2]>> there, expected one in row-major order" in str(error.value)
    opened = strided.replace("strided<[2]>", "strided<[?]>")
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(stepwell.compile(call(opened, ["tensor<5xf32>"], "tensor<5xf32>"))(x)[0], 2 * x)
