"""Nodes that the specification excludes: each is an error that says what was found, none a Python exception."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx_broken_models import info, model, node
from onnx_one_node import text_of
from stepwell.frontends import OnnxError
from stepwell.runtime.errors import ExecutionError

ONES = np.ones((2, 3), np.float32)
IMAGE = np.ones((1, 2, 3), np.float32)


def scales(*values: float) -> dict[str, Any]:
    return {"x": ONES, "roi": None, "scales": np.array(values, np.float32)}


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "product of three dimensions": (
        "Gemm",
        {"x": np.ones((2, 2, 3), np.float32), "w": ONES.T},
        {},
        "the factors are tensor<2x2x3xf32> and tensor<3x2xf32>, expected two matrices",
    ),
    "product of a vector": (
        "Gemm",
        {"x": ONES, "w": ONES[0]},
        {"transA": 0},
        "the factors are tensor<2x3xf32> and tensor<3xf32>, expected two matrices",
    ),
    "transposed product of a vector": (
        "Gemm",
        {"x": ONES[0], "w": ONES.T},
        {"transA": 1},
        "the factors are tensor<3xf32> and tensor<3x2xf32>, expected two matrices",
    ),
    "summand that is larger": (
        "Gemm",
        {"x": ONES[:1], "w": ONES.T, "c": np.ones((4, 2), np.float32)},
        {},
        "the summand is tensor<4x2xf32>, expected one that broadcasts to tensor<1x2xf32>",
    ),
    "summand of three dimensions": (
        "Gemm",
        {"x": ONES, "w": ONES.T, "c": np.ones((1, 2, 2), np.float32)},
        {"beta": 0.5},
        "the summand is tensor<1x2x2xf32>, expected one that broadcasts to tensor<2x2xf32>",
    ),
    "scale 0": ("Resize", scales(1, 0), {}, "scales are [1.0, 0.0], expected finite numbers above 0"),
    "scale below 0": ("Resize", scales(-1, 1), {}, "scales are [-1.0, 1.0], expected finite numbers above 0"),
    "scale NaN": ("Resize", scales(1, np.nan), {}, "scales are [1.0, nan], expected finite numbers above 0"),
    "scale infinite": (
        "Resize",
        scales(1, np.inf),
        {"mode": "linear"},
        "scales are [1.0, inf], expected finite numbers above 0",
    ),
    "scale huge": ("Resize", scales(1, 1e30), {}, "axis 1 would have 3e+30 elements, expected at most 2^31"),
    "size huge": (
        "Resize",
        {"x": ONES, "roi": None, "scales": None, "sizes": np.array([2, 2**50])},
        {"mode": "linear"},
        "axis 1 would have 1.1259e+15 elements, expected at most 2^31",
    ),
    "scale 0 of old versions": (
        "Upsample",
        {"x": ONES, "scales": np.array([1, 0], np.float32)},
        {"version": 9},
        "scales are [1.0, 0.0], expected finite numbers above 0",
    ),
    "scale 0 of the oldest version": (
        "Upsample",
        {"x": ONES},
        {"version": 7, "scales": [1.0, 0.0]},
        "scales are [1.0, 0.0], expected finite numbers above 0",
    ),
    "padding of a stride": (
        "ConvTranspose",
        {"x": IMAGE, "w": np.ones((2, 1, 2), np.float32)},
        {"output_padding": [1]},
        "output_padding is [1], expected less than [1], the greater of stride and dilation",
    ),
    "padding of two strides": (
        "ConvTranspose",
        {"x": IMAGE[None], "w": np.ones((1, 1, 2, 2), np.float32)},
        {"output_padding": [1, 3], "strides": [2, 2], "dilations": [1, 3]},
        "output_padding is [1, 3], expected less than [2, 3], the greater of stride and dilation",
    ),
    "padding below 0": (
        "ConvTranspose",
        {"x": IMAGE, "w": np.ones((2, 1, 2), np.float32)},
        {"output_padding": [-1], "strides": [2]},
        "output_padding is [-1], expected less than [2], the greater of stride and dilation",
    ),
    "norm 0": ("LpPool", {"x": IMAGE}, {"p": 0, "kernel_shape": [2]}, "p is 0, expected a number above 0"),
    "norm 0 of everything": ("GlobalLpPool", {"x": IMAGE}, {"p": 0}, "p is 0, expected a number above 0"),
    "norm below 0": ("GlobalLpPool", {"x": IMAGE}, {"p": -1}, "p is -1, expected a number above 0"),
    "normalising each element": (
        "BatchNormalization",
        {"x": IMAGE, **{name: np.ones((2, 3), np.float32) for name in ("w", "b", "m", "v")}},
        {"version": 8, "spatial": 0},
        "spatial is 0, expected 1: a mean and a variance for each channel",
    ),
    "training of old versions": (
        "BatchNormalization",
        {"x": IMAGE, **{name: np.ones(2, np.float32) for name in ("w", "b", "m", "v")}},
        {"version": 7, "outputs": 3},
        "output 2 ('y2') is not supported",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_specification_excludes(name: str) -> None:
    operator, inputs, options, message = REFUSED[name]
    options = {"version": 17, **options}
    known = [each for each in ("scales", "sizes") if inputs.get(each) is not None]
    with pytest.raises(OnnxError) as caught:
        text_of(operator, inputs, known=known, **options)
    assert f"node 'node' ({operator}, opset {options['version']}): {message}" in str(caught.value)


def test_what_no_memory_holds_names_the_node() -> None:
    inputs = {"a": np.array(0), "b": np.array(10**16), "c": np.array(1)}
    with pytest.raises(OnnxError) as caught:
        text_of("Range", inputs, version=17, known=list(inputs))
    message = "node 'node' (Range, opset 17): no memory for what it computes at import: Unable to allocate 71.1 PiB"
    assert message in str(caught.value)


@pytest.mark.parametrize("numbers", [(0, np.nan, 1), (0, np.inf, 1), (-np.inf, 0, 1), (0, 1, np.nan)])
def test_ranges_have_an_end(numbers: tuple[float, ...]) -> None:
    inputs = {name: np.array(number, np.float32) for name, number in zip("abc", numbers, strict=True)}
    with pytest.raises(OnnxError, match=r"\(Range, opset 17\): start is .*, limit .* and delta .*, expected finite"):
        text_of("Range", inputs, version=17, known=list(inputs))


# Bodies


def body(count: int, *inputs: onnx.ValueInfoProto) -> onnx.GraphProto:
    """A body with as many results."""
    names = [f"r{number}" for number in range(count)]
    return h.make_graph([node("Relu", "x", name) for name in names], "body", list(inputs), [info(n) for n in names])


@pytest.mark.parametrize(("one", "other", "outputs"), [(1, 2, 1), (2, 1, 1), (1, 2, 2), (2, 2, 1), (1, 1, 2)])
@pytest.mark.parametrize("is_known", [False, True])
def test_branches_have_as_many_results_as_the_node(one: int, other: int, outputs: int, is_known: bool) -> None:
    names = ["y", "z"][:outputs]
    branches = {"then_branch": body(one), "else_branch": body(other)}
    nodes = [node("If", "c", " ".join(names), "choice", **branches)]
    ends = [info("x"), info("c", (), T.BOOL)]
    given = {"c": np.array(True)} if is_known else {}
    with pytest.raises(OnnxError) as caught:
        stepwell.from_onnx(model(nodes, inputs=ends, outputs=[info(name) for name in names]), constants=given)
    message = f"node 'choice' (If, opset 20): the branches give {one} and {other} results, expected {outputs} each"
    assert message in str(caught.value)


@pytest.mark.parametrize("turns", [2, 1000])
def test_turns_give_the_next_state(turns: int) -> None:
    ends = [info("i", (), T.INT64), info("c", (), T.BOOL), info("s")]
    made = model(
        [
            node("Constant", "", "m", value_int=turns),
            h.make_node("Loop", ["m", "", "x"], ["y"], "turns", body=body(1, *ends)),
        ]
    )
    with pytest.raises(OnnxError, match=r"'turns' \(Loop, opset 20\): the body gives 1 results, expected at least 2"):
        stepwell.from_onnx(made)


def test_scans_give_the_next_state() -> None:
    inner = body(0, info("s"), info("t", (3,)))
    made = model([h.make_node("Scan", ["x", "x"], ["y"], "scan", body=inner, num_scan_inputs=1)])
    with pytest.raises(OnnxError, match=r"'scan' \(Scan, opset 20\): the body gives 0 results, expected at least 1"):
        stepwell.from_onnx(made)


def test_a_state_that_outgrows_memory() -> None:
    """It doubles with each turn, and has 2^39 elements in the end."""
    ends = [info("i", (), T.INT64), info("c", (), T.BOOL), info("s", ("n",))]
    nodes = [node("Concat", "s s", "t", axis=0), node("Identity", "c", "on")]
    inner = h.make_graph(nodes, "body", ends, [info("on", (), T.BOOL), info("t", (None,))])
    turns = [node("Constant", "", "m", value_int=38), h.make_node("Loop", ["m", "", "x"], ["y"], "turns", body=inner)]
    made = model(turns, inputs=[info("x", (2,))], outputs=[info("y", (None,))])
    exe = stepwell.compile_onnx(made)
    with pytest.raises(ExecutionError, match=f"@main: error: no memory for result 'y' of shape {2**39}$"):
        exe(np.ones(2, np.float32))


# Functions of the model


def calling(inputs: str, outputs: str, inner: onnx.NodeProto | None = None) -> onnx.ModelProto:
    """A call of a function with one input and one result, by the graph or by another function."""
    opsets = [h.make_opsetid("", 20), h.make_opsetid("com.acme", 1)]

    def change(made: onnx.ModelProto) -> None:
        made.opset_import.append(opsets[1])
        made.functions.append(h.make_function("com.acme", "F", ["a"], ["b"], [node("Relu", "a", "b")], opsets))
        if inner is not None:
            made.functions.append(h.make_function("com.acme", "G", ["a"], ["b"], [inner], opsets))

    called = "F" if inner is None else "G"
    return model([node(called, inputs, outputs, "call", domain="com.acme")], change=change)


def test_calls_have_no_more_inputs_and_outputs_than_functions() -> None:
    for made, place in (
        (calling("x x x", "y"), "node 'call' calls the function com.acme:F with 3 inputs"),
        (calling("x", "y z"), "node 'call' calls the function com.acme:F with 2 outputs"),
        (
            calling("x", "y", node("F", "a a", "b", "inner", domain="com.acme")),
            "node 'inner' calls the function com.acme:F with 2 inputs",
        ),
        (
            calling("x", "y", node("F", "a a", "b", domain="com.acme")),
            "a node calls the function com.acme:F with 2 inputs",
        ),
    ):
        with pytest.raises(OnnxError) as caught:
            stepwell.from_onnx(made)
        assert str(caught.value) == f"error: model '<model>': {place}, expected at most 1"
    stepwell.from_onnx(calling("x", "y", node("F", "a", "b", domain="com.acme")))
