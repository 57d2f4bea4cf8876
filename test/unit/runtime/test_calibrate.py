"""`stepwell.calibrate`: which data of which functions it gives, on both ways to run; limits, options and errors."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import OperationError, render
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.weights import write_weights
from stepwell.runtime.calibration.calibrate import CalibrationWarning, Calibrator
from stepwell.runtime.errors import ArgumentError, CompileError, ExecutionError
from xdsl.utils.exceptions import PassFailedException

EXAMPLE = Path(__file__).parents[3] / "examples" / "calibration" / "two_functions.mlir"
F = "tensor<4xf32>"
NPU = 'attributes {graph.compiler = "not-installed"}'

CHAIN = f"""
func.func private @first(%x: {F}) -> {F} {NPU} {{
  %0 = graph.negative %x : ({F}) -> {F}
  func.return %0 : {F}
}}
func.func private @second(%x: {F}, %y: {F}) -> {F} {NPU} {{
  %0 = graph.add %x, %y : ({F}, {F}) -> {F}
  func.return %0 : {F}
}}
func.func private @plain(%x: {F}) -> {F} {{
  %0 = graph.multiply %x, %x : ({F}, {F}) -> {F}
  func.return %0 : {F}
}}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(params=[False, True], ids=["native", "reference"])
def reference(request: pytest.FixtureRequest) -> bool:
    return request.param


def main(body: str, results: str = "%r", arguments: str = f"%x: {F}, %y: {F}") -> str:
    types = ", ".join(F for _ in results.split(","))
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nfunc.return {results} : {types}\n}}\n{CHAIN}"


def batch(seed: int = 0, shape: tuple[int, ...] = (4,), names: str = "xy") -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    return {name: generator.standard_normal(shape).astype(np.float32) for name in names}


def one(text: str = "%r = func.call @first(%x)") -> str:
    return text + f" : ({F}) -> {F}\n"


def two(text: str) -> str:
    return text + f" : ({F}, {F}) -> {F}\n"


ONE_CALL = main(one())


# What is recorded


def test_the_two_functions_of_the_example(reference: bool) -> None:
    data = batch(1, (8, 8), "xyz")
    x, y, z = data.values()
    found = stepwell.calibrate(EXAMPLE, data, reference=reference)
    assert list(found) == ["g0", "g1"]
    expected = {
        "g0": {"inputs": [x, y], "outputs": [x + y, x - y]},
        "g1": {"inputs": [x + y, z], "outputs": [(x + y) - z]},
    }
    for name, call in expected.items():
        assert list(found[name]) == ["inputs", "outputs"]
        for side, arrays in call.items():
            assert len(found[name][side]) == len(arrays)
            for array, wanted in zip(found[name][side], arrays, strict=True):
                np.testing.assert_array_equal(array, wanted)


def test_the_results_of_a_call_count_not_the_form_of_the_body(reference: bool) -> None:
    """A function that returns the two results of one op, then another: no map is off by one."""
    text = f"""
    func.func @main(%x: tensor<8xf32>) -> {F} {{
      %a, %b = func.call @halves(%x) : (tensor<8xf32>) -> ({F}, {F})
      %r = func.call @apart(%b, %a) : ({F}, {F}) -> {F}
      func.return %r : {F}
    }}
    func.func private @halves(%x: tensor<8xf32>) -> ({F}, {F}) {NPU} {{
      %0, %1 = graph.split %x, sections = 2, axis = 0 : (tensor<8xf32>) -> ({F}, {F})
      func.return %0, %1 : {F}, {F}
    }}
    func.func private @apart(%x: {F}, %y: {F}) -> {F} {NPU} {{
      %0 = graph.subtract %x, %y : ({F}, {F}) -> {F}
      func.return %0 : {F}
    }}"""
    x = np.arange(8, dtype=np.float32) ** 2
    found = stepwell.calibrate(text, {"x": x}, reference=reference)
    np.testing.assert_array_equal(found["halves"]["inputs"], [x])
    np.testing.assert_array_equal(found["halves"]["outputs"], [x[:4], x[4:]])
    np.testing.assert_array_equal(found["apart"]["inputs"], [x[4:], x[:4]])
    np.testing.assert_array_equal(found["apart"]["outputs"], [x[4:] - x[:4]])


def test_three_calls_stand_in_the_order_of_the_calls(reference: bool) -> None:
    third = f"func.func private @a_third(%x: {F}) -> {F} {NPU} {{ func.return %x : {F} }}"
    text = main(
        two("%a = func.call @second(%x, %y)") + one("%b = func.call @a_third(%a)") + one("%r = func.call @first(%b)")
    )
    data = batch()
    found = stepwell.calibrate(text + third, data, reference=reference)
    assert list(found) == ["second", "a_third", "first"]
    total = data["x"] + data["y"]
    for name, outputs in (("second", total), ("a_third", total), ("first", -total)):
        np.testing.assert_array_equal(found[name]["outputs"][0], outputs)


def test_functions_without_the_attribute_are_not_recorded(reference: bool) -> None:
    text = main(one("%p = func.call @plain(%x)") + one("%q = func.call @plain(%p)") + one("%r = func.call @first(%q)"))
    found = stepwell.calibrate(text, batch(), reference=reference)
    assert list(found) == ["first"]
    np.testing.assert_allclose(found["first"]["inputs"][0], batch()["x"] ** 4, rtol=1e-6)


def test_a_call_whose_results_nobody_uses_is_recorded(reference: bool) -> None:
    text = main(two("%dead = func.call @second(%x, %y)") + one())
    found = stepwell.calibrate(text, batch(), reference=reference)
    np.testing.assert_array_equal(found["second"]["outputs"][0], batch()["x"] + batch()["y"])


def test_the_module_given_stays_as_it_is() -> None:
    module = stepwell.parse(main(one("%p = func.call @plain(%x)") + one("%r = func.call @first(%p)")))
    before = str(module)
    for options in ({}, {"recursive": True, "multi": "list"}):
        stepwell.calibrate(module, batch(), **options)
        assert str(module) == before
    module.verify()


def test_a_failed_calibration_leaves_the_module_as_it_is() -> None:
    module = stepwell.parse(main(one("%p = func.call @first(%x)") + one("%r = func.call @first(%p)")))
    uses = [len(list(result.uses)) for op in module.walk() for result in op.results]
    from stepwell.core.text.parsing import make_context
    from stepwell.rewrites.calibration.calibrate_module import CalibrateMapPass

    with pytest.raises(OperationError, match="repeated call"):
        CalibrateMapPass().apply(make_context(), module)
    assert uses == [len(list(result.uses)) for op in module.walk() for result in op.results]


def test_the_data_is_nobody_elses(reference: bool) -> None:
    """Arrays given and arrays returned share no memory, nor do two returned ones."""
    data = batch()
    found = stepwell.calibrate(main(two("%r = func.call @second(%x, %x)")), data, reference=reference)
    first, again = found["second"]["inputs"]
    assert not np.shares_memory(first, again) and not np.shares_memory(first, data["x"])


def test_unused_functions_that_cannot_be_lowered_do_no_harm() -> None:
    text = ONE_CALL + f"func.func @other(%x: {F}) -> {F} {{\n" + one() + f"func.return %r : {F}\n}}"
    assert list(stepwell.calibrate(text, batch())) == ["first"]
    calibrator = Calibrator(text)
    assert "@other" not in str(calibrator.module) and "@plain" not in str(calibrator.module)


@pytest.mark.ci_cases(7)
@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16", "i8", "ui16", "i64", "i1"])
def test_every_element_type_is_recorded(dtype: str, reference: bool) -> None:
    from stepwell.te.dtypes import numpy_dtype

    t = f"tensor<3x{dtype}>"
    text = f"""
    func.func @main(%x: {t}) -> {t} {{ %r = func.call @g(%x) : ({t}) -> {t} func.return %r : {t} }}
    func.func private @g(%x: {t}) -> {t} {NPU} {{
      %0 = graph.maximum %x, %x : ({t}, {t}) -> {t}
      func.return %0 : {t}
    }}"""
    if dtype == "i1":
        text = text.replace("graph.maximum", "graph.logical_or")
    x = np.array([0, 1, 1]).astype(numpy_dtype(dtype))
    found = stepwell.calibrate(text, {"x": x}, reference=reference)["g"]
    for array in (found["inputs"][0], found["outputs"][0]):
        assert array.dtype == x.dtype
        np.testing.assert_array_equal(array, x)
    statistics = stepwell.calibrate(text, {"x": x}, statistics=True)["g"]["inputs"][0]
    assert (statistics.minimum, statistics.maximum, statistics.type) == (0, 1, t)


def test_sizes_may_be_unknown_and_change(reference: bool) -> None:
    text = ONE_CALL.replace("4xf32", "?xf32")
    batches = [batch(seed, (size,)) for seed, size in enumerate((3, 5, 3))]
    statistics = stepwell.calibrate(text, batches, statistics=True, reference=reference)
    assert statistics["first"]["inputs"][0].count == 11
    assert statistics["first"]["inputs"][0].type == "tensor<?xf32>"
    with pytest.raises(ArgumentError, match=r"input 0 of @first is \(3,\) in batch 1 and \(5,\) in batch 2"):
        stepwell.calibrate(text, batches, reference=reference)


def test_weights_come_from_the_side_car_or_from_the_caller(tmp_path: Path, reference: bool) -> None:
    text = main(f'%w = graph.weight "w" : {F}\n' + two("%r = func.call @second(%x, %w)"))
    text = f'builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{\n{text}}}'
    w, other = batch(5, names="wo").values()
    write_weights(tmp_path / "w.safetensors", {"w": w})
    (tmp_path / "m.mlir").write_text(text)
    found = stepwell.calibrate(tmp_path / "m.mlir", batch(), reference=reference)
    np.testing.assert_array_equal(found["second"]["inputs"][1], w)
    found = stepwell.calibrate(tmp_path / "m.mlir", batch(), reference=reference, weights={"w": other})
    np.testing.assert_array_equal(found["second"]["inputs"][1], other)


def test_prepared_weights_are_recorded(tmp_path: Path, reference: bool) -> None:
    """A function that is run once per set of weights is no obstacle."""
    text = f"""
    func.func @main(%x: {F}) -> {F} {{
      %w = func.call @prepare_0() : () -> {F}
      %r = func.call @second(%x, %w) : ({F}, {F}) -> {F}
      func.return %r : {F}
    }}
    func.func private @prepare_0() -> {F} attributes {{stepwell.prepare}} {{
      %w = graph.weight "w" : {F}
      %0 = graph.negative %w : ({F}) -> {F}
      func.return %0 : {F}
    }}
    {CHAIN}"""
    w = batch(5)["x"]
    found = stepwell.calibrate(text, {"x": w}, reference=reference, weights={"w": w})
    np.testing.assert_array_equal(found["second"]["inputs"][1], -w)


# Several batches


def test_batches_are_stacked_along_a_new_axis(reference: bool) -> None:
    batches = [batch(seed) for seed in range(3)]
    found = stepwell.calibrate(ONE_CALL, iter(batches), reference=reference)
    np.testing.assert_array_equal(found["first"]["inputs"][0], np.stack([each["x"] for each in batches]))
    np.testing.assert_array_equal(found["first"]["outputs"][0], -found["first"]["inputs"][0])
    single = stepwell.calibrate(ONE_CALL, [batches[0]], reference=reference)
    assert single["first"]["inputs"][0].shape == (1, 4)


def test_statistics_of_batches_are_those_of_their_data(reference: bool) -> None:
    batches = [batch(seed) for seed in range(4)]
    stacked = stepwell.calibrate(ONE_CALL, batches, reference=reference)["first"]["outputs"][0]
    (found,) = stepwell.calibrate(ONE_CALL, batches, statistics=True, reference=reference)["first"]["outputs"]
    assert (found.batches, found.count, found.not_finite) == (4, 16, 0)
    assert (found.minimum, found.maximum) == (stacked.min(), stacked.max())
    assert found.mean == pytest.approx(stacked.astype(np.float64).mean())
    assert found.standard_deviation == pytest.approx(stacked.astype(np.float64).std())


def test_one_batch_has_statistics_too() -> None:
    (found,) = stepwell.calibrate(ONE_CALL, batch(), statistics=True)["first"]["inputs"]
    assert (found.batches, found.count) == (1, 4)


def test_elements_that_are_not_finite_are_counted_and_told(reference: bool) -> None:
    data = batch()
    data["x"][:3] = np.nan, np.inf, -np.inf
    with pytest.warns(CalibrationWarning, match="put 0 of @first: 1 NaN and 2 infinite elements of 4") as told:
        found = stepwell.calibrate(ONE_CALL, data, statistics=True, reference=reference)["first"]
    assert len(told) == 2
    for tensor in (*found["inputs"], *found["outputs"]):
        assert (tensor.nan, tensor.positive_infinity, tensor.negative_infinity, tensor.count) == (1, 1, 1, 1)
    assert found["inputs"][0].minimum == found["inputs"][0].maximum == data["x"][3]


# Several calls


def test_a_repeated_call_is_an_error_with_both_places() -> None:
    text = main(one("%p = func.call @first(%x)") + one("%r = func.call @first(%p)"))
    with pytest.raises(OperationError, match="repeated call of @first") as caught:
        stepwell.calibrate(text, batch())
    shown = render(caught.value.diagnostic)
    assert re.search(r":3:1: error: 'func.call': repeated call", shown)
    assert re.search(r":2:1: note: 'func.call': the first call is here", shown)


def test_multi_list_records_every_call(reference: bool) -> None:
    text = main(
        one("%p = func.call @first(%x)") + two("%q = func.call @second(%p, %y)") + one("%r = func.call @first(%q)")
    )
    data = batch()
    found = stepwell.calibrate(text, data, multi="list", reference=reference)
    assert {name: len(calls) for name, calls in found.items()} == {"first": 2, "second": 1}
    np.testing.assert_array_equal(found["first"][0]["inputs"][0], data["x"])
    np.testing.assert_array_equal(found["first"][1]["inputs"][0], -data["x"] + data["y"])
    np.testing.assert_array_equal(found["first"][1]["outputs"][0], data["x"] - data["y"])
    statistics = stepwell.calibrate(text, [data, data], multi="list", statistics=True)
    assert statistics["first"][1]["outputs"][0].count == 8


NESTED = main(one("%h = func.call @helper(%x)") + two("%r = func.call @second(%h, %y)")) + (
    f"func.func private @helper(%x: {F}) -> {F} {{\n"
    + one("%0 = func.call @plain(%x)")
    + one("%1 = func.call @first(%0)")
    + f"func.return %1 : {F}\n}}"
)


def test_nested_calls_are_warned_of() -> None:
    with pytest.warns(CalibrationWarning, match="this call of @first in @helper is not recorded"):
        found = stepwell.calibrate(NESTED, batch())
    assert list(found) == ["second"]


def test_recursive_records_nested_calls(reference: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stepwell.calibrate(NESTED, batch(), recursive=True, reference=reference)
    assert list(found) == ["first", "second"]
    np.testing.assert_allclose(found["first"]["inputs"][0], batch()["x"] ** 2, rtol=1e-6)
    np.testing.assert_allclose(found["first"]["outputs"][0], -(batch()["x"] ** 2), rtol=1e-6)


def test_nothing_to_record_is_warned_of(reference: bool) -> None:
    with pytest.warns(CalibrationWarning, match="no call of a function with graph.compiler is recorded"):
        assert stepwell.calibrate(main("", "%x"), batch(), reference=reference) == {}


def test_another_entry() -> None:
    text = ONE_CALL.replace("@main", "@start")
    assert list(stepwell.calibrate(text, batch(), entry="start")) == ["first"]
    with pytest.raises(PassFailedException, match="there is no function @main"):
        stepwell.calibrate(text, batch())


# Errors


@pytest.mark.ci_cases(7)
@pytest.mark.parametrize(
    "data, message",
    [
        (
            {"x": np.zeros(4, np.float32)},
            r"batch 1: the data has no array for argument 'y' \(tensor<4xf32>\)",
        ),
        ({**batch(), "z": np.zeros(4)}, "batch 1: 'main' has no argument 'z'; it has x, y"),
        ({**batch(), "xx": np.zeros(4)}, "batch 1: 'main' has no argument 'xx'; did you mean 'x'"),
        ({"x": np.zeros(4), "y": np.zeros(4)}, "batch 1: argument 'x' has element type float64"),
        ({**batch(), "y": np.zeros((2, 2), np.float32)}, "batch 1: argument 'y' has rank 2"),
        ({**batch(), "y": "zeros"}, "batch 1: argument 'y' is a str, expected a numpy array"),
        ([batch(), {}], "batch 2: the data has no array for argument 'x'"),
        ([batch(), batch()["x"]], "batch 2 is an ndarray, expected a dictionary of arrays by argument name"),
        ([], "there is no batch to calibrate with, expected at least one"),
    ],
)
def test_data_that_does_not_fit_is_an_error(data: Any, message: str, reference: bool) -> None:
    for statistics in (False, True):
        with pytest.raises(ArgumentError, match=message):
            stepwell.calibrate(ONE_CALL, data, statistics=statistics, reference=reference)


@pytest.mark.parametrize(
    "text, message",
    [
        (main(f"%c = arith.constant true\n%r = scf.if %c -> ({F}) {{ scf.yield %x : {F} }} else {{ scf.yield %y : "
              f"{F} }}"), "control flow in @main"),
        (ONE_CALL.replace("@first(%x) :", "@frist(%x) :"), "@frist"),
        (ONE_CALL.replace("->", "->", 1).replace("@main(", "@main(%t: tuple<tensor<4xf32>>, "), "tuple"),
    ],
    ids=["control flow", "undefined function", "tuple"],
)  # fmt: skip
def test_what_cannot_be_calibrated_is_an_error(text: str, message: str) -> None:
    with pytest.raises((PassFailedException, VerificationError, CompileError)) as caught:
        stepwell.calibrate(text, batch())
    assert message in str(caught.value) + str(diagnostic_of(caught.value))


def test_an_option_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(PassFailedException, match="multi is 'all', expected one of error, list"):
        stepwell.calibrate(ONE_CALL, batch(), multi="all")


def test_a_program_that_fails_says_where() -> None:
    text = f"""
    func.func @main(%x: {F}, %i: tensor<1xi64>) -> tensor<1xf32> {{
      %r = func.call @g(%x, %i) : ({F}, tensor<1xi64>) -> tensor<1xf32>
      func.return %r : tensor<1xf32>
    }}
    func.func private @g(%x: {F}, %i: tensor<1xi64>) -> tensor<1xf32> {NPU} {{
      %0 = graph.take %x, %i, axis = 0 : ({F}, tensor<1xi64>) -> tensor<1xf32>
      func.return %0 : tensor<1xf32>
    }}"""
    data = {"x": batch()["x"], "i": np.array([7])}
    with pytest.raises(ExecutionError, match=r":7:7: error: graph.take: index out of range"):
        stepwell.calibrate(text, data)


def test_small_floats_keep_their_range() -> None:
    t = "tensor<2xbf16>"
    text = (
        f"func.func @main(%x: {t}) -> {t} {{ %r = func.call @g(%x) : ({t}) -> {t} func.return %r : {t} }}\n"
        f"func.func private @g(%x: {t}) -> {t} {NPU} {{ func.return %x : {t} }}"
    )
    x = np.array([3e38, -1e-38], ml_dtypes.bfloat16)
    (found,) = stepwell.calibrate(text, {"x": x}, statistics=True)["g"]["outputs"]
    assert (found.minimum, found.maximum) == (float(x[1]), float(x[0]))
