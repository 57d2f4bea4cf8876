"""ONNX models whose sizes are not known at import: against the evaluator of onnx, interpreted and natively."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from stepwell import reference
from stepwell.frontends import OnnxError
from xdsl.utils.exceptions import DiagnosticException

Array = np.ndarray[Any, Any]
Inputs = dict[str, tuple[int, list[Any]]]

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
OPSET = 18


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def model(
    nodes: list[NodeProto],
    inputs: Inputs,
    output: str,
    dtype: int = FLOAT,
    opset: int = OPSET,
    **constants: Any,
) -> ModelProto:
    """A model of nodes with constants by name; the shape of its output is not declared."""
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    values = [helper.make_tensor_value_info(name, dtype, shape) for name, (dtype, shape) in inputs.items()]
    result = helper.make_tensor_value_info(output, dtype, None)
    graph = helper.make_graph(nodes, "g", values, [result], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def arrays(proto: ModelProto, sizes: dict[str, int], seed: int = 0) -> list[Array]:
    """Inputs of these sizes: floats, or integers below 4."""
    random = np.random.default_rng(seed)
    found: list[Array] = []
    for info in proto.graph.input:
        tensor = info.type.tensor_type
        shape = [dim.dim_value or sizes[dim.dim_param] for dim in tensor.shape.dim]
        if tensor.elem_type == FLOAT:
            found.append(random.standard_normal(shape).astype(np.float32))
        else:
            found.append(random.integers(0, 4, shape))
    return found


def check(proto: ModelProto, *sizes: dict[str, int], native: int = 1) -> str:
    """The model is right for all these sizes, of which the first `native` ones are compiled. Returns its IR."""
    module = stepwell.from_onnx(proto)
    exe = stepwell.compile(module, opt_level=1)
    for number, each in enumerate(sizes):
        given = arrays(proto, each, number)
        names = [info.name for info in proto.graph.input]
        expected = ReferenceEvaluator(proto).run(None, dict(zip(names, given, strict=True)))
        found = [reference.run(module, "main", *given)]
        if number < native:
            found.append(exe(*given))
        for results in found:
            assert results[0].dtype == expected[0].dtype and results[0].shape == expected[0].shape
            np.testing.assert_allclose(results[0], expected[0], rtol=1e-4, atol=1e-5)
    return str(module)


X: Inputs = {"x": (FLOAT, ["n", 6])}
XY: Inputs = {"x": (FLOAT, ["n", "m"])}
SMALL, LARGE = {"n": 3, "m": 4}, {"n": 5, "m": 2}

CASES: dict[str, ModelProto] = {
    "reshape": model(
        [
            node("Shape", "x", "s"),
            node("Gather", "s zero", "n"),
            node("Concat", "n rest", "t", axis=0),
            node("Reshape", "x t", "y"),
        ],
        XY | {"x": (FLOAT, ["n", "m", 2, 3])},
        "y",
        zero=np.array([0]),
        rest=np.array([-1, 6]),
    ),
    "reshape to two sizes": model(
        [
            node("Shape", "x", "s"),
            node("Concat", "s two", "t", axis=0),
            node("Transpose", "x", "p", perm=[1, 0]),
            node("Concat", "p p", "q", axis=1),
            node("Reshape", "q t", "y"),
        ],
        XY,
        "y",
        two=np.array([2]),
    ),
    "reshape copies zeros": model(
        [node("Reshape", "x t", "y")], {"x": (FLOAT, ["n", "m", 4])}, "y", t=np.array([0, 0, 2, 2])
    ),
    "flatten": model([node("Flatten", "x", "y", axis=2)], {"x": (FLOAT, ["n", 2, "m", 3])}, "y"),
    "expand": model(
        [
            node("Shape", "x", "s"),
            node("Concat", "two s", "t", axis=0),
            node("Where", "c t one", "u"),
            node("Expand", "x u", "y"),
        ],
        XY,
        "y",
        two=np.array([2]),
        one=np.array([1]),
        c=np.array([True, True, False]),
    ),
    "expand of unknown": model([node("Expand", "x t", "y")], {"x": (FLOAT, ["n", 1])}, "y", t=np.array([2, 1, 3])),
    "slice": model(
        [
            node("Shape", "x", "s"),
            node("Div", "s two", "half"),
            node("Slice", "x half s axes", "y"),
        ],
        XY,
        "y",
        two=np.array([2]),
        axes=np.array([0, 1]),
    ),
    "slice backwards": model(
        [
            node("Size", "x", "count"),
            node("Unsqueeze", "count zero", "start"),
            node("Slice", "x start end zero step", "y"),
        ],
        X,
        "y",
        zero=np.array([0]),
        end=np.array([-(2**62)]),
        step=np.array([-2]),
    ),
    "split": model(
        [
            node("Shape", "x", "n", end=1),
            node("Sub", "n one", "rest"),
            node("Concat", "one rest", "sizes", axis=0),
            node("Split", "x sizes", "a b", axis=0),
            node("Concat", "b a", "y", axis=0),
        ],
        X,
        "y",
        one=np.array([1]),
    ),
    "constant of shape": model(
        [
            node("Shape", "x", "s"),
            node("ConstantOfShape", "s", "y", value=helper.make_tensor("v", FLOAT, [1], [2.5])),
        ],
        XY,
        "y",
    ),
    "range": model(
        [
            node("Shape", "x", "n", end=1),
            node("Squeeze", "n", "limit"),
            node("Range", "one limit two", "r"),
            node("Cast", "r", "y", to=FLOAT),
        ],
        X,
        "y",
        one=np.array(1),
        two=np.array(2),
    ),
    "tile": model(
        [node("Shape", "x", "n", end=1), node("Concat", "n two", "t", axis=0), node("Tile", "x t", "y")],
        X,
        "y",
        two=np.array([2]),
    ),
    "pad": model(
        [
            node("Shape", "x", "n", end=1),
            node("Mod", "n two", "odd"),
            node("Concat", "zero one odd n", "w", axis=0),
            node("Pad", "x w half", "y"),
        ],
        X,
        "y",
        two=np.array([2]),
        zero=np.array([0]),
        one=np.array([1]),
        half=np.array(0.5, np.float32),
    ),
    "pad with an argument": model(  # AUDIT D11: the element to pad with was to be known.
        [node("Shape", "x", "n", end=1), node("Concat", "zero one one n", "w", axis=0), node("Pad", "x w v", "y")],
        {**X, "v": (FLOAT, [])},
        "y",
        zero=np.array([0]),
        one=np.array([1]),
    ),
    "arithmetic": model(
        [
            node("Shape", "x", "s"),
            node("Split", "s", "n m", axis=0, num_outputs=2),
            node("Max", "n m two", "high"),
            node("Min", "n m two", "low"),
            node("Mul", "high low", "p"),
            node("Equal", "n m", "same"),
            node("Not", "same", "differ"),
            node("Where", "differ p one", "q"),
            node("ReduceProd", "s", "r", keepdims=1),
            node("Cast", "q", "f", to=FLOAT),
            node("Ceil", "f", "g"),
            node("Cast", "g", "h", to=INT64),
            node("Concat", "h r", "t", axis=0),
            node("ConstantOfShape", "t", "y"),
        ],
        XY,
        "y",
        two=np.array([2]),
        one=np.array([1]),
    ),
    "triangle": model([node("Trilu", "x k", "y", upper=0)], XY, "y", k=np.array(1)),
    "same padding": model(
        [node("Conv", "x w", "y", auto_pad="SAME_LOWER", strides=[2, 3])],
        {"x": (FLOAT, [1, 2, "n", "m"])},
        "y",
        w=np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 2, 3, 2),
    ),
}
for _mode in ("reflect", "edge", "wrap"):
    CASES[f"pad by {_mode}"] = model(
        [node("Pad", "x w", "y", mode=_mode)],
        {"x": (FLOAT, ["n", "m"])},
        "y",
        opset=19,
        w=np.array([2, 1, 1, 0]),
    )


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("name", CASES)
def test_sizes_follow_from_the_shapes_of_arguments(name: str) -> None:
    check(CASES[name], SMALL, LARGE)


def test_softmax_of_old_operator_sets_takes_dimensions_together() -> None:
    proto = model([node("Softmax", "x", "y", axis=1)], {"x": (FLOAT, ["n", "m", 3])}, "y", opset=11)
    exe = stepwell.compile(stepwell.from_onnx(proto), opt_level=1)
    (x,) = arrays(proto, SMALL)
    e = np.exp(x - x.max(axis=(1, 2), keepdims=True))
    np.testing.assert_allclose(exe(x)[0], e / e.sum(axis=(1, 2), keepdims=True), rtol=1e-5)


def test_negative_widths_cut() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Sub", "s two", "t"),
        node("Concat", "t t", "w", axis=0),
        node("Pad", "x w", "y"),
    ]
    proto = model(nodes, XY, "y", two=np.array([4]))
    exe = stepwell.compile(stepwell.from_onnx(proto), opt_level=1)
    (x,) = arrays(proto, {"n": 3, "m": 5})
    np.testing.assert_array_equal(exe(x)[0], np.pad(x[1:2], ((0, 0), (1, 1))))


def test_sizes_that_are_known_stay_known() -> None:
    """Where one extent is left open, no sizes are computed at all."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n"),
        node("Gather", "s last", "m"),
        node("ReduceProd", "m", "p", keepdims=1),
        node("Concat", "n p", "t", axis=0),
        node("Reshape", "x t", "y"),
    ]
    proto = model(nodes, {"x": (FLOAT, ["n", 2, 3])}, "y", zero=np.array([0]), last=np.array([1, 2]))
    text = check(proto, SMALL, native=0)
    assert "shape = [-1, 6] : (tensor<?x2x3xf32>) -> tensor<?x6xf32>" in text
    assert "shape_of" not in text


def test_equal_sizes_cancel() -> None:
    """What is left for -1 follows from extents that stand on both sides."""
    nodes = [
        node("Shape", "x", "s", end=2),
        node("Concat", "s rest", "t", axis=0),
        node("Reshape", "x t", "y"),
        node("MatMul", "y w", "z"),
    ]
    proto = model(nodes, {"x": (FLOAT, ["n", "m", 2, 3])}, "z", rest=np.array([-1]), w=np.ones((6, 2), np.float32))
    assert "tensor<?x?x6xf32>" in check(proto, SMALL, native=0)


def test_sizes_of_one_name_are_one_size() -> None:
    """The shape of one argument serves for another one whose dimension has the same name."""
    nodes = [
        node("Shape", "z", "s", end=1),
        node("Concat", "s two", "t", axis=0),
        node("Reshape", "x t", "y"),
    ]
    inputs: Inputs = {"x": (FLOAT, ["n", "m", 2]), "z": (FLOAT, ["n", 3])}
    text = check(model(nodes, inputs, "y", two=np.array([-1, 2])), SMALL, LARGE, native=0)
    assert "tensor<?x?x2xf32>" in text


def test_names_without_a_word_are_no_names() -> None:
    proto = model([node("Relu", "x", "y")], {"x": (FLOAT, ["?", "?"])}, "y")
    exe = stepwell.compile(stepwell.from_onnx(proto), opt_level=0)
    assert exe(np.ones((2, 3), np.float32))[0].shape == (2, 3)


# What is refused


def test_sizes_that_depend_on_data_are_refused_at_import() -> None:
    proto = model([node("Reshape", "x s", "y")], X | {"s": (INT64, [2])}, "y")
    with pytest.raises(OnnxError) as error:
        stepwell.from_onnx(proto)
    assert "input 1, 's', is computed at run time, expected it to be known at import" in str(error.value)
    assert "give it for good with --bind s=…" in str(error.value)


def test_sizes_that_depend_on_data_through_shape_arithmetic_are_refused() -> None:
    nodes = [node("Shape", "x", "n", end=1), node("Add", "n s", "t"), node("ConstantOfShape", "t", "y")]
    with pytest.raises(OnnxError, match="input 0, 't', is computed at run time"):
        stepwell.from_onnx(model(nodes, X | {"s": (INT64, [1])}, "y"))


def test_sizes_that_do_not_fit_are_an_error_of_the_call() -> None:
    nodes = [
        node("Shape", "x", "n", end=1),
        node("Sub", "n one", "k"),
        node("Concat", "k left", "t", axis=0),
        node("Reshape", "x t", "y"),
    ]
    proto = model(nodes, XY, "y", one=np.array([1]), left=np.array([-1]))
    exe = stepwell.compile(stepwell.from_onnx(proto))
    with pytest.raises(DiagnosticException, match=r"with the given sizes .* do not divide into shape \[2, -1\]"):
        exe(np.ones((3, 3), np.float32))


def test_unknown_modes_of_padding_are_named() -> None:
    proto = model([node("Pad", "x w", "y", mode="mirror")], XY, "y", w=np.array([1, 1, 1, 0]))
    with pytest.raises(OnnxError, match="mode is 'mirror', expected constant, reflect, edge or wrap"):
        stepwell.from_onnx(proto)
