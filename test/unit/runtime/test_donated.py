"""Arguments that a call may overwrite: results lie in their places, and are right wherever they cannot."""

from __future__ import annotations

import ctypes
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import helper
from stepwell.core.messages.diagnostics import OperationError
from stepwell.runtime.errors import ArgumentError, CompileError, ExecutionError

Array = np.ndarray[Any, Any]

PROGRAM = """
func.func @main(%cache: tensor<2x8x4xf32>, %new: tensor<2x1x4xf32>, %place: tensor<2x1x2xi64>)
    -> (tensor<2x4xf32>, tensor<2x8x4xf32>) {
  %0 = graph.scatter_nd %cache, %place, %new
      : (tensor<2x8x4xf32>, tensor<2x1x2xi64>, tensor<2x1x4xf32>) -> tensor<2x8x4xf32>
  %1 = graph.sum %0, axis = [1] : (tensor<2x8x4xf32>) -> tensor<2x4xf32>
  func.return %1, %0 : tensor<2x4xf32>, tensor<2x8x4xf32>
}
"""


@pytest.fixture(params=["fast", "slow"])
def step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> stepwell.Executable:
    """The program, called by the native function and by ctypes."""
    if request.param == "slow":
        monkeypatch.setenv("STEPWELL_FASTCALL", "0")
    return stepwell.compile(PROGRAM, donate="cache", tuning=False)


def arguments(place: int = 3) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(place)
    cache, new = random.standard_normal((2, 8, 4)), random.standard_normal((2, 1, 4))
    return cache.astype("f"), new.astype("f"), np.array([[[0, place]], [[1, place]]])


def expected(cache: Array, new: Array, places: Array) -> tuple[Array, Array]:
    after = cache.copy()
    for (batch, row), numbers in zip(places[:, 0], new[:, 0], strict=True):
        after[batch, row] = numbers
    return after.sum(1), after


def check(found: Sequence[Array], wanted: Sequence[Array]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("donated", [(), ("x",)])
def test_a_result_that_no_memory_holds(donated: tuple[str, ...]) -> None:
    exe = stepwell.compile(
        """
        func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<1099511627776x4xf32>) {
          %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = graph.broadcast_to %0, shape = [1099511627776, 4]
              : (tensor<4xf32>) -> tensor<1099511627776x4xf32>
          func.return %0, %1 : tensor<4xf32>, tensor<1099511627776x4xf32>
        }
        """,
        donate=donated,
    )
    with pytest.raises(ExecutionError, match="@main: error: no memory for result '.*1' of shape 1099511627776x4$"):
        exe(np.zeros(4, np.float32))


def test_a_result_is_the_array_that_was_given(step: stepwell.Executable) -> None:
    cache, new, place = arguments()
    wanted = expected(cache, new, place)
    found = step(cache, new, place)
    assert found[1] is cache
    check(found, wanted)
    named = step(new=new, cache=cache, place=place)
    assert named.result1 is cache


def test_a_cache_goes_from_call_to_call(step: stepwell.Executable) -> None:
    cache, wanted = np.zeros((2, 8, 4), "f"), np.zeros((2, 8, 4), "f")
    first = cache
    for place in range(8):
        _, new, at = arguments(place)
        wanted = expected(wanted, new, at)[1]
        cache = step(cache, new, at)[1]
    assert cache is first
    check([cache], [wanted])


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


UNFIT = {
    "read-only": read_only,
    "not contiguous": lambda array: np.repeat(array, 2, axis=2)[:, :, ::2],
    "not aligned": lambda array: np.frombuffer(b"x" + array.tobytes(), "f", array.size, 1).reshape(array.shape),
    "a list": lambda array: array.tolist(),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_what_cannot_be_written_is_copied(step: stepwell.Executable, kind: str) -> None:
    cache, new, place = arguments()
    wanted = expected(cache, new, place)
    given = UNFIT[kind](cache)
    before = np.array(given)
    found = step(given, new, place)
    check(found, wanted)
    assert found[1] is not given
    np.testing.assert_array_equal(given, before)


def test_an_array_that_shares_memory_with_another_one_is_copied(step: stepwell.Executable) -> None:
    """Else the call would read what it has written: the new row is one of the cache."""
    memory = np.arange(64, dtype="f")
    cache, new = memory.reshape(2, 8, 4), memory[6 * 4 : 8 * 4].reshape(2, 1, 4)
    place = np.array([[[0, 7]], [[0, 0]]])
    wanted, before = expected(cache, new.copy(), place), memory.copy()
    found = step(cache, new, place)
    check(found, wanted)
    np.testing.assert_array_equal(memory, before)


def test_neighbours_in_one_array_are_not_copied(step: stepwell.Executable) -> None:
    layers = np.ones((3, 2, 8, 4), "f")
    _, new, place = arguments()
    step(layers[1], new, place)
    assert (layers[1] != 1).any() and (layers[0] == 1).all() and (layers[2] == 1).all()


TWO = """
func.func @main(%a: tensor<4xf32> {stepwell.donated}, %b: tensor<4xf32> {stepwell.donated})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %c = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d, %c : tensor<4xf32>, tensor<4xf32>
}
"""


@pytest.mark.parametrize("fast", ["0", "1"])
def test_one_array_for_two_arguments(fast: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_FASTCALL", fast)
    program = stepwell.compile(TWO, tuning=False)
    x = np.arange(4, dtype="f")
    check(program(x, x), (-np.arange(4.0), np.exp(np.arange(4.0))))
    a, b = np.arange(4, dtype="f"), np.ones(4, "f")
    found = program(a, b)
    assert found[0] is b and found[1] is a
    check(found, (-np.ones(4), np.exp(np.arange(4.0))))


def test_a_program_that_returns_what_it_is_given() -> None:
    text = "func.func @main(%x: tensor<3xf32> {stepwell.donated}) -> (tensor<3xf32>, tensor<3xf32>) "
    program = stepwell.compile(text + "{ func.return %x, %x : tensor<3xf32>, tensor<3xf32> }", tuning=False)
    x = np.arange(3, dtype="f")
    found = program(x)
    assert found[0] is x
    check(found, (x, x))


def test_run_into_copies_to_the_outputs(step: stepwell.Executable) -> None:
    cache, new, place = arguments()
    wanted, before = expected(cache, new, place), cache.copy()
    outputs = [np.empty((2, 4), "f"), np.empty((2, 8, 4), "f")]
    step.run_into(outputs, cache, new, place)
    check(outputs, wanted)
    np.testing.assert_array_equal(cache, before)
    step.run_into([outputs[0], cache], cache, new, place)
    check([outputs[0], cache], wanted)
    with pytest.raises(ArgumentError, match="output 'result1' shares memory with another argument"):
        step.run_into([cache.reshape(-1)[:8].reshape(2, 4), cache], cache, new, place)
    with pytest.raises(ArgumentError, match="output 'result0' shares memory with another argument"):
        stepwell.compile(TWO, tuning=False).run_into([a := np.zeros(4, "f"), b := np.ones(4, "f")], a, b)
    with pytest.raises(ArgumentError, match="'main' has 2 results, found 1 output arrays"):
        step.run_into([cache], cache, new, place)


def test_arrays_that_do_not_fit(step: stepwell.Executable) -> None:
    cache, new, place = arguments()
    with pytest.raises(ArgumentError, match=r"'main' takes 3 arguments \('cache', 'new', 'place'\), found 2"):
        step(cache, new)
    with pytest.raises(ArgumentError, match="argument 'cache' has shape 2x7x4, expected tensor<2x8x4xf32>"):
        step(cache[:, :7], new, place)
    with pytest.raises(ArgumentError, match="argument 'cache' has element type float64, expected float32"):
        step(cache.astype("d"), new, place)
    with pytest.raises(ArgumentError, match=r"argument 'new' has rank 2 \(shape 1x4\), expected tensor<2x1x4xf32>"):
        step(cache, new[0], place)
    with pytest.raises(ExecutionError, match="index out of range"):
        step(cache, new, place + 8)


def test_looking_at_a_program_leaves_the_arrays_as_they_are(step: stepwell.Executable) -> None:
    cache, new, place = arguments()
    before = cache.copy()
    assert "no value diverges" in str(step.trace(cache, new, place))
    step.profile(cache, new, place, rounds=2)
    np.testing.assert_array_equal(cache, before)


@pytest.mark.parametrize("level", ["graph", "tensor_loop", "scf", "llvm"])
def test_each_stair_is_the_same_program(level: str) -> None:
    text = stepwell.compile(PROGRAM, donate="cache", tuning=False).ir(level)
    cache, new, place = arguments()
    wanted = expected(cache, new, place)
    found = stepwell.compile(text, tuning=False)(cache, new, place)
    assert found[1] is cache
    check(found, wanted)


def test_buffers_are_interpreted() -> None:
    from stepwell.core.passes.pipelines import run_pipeline
    from stepwell.core.text.parsing import make_context, parse_text

    module = parse_text(
        make_context(), PROGRAM.replace("%cache: tensor<2x8x4xf32>", "%cache: tensor<2x8x4xf32> {stepwell.donated}")
    )
    run_pipeline(make_context(), module, "lower-graph-to-loops,bufferize")
    trace = stepwell.compile(module, tuning=False).trace(*arguments())
    assert "no value diverges: 2 values" in str(trace)


def test_saved_and_pickled(tmp_path: Path) -> None:
    program = stepwell.compile(PROGRAM, donate="cache", tuning=False)
    program.save(tmp_path / "step.stepwell")
    for each in (stepwell.load(tmp_path / "step.stepwell"), pickle.loads(pickle.dumps(program))):
        cache, new, place = arguments()
        wanted = expected(cache, new, place)
        found = each(cache, new, place)
        assert found[1] is cache
        check(found, wanted)


def test_open_sizes() -> None:
    text = PROGRAM.replace("2x8x4", "2x?x4")
    program = stepwell.compile(text, donate=["c*"], tuning=False)
    cache, new, place = arguments()
    wanted = expected(cache, new, place)
    found = program(cache, new, place)
    assert found[1] is cache
    check(found, wanted)


def test_names_that_no_argument_has() -> None:
    with pytest.raises(CompileError) as raised:
        stepwell.compile(PROGRAM, donate=["cache", "past_*"])
    message = "donate is 'past_*', but no argument of @main has such a name; there are 'cache', 'new', 'place'"
    assert message in str(raised.value)
    with pytest.raises(CompileError, match=r"there are 'cache', 'new', 'place'; did you mean 'cache'\?"):
        stepwell.compile(PROGRAM, donate="cashe")


@pytest.mark.parametrize("donate", [True, 0, "", ["cache", 1], 3.5])
def test_names_that_are_none(donate: Any) -> None:
    with pytest.raises(CompileError, match="expected names of arguments, or patterns such as 'past_\\*'"):
        stepwell.compile(PROGRAM, donate=donate)


def test_a_name_as_the_text_has_it() -> None:
    cache, new, place = arguments()
    assert stepwell.compile(PROGRAM, donate="%cache", tuning=False)(cache, new, place)[1] is cache


def test_inputs_of_a_model() -> None:
    """Names may have the signs of patterns. An input whose values decide the shape is no argument."""
    nodes = [helper.make_node("Add", ["x[0]", "x[0]"], ["y"]), helper.make_node("Reshape", ["y", "shape"], ["z"])]
    types = [("x[0]", 1, (2, 3)), ("shape", 7, (1,))]
    ends = [helper.make_tensor_value_info(*each) for each in types]
    graph = helper.make_graph(nodes, "g", ends, [helper.make_tensor_value_info("z", 1, ("n",))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    with pytest.raises(CompileError, match="donate is 'shape', whose values are part of each program"):
        stepwell.compile_onnx(model, donate="shape", tuning=False)(np.ones((2, 3), "f"), np.array([6]))
    with pytest.raises(CompileError, match=r"no argument of the model has such a name; there are 'x\[0\]', 'shape'"):
        stepwell.compile_onnx(model, donate="y")
    with pytest.warns(UserWarning, match=r"argument 'x\[0\]' is donated, but no result takes its place"):
        found = stepwell.compile_onnx(model, donate="x[0]", tuning=False, cache=False)
        check(found(np.ones((2, 3), "f"), np.array([6])), [np.full(6, 2.0)])


def test_what_no_result_takes_the_place_of() -> None:
    with pytest.warns(UserWarning, match="argument 'new' is donated, but no result takes its place"):
        stepwell.compile(PROGRAM, donate=["cache", "new"], tuning=False, cache=False)


SAME = """
func.func @main(%s: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.add %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}"""


def test_where_buffers_are_not_shared_a_warning_says_so() -> None:
    """At O0 every buffer has bytes of its own, so that no result takes the place of an argument."""
    with pytest.warns(UserWarning, match="argument 's' is donated, but no result takes its place") as told:
        program = stepwell.compile(SAME, donate="s", opt_level=0, cache=False)
    assert len(told) == 1
    given = np.zeros(4, np.float32)
    assert program(given, np.ones(4, np.float32))[0] is not given


ROLES = """
func.func @main(
  %x: memref<4xf32> {{stepwell.role = "input"}}, %w: memref<3xf32> {{stepwell.role = "input"}},
  %y: memref<4xf32> {{stepwell.role = "output", stepwell.place_of = {0} : i64}},
  %z: memref<4xf32> {{stepwell.role = "output", stepwell.place_of = {1} : i64}}
) attributes {{stepwell.signature = (tensor<4xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<4xf32>)}} {{
  func.return
}}
"""


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ((2, 0), "output 'argument 2' is in the place of input 2, expected one of 2, once each"),
        ((-1, 0), "output 'argument 2' is in the place of input -1, expected one of 2, once each"),
        ((0, 0), "output 'argument 3' is in the place of input 0, expected one of 2, once each"),
        ((1, 0), "output 'argument 2' is tensor<4xf32>, expected tensor<3xf32> as input 1 is"),
    ],
)
def test_places_that_are_none(places: tuple[int, int], message: str) -> None:
    with pytest.raises(OperationError) as raised:
        stepwell.compile(ROLES.format(*places), tuning=False)
    assert message in str(raised.value)


def test_a_place_that_is_no_number() -> None:
    text = ROLES.format(0, 0).replace("stepwell.place_of = 0 : i64", 'stepwell.place_of = "x"')
    with pytest.raises(OperationError, match="'stepwell.place_of' is \"x\", expected the number of an input"):
        stepwell.compile(text, tuning=False)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("is_one", [True, False])
def test_a_caller_in_c(tmp_path: Path, is_one: bool) -> None:
    """One pointer for both, or two buffers, of which the input is left alone."""
    exported = stepwell.compile(PROGRAM, donate="cache", tuning=False).export(tmp_path / "step.so")
    header = (tmp_path / "step.h").read_text()
    assert "/* outputs[1], result1: float, 2 x 8 x 4, 256 bytes; inputs[0] may be the same array */" in header
    assert "No output may overlap another array, but for those in the place of an input." in header
    library, context = ctypes.CDLL(str(exported.code)), ctypes.c_void_p()
    assert library.step_load(None, ctypes.byref(context)) == 0
    arrays = arguments()
    wanted, before = expected(*arrays), arrays[0].copy()
    results = [np.zeros((2, 4), "f"), arrays[0] if is_one else np.zeros((2, 8, 4), "f")]
    pointers = [(ctypes.c_void_p * len(each))(*(a.ctypes.data for a in each)) for each in (arrays, results)]
    assert library.step_run(context, *pointers) == 0
    library.step_free(context)
    check(results, wanted)
    if not is_one:
        np.testing.assert_array_equal(arrays[0], before)
