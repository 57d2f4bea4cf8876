"""Models that are imported when they are called: for sizes, and for values that decide shapes or branches."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx.reference import ReferenceEvaluator
from stepwell.frontends import OnnxError
from stepwell.frontends.onnx.unsupported import UnsupportedError
from stepwell.runtime.errors import ArgumentError, CompileError

Array = np.ndarray[Any, Any]
QUICK: dict[str, Any] = {"opt_level": 1, "cache": False}


def model(
    nodes: list[Any],
    inputs: dict[str, tuple[int, Any]],
    outputs: str = "y",
    kind: int = T.FLOAT,
    **constants: Any,
) -> onnx.ModelProto:
    tensors = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    values = [h.make_tensor_value_info(name, dtype, shape) for name, (dtype, shape) in inputs.items()]
    results = [h.make_tensor_value_info(name, kind, None) for name in outputs.split()]
    graph = h.make_graph(nodes, "g", values, results, tensors)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


def branch(name: str, *nodes: Any) -> onnx.GraphProto:
    return h.make_graph(list(nodes), name, [], [h.make_tensor_value_info(name, T.FLOAT, None)])


def by_rate() -> onnx.ModelProto:
    """Rows of 4 or of 2, transposed for one of the two: branches of different rank and shape."""
    four = branch("a", node("Reshape", "x rows4", "a"))
    two = branch("b", node("Reshape", "x rows2", "r"), node("ReduceSum", "r one", "b", keepdims=0))
    nodes = [
        node("Equal", "rate high", "c"),
        h.make_node("If", ["c"], ["y"], then_branch=four, else_branch=two),
    ]
    return model(
        nodes,
        {"x": (T.FLOAT, ["n"]), "rate": (T.INT64, [])},
        high=np.array(16000),
        rows4=np.array([-1, 4]),
        rows2=np.array([-1, 2]),
        one=np.array([1]),
    )


def agree(proto: onnx.ModelProto, exe: Any, *arrays: Array) -> list[Array]:
    names = [info.name for info in proto.graph.input]
    expected = ReferenceEvaluator(proto).run(None, dict(zip(names, arrays, strict=True)))
    found = exe(*arrays)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    return list(found)


X = np.arange(16, dtype=np.float32)


def test_a_value_that_picks_a_branch_is_part_of_the_program() -> None:
    proto = by_rate()
    exe = stepwell.compile_onnx(proto, **QUICK)
    assert agree(proto, exe, X, np.array(16000))[0].shape == (4, 4)
    assert agree(proto, exe, X, np.array(8000))[0].shape == (8,)
    assert agree(proto, exe, X[:8], np.array(8000))[0].shape == (4,)
    assert exe.value_inputs == ("rate",)
    assert [each.shapes for each in exe.specialisations] == [
        ((16,), ("= 16000",)),
        ((16,), ("= 8000",)),
        ((8,), ("= 8000",)),
    ]
    agree(proto, exe, X, np.array(16000))
    assert str(next(iter(exe.specialisations))).startswith("16, = 8000: ready after ")


def test_the_branch_not_taken_need_not_be_possible() -> None:
    fits = branch("a", node("Reshape", "x rows3", "a"))
    other = branch("b", node("Reshape", "x rows5", "b"))
    nodes = [h.make_node("If", ["wide"], ["y"], then_branch=fits, else_branch=other)]
    inputs = {"x": (T.FLOAT, ["n"]), "wide": (T.BOOL, [])}
    proto = model(nodes, inputs, rows3=np.array([-1, 3]), rows5=np.array([-1, 5]))
    exe = stepwell.compile_onnx(proto, **QUICK)
    agree(proto, exe, X[:12], np.array(True))
    agree(proto, exe, X[:10], np.array(False))
    with pytest.raises(OnnxError, match="Reshape"):
        exe(X[:10], np.array(True))


VALUES: dict[str, tuple[onnx.ModelProto, list[list[Array]]]] = {
    "reshape": (
        model([node("Reshape", "x s", "y")], {"x": (T.FLOAT, ["n"]), "s": (T.INT64, ["r"])}),
        [[X, np.array([2, 8])], [X, np.array([2, 2, -1])], [X[:6], np.array([2, -1])]],
    ),
    "top k": (
        model([node("TopK", "x k", "y i")], {"x": (T.FLOAT, ["n"]), "k": (T.INT64, [1])}),
        [[X, np.array([3])], [X[:5], np.array([2])]],
    ),
    "range": (
        model(
            [node("Range", "zero n one", "y")],
            {"n": (T.INT64, [])},
            kind=T.INT64,
            zero=np.array(0),
            one=np.array(1),
        ),
        [[np.array(3)], [np.array(7)]],
    ),
    "range of 16 bits": (
        model([node("Range", "a b c", "y")], {name: (T.INT16, []) for name in "abc"}, kind=T.INT16),
        [[np.array(each, np.int16) for each in numbers] for numbers in ((1, 9, 2), (5, -4, -3))],
    ),
    "slice": (
        model(
            [node("Slice", "x b e", "y")],
            {"x": (T.FLOAT, ["n", 2]), "b": (T.INT64, [1]), "e": (T.INT64, [1])},
        ),
        [[X.reshape(8, 2), np.array([1]), np.array([3])], [X.reshape(8, 2), np.array([-3]), np.array([9])]],
    ),
    "stacked turns": (
        model(
            [
                h.make_node(
                    "Loop",
                    ["n", "on", "x"],
                    ["last", "y"],
                    body=h.make_graph(
                        [
                            node("Identity", "on", "still"),
                            node("Add", "v v", "w"),
                            node("Identity", "w", "out"),
                        ],
                        "turn",
                        [
                            h.make_tensor_value_info("number", T.INT64, []),
                            h.make_tensor_value_info("was_on", T.BOOL, []),
                            h.make_tensor_value_info("v", T.FLOAT, [2]),
                        ],
                        [
                            h.make_tensor_value_info("still", T.BOOL, []),
                            h.make_tensor_value_info("w", T.FLOAT, [2]),
                            h.make_tensor_value_info("out", T.FLOAT, [2]),
                        ],
                    ),
                )
            ],
            {"n": (T.INT64, []), "x": (T.FLOAT, [2])},
            on=np.array(True),
        ),
        [[np.array(3), X[:2]], [np.array(1), X[2:4]]],
    ),
}


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("name", VALUES)
def test_values_that_decide_shapes(name: str) -> None:
    proto, calls = VALUES[name]
    exe = stepwell.compile_onnx(proto, **QUICK)
    for arrays in calls:
        agree(proto, exe, *arrays)
    assert exe.value_inputs


def test_inputs_of_data_are_no_values() -> None:
    proto = model([node("Add", "x k", "y")], {"x": (T.INT64, ["n"]), "k": (T.INT64, [])}, kind=T.INT64)
    exe = stepwell.compile_onnx(proto, **QUICK)
    for k in (1, 2, 3):
        agree(proto, exe, np.arange(4), np.array(k))
    assert (exe.value_inputs, len(exe.specialisations)) == ((), 1)


def test_values_that_are_named_are_taken_from_each_call() -> None:
    proto = model(
        [node("Resize", "x nothing scales", "y", mode="nearest")],
        {"x": (T.FLOAT, [1, 1, "n", "m"]), "scales": (T.FLOAT, [4])},
        nothing=np.zeros(0, np.float32),
    )
    image, scales = X.reshape(1, 1, 4, 4), np.array([1, 1, 2, 1], np.float32)
    with pytest.raises(OnnxError, match=r"values=\['scales'\]"):
        stepwell.compile_onnx(proto, **QUICK)(image, scales)
    exe = stepwell.compile_onnx(proto, values=["scales"], **QUICK)
    agree(proto, exe, image, scales)
    agree(proto, exe, image, np.array([1, 1, 1, 3], np.float32))
    with pytest.raises(
        OnnxError, match="there is no input 'scale' whose values to take\nhint: inputs are 'x', 'scales'"
    ):
        stepwell.compile_onnx(proto, values=["scale"])


def test_a_model_of_known_sizes_is_compiled_at_once() -> None:
    proto = model([node("Relu", "x", "y")], {"x": (T.FLOAT, [3])})
    exe = stepwell.compile_onnx(proto, **QUICK)
    assert len(exe.specialisations) == 1
    agree(proto, exe, X[:3] - 1)
    assert len(exe.specialisations) == 1
    with pytest.raises(UnsupportedError):
        stepwell.compile_onnx(model([node("Bend", "x", "y")], {"x": (T.FLOAT, ["n"])}))


def test_ranks_need_not_be_declared() -> None:
    proto = model([node("Softmax", "x", "y")], {"x": (T.FLOAT, None)})
    exe = stepwell.compile_onnx(proto, **QUICK)
    agree(proto, exe, X)
    agree(proto, exe, X.reshape(4, 4))
    assert exe.input_types == (("x", None),) and "x: tensor<*xf32>" in repr(exe)
    with pytest.raises(OnnxError, match="'x' has no declared rank\nhint: .*compile_onnx"):
        stepwell.from_onnx(proto)


def test_sizes_and_values_that_are_fixed() -> None:
    proto = by_rate()
    exe = stepwell.compile_onnx(proto, constants={"rate": np.array(16000)}, dims={"n": 8}, **QUICK)
    assert len(exe.specialisations) == 1
    assert exe(X[:8])[0].shape == (2, 4)
    with pytest.raises(OnnxError, match="there is no size 'm' to give a value"):
        stepwell.compile_onnx(proto, dims={"m": 8})


def test_arguments_are_checked() -> None:
    inputs = {"x": (T.FLOAT, ["n", 2]), "z": (T.FLOAT, ["n", 2])}
    exe = stepwell.compile_onnx(model([node("Add", "x z", "y")], inputs), **QUICK)
    rows = X.reshape(8, 2)
    for arrays, message in (
        ((rows,), r"the model takes 2 arguments \('x', 'z'\), found 1"),
        ((rows, "3"), r"argument 'z' is a str, expected a numpy array of type tensor<\?x2xf32>"),
        ((rows, X), r"argument 'z' has rank 1 \(shape 16\), expected tensor<\?x2xf32>"),
        ((rows, rows[:1]), "dimension 'n' is 8 in 'x' and 1 in 'z'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            exe(*arrays)
    assert len(exe.specialisations) == 0


def test_the_program_behind_a_call(tmp_path: Path) -> None:
    exe = stepwell.compile_onnx(by_rate(), **QUICK)
    program = exe.specialised(X, np.array(8000))
    assert program.signature == "main(x: tensor<16xf32>) -> (y: tensor<8xf32>)"
    np.testing.assert_array_equal(program(X)[0], exe(X, np.array(8000))[0])
    program.export(tmp_path / "net.o")
    assert (tmp_path / "net.h").exists()
    out = np.zeros(8, np.float32)
    exe.run_into([out], X, np.array(8000))
    np.testing.assert_array_equal(out, X.reshape(8, 2).sum(1))


def test_weights_are_those_of_the_model_for_every_size() -> None:
    w = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    proto = model([node("MatMul", "x w", "y")], {"x": (T.FLOAT, ["n", 40])}, w=w)
    exe = stepwell.compile_onnx(proto, **QUICK)
    for rows in (1, 3):
        x = np.random.default_rng(rows).standard_normal((rows, 40)).astype(np.float32)
        np.testing.assert_allclose(exe(x)[0], x @ w, rtol=1e-4, atol=1e-4)


def test_pickles_and_threads() -> None:
    proto = by_rate()
    exe = pickle.loads(pickle.dumps(stepwell.compile_onnx(proto, **QUICK)))
    calls = [(X, np.array(16000)), (X, np.array(8000)), (X[:8], np.array(16000))] * 2
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda arrays: exe(*arrays)[0], calls))
    assert [each.shape for each in found] == [(4, 4), (8,), (2, 4)] * 2
    assert len(exe.specialisations) == 3


def test_errors_say_what_to_give() -> None:
    with pytest.raises(OnnxError) as caught:
        stepwell.from_onnx(by_rate())
    assert str(caught.value.diagnostic.message).endswith("expected one type")
    assert caught.value.diagnostic.hint == (
        "the value of 'rate' decides this: give it for good with --bind rate=… (in Python constants=), "
        "or with each call: stepwell.compile_onnx"
    )
    assert caught.value.inputs == ("rate",)
    squeezed = model([node("Squeeze", "x", "y")], {"x": (T.FLOAT, [3, "n", "?"])})
    with pytest.raises(OnnxError) as caught:
        stepwell.from_onnx(squeezed)
    assert caught.value.diagnostic.hint == (
        "the sizes n, x:2 are open: give them for good with --dim n=… --dim x:2=… (in Python dims=), "
        "or with each call: stepwell.compile_onnx"
    )
    exe = stepwell.compile_onnx(squeezed, **QUICK)
    agree(squeezed, exe, X[:3].reshape(3, 1, 1))
    agree(squeezed, exe, X[:6].reshape(3, 1, 2))


def test_an_imported_model_is_found_in_the_compile_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each import writes the weights to a file of another name."""
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path))
    weight = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    x = np.ones((2, 40), np.float32)
    for values, programs in ((weight, 1), (weight, 1), (weight + 1, 2)):
        source = stepwell.from_onnx(model([node("MatMul", "x w", "y")], {"x": (T.FLOAT, [2, 40])}, w=values))
        found = stepwell.compile(source, threads=1)(x)[0]
        np.testing.assert_allclose(found, x @ values, rtol=1e-4, atol=1e-4)
        assert len(list(tmp_path.glob("*.bin"))) == programs


def linear(sizes: list[Any]) -> tuple[onnx.ModelProto, Array]:
    w = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
    nodes = [node("MatMul", "x w", "logits/0"), node("Relu", "logits/0", "probs")]
    return model(nodes, {"x": (T.FLOAT, sizes)}, outputs="logits/0 probs", w=w), w


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("size", [4, "n"])
def test_a_model_is_an_executable_as_any_other(tmp_path: Path, size: Any) -> None:
    proto, w = linear([size, 40])
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    exe = stepwell.compile(tmp_path / "m.onnx", opt_level=1)
    assert isinstance(exe, stepwell.Executable)
    shown = "?" if size == "n" else size
    x = np.random.default_rng(1).standard_normal((4, 40)).astype(np.float32)
    want, shapes = x @ w, None if size == 4 else ((4, 40),)
    assert exe.signature.startswith(f"main(x: tensor<{shown}x40xf32>) -> (logits/0: tensor<")
    for result in (exe(x=x), exe(x), exe(x.tolist()) if size == 4 else exe(x)):
        np.testing.assert_allclose(result["logits/0"], want, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(result.probs, np.maximum(result["logits/0"], 0))
    assert "graph.matmul" in exe.ir("graph") and "llvm.func" in exe.ir("llvm", shapes)
    assert exe.memory_for(shapes).arena_bytes >= 0
    assert "matmul" in str(exe.profile(x, rounds=1)) and exe.trace(x).first is None
    exe.export(tmp_path / "m.o", shapes=shapes)
    assert "logits/0" in (tmp_path / "m.h").read_text() and "M_OUTPUT_PROBS 1" in (tmp_path / "m.h").read_text()
    assert len(exe.specialisations) == 1 and len(exe.programs()) == 1
    for _ in range(2):
        for wrong in ((x, x), (), (x.astype(np.float64),), (x[:, :3],)):
            with pytest.raises(ArgumentError):
                exe(*wrong)


@pytest.mark.parametrize("size", [4, "n"])
def test_models_are_saved_and_pickled_with_all_they_need(
    tmp_path: Path, size: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proto, w = linear([size, 40])
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    exe = stepwell.compile_onnx(tmp_path / "m.onnx", opt_level=1)
    x = np.ones((4, 40), np.float32)
    want = exe(x).probs
    exe.save(tmp_path / "m.stepwell")
    data = pickle.dumps(exe)
    (tmp_path / "m.onnx").unlink()
    for other in (
        pickle.loads(data),
        stepwell.load(tmp_path / "m.stepwell"),
        stepwell.load(tmp_path / "m.stepwell", trust_code=True),
    ):
        np.testing.assert_allclose(other(x=x).probs, want, rtol=1e-5)
        assert other.output_types[1][0] == "probs"
        if size == "n":
            np.testing.assert_allclose(other(x[:1])["probs"], want[:1], rtol=1e-5)


def test_methods_that_need_one_program_say_so(tmp_path: Path) -> None:
    exe = stepwell.compile_onnx(by_rate(), **QUICK)
    with pytest.raises(CompileError, match=r"takes arrays of unknown sizes \(\?\): give shapes=, one per input"):
        exe.export(tmp_path / "m.o")
    exe(X, np.array(8000))
    with pytest.raises(CompileError, match="the program depends on the values of 'rate', not on shapes alone"):
        _ = exe.memory_for(((16,), ()))
    with pytest.raises(ArgumentError, match="argument 'rate' has element type int32, expected int64"):
        exe(X, np.array(8000, np.int32))
    with pytest.raises(OnnxError, match="expected one type"):
        exe.save(tmp_path / "m.stepwell")


def test_a_program_is_prepared_before_a_call() -> None:
    proto, w = linear(["n", 40])
    exe = stepwell.compile_onnx(proto, **QUICK)
    exe.prepare(((4, 40),))
    assert [each.shapes for each in exe.specialisations] == [((4, 40),)]
    x = np.ones((4, 40), np.float32)
    np.testing.assert_allclose(exe(x)["logits/0"], x @ w, rtol=1e-4)
    exe.prepare(((4, 40),))
    assert len(exe.specialisations) == 1
    with pytest.raises(ArgumentError, match="the model takes 1 argument"):
        exe.prepare(((4, 40), (3,)))
    static = stepwell.compile_onnx(linear([4, 40])[0], **QUICK)
    static.prepare(((4, 40),))
    assert len(static.programs()) == 1


@pytest.mark.parametrize("size", [4, "n"])
@pytest.mark.parametrize("called", [True, False])
def test_arguments_that_a_call_overwrites_are_copied_apart(size: Any, called: bool) -> None:
    nodes = [node("Add", "s x", "y"), node("Reshape", "x shape", "z")]
    proto = model(nodes, {"shape": (T.INT64, [2]), "s": (T.FLOAT, [size]), "x": (T.FLOAT, [size])}, outputs="y z")
    exe = stepwell.compile_onnx(proto, donate="s", **QUICK)
    shape, s, x = np.array([2, 2]), np.zeros(4, np.float32), np.ones(4, np.float32)
    if called:
        exe(shape, s.copy(), x)
    given = exe.apart(shape, s, x)
    assert given[0] is shape and given[1] is not s and given[2] is x
    np.testing.assert_array_equal(exe(*given).y, np.ones(4))
    np.testing.assert_array_equal(s, np.zeros(4))
