"""The code generator `openblas`, and the example that runs with and without its library."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from external_codegens import made as any_code
from stepwell.core.codegens import CodegenContext, NativeCode
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import parse
from stepwell.reference.run import run
from stepwell.runtime.external_code.openblas import address, generate, supports
from stepwell.runtime.external_code.openblas_text import GemmText
from xdsl.dialects.func import FuncOp

EXAMPLE = Path(__file__).parents[3] / "examples" / "external_blas"
PARTITION = "partition-by-pattern{table=openblas annotate-codegen}"
REGIONS = "merge-composite{table=openblas},annotate-target{targets=openblas},merge-regions,partition-graph"


def tensor(shape: tuple[int, ...], element_type: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element_type}>"


def random_arrays(dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
    source = np.random.default_rng(3)
    return [np.asarray(source.standard_normal(shape), dtype) for shape in shapes]


def through_the_library(text: str, pipeline: str, count: int, *arrays: Any) -> tuple[Any, ...]:
    """The results of a program of which `count` functions go to the library."""
    exe = stepwell.compile(text, pipeline=pipeline, cache=False)
    assert exe.ir("llvm").count("llvm.call @_stepwell_external_") == count
    return exe(*arrays)


def check(text: str, pipeline: str, count: int, *arrays: Any) -> None:
    tolerance = 1e-12 if arrays[0].dtype == np.float64 else 1e-5
    results = through_the_library(text, pipeline, count, *arrays)
    for got, own, wanted in zip(
        results, stepwell.compile(text, cache=False)(*arrays), run(parse(text), "main", *arrays), strict=True
    ):
        np.testing.assert_allclose(got, own, rtol=tolerance, atol=tolerance * 10)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * 10)


SUMS = [
    ((4, 8), (8, 16), (16,)),
    ((4, 8), (8, 16), (4, 16)),
    ((4, 8), (8, 16), (4, 1)),
    ((4, 8), (8, 16), ()),
    ((2, 3, 8), (8, 5), (3, 1)),
    ((2, 3, 8), (8, 5), (2, 1, 5)),
    ((2, 3, 8), (8, 5), (2, 3, 5)),
    ((4, 0), (0, 5), (5,)),
    ((0, 3), (3, 5), (5,)),
    ((4, 3), (3, 0), (4, 1)),
    ((1, 1), (1, 1), (1,)),
    ((37, 130), (130, 61), (61,)),
]


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("element_type, dtype", [("f32", np.float32), ("f64", np.float64)])
@pytest.mark.parametrize("lhs, rhs, addend", SUMS)
def test_products_with_an_addend(
    lhs: tuple[int, ...], rhs: tuple[int, ...], addend: tuple[int, ...], element_type: str, dtype: Any
):
    x, w, b, r = (tensor(shape, element_type) for shape in (lhs, rhs, addend, lhs[:-1] + rhs[1:]))
    text = f"""func.func @main(%x: {x}, %w: {w}, %b: {b}) -> ({r}, {r}) {{
  %0 = graph.matmul %x, %w : ({x}, {w}) -> {r}
  %1 = graph.add %b, %0 : ({b}, {r}) -> {r}
  %2 = graph.exp %w : ({w}) -> {w}
  %3 = graph.matmul %x, %2 : ({x}, {w}) -> {r}
  func.return %1, %3 : {r}, {r}
}}"""
    check(text, PARTITION, 2, *random_arrays(dtype, lhs, rhs, addend))


TWO = """func.func @main(%x: T, %y: T, %b: T) -> (T, T) {
  %0 = graph.matmul %x, %y : (T, T) -> T
  %1 = graph.matmul %y, %x : (T, T) -> T
  %2 = graph.add %0, %1 : (T, T) -> T
  %3 = graph.matmul %2, %y : (T, T) -> T
  %4 = graph.matmul %2, %3 : (T, T) -> T
  %5 = graph.add %b, %4 : (T, T) -> T
  func.return %5, %0 : T, T
}""".replace("T", "tensor<7x7xf32>")


def test_several_products_in_one_function():
    """What lies between them is memory of the function; results are used by later products too."""
    arrays = random_arrays(np.float32, (7, 7), (7, 7), (7, 7))
    main = "func.func private @all" + TWO.partition("@main")[2].replace(
        "-> (tensor<7x7xf32>, tensor<7x7xf32>) {", "ATTR"
    )
    main = main.replace(
        "ATTR",
        '-> (tensor<7x7xf32>, tensor<7x7xf32>) attributes {graph.primitive, graph.compiler = "openblas"} {',
    )
    t = "tensor<7x7xf32>"
    text = f"""func.func @main(%x: {t}, %y: {t}, %b: {t}) -> ({t}, {t}) {{
  %0, %1 = func.call @all(%x, %y, %b) : ({t}, {t}, {t}) -> ({t}, {t})
  func.return %0, %1 : {t}, {t}
}}
{main}"""
    exe = stepwell.compile(text, cache=False)
    assert exe.ir("llvm").count("llvm.call @_stepwell_external_") == 1
    for got, wanted in zip(exe(*arrays), run(parse(TWO), "main", *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_regions_of_composite_functions():
    check(TWO, REGIONS, 1, *random_arrays(np.float32, (7, 7), (7, 7), (7, 7)))


def test_of_two_products_the_one_that_nobody_else_uses_takes_the_other_as_addend():
    t = "tensor<5x5xf32>"
    for first, second in (("%0", "%1"), ("%1", "%0")):
        text = f"""func.func @main(%x: {t}, %y: {t}) -> ({t}, {t}) {{
  %0 = graph.matmul %x, %y : ({t}, {t}) -> {t}
  %1 = graph.matmul %y, %x : ({t}, {t}) -> {t}
  %2 = graph.add {first}, {second} : ({t}, {t}) -> {t}
  func.return %2, %0 : {t}, {t}
}}"""
        check(text, PARTITION, 2, *random_arrays(np.float32, (5, 5), (5, 5)))
        exe = stepwell.compile(text, pipeline=PARTITION, cache=False)
        assert "@_stepwell_external_openblas_matmul_add_0" in exe.ir("llvm")


@pytest.mark.parametrize(
    "body, reason",
    [
        ("%r = graph.exp %x : (T) -> T", "'graph.exp' is not a product, nor the addend of one"),
        (
            "%r = graph.matmul %h, %h : (H, H) -> H",
            "'graph.matmul' is of f16 and gives f16, expected f32 or f64",
        ),
        ("%r = graph.matmul %h, %h, out_dtype = f32 : (H, H) -> T", "is of f16 and gives f32"),
        ("%r = graph.matmul %s, %s : (S, S) -> S", "expected a matrix on the right"),
        ("%r = graph.matmul %v, %x : (V, T) -> V", "expected a matrix on the right"),
        ("%r = graph.matmul %q, %x : (Q, T) -> Q", "has sizes that are not known"),
        ("%k = graph.full 2.0 : T\n%r = graph.matmul %k, %x : (T, T) -> T", "'graph.full' is not a product"),
    ],
)
def test_what_the_library_does_not_compute(body: str, reason: str):
    types = {
        "T": "tensor<3x3xf32>",
        "H": "tensor<3x3xf16>",
        "S": "tensor<2x3x3xf32>",
        "V": "tensor<3xf32>",
        "Q": "tensor<?x3xf32>",
    }
    result = body.rpartition("-> ")[2]
    text = f"func.func @f(%x: T, %h: H, %s: S, %v: V, %q: Q) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}"
    module = parse(re.sub(r"\b[THSVQ]\b", lambda found: types[found[0]], text))
    function = module.body.ops.first
    assert isinstance(function, FuncOp)
    verdict = supports(function)
    assert isinstance(verdict, str) and reason in verdict
    with pytest.raises(ValueError, match=re.escape(reason)):
        generate(function, CodegenContext("openblas", "f", module))


@pytest.mark.parametrize("returned, reason", [("%0, %0", "returns a value twice"), ("%0, %x", "returns an argument")])
def test_odd_results_are_left_to_stepwell(returned: str, reason: str):
    t = "tensor<3x3xf32>"
    text = (
        f"func.func @f(%x: {t}) -> ({t}, {t}) {{\n%0 = graph.matmul %x, %x : ({t}, {t}) -> {t}\n"
        f"func.return {returned} : {t}, {t}\n}}"
    )
    function = parse(text).body.ops.first
    assert isinstance(function, FuncOp)
    assert reason in str(supports(function))


def test_without_memory_the_function_fails():
    """`malloc` gives nothing for a size that no machine has."""
    t = "tensor<2x2xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
  %0 = func.call @f(%x) : ({t}) -> {t}
  func.return %0 : {t}
}}
func.func private @f(%x: {t}) -> {t} attributes {{graph.primitive, graph.compiler = "test_any"}} {{
  func.return %x : {t}
}}"""

    def greedy(function: FuncOp, context: CodegenContext) -> NativeCode:
        found, library = address("cblas_sgemm")
        gemm = GemmText(context.symbol, 1, 1)
        memory = gemm.temporary(2**60, "f32")
        gemm.gemm("scipy_cblas_sgemm", (2, 2, 2), ("%in0", memory, "%out0"), "f32", accumulate=False)
        return NativeCode(gemm.finish(), {"scipy_cblas_sgemm": found}, library)

    any_code.append(greedy)
    exe = stepwell.compile(text, cache=False)
    any_code.clear()
    with pytest.raises(RuntimeError, match="code of 'test_any' for @f failed"):
        exe(np.zeros((2, 2), np.float32))


# The example


def test_the_classifier_gives_the_same_digits_through_the_library():
    example = runpy.run_path(str(EXAMPLE / "mlp.py"))
    weights, images, labels = example["load"]()
    own, mixed = (example["compiled"](100, pipeline, weights)[0] for pipeline in (None, example["PARTITION"]))
    assert mixed.ir("llvm").count("llvm.call @_stepwell_external_") == 2
    assert own.ir("llvm").count("_stepwell_external_") == 0
    (ours,), (theirs,) = own(images), mixed(images)
    np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-4)
    assert (theirs.argmax(axis=1) == ours.argmax(axis=1)).all()
    assert (theirs.argmax(axis=1) == labels).mean() == 0.98


@pytest.mark.ci_cases(0)
def test_the_classifier_runs_in_a_process_without_the_library():
    command = [sys.executable, str(EXAMPLE / "mlp.py"), "--hide"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    reason = "code generator 'openblas' cannot be used: package scipy-openblas32 is not installed"
    for number in (0, 1):
        assert f"@openblas_matmul_add_{number} is compiled by stepwell itself: {reason}" in printed
    assert "calls out of the program: 0\n" in printed and "accuracy 98%" in printed
    assert "difference of a logit from stepwell's own 0.0e+00" in printed


def test_a_target_of_ones_own():
    """Annotate, merge, partition, run: a small CNN, as told in the example."""
    example = runpy.run_path(str(EXAMPLE / "cnn.py"))
    arrays = example["inputs"]()
    remarks: list[str] = []
    with listening(lambda diagnostic: remarks.append(diagnostic.message)):
        exe = stepwell.compile(example["PROGRAM"], pipeline=f"{example['PARTITION']},O3", cache=False)
    assert "'graph.add': not merged with a region of 'numpy_ref': it would depend on itself" in remarks
    assert exe.ir("llvm").count("llvm.call @_stepwell_external_numpy_ref_main_") == 2
    own = stepwell.compile(example["PROGRAM"], cache=False)(*arrays)
    wanted = run(parse(example["PROGRAM"]), "main", *arrays)
    for got, ours, reference in zip(exe(*arrays), own, wanted, strict=True):
        np.testing.assert_allclose(got, ours, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(got, reference, rtol=1e-5, atol=1e-5)
