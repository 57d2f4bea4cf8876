"""Calling a program: arguments by name, numbers and lists, named results, several entries."""

from __future__ import annotations

import pickle
from typing import Any, get_type_hints

import numpy as np
import pytest
import stepwell
from stepwell.frontends import OnnxExecutable
from stepwell.frontends.onnx import compiled
from stepwell.runtime import ArgumentError, executable
from stepwell.runtime.program.results import Results

TEXT = """
func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x3xf32> {
  %0 = graph.multiply %x, %s : (tensor<2x3xf32>, tensor<f32>)
  func.return %0 : tensor<2x3xf32>
}
func.func @second(%i: tensor<3xi32>)
    -> (tensor<3xi32> {stepwell.name = "neg"}, tensor<3xi32> {stepwell.name = "a/b:0"}) {
  %0 = graph.negative %i : (tensor<3xi32>)
  %1 = graph.add %i, %i : (tensor<3xi32>, tensor<3xi32>)
  func.return %0, %1 : tensor<3xi32>, tensor<3xi32>
}
"""
ONES = np.ones((2, 3), np.float32)


@pytest.fixture(scope="module", params=[TEXT, TEXT.replace("2x3", "?x3")], ids=["static", "dynamic"])
def exe(request: pytest.FixtureRequest) -> stepwell.Executable:
    return stepwell.compile(request.param)


def test_arguments_by_name(exe: stepwell.Executable):
    for result in (exe(ONES, s=2.0), exe(s=np.float32(2), x=ONES), exe(x=ONES, s=np.array(2, np.float32))):
        assert result[0].tolist() == (2 * ONES).tolist()


def test_numbers_and_lists_stand_for_arrays(exe: stepwell.Executable):
    assert exe([[1, 2, 3], [4, 5, 6]], 0.5)[0].tolist() == [[0.5, 1, 1.5], [2, 2.5, 3]]
    assert exe(((1, 2, 3.5), (4, 5, float("inf"))), True and 1)[0].tolist() == [[1, 2, 3.5], [4, 5, float("inf")]]
    assert np.isnan(exe(ONES, float("nan"))[0]).all()
    assert exe["second"](np.int64(1) * [1, 2, 3])[0].tolist() == [-1, -2, -3]


def test_results_have_names(exe: stepwell.Executable):
    result = exe["second"]([1, 2, 3])
    neg, double = result
    assert result.neg is neg and result["neg"] is neg and result["a/b:0"] is double and result[1] is double
    assert isinstance(result, tuple) and result._asdict().keys() == {"neg", "a/b:0"}
    assert repr(result) == "Results(neg=array([-1, -2, -3], dtype=int32), a/b:0=array([2, 4, 6], dtype=int32))"
    assert pickle.loads(pickle.dumps(result))["a/b:0"].tolist() == [2, 4, 6]
    assert exe(ONES, 1)._asdict().keys() == {"result0"}
    with pytest.raises(KeyError, match="there is no result 'pos', expected one of neg, a/b:0"):
        result["pos"]
    with pytest.raises(AttributeError):
        _ = result.pos


def test_entries(exe: stepwell.Executable):
    assert exe.entries == ("main", "second")
    second = exe["second"]
    assert second.signature == "second(i: tensor<3xi32>) -> (neg: tensor<3xi32>, a/b:0: tensor<3xi32>)"
    assert exe["main"] is exe
    assert second["main"](ONES, 3)[0].tolist() == (3 * ONES).tolist()
    assert "@second" in second.ir("graph")
    assert pickle.loads(pickle.dumps(second))([1, 2, 3]).neg.tolist() == [-1, -2, -3]
    with pytest.raises(KeyError, match="the program has no entry 'third', expected one of main, second"):
        exe["third"]


def test_a_static_program_shares_its_code_among_entries():
    exe = stepwell.compile(TEXT)
    assert exe["second"].programs()[None] is exe.programs()[None]


@pytest.mark.parametrize(
    ("arguments", "named", "said"),
    [
        ((ONES,), {}, "takes 2 arguments"),
        ((), {"x": ONES}, "argument 's' of 'main' is missing"),
        ((ONES,), {"x": ONES}, "argument 'x' of 'main' is given twice"),
        ((ONES,), {"t": 1}, "'main' has no argument 't'; its arguments are x, s"),
        ((ONES, 0.1), {}, "argument 's' holds 0.1, which tensor<f32> does not have; numpy.asarray"),
        ((ONES, 2**24 + 1), {}, "argument 's' holds 16777217, which tensor<f32> does not have"),
        ((ONES, 2**62 + 1), {}, "argument 's' holds 4611686018427387905, which tensor<f32> does not have"),
        ((ONES, 10**30), {}, "argument 's' holds 1000000000000000000000000000000, which tensor<f32> does not have"),
        ((ONES, True), {}, "argument 's' holds bool, expected numbers of type tensor<f32>"),
        (([["a"]], 1), {}, "argument 'x' holds <U1, expected numbers of type"),
        (([[1], [2, 3]], 1), {}, "argument 'x' has rows of different lengths, expected"),
        (([1, 2], 1), {}, "argument 'x' has rank 1"),
        ((ONES.astype(np.float64), 1), {}, "argument 'x' has element type float64, expected float32"),
        ((None, 1), {}, "argument 'x' is a NoneType, expected a numpy array"),
    ],
)
def test_what_does_not_fit(exe: stepwell.Executable, arguments: Any, named: Any, said: str):
    with pytest.raises(ArgumentError) as caught:
        exe(*arguments, **named)
    assert said in str(caught.value)


def test_integers_that_are_out_of_range(exe: stepwell.Executable):
    for wrong in ([1.5, 2, 3], [2**31, 0, 0], [float("nan"), 0, 0], [True, False, True]):
        with pytest.raises(ArgumentError, match="argument 'i' holds"):
            exe["second"](wrong)


def test_type_checkers_know_that_results_have_names() -> None:
    for kind in (stepwell.Executable, OnnxExecutable):
        assert get_type_hints(kind.__call__, vars(executable) | vars(compiled))["return"] is Results
