"""Arrays for the results of programs that are compiled for all sizes: their sizes, strides and elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from stepwell import te
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.parsing import make_context, parse
from stepwell.lowering.buffers.flatten_dynamic_buffers import FlattenDynamicBuffersPass
from stepwell.lowering.graph_to_loops.convert_te_to_tensor_loop import create_prim_func
from stepwell.runtime.errors import ArgumentError, ExecutionError

Array = np.ndarray[Any, Any]

GUARD = 7.0


def shifted() -> Any:
    """`B[0] = 0` and `B[i] = A[i - 1]`: one element more than `A` has."""
    n = te.var("n")
    a = te.placeholder((n,), "f32", "A")
    return create_prim_func([a, te.compute((n + 1,), lambda i: te.if_then_else(i < 1, 0.0, a[i - 1]), name="B")])


@pytest.mark.parametrize("opt_level", range(4))
def test_an_output_of_another_size_is_refused_and_nothing_is_written(opt_level: int) -> None:
    exe = stepwell.compile(shifted(), opt_level=opt_level)
    x = np.arange(1, 6, dtype=np.float32)
    base = np.full(20, GUARD, np.float32)
    for count in (0, 3, 5, 7, 20):
        wanted = rf"the size of dimension 0 in 'out' is {count}, expected 6: it is n \+ 1, where n is 5"
        with pytest.raises(ArgumentError, match=wanted):
            exe.run_into([base[:count]], x)
    assert base.tolist() == [GUARD] * 20
    exe.run_into([base[3:9]], x)
    assert base.tolist() == [GUARD] * 3 + [0, 1, 2, 3, 4, 5] + [GUARD] * 11
    assert exe(x)[0].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_size_that_several_inputs_give() -> None:
    n, m = te.var("n"), te.var("m")
    a, b = te.placeholder((n,), "f32", "A"), te.placeholder((m,), "f32", "B")
    c = te.placeholder((n + m,), "f32", "C")
    joined = te.compute((n + m,), lambda i: te.if_then_else(i < n, a[i], b[i - n]) + c[i], name="D")
    outer = te.compute((m, n), lambda j, i: a[i] * b[j], name="E")
    exe = stepwell.compile(create_prim_func([a, b, c, joined, outer]))
    x, y = np.arange(3, dtype=np.float32), np.arange(2, dtype=np.float32)
    z = np.ones(5, np.float32)
    first, second = exe(x, y, z)
    assert first.tolist() == [1, 2, 3, 1, 2]
    np.testing.assert_array_equal(second, np.outer(y, x))
    with pytest.raises(
        ArgumentError, match=r"dimension 0 in 'C' is 4, expected 5: it is n \+ m, where n is 3 and m is 2"
    ):
        exe(x, y, z[:4])
    with pytest.raises(ArgumentError, match="dimension 'm' is 2 in 'B' and 3 in 'out1'"):
        exe.run_into([first, np.empty((3, 3), np.float32)], x, y, z)
    with pytest.raises(ArgumentError, match="dimension 0 in 'out0' is 4, expected 5"):
        exe.run_into([first[:4], second], x, y, z)


def test_a_negative_size_is_refused() -> None:
    n = te.var("n")
    a = te.placeholder((n,), "f32", "A")
    exe = stepwell.compile(create_prim_func([a, te.compute((n - 2,), lambda i: a[i + 2], name="B")]))
    assert exe(np.arange(5, dtype=np.float32))[0].tolist() == [2, 3, 4]
    with pytest.raises(ArgumentError, match="result 'out', dimension 0: the size n - 2 is -1, where n is 1"):
        exe(np.zeros(1, np.float32))
    with pytest.raises(ArgumentError, match="the size n - 2 is -1, where n is 1"):
        exe.run_into([np.zeros(0, np.float32)], np.zeros(1, np.float32))


def test_a_result_that_no_memory_holds_is_refused() -> None:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, m), "f32", "A")
    exe = stepwell.compile(create_prim_func([a, te.compute((n, n, n), lambda i, j, k: te.const(1, "f32"), name="B")]))
    assert exe(np.zeros((2, 0), np.float32))[0].tolist() == np.ones((2, 2, 2)).tolist()
    for rows in (2**40, 2**17):
        with pytest.raises(ExecutionError, match=f"@main: error: no memory for result 'out' of shape {rows}x{rows}x"):
            exe(np.zeros((rows, 0), np.float32))


def test_names_of_arguments_of_programs_on_tensors_may_be_computed() -> None:
    exe = stepwell.compile("""
    func.func @main(
      %x: tensor<?xf32> {stepwell.dims = ["n"]}, %y: tensor<?xf32> {stepwell.dims = ["= 2 * n"]}
    ) -> tensor<?xf32> {
      %z = graph.concat %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      func.return %z : tensor<?xf32>
    }
    """)
    assert exe(np.zeros(2, np.float32), np.ones(4, np.float32))[0].tolist() == [0, 0, 1, 1, 1, 1]
    wanted = r"the size \(dimension 0 of argument 1\) is 3, expected 4: it is 2 \* n, where n is 2"
    with pytest.raises(OperationError, match=wanted):
        exe(np.zeros(2, np.float32), np.ones(3, np.float32))


def test_two_variables_of_one_name_are_two_sizes() -> None:
    first, second = te.var("n"), te.var("n")
    a, b = te.placeholder((first,), "f32", "A"), te.placeholder((second,), "f32", "B")
    exe = stepwell.compile(create_prim_func([a, b, te.compute((first, second), lambda i, j: a[i] + b[j], name="C")]))
    assert exe(np.zeros(2, np.float32), np.ones(3, np.float32))[0].shape == (2, 3)


@st.composite
def sizes(draw: st.DrawFn, names: tuple[te.Var, ...]) -> te.Expr | int:
    """Draws a size that is not negative where the variables are not."""
    return draw(
        st.recursive(
            st.sampled_from(names) | st.integers(1, 3).map(lambda number: te.const(number, "index")),
            lambda inner: st.one_of(
                st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
                st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
                st.tuples(inner, inner).map(lambda pair: te.maximum(pair[0], pair[1])),
                st.tuples(inner, inner).map(lambda pair: te.minimum(pair[0], pair[1])),
                st.tuples(inner, st.integers(1, 3)).map(lambda pair: pair[0] // pair[1]),
                st.tuples(inner, st.integers(1, 3)).map(lambda pair: pair[0] % pair[1]),
            ),
            max_leaves=4,
        )
    )


@given(data=st.data(), n=st.integers(0, 4), m=st.integers(0, 4))
def test_results_have_the_sizes_that_tensor_expressions_say(data: st.DataObject, n: int, m: int) -> None:
    names = te.var("n"), te.var("m")
    size = data.draw(sizes(names))
    a, b = te.placeholder((names[0],), "f32", "A"), te.placeholder((names[1],), "f32", "B")
    c = te.compute((size,), lambda i: te.cast("f32", te.cast("i64", i)), name="C")
    exe = stepwell.compile(create_prim_func([a, b, c]), opt_level=0, cache=False)
    (found,) = exe(np.zeros(n, np.float32), np.zeros(m, np.float32))
    (wanted,) = te.evaluate([c], {a: np.zeros(n, np.float32), b: np.zeros(m, np.float32)})
    np.testing.assert_array_equal(found, wanted)
    base = np.full(len(wanted) + 3, GUARD, np.float32)
    exe.run_into([base[: len(wanted)]], np.zeros(n, np.float32), np.zeros(m, np.float32))
    assert base[len(wanted) :].tolist() == [GUARD] * 3
    for count in (len(wanted) - 1, len(wanted) + 1):
        if count >= 0:
            with pytest.raises(ArgumentError, match=f"in 'out' (is|and) .*|and {count} in 'out'"):
                exe.run_into([base[:count]], np.zeros(n, np.float32), np.zeros(m, np.float32))


# Strides

COPY = """
tensor_loop.func @main(%A: TYPE) outs(%B: TYPE) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : TYPE
  %m = memref.dim %A, %c1 : TYPE
  tensor_loop.grid (%i, %j) in (%n, %m) {
    tensor_loop.block "copy" spatial(%vi in %n = %i, %vj in %m = %j) {
      %a = memref.load %A[%vi, %vj] : TYPE
      memref.store %a, %B[%vi, %vj] : TYPE
    }
  }
}
"""

MATRIX = np.arange(24, dtype=np.float32).reshape(4, 6)
VIEWS = [MATRIX, MATRIX[::2], MATRIX[:, ::2], MATRIX.T, MATRIX[::-1, ::-1], MATRIX[:1, ::-1], MATRIX[:, 3:4]]


@pytest.mark.parametrize("strides", ["[?, ?]", "[?, 1]"])
def test_strides_that_a_type_knows_are_those_of_rows(strides: str) -> None:
    """An input whose strides are others than its type says is copied, an output is refused."""
    exe = stepwell.compile(COPY.replace("TYPE", f"memref<?x?xf32, strided<{strides}>>"))
    for view in VIEWS:
        np.testing.assert_array_equal(exe(view)[0], view)
        base = np.zeros(view.size * 4, np.float32)
        out = base.reshape(view.shape[0], view.shape[1], 2, 2)[:, :, 0, 0]
        if strides == "[?, ?]" or view.shape[1] == 1:
            exe.run_into([out], view)
            np.testing.assert_array_equal(out, view)
        else:
            with pytest.raises(ArgumentError, match="output 'B' cannot be written in place"):
                exe.run_into([out], view)
            assert not base.any()


def test_outputs_that_overlap_themselves_are_refused() -> None:
    exe = stepwell.compile(COPY.replace("TYPE", "memref<?x?xf32, strided<[?, ?]>>"))
    base = np.zeros(24, np.float32)
    for strides in ((0, 4), (4, 0), (4, 4), (20, 4)):
        with pytest.raises(ArgumentError, match="output 'B' has elements that share memory"):
            exe.run_into([as_strided(base, (4, 6), strides)], MATRIX)
    with pytest.raises(ArgumentError, match="output 'B' shares memory with another argument"):
        exe.run_into([MATRIX], MATRIX)
    exe.run_into([as_strided(base, (4, 6), (4, 16))], MATRIX)
    np.testing.assert_array_equal(base.reshape(6, 4).T, MATRIX)


def test_a_cast_between_other_known_sizes_is_refused_by_the_pass_too() -> None:
    text = """
    func.func @f(%x: memref<4xf32>) {
      %b = "memref.cast"(%x) : (memref<4xf32>) -> memref<?xf32>
      %c = "memref.cast"(%b) : (memref<?xf32>) -> memref<5xf32>
      func.return
    }
    """
    with pytest.raises(OperationError, match="size 0 is 4 before the cast and 5 after it"):
        FlattenDynamicBuffersPass().apply(make_context(), parse(text, verify=False))
