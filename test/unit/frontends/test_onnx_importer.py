"""What becomes of a model as a whole: names, places, weights, sizes, functions, the order of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx_broken_models import info, model, node, sound, tensor
from stepwell.core.messages.diagnostics import listening, render
from stepwell.core.roles import DIMS, NAME, WEIGHTS
from stepwell.frontends import OnnxError, from_onnx
from stepwell.reference.run import run as run_reference
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


def function(module: ModuleOp) -> FuncOp:
    (found,) = [op for op in module.ops if isinstance(op, FuncOp)]
    return found


def ops(module: ModuleOp) -> list[str]:
    return [op.name for op in function(module).body.block.ops][:-1]


def run(module: ModuleOp, *arrays: Any) -> list[Any]:
    return list(stepwell.compile(module, cache=False)(*arrays))


def error(source: Any, **options: Any) -> str:
    with pytest.raises(OnnxError) as caught:
        from_onnx(source, **options)
    return str(caught.value)


# What the model says of its values


@pytest.mark.parametrize("shape", [(2, 4), (2, 3, 1), (6,)])
def test_a_declared_shape_that_no_node_gives_is_a_warning(shape: tuple[int, ...]) -> None:
    """AUDIT D11: exporters leave shapes from before their last changes, and onnxruntime goes on too."""
    declared = f"tensor<{'x'.join(map(str, shape))}xf32>"
    message = f"warning: model '.*': 'y' is declared as {declared}, but its node gives tensor<2x3xf32>, which holds$"
    with pytest.warns(UserWarning, match=message):
        module = from_onnx(model(outputs=[info("y", shape)]))
    assert str(function(module).function_type.outputs.data[0]) == "tensor<2x3xf32>"


def test_one_warning_tells_of_all_declared_shapes() -> None:
    nodes = [node("Relu", "x", "a"), node("Relu", "a", "b"), node("Neg", "b", "y")]
    heard: list[str] = []
    with listening(lambda diagnostic: heard.append(render(diagnostic))):
        module = from_onnx(model(nodes, infos=[info("a", (7, 7)), info("b", (1,))]))
    (text,) = heard
    assert "'a' is declared as tensor<7x7xf32>, but its node gives tensor<2x3xf32>, which holds (and 1 more" in text
    np.testing.assert_array_equal(run(module, X)[0], -np.maximum(X, 0))


# Sources


def test_a_file_its_bytes_and_a_loaded_model_are_the_same(tmp_path: Path) -> None:
    made = sound()
    path = tmp_path / "net.onnx"
    path.write_bytes(made.SerializeToString())
    texts = {str(function(from_onnx(each))) for each in (path, str(path), path.read_bytes(), made)}
    assert len(texts) == 1


def test_the_model_that_is_given_stays_as_it_is() -> None:
    made = model([node("Relu", "h", "y"), node("Neg", "x", "h")], tensors=[tensor("w", [1, 2])])
    before = made.SerializeToString()
    from_onnx(made)
    assert made.SerializeToString() == before


def test_the_package_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def without_onnx(name: str, *rest: Any) -> Any:
        if name == "onnx":
            raise ImportError("no module named onnx")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    text = error("net.onnx")
    assert "model 'net.onnx': the package 'onnx' is not installed" in text
    assert text.endswith("hint: install it with: pip install onnx")


# Names and places


def test_values_keep_their_names() -> None:
    nodes = [node("Relu", "/in.1", "/layer.0/act:out"), node("Neg", "/layer.0/act:out", "y")]
    text = str(from_onnx(model(nodes, inputs=[info("/in.1")])))
    assert "%layer.0_act_out = graph.relu %in.1" in text
    assert f'{NAME} = "/in.1"' in text
    assert f'{NAME} = "y"' in text


def test_names_that_become_the_same_stay_apart() -> None:
    nodes = [node("Relu", "x", "a/b"), node("Neg", "a/b", "a:b"), node("Add", "a/b a:b", "y")]
    module = from_onnx(model(nodes))
    (found,) = run(module, X)
    np.testing.assert_array_equal(found, np.maximum(X, 0) - np.maximum(X, 0))


@pytest.mark.parametrize("name", ["", "/", "1", "日本"])
def test_names_of_all_kinds(name: str) -> None:
    name = name or "é è"
    nodes = [h.make_node("Relu", ["x"], [name]), h.make_node("Neg", [name], ["y"])]
    text = str(from_onnx(model(nodes)))
    from stepwell.core.text.parsing import parse

    assert ops(parse(text)) == ["graph.relu", "graph.negative"]


def test_ops_are_located_at_their_nodes(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    nodes = [node("Relu", "x", "a", "first"), node("Neg", "a", "y")]
    path.write_bytes(model(nodes).SerializeToString())
    locations = [str(op.location) for op in function(from_onnx(path)).body.block.ops]
    assert locations[0] == f'loc("first"("Relu"("{path}":1:1)))'
    assert locations[1] == f'loc("Neg_2"("Neg"("{path}":2:1)))'


def test_entry_names_the_function() -> None:
    assert function(from_onnx(sound(), entry="net")).sym_name.data == "net"


# Order, functions, versions


def test_nodes_out_of_order_are_sorted() -> None:
    nodes = [node("Relu", "b", "y"), node("Neg", "a", "b"), node("Abs", "x", "a")]
    assert ops(from_onnx(model(nodes))) == ["graph.abs", "graph.negative", "graph.relu"]


def test_a_long_chain_is_no_recursion() -> None:
    count = 3000
    names = ["x", *(f"h{number}" for number in range(count - 1)), "y"]
    nodes = [node("Relu", names[n], names[n + 1]) for n in reversed(range(count))]
    assert len(ops(from_onnx(model(nodes)))) == count


@pytest.mark.parametrize("version", [20, 13])
def test_functions_of_the_model(version: int) -> None:
    """A function written for another version of the operators is converted."""
    opsets = [h.make_opsetid("", version), h.make_opsetid("com.acme", 1)]
    body = [node("Neg", "a", "c"), node("LeakyRelu", "c", "b")]
    body[1].attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    made = model([node("F", "x", "y", "call", domain="com.acme", slope=0.5)])
    made.opset_import.append(opsets[1])
    made.functions.append(h.make_function("com.acme", "F", ["a"], ["b"], body, opsets, ["slope"]))
    (found,) = run(from_onnx(made), X)
    np.testing.assert_allclose(found, np.where(-X < 0, -X / 2, -X))


# Weights


def test_large_initialisers_are_weights(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(3, 500)).astype(np.float32)
    nodes = [node("MatMul", "x w", "h"), node("Add", "h bias", "y")]
    tensors = [tensor("w", matrix), tensor("bias", np.ones(500))]
    made = model(nodes, outputs=[info("y", (2, 500))], tensors=tensors)
    path = tmp_path / "net.safetensors"
    module = from_onnx(made, weights=path)
    assert ops(module) == ["graph.weight", "graph.constant", "graph.matmul", "graph.add"]
    assert module.attributes[WEIGHTS].data == str(path)  # pyright: ignore[reportAttributeAccessIssue]
    assert path.stat().st_size > matrix.nbytes
    for found in (run(module, X)[0], run_reference(module, "main", X, weights={"w": matrix})[0]):
        np.testing.assert_allclose(found, X @ matrix + 1, rtol=1e-5, atol=1e-5)


def test_without_large_initialisers_nothing_is_written(tmp_path: Path) -> None:
    module = from_onnx(sound(), weights=tmp_path / "net.safetensors")
    assert WEIGHTS not in module.attributes and not list(tmp_path.iterdir())


def test_an_initialiser_that_is_an_input_is_no_argument() -> None:
    made = model([node("Mul", "x w", "y")], inputs=[info("x"), info("w", ())], tensors=[tensor("w", 3)])
    (found,) = run(from_onnx(made), X)
    np.testing.assert_array_equal(found, X * 3)


def test_a_shared_initialiser_is_one_weight(tmp_path: Path) -> None:
    square = np.eye(40, dtype=np.float32)
    nodes = [node("MatMul", "x w", "h"), node("MatMul", "h w", "y")]
    ends = [info(name, (2, 40)) for name in "xy"]
    module = from_onnx(model(nodes, inputs=ends[:1], outputs=ends[1:], tensors=[tensor("w", square)]))
    assert ops(module).count("graph.weight") == 1


@pytest.mark.parametrize("dtype", [T.FLOAT16, T.BFLOAT16, T.BOOL, T.UINT32, T.INT8, T.DOUBLE, T.INT64])
@pytest.mark.parametrize("raw", [True, False])
def test_element_types_of_initialisers(dtype: int, raw: bool) -> None:
    values = [0, 1, 1, 0]
    if raw:
        array = np.array(values).astype(h.tensor_dtype_to_np_dtype(dtype))
        stored = h.make_tensor("w", dtype, [4], array.tobytes(), raw=True)
    else:
        stored = h.make_tensor("w", dtype, [4], values)
    made = model([node("Cast", "w", "y", to=T.FLOAT)], inputs=[], outputs=[info("y", (4,))], tensors=[stored])
    np.testing.assert_array_equal(run(from_onnx(made))[0], np.array(values, np.float32))


# Sizes that are not known, inputs with a value


def dynamic() -> onnx.ModelProto:
    shape = ["batch", None]
    return model(inputs=[info("x", shape)], outputs=[info("y", shape)])


def test_sizes_stay_open_with_their_names() -> None:
    found = function(from_onnx(dynamic()))
    assert str(found.function_type) == "(tensor<?x?xf32>) -> tensor<?x?xf32>"
    assert found.arg_attrs is not None
    assert str(found.arg_attrs.data[0].data[DIMS]) == '["batch", ""]'


def test_sizes_are_given_by_name_or_place() -> None:
    found = function(from_onnx(dynamic(), dims={"batch": 4, "x:1": 5}))
    assert str(found.function_type) == "(tensor<4x5xf32>) -> tensor<4x5xf32>"


def test_an_extent_of_minus_one_is_open() -> None:
    found = function(from_onnx(model(inputs=[info("x", (-1, 3))], outputs=[info("y", (-1, 3))])))
    assert str(found.function_type) == "(tensor<?x3xf32>) -> tensor<?x3xf32>"


def test_a_size_that_is_not_there() -> None:
    text = error(dynamic(), dims={"bach": 1})
    assert text.endswith("there is no size 'bach' to give a value\nhint: sizes are 'x:0', 'batch', 'x:1'")


def test_a_size_that_cannot_be() -> None:
    assert error(dynamic(), dims={"batch": -2}).endswith("'x' has extent -2 in dimension 0, expected 0 to 2^40")


def test_inputs_with_a_value_are_no_arguments() -> None:
    made = model(
        [node("Reshape", "x s", "y")],
        inputs=[info("x"), info("s", (2,), T.INT64)],
        outputs=[info("y", (3, 2))],
    )
    (found,) = run(from_onnx(made, constants={"s": np.array([3, -1])}), X)
    np.testing.assert_array_equal(found, X.reshape(3, 2))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("z", X, "there is no input 'z' to give a value\nhint: inputs are 'x'"),
        ("x", X[0], "the value given to input 'x' is tensor<3xf32>, expected tensor<2x3xf32>"),
        ("x", X.astype(int), "the value given to input 'x' is tensor<2x3xi64>, expected tensor<2x3xf32>"),
    ],
)
def test_a_value_that_does_not_fit(name: str, value: Any, message: str) -> None:
    assert error(model(), constants={name: value}).endswith(message)


# Optional inputs and outputs, unused nodes


def test_inputs_and_outputs_that_are_left_out() -> None:
    clip = h.make_node("Clip", ["x", "", "top"], ["h"])
    pool = h.make_node("Dropout", ["h"], ["y", ""])
    (found,) = run(from_onnx(model([clip, pool], tensors=[tensor("top", 3)])), X)
    np.testing.assert_array_equal(found, np.minimum(X, 3))


def test_an_output_that_is_an_input_or_an_initialiser() -> None:
    made = model(outputs=[info("x"), info("w", (2,)), info("y")], tensors=[tensor("w", [1, 2])])
    found = run(from_onnx(made), X)
    for each, wanted in zip(found, (X, [1, 2], np.maximum(X, 0)), strict=True):
        np.testing.assert_array_equal(each, wanted)


def test_progress_counts_the_nodes() -> None:
    seen: list[tuple[int, int]] = []
    nodes = [node("Relu", "x", "a"), node("Neg", "a", "b"), node("Abs", "b", "y")]
    from_onnx(model(nodes), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
