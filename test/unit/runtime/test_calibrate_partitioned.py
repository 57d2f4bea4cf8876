"""From a whole network to calibration data: annotate-target, merge-regions, partition-graph, calibrate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import counts
import numpy as np
import pytest
import stepwell
from stepwell.core.codegens import codegen
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.reference import run
from stepwell.rewrites.partition.pattern_tables import supported
from stepwell.runtime.calibration.calibrate import Calibrator
from stepwell.testing.programs.program_generators import random_program
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

PARTITION = "annotate-target{{targets={}}},merge-regions,partition-graph"

# Two blocks of convolution, bias and relu, the second with a residual; the pool and the mean stay outside.
CNN = """func.func @main(%x: tensor<2x3x8x8xf32>) -> tensor<2x4xf32> {
  %w0 = graph.weight "w0" : tensor<4x3x3x3xf32>
  %b0 = graph.weight "b0" : tensor<4x1x1xf32>
  %w1 = graph.weight "w1" : tensor<4x4x3x3xf32>
  %b1 = graph.weight "b1" : tensor<4x1x1xf32>
  %0 = graph.conv2d %x, %w0, padding = [1, 1, 1, 1] : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %1 = graph.add %0, %b0 : (tensor<2x4x8x8xf32>, tensor<4x1x1xf32>)
  %2 = graph.relu %1 : (tensor<2x4x8x8xf32>)
  %3 = graph.max_pool2d %2, pool_size = [2, 2], strides = [2, 2] : (tensor<2x4x8x8xf32>)
  %4 = graph.conv2d %3, %w1, padding = [1, 1, 1, 1] : (tensor<2x4x4x4xf32>, tensor<4x4x3x3xf32>)
  %5 = graph.add %4, %b1 : (tensor<2x4x4x4xf32>, tensor<4x1x1xf32>)
  %6 = graph.add %5, %3 : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>)
  %7 = graph.relu %6 : (tensor<2x4x4x4xf32>)
  %8 = graph.mean %7, axis = [2, 3] : (tensor<2x4x4x4xf32>)
  func.return %8 : tensor<2x4xf32>
}"""
SHAPES = {"w0": (4, 3, 3, 3), "b0": (4, 1, 1), "w1": (4, 4, 3, 3), "b1": (4, 1, 1)}


@supported("graph.conv2d", "graph.add", "graph.relu", target="calibrated_cpu")
def _layers(op: Any) -> bool:
    return True


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))


def array(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


WEIGHTS = {key: array(shape, seed) for seed, (key, shape) in enumerate(SHAPES.items())}


def partitioned(text: str, target: str) -> ModuleOp:
    module = stepwell.parse(text)
    run_pipeline(make_context(), module, parse_pipeline(PARTITION.format(target)))
    return module


def compiled_functions(module: ModuleOp) -> dict[str, Any]:
    return {
        op.sym_name.data: op.function_type
        for op in module.body.ops
        if isinstance(op, func.FuncOp) and "graph.compiler" in op.attributes
    }


def check_sizes(module: ModuleOp, data: dict[str, Any]) -> None:
    """One entry per function of a code generator, with an array per parameter and per result."""
    types = compiled_functions(module)
    assert set(data) == set(types) and len(data) >= 1
    for name, type_ in types.items():
        assert len(data[name]["inputs"]) == len(type_.inputs)
        assert len(data[name]["outputs"]) == len(type_.outputs)


@pytest.mark.parametrize("reference", [False, True])
def test_a_small_network(reference: bool) -> None:
    module = partitioned(CNN, "calibrated_cpu")
    before = str(module)
    data = stepwell.calibrate(module, {"x": array((2, 3, 8, 8), 9)}, weights=WEIGHTS, reference=reference)
    assert str(module) == before
    check_sizes(module, data)
    assert list(data) == ["calibrated_cpu_main_0", "calibrated_cpu_main_1"]
    values: list[Any] = []
    whole = stepwell.parse(CNN)
    x = array((2, 3, 8, 8), 9)
    run(whole, "main", x, weights=WEIGHTS, observe=lambda op, results: values.append((op.name, results)))
    relus = [results[0] for name, results in values if name == "graph.relu"]
    (pooled,) = [results[0] for name, results in values if name == "graph.max_pool2d"]
    first, second = data.values()
    np.testing.assert_array_equal(first["inputs"][0], x)
    for found, expected in ((first["outputs"][0], relus[0]), (second["outputs"][0], relus[1])):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(second["inputs"][0], pooled, rtol=1e-4, atol=1e-4)
    for found, key in ((first["inputs"][1], "w0"), (second["inputs"][2], "b1")):
        np.testing.assert_array_equal(found, WEIGHTS[key])


def test_statistics_of_a_small_network_are_the_same_both_ways() -> None:
    module = partitioned(CNN, "calibrated_cpu")
    batches = [{"x": array((2, 3, 8, 8), seed)} for seed in range(3)]
    native, reference = (
        stepwell.calibrate(module, batches, weights=WEIGHTS, statistics=True, reference=way) for way in (False, True)
    )
    assert list(native) == list(reference)
    for name, call in native.items():
        for side in ("inputs", "outputs"):
            for one, two in zip(call[side], reference[name][side], strict=True):
                assert (one.count, one.type, one.batches) == (two.count, two.type, 3)
                assert one.maximum == pytest.approx(two.maximum, rel=1e-4, abs=1e-4)
                assert one.percentile(99) == pytest.approx(two.percentile(99), rel=1e-2, abs=1e-2)


def test_a_partitioned_program_calibrates_from_its_text() -> None:
    """What the passes print is enough: nothing is kept in Python between them."""
    text = str(partitioned(CNN, "calibrated_cpu"))
    assert list(stepwell.calibrate(text, {"x": array((2, 3, 8, 8), 1)}, weights=WEIGHTS)) == [
        "calibrated_cpu_main_0",
        "calibrated_cpu_main_1",
    ]


def test_a_code_generator_that_is_there_is_not_asked() -> None:
    @codegen("calibrated_cpu_that_fails")
    def fails(function: Any, context: Any) -> Any:
        raise AssertionError("calibration compiles everything by itself")

    module = partitioned(CNN, "calibrated_cpu")
    text = str(module).replace('"calibrated_cpu"', '"calibrated_cpu_that_fails"')
    data = stepwell.calibrate(text, {"x": array((2, 3, 8, 8), 1)}, weights=WEIGHTS)
    check_sizes(module, data)


CHOSEN: set[str] = set()
OPS = (
    "add",
    "subtract",
    "multiply",
    "negative",
    "abs",
    "relu",
    "maximum",
    "minimum",
    "astype",
    "square",
    "sign",
)
OPS += (
    "permute_dims",
    "reshape",
    "expand_dims",
    "concat",
    "pad",
    "clip",
    "max",
    "min",
    "logical_not",
    "equal",
)


@supported(*(f"graph.{name}" for name in OPS), target="calibrated_random")
def _chosen(op: Any) -> bool:
    return op.name in CHOSEN


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("seed", range(300 if counts.FULL else 10))
def test_random_partitioned_programs(seed: int) -> None:
    """Whatever a function takes and gives is a value of the program as it was before."""
    CHOSEN.clear()
    CHOSEN.update(np.random.default_rng(seed).permutation([f"graph.{name}" for name in OPS])[: 4 + seed % 15])
    program = random_program(seed, 14)
    module = partitioned(program.text, "calibrated_random")
    if not compiled_functions(module):
        return
    calibrator = Calibrator(module, numerics="strict", opt_level=seed % 4, cache=False)
    names = [name for name, _ in calibrator.inputs]
    data = {name: calls[0] for name, calls in calibrator.run(dict(zip(names, program.inputs, strict=True))).items()}
    check_sizes(module, data)
    values = list(program.inputs)
    whole = stepwell.parse(program.text)
    run(whole, "main", *program.inputs, observe=lambda op, results: values.extend(results))
    known = {(value.dtype.str, value.shape, _bits(value)) for value in values}
    for call in data.values():
        for found in call["inputs"] + call["outputs"]:
            assert (found.dtype.str, found.shape, _bits(found)) in known


def _bits(value: Any) -> bytes:
    """The bytes of an array, every NaN as the same one."""
    if value.dtype.kind in "iub":
        return value.tobytes()
    wide = value.astype(np.float64)
    return np.where(np.isnan(wide), np.nan, wide).tobytes()
