"""`stepwell.quantize` on networks trained here: accuracy, sizes, layers in floats, the report; counts and messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import digits
import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import OperationError, StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.core.weights import write_weights
from stepwell.reference.run import run
from stepwell.runtime import ArgumentError, LayerReport, QuantizationReport, QuantizationWarning, Quantized
from stepwell.runtime.quantising.moments import input_moments
from stepwell.runtime.quantising.picture import bars
from stepwell.runtime.quantising.quantize import prepared
from stepwell.runtime.quantising.scoring import accuracy, agreement, decibels
from stepwell.runtime.quantising.timing import FILE, mark
from stepwell.tools.quantize import main

ROWS = 32


def quantised(program: Any, *, picture: bool, **options: Any) -> Quantized:
    train, _ = digits.batches(ROWS, picture=picture)
    tests, labels = digits.batches(ROWS, picture=picture, tested=True)
    return stepwell.quantize(program(ROWS), train[:12], evaluation=tests, labels=labels, cache=False, **options)


@pytest.fixture(scope="module")
def mlp() -> Quantized:
    return quantised(digits.mlp_program, picture=False)


@pytest.fixture(scope="module")
def cnn() -> Quantized:
    return quantised(digits.cnn_program, picture=True, timed=False)


# Whole networks


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("network", ["mlp", "cnn"])
def test_networks_lose_at_most_one_percent(network: str, request: pytest.FixtureRequest) -> None:
    report: QuantizationReport = request.getfixturevalue(network).report
    assert report.score == "accuracy" and report.before > 0.9
    assert report.after >= report.before - 0.01
    assert report.bytes_after <= 0.3 * report.bytes_before
    assert all(layer.quantised for layer in report.layers) and report.decibels > 30


@pytest.mark.parametrize("network", ["mlp", "cnn"])
def test_every_layer_becomes_a_product_of_bytes(network: str, request: pytest.FixtureRequest) -> None:
    module = request.getfixturevalue(network).module.clone()
    run_pipeline(make_context(), module, "integer-arithmetic")
    layers = [op for op in module.walk() if op.name in ("graph.matmul", "graph.conv2d")]
    assert len(layers) == 3
    assert all(str(op.results[0].type).endswith("i32>") for op in layers)


def test_a_saved_program_gives_the_same_results(mlp: Quantized, tmp_path: Path) -> None:
    mlp.save(tmp_path / "mlp8.mlir")
    x = digits.batches(ROWS)[0][0]["x"]
    (wanted,) = run(mlp.module, "main", x)
    text = (tmp_path / "mlp8.mlir").read_text()
    assert 'stepwell.weights = "mlp8.safetensors"' in text and "graph.quantize" in text
    loaded = stepwell.compile(tmp_path / "mlp8.mlir", cache=False)
    np.testing.assert_allclose(loaded(x)[0], wanted, rtol=1e-4, atol=2 * mlp.report.layers[2].scales[0])
    real = sum(each.nbytes for each in digits.mlp().values())
    assert (tmp_path / "mlp8.safetensors").stat().st_size <= 0.3 * real


def test_weights_alone_of_few_bits() -> None:
    """Three layers on floats, weights of 4 bits: compensation makes the results better, and a file tells the same."""
    options = {"picture": False, "weights": "int4", "block": 16, "timed": False}
    good = quantised(digits.mlp_program, **options)
    plain = quantised(digits.mlp_program, **options, compensate=False)
    assert good.report.after >= good.report.before - 0.01
    assert good.report.decibels > plain.report.decibels + 1
    assert good.report.bytes_after <= 0.25 * good.report.bytes_before
    assert [each.runs_on for each in good.report.layers] == ["int4 weights"] * 3
    assert all(
        one.decibels > other.decibels for one, other in zip(good.report.layers, plain.report.layers, strict=True)
    )  # pyright: ignore


@pytest.mark.ci_cases(0)
def test_weights_alone_stay_in_floats_until_the_target_holds() -> None:
    """Blocks of 64 inputs and no compensation harm the first layer most, if a drop of nothing is allowed."""
    options = {"picture": False, "weights": "int4", "block": 64, "compensate": False, "timed": False}
    found = quantised(digits.mlp_program, **options, drop=-0.0)
    assert found.report.after >= found.report.before


@pytest.mark.ci_cases(0)
def test_moments_in_a_file_give_the_same_weights(tmp_path: Path) -> None:
    train, _ = digits.batches(ROWS, picture=False)
    wanted = quantised(digits.mlp_program, picture=False, weights="int4", timed=False)
    program = prepared(digits.mlp_program(ROWS), "main", equalise=False)
    file = tmp_path / "moments.safetensors"
    write_weights(file, input_moments(program, train[:12], cache=False))
    run_pipeline(make_context(), program, f'quantize{{weights=int4 moments="{file}"}}')
    assert str(program) == str(wanted.module)


@pytest.mark.ci_cases(0)
def test_layers_stay_in_floats_until_the_target_holds() -> None:
    """A percentile of 60 cuts most of each value off. So many layers stay in floats as are needed, the worst first."""
    good = quantised(digits.mlp_program, picture=False, observer="percentile", percentile=60, timed=False, drop=0.01)
    assert good.report.after >= good.report.before - 0.01
    kept = [layer for layer in good.report.layers if not layer.quantised]
    others = [layer for layer in good.report.layers if layer.quantised]
    assert kept
    noise = [layer.decibels for layer in kept if layer.decibels is not None]
    assert len(noise) == len(kept)
    assert all(layer.decibels is not None and layer.decibels >= max(noise) for layer in others)


def test_a_program_without_layers_is_left_as_it_is() -> None:
    text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }"
    for options in ({}, {"weights": "int4"}):
        with pytest.warns(QuantizationWarning, match="there is no layer to quantise: @main has no matmul or conv2d"):
            found = stepwell.quantize(parse(text), [{"x": np.ones(4, np.float32)}], timed=False, cache=False, **options)
        assert (found.report.score, found.report.after, found.report.layers) == ("agreement", 1.0, ())


@pytest.mark.parametrize(
    "ops, options, reason",
    [
        (
            """%a = graph.astype %x, dtype = f16 : (tensor<4x4xf32>)
            %y = graph.matmul %a, %a : (tensor<4x4xf16>, tensor<4x4xf16>)
            %r = graph.astype %y, dtype = f32 : (tensor<4x4xf16>)""",
            {},
            "its matmul and conv2d are of f16, expected f32",
        ),
        (
            """%s = graph.full 1.0 : tensor<f32>
            %z = graph.full 0 : tensor<i8>
            %y = graph.quantize %x, %s, %z : (tensor<4x4xf32>, tensor<f32>, tensor<i8>)
            %r = graph.dequantize %y, %s, %z : (tensor<4x4xi8>, tensor<f32>, tensor<i8>)""",
            {},
            "its layers are on integers already",
        ),
        (
            "%r = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>)",
            {"weights": "int8"},
            "weights of %r stay as they are, as they are not known before the program runs",
        ),
    ],
)
def test_why_there_is_no_layer(ops: str, options: dict[str, Any], reason: str) -> None:
    text = f"func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {{ {ops}\n func.return %r : tensor<4x4xf32> }}"
    with pytest.warns(QuantizationWarning, match=f"there is no layer to quantise: {reason}"):
        stepwell.quantize(parse(text), {"x": np.ones((4, 4), np.float32)}, timed=False, cache=False, **options)


@pytest.mark.filterwarnings("error")
def test_layers_that_are_to_stay_in_floats_are_no_reason_to_warn() -> None:
    found = stepwell.quantize(parse(TINY), {"x": np.ones((4, 8), np.float32)}, timed=False, cache=False, keep="%y")
    assert not found.report.layers[0].quantised


# The report


def test_the_report_in_all_its_forms(mlp: Quantized, tmp_path: Path) -> None:
    report = mlp.report
    assert all(layer.microseconds and layer.microseconds_before for layer in report.layers)
    text = str(report)
    assert re.search(r"^accuracy +\d+\.\d\d% +\d+\.\d\d%$", text, re.MULTILINE)
    assert re.search(r"^time of a run +[\d.]+ µs +[\d.]+ µs \([\d.]+ x as fast\)$", text, re.MULTILINE)
    assert re.search(r"^layer +kind +weights +runs on +signal to noise +saturated +µs before +µs +saved$", text, re.M)
    assert re.search(r"^%0 +matmul +64x128 +bytes +[\d.]+ dB +[\d.]+%( +-?[\d.]+){3}$", text, re.MULTILINE)
    for end in ("html", "svg", "json", "txt"):
        report.save(tmp_path / f"r.{end}")
    assert (tmp_path / "r.txt").read_text() == text + "\n"
    data = json.loads((tmp_path / "r.json").read_text())
    assert (data["format"], data["version"], data["score"]) == ("stepwell-quantisation", 1, "accuracy")
    assert [layer["name"] for layer in data["layers"]] == [layer.name for layer in report.layers]
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg") == 1 and page.count("<table>") == 2 and "%0" in page
    assert (tmp_path / "r.svg").read_text().count("<rect") == 3
    with pytest.raises(StepwellError, match="cannot write"):
        report.save(tmp_path / "nowhere" / "r.json")


def test_a_report_with_numbers_that_are_infinite() -> None:
    layer = LayerReport("a<b", "matmul", "m.mlir:1:1", (2, 3), quantised=True, decibels=float("inf"))
    report = QuantizationReport((layer,), "agreement", 1.0, 1.0, float("inf"), 0, 0)
    assert json.loads(report.to_json())["layers"][0]["decibels"] is None
    assert "exact" in str(report) and report.speedup is None
    assert "%a&lt;b" in report._repr_html_() and "%a<b" not in report._repr_html_()
    assert "floats" in str(QuantizationReport((LayerReport("y", "conv2d", "", (1,), False),), "", 1, 1, 0, 8, 4))


def test_bars_that_are_low_are_red() -> None:
    picture = bars("title", ["good", "bad"], [40.0, 10.0])
    assert picture.index("#2f7fc1") < picture.index("#d9534f")


def test_ops_get_the_place_of_their_layer() -> None:
    module = parse("""
    func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %a = graph.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %b = graph.matmul %a, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %c = graph.relu %b : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %d = graph.negative %w : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %e = graph.matmul %c, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      func.return %e : tensor<2x2xf32>
    }
    """)
    assert mark(module, "main") == 2
    ops = list(module.body.block.first_op.regions[0].block.ops)  # pyright: ignore[reportOptionalMemberAccess]
    places = [op.location for op in ops]
    assert all(place.filename.data == FILE for place in places)  # pyright: ignore[reportAttributeAccessIssue]
    assert [place.line.data for place in places[:5]] == [1, 1, 1, 2, 2]  # pyright: ignore[reportAttributeAccessIssue]


# Counts


def test_counts() -> None:
    outputs = [(np.array([[1.0, 2.0], [3.0, 0.0]]),), (np.array([[5.0, 6.0]]),)]
    assert accuracy(outputs, [np.array([1, 1]), np.array([1])]) == pytest.approx(2 / 3)
    other = [(np.array([[1.0, 0.0], [3.0, 0.0]]),), (np.array([[5.0, 6.0]]),)]
    assert agreement(other, outputs) == pytest.approx(2 / 3)
    single = [(np.array([[0.0], [1.0], [0.5]]),)]
    assert agreement([(np.array([[0.009], [0.98], [0.5]]),)], single) == pytest.approx(2 / 3)
    ones = [(np.ones(4, np.float32),)]
    assert decibels([(np.full(4, 1.1, np.float32),)], ones) == pytest.approx(20, abs=1e-3)
    assert decibels(ones, ones) == float("inf")
    assert decibels(ones, [(np.zeros(4, np.float32),)]) == float("-inf")
    integers = [(np.arange(4),)]
    assert np.isnan(decibels(integers, [(np.arange(4) + 1,)]))
    assert agreement([(np.array([[1, 2], [3, 4]]),)], [(np.array([[1, 0], [3, 4]]),)]) == 0.75
    assert agreement([(np.array([0.009, 0.98, 0.5]),)], [(np.array([0.0, 1.0, 0.5]),)]) == pytest.approx(2 / 3)
    report = QuantizationReport((), "agreement", 1.0, 0.5, float("nan"), 0, 0)
    assert "not defined" in str(report) and json.loads(report.to_json())["decibels"] is None


TINY = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = graph.full 1.0 : tensor<8x8xf32>
  %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
"""


@pytest.mark.parametrize(
    "given, options, message",
    [
        ([], {}, "there is no batch to calibrate with, expected at least one"),
        ([1], {}, "batch 1 is an int, expected a dictionary of arrays by argument name"),
        ([{"y": 1}], {}, "batch 1: 'main' has no argument 'y'; it has x"),
        (None, {"evaluation": [{}]}, "batch 1: the data has no array for argument 'x'"),
        (None, {"drop": 2}, "drop is 2, expected a part of 1, such as 0.01"),
        (None, {"labels": []}, "there are labels of 0 batches, expected 1, as there are batches"),
        (
            None,
            {"labels": [np.array([0, 9, 8, 0])]},
            "the labels of batch 1 have the class 9, expected 0 to 7, as the rows of the result have 8 elements",
        ),
        (None, {"labels": [np.array([0, -1, 8, 0])]}, "the labels of batch 1 have the class -1, expected 0 to 7"),
        (None, {"labels": [np.zeros(4)]}, "the labels of batch 1 are of type float64, expected integers"),
        (None, {"labels": [["a"] * 4]}, "the labels of batch 1 are of type <U1, expected integers"),
        (None, {"weights": 8}, "quantize: weights is 8, expected one of int8, int4, f16, bf16"),
        (None, {"observer": None}, "quantize: observer is None, expected one of min-max"),
        (None, {"weights": "int4", "block": "32"}, "quantize: block is '32', expected a power of 2"),
        (None, {"weights": "int4", "block": 32.0}, "quantize: block is 32.0, expected a power of 2"),
        (None, {"observer": "percentile", "percentile": "99"}, "quantize: percentile is '99', expected a number"),
        (None, {"drop": "1%"}, "drop is '1%', expected a part of 1, such as 0.01"),
        (None, {"drop": True}, "drop is True, expected a part of 1, such as 0.01"),
        (None, {"bins": "many"}, "bins is 'many', expected a number of at least 4"),
        (None, {"keep": "yy"}, "no layer is called 'yy', which is to be kept in floats"),
        (None, {"keep_kinds": "matmull"}, "'matmull' is no kind of layer, expected one of matmul, conv2d"),
        (None, {"block": 64}, "quantize: block is for weights alone"),
        (None, {"compensate": False}, "quantize: compensate is for weights alone"),
        (None, {"percentile": 99}, "quantize: percentile is for the observer 'percentile', and observer is 'min-max'"),
        (
            None,
            {"weights": "int8", "activations": "symmetric"},
            "quantize: activations is for products of bytes, and weights are 'int8'",
        ),
        (
            None,
            {"labels": [np.zeros(3)]},
            "the labels of batch 1 are of shape (3,), expected (4,): a class number",
        ),
        (
            None,
            {"weights": "int4", "equalise": False},
            "quantize: equalise is for products of bytes, and weights are 'int4'",
        ),
        (None, {"observer": "max"}, "observer is 'max', expected one of min-max"),
    ],
)
def test_what_is_asked_for_wrongly(given: Any, options: dict[str, Any], message: str) -> None:
    batches = [{"x": np.ones((4, 8), np.float32)}] if given is None else given
    with pytest.raises((ArgumentError, StepwellError, OperationError), match=re.escape(message)):
        stepwell.quantize(parse(TINY), batches, timed=False, **options)


# The command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(TINY)
    random = np.random.default_rng(0)
    x = random.standard_normal((5, 4, 8)).astype(np.float32)
    np.savez(tmp_path / "d.npz", x=x, kinds=np.zeros((5, 4), np.int64))
    files = [str(tmp_path / name) for name in ("m.mlir", "d.npz", "q.mlir", "r.json")]
    program, data, output, report = files
    words = [program, "--data", data, "--labels", "kinds", "-o", output, "--report", report, "--no-times", "--no-cache"]
    assert main([*words, "--symmetric", "--no-equalize", "--no-bias-correction"]) == 0
    assert "accuracy" in capsys.readouterr().out
    found = json.loads(Path(report).read_text())
    assert found["layers"][0]["zero_points"] == [0] and found["score"] == "accuracy"
    assert "graph.dequantize" in Path(output).read_text()
    words = [*words, "--weights", "int4", "--zero-points"]
    assert main(words) == 0
    assert re.search(r"graph.matmul_packed .*\(.*, tensor<\dx1xf32>, tensor<\dx1xui8>\)", Path(output).read_text())


@pytest.mark.parametrize(
    "arrays, words, message",
    [
        ({"x": np.ones((4, 8))}, ["--labels", "kind"], "has no labels 'kind'\nhint: it has x"),
        ({"x": np.ones((2, 4, 8)), "k": np.ones((3, 4))}, ["--labels", "k"], "has arrays of 2, 3 batches, expected as"),
        ({"x": np.ones((4, 8)), "kind": np.ones(4)}, ["--labels", "kid"], "no labels 'kid'\nhint: did you mean 'kind'"),
        ({"x": np.ones((4, 8))}, ["--block", "32"], "quantize: block is for weights alone"),
        ({"x": np.ones((4, 8))}, ["--no-compensation"], "quantize: compensate is for weights alone"),
        ({"x": np.ones((4, 8))}, ["--percentile", "99.99"], "quantize: percentile is for the observer 'percentile'"),
        (
            {"x": np.ones((4, 8))},
            ["--weights", "int8", "--symmetric"],
            "quantize: activations is for products of bytes",
        ),
        ({"x": np.ones((4, 8))}, ["--weights", "int4", "--no-equalize"], "quantize: equalise is for products of bytes"),
        (
            {"x": np.ones((4, 8))},
            ["--weights", "int4", "--no-bias-correction"],
            "quantize: bias_correction is for products of bytes, and weights are 'int4'\n"
            "hint: activations stay in floats then: leave one of them out",
        ),
        ({"x": np.ones((4, 8))}, ["--weights", "f16", "--observer", "mse"], "quantize: observer is for products of"),
        ({"z": np.ones((4, 8))}, [], "has an array 'z' but @main has no such argument"),
        (
            {"x": np.ones((4, 8))},
            ["-o", "q.safetensors"],
            "the output 'q.safetensors' ends as weights, models or arrays do",
        ),
        ({"x": np.ones((4, 8))}, ["--dim", "n=1"], "--dim is for ONNX models"),
        (
            {"x": np.ones((4, 8))},
            ["--zero-points"],
            "quantize: zero_points is for weights alone\nhint: say what these become: weights='int4'",
        ),
    ],
)
def test_commands_that_are_wrong(
    arrays: dict[str, Any], words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.mlir").write_text(TINY)
    np.savez(tmp_path / "d.npz", **arrays)
    assert main([str(tmp_path / "m.mlir"), "--data", str(tmp_path / "d.npz"), *words]) == 1
    assert message in capsys.readouterr().err
