"""If, Loop and Scan of ONNX: branches and numbers of turns that are known at import, and those that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import parser
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def imported(text: str, constants: dict[str, Array] | None = None) -> Any:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')
    return stepwell.from_onnx(model, constants=constants)


def results(module: Any, *arrays: Any) -> list[Array]:
    found = stepwell.compile(module, cache=False)(*arrays)
    return [np.asarray(each) for each in found]


IF = """g (bool c, float[2,3] x) => (float[2,3] y, float[3] z) {
  y, z = If (c) <
    then_branch = t () => (float[2,3] a, float[3] s) {
      a = Relu(x)
      axes = Constant<value = int64[1] {0}>()
      s = ReduceSum<keepdims=0>(x, axes)
    },
    else_branch = e () => (float[2,3] a, float[3] s) { a = Neg(x) s = Constant<value = float[3] {1, 2, 3}>() }
  >
}"""


def test_a_branch_at_run_time() -> None:
    module = imported(IF)
    assert str(module).count("scf.if") == 1
    executable = stepwell.compile(module, cache=False)
    y, z = executable(np.array(True), X - 2)
    assert np.array_equal(y, np.maximum(X - 2, 0)) and np.array_equal(z, (X - 2).sum(0))
    y, z = executable(np.array(False), X)
    assert np.array_equal(y, -X) and np.array_equal(z, [1, 2, 3])


def test_a_branch_that_is_known_leaves_no_trace() -> None:
    text = str(imported(IF, {"c": np.array(False)}))
    assert "scf.if" not in text and "graph.relu" not in text and "graph.negative" in text


def test_branches_of_other_types_are_refused() -> None:
    other = IF.replace("float[3] {1, 2, 3}", "float[2] {1, 2}")
    with pytest.raises(OnnxError, match=r"output 1 is tensor<3xf32> in one branch and tensor<2xf32> in the other"):
        imported(other)


# Loop

LOOP = """g (float[2,3] x) => (float[2,3] y, float[N,2,3] z) {{
  m = Constant<value = int64 {{{turns}}}>()
  t = Constant<value = bool {{1}}>()
  y, z = Loop (m, t, x) <body = b (int64 i, bool c, float[2,3] v) => (bool d, float[2,3] w, float[2,3] o) {{
    d = Identity(c)
    f = Cast<to=1>(i)
    half = Constant<value = float {{0.5}}>()
    u = Mul(v, half)
    w = Add(u, f)
    o = Sub(w, v)
  }}>
}}"""


@pytest.mark.parametrize(("turns", "loops"), [(0, 0), (1, 0), (4, 0), (200, 1)])
def test_a_number_of_turns_that_is_known(turns: int, loops: int) -> None:
    module = imported(LOOP.format(turns=turns))
    assert str(module).count("scf.for") == loops
    y, z = results(module, X)
    value, stacked = X, []
    for number in range(turns):
        after = (value * np.float32(0.5) + np.float32(number)).astype(np.float32)
        stacked.append(after - value)
        value = after
    assert np.array_equal(y, value)
    assert z.shape == (turns, 2, 3) and np.array_equal(z, np.reshape(stacked, (turns, 2, 3)))


WHILE = """g (float[2,3] x{inputs}) => (float[2,3] y, int64 n) {{
  {constants}
  zero = Constant<value = int64 {{0}}>()
  y, n = Loop (m, t, x, zero) <body = b (int64 i, bool c, float[2,3] v, int64 k) => (bool d, float[2,3] w, int64 l) {{
    one = Constant<value = int64 {{1}}>()
    l = Add(k, one)
    two = Constant<value = float {{2}}>()
    w = Mul(v, two)
    s = ReduceMax<keepdims=0>(w)
    limit = Constant<value = float {{100}}>()
    d = Less(s, limit)
  }}>
}}"""


def doubled(turns: int) -> tuple[Array, int]:
    """Until the greatest element is 100 or more."""
    value, count = X, 0
    while count < turns and (count == 0 or value.max() < 100):
        value, count = value * 2, count + 1
    return value, count


@pytest.mark.parametrize("turns", [1, 3, 50, 2000])
def test_a_condition_that_ends_the_turns(turns: int) -> None:
    constants = f"m = Constant<value = int64 {{{turns}}}>()  t = Constant<value = bool {{1}}>()"
    y, n = results(imported(WHILE.format(inputs="", constants=constants)), X)
    value, count = doubled(turns)
    assert np.array_equal(y, value) and n == count


def test_a_condition_without_a_useful_bound_is_refused() -> None:
    constants = f"m = Constant<value = int64 {{{2**63 - 1}}}>()  t = Constant<value = bool {{1}}>()"
    with pytest.raises(OnnxError, match=r"ends the turns, of which there are at most 9223372036854775807"):
        imported(WHILE.format(inputs="", constants=constants))


def test_trip_count_and_condition_at_run_time() -> None:
    module = imported(WHILE.format(inputs=", int64 m, bool t", constants=""))
    executable = stepwell.compile(module, cache=False)
    for turns, begins in ((0, True), (1, True), (3, True), (70, True), (7, False), (-1, True)):
        y, n = executable(X, np.array(turns), np.array(begins))
        value, count = doubled(turns) if begins else (X, 0)
        assert np.array_equal(y, value) and n == count, turns


def test_stacks_of_an_unknown_number_of_turns_are_refused() -> None:
    text = LOOP.format(turns=3).replace("x) =>", "x, bool t) =>").replace("  t = Constant<value = bool {1}>()\n", "")
    with pytest.raises(OnnxError, match="number of turns is computed at run time, and with it the shape of 1 outputs"):
        imported(text)
    assert results(imported(text, {"t": np.array(True)}), X)[1].shape == (3, 2, 3)


def test_a_loop_without_a_bound_is_refused() -> None:
    text = WHILE.format(inputs="", constants="t = Constant<value = bool {1}>()").replace("(m, t, x", '("", t, x')
    with pytest.raises(OnnxError, match="there is no trip count, expected the number of turns to be bounded"):
        imported(text)


def test_values_that_change_their_shape_are_refused_where_there_are_many_turns() -> None:
    text = """g (float[2] x) => (float[N] y) {{
  m = Constant<value = int64 {{{turns}}}>()
  t = Constant<value = bool {{1}}>()
  y = Loop (m, t, x) <body = b (int64 i, bool c, float[M] v) => (bool d, float[K] w) {{
    d = Identity(c)
    w = Concat<axis=0>(v, x)
  }}>
}}"""
    assert results(imported(text.format(turns=2)), X[0, :2])[0].shape == (6,)
    with pytest.raises(OnnxError, match=r"carried value 0 is tensor<2xf32> before a turn and tensor<4xf32> after it"):
        imported(text.format(turns=100_000))


# Scan

SCAN = """g (float[3] a, float[{n},3] x, float[3,{n}] u) => (float[3] y, float[3,N] z) {{
  y, z = Scan <
    num_scan_inputs=2, scan_input_axes=[0, 1], scan_input_directions=[1, 0],
    scan_output_axes=[1], scan_output_directions=[1],
    body = b (float[3] s, float[3] p, float[3] q) => (float[3] t, float[3] o) {{
      half = Constant<value = float {{0.5}}>()
      k = Mul(s, half)
      l = Add(k, p)
      t = Add(l, q)
      o = Mul(t, q)
    }}
  > (a, x, u)
}}"""


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(("steps", "loops"), [(1, 0), (5, 0), (300, 1)])
def test_scan(steps: int, loops: int) -> None:
    rng = np.random.default_rng(steps)
    x, u = (rng.standard_normal(shape).astype(np.float32) for shape in ((steps, 3), (3, steps)))
    module = imported(SCAN.format(n=steps))
    assert str(module).count("scf.for") == loops
    y, z = results(module, X[1], x, u)
    state, outputs = X[1], []
    for number in range(steps):
        state = (state * np.float32(0.5) + x[steps - 1 - number]) + u[:, number]
        outputs.append(state * u[:, number])
    np.testing.assert_allclose(y, state, rtol=1e-6)
    np.testing.assert_allclose(z, np.stack(outputs[::-1], axis=1), rtol=1e-6, atol=1e-6)
