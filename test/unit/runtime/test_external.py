"""
Functions that code generators compile: how the program calls them, and what happens when they fail or are not there.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import external_codegens as generators
import numpy as np
import pytest
import stepwell
from at_once import at_once
from external_codegens import program
from stepwell.core import codegens
from stepwell.core.codegens import Codegen, NativeCode, codegen, find_codegen
from stepwell.core.messages.diagnostics import Diagnostic, StepwellError, listening
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.reference.run import run
from stepwell.runtime.errors import ExecutionError, ExternalError
from stepwell.te.dtypes import numpy_dtype
from xdsl.utils.exceptions import PassFailedException

DTYPES = ["f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i1"]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    for table in (generators.calls, generators.behave, generators.made):
        table.clear()


def compiled(text: Any, **settings: Any) -> tuple[Any, list[str]]:
    """The program, and what was remarked on who compiles what."""
    remarks: list[str] = []

    def hear(diagnostic: Diagnostic) -> None:
        if "compiled by stepwell itself" in diagnostic.message:
            remarks.append(diagnostic.message)

    with listening(hear):
        return stepwell.compile(text, **{"cache": False, **settings}), remarks


def arrays(element_type: str = "f32", shape: tuple[int, ...] = (2, 3)) -> tuple[Any, Any]:
    dtype = numpy_dtype(element_type)
    x = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5).astype(dtype)
    return x, (x[::-1] if shape else x).copy()


# Calls


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("element_type", DTYPES)
def test_every_element_type_reaches_python_as_it_is(element_type: str):
    op = "logical_or" if element_type == "i1" else "add"
    x, y = arrays(element_type)
    text = program("test_numpy", element_type, op)
    exe, remarks = compiled(text)
    assert remarks == []
    for got, expected in zip(exe(x, y), run(parse(text), "main", x, y), strict=True):
        np.testing.assert_array_equal(got, expected)
    ((first, second),) = generators.calls
    assert first.dtype == x.dtype and first.shape == (2, 3)
    assert not first.flags.writeable and not second.flags.writeable


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3)])
@pytest.mark.parametrize("opt_level", [0, 3])
def test_scalars_and_empty_tensors(shape: tuple[int, ...], opt_level: int):
    text = program("test_numpy", shape="".join(f"{size}x" for size in shape))
    x, y = arrays("f32", shape)
    for got, expected in zip(compiled(text, opt_level=opt_level)[0](x, y), (x + y + x, x + y), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("stair", ["graph", "tensor_loop", "scf", "llvm"])
def test_a_program_from_any_stair_finds_its_code(stair: str):
    exe, _ = compiled(program("test_numpy"))
    again, _ = compiled(exe.ir(stair))
    x, y = arrays()
    np.testing.assert_array_equal(again(x, y)[0], x + y + x)
    assert len(generators.calls) == 1


@pytest.mark.ci_cases(0)
def test_every_prefix_of_the_pipeline_runs():
    passes = parse_pipeline("finish")
    x, y = arrays()
    assert passes[1].name == "lower-external-functions"
    for count in range(len(passes) + 1):
        module = parse(program("test_numpy"))
        if count == 0:
            np.testing.assert_array_equal(run(module, "main", x, y)[0], x + y + x)
        run_pipeline(make_context(), module, passes[:count], verify_each=True)
        text = str(module)
        if "llvm.func" in text or "stepwell.role" in text or "tensor<" in text.partition("attributes")[0]:
            np.testing.assert_array_equal(compiled(text)[0](x, y)[0], x + y + x)
    assert len(generators.calls) == len(passes) + 1


def test_calls_from_many_threads_and_after_a_collection():
    exe, _ = compiled(program("test_numpy"))
    gc.collect()
    wrong: list[Any] = []

    def work(number: int) -> None:
        x = np.full((2, 3), number, np.float32)
        for _ in range(50):
            if not (exe(x, x)[0] == 3 * number).all():
                wrong.append(number)

    at_once(4, work)
    assert wrong == [] and len(generators.calls) == 200


def test_weights_inside_and_work_before_the_first_call():
    """
    Weights become parameters, also those that a prepare function makes; such a function may call code from outside.
    """
    t = "tensor<3xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
  %0 = func.call @f(%x) : ({t}) -> {t}
  func.return %0 : {t}
}}
func.func private @prepare_0() -> {t} attributes {{stepwell.prepare}} {{
  %w = graph.weight "w" : {t}
  %0 = func.call @double(%w) : ({t}) -> {t}
  func.return %0 : {t}
}}
func.func private @double(%x: {t}) -> {t} attributes {{graph.primitive, graph.compiler = "test_numpy"}} {{
  %0 = graph.add %x, %x : ({t}, {t}) -> {t}
  func.return %0 : {t}
}}
func.func private @f(%x: {t}) -> {t} attributes {{graph.primitive, graph.compiler = "test_numpy"}} {{
  %w = graph.weight "w" : {t}
  %p = func.call @prepare_0() : () -> {t}
  %0 = graph.multiply %x, %w : ({t}, {t}) -> {t}
  %1 = graph.add %0, %p : ({t}, {t}) -> {t}
  func.return %1 : {t}
}}"""
    w = np.array([1, 2, 3], np.float32)
    exe, remarks = compiled(text, weights={"w": w}, pipeline="")
    assert remarks == [] and len(generators.calls) == 1
    for _ in range(2):
        np.testing.assert_array_equal(exe(w)[0], w * w + 2 * w)
    assert [len(call) for call in generators.calls] == [1, 3, 3]


def test_code_inside_a_fused_group():
    text = program("test_numpy").replace(
        "func.func private",
        """func.func @group(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = func.call @inner(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func private @inner(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {graph.primitive} {
  %0, %1 = func.call @f(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %2 = graph.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}
func.func private""",
    )
    x, _ = arrays()
    for level in (0, 3):
        np.testing.assert_allclose(compiled(text, entry="group", opt_level=level)[0](x)[0], np.exp(2 * x), rtol=1e-5)
    assert len(generators.calls) == 2


def test_sizes_that_become_known_at_the_call():
    exe, remarks = compiled(program("test_numpy", shape="?x3x"))
    for rows in (1, 4):
        x = np.ones((rows, 3), np.float32)
        np.testing.assert_array_equal(exe(x, x)[0], 3 * x)
    assert [call[0].shape for call in generators.calls] == [(1, 3), (4, 3)]


# Failures


class Mishap(Exception):
    """What a code generator of a test raises."""


def test_an_exception_surfaces_with_its_cause():
    def fail(*arrays: Any) -> Any:
        raise Mishap("boom")

    exe, _ = compiled(program("test_numpy"))
    generators.behave.append(fail)
    with pytest.raises(ExternalError) as caught:
        exe(*arrays())
    assert isinstance(caught.value, StepwellError) and isinstance(caught.value, ExecutionError)
    assert isinstance(caught.value.__cause__, Mishap)
    assert str(caught.value) == ("<text>:6:1: error: graph.compiler: code of 'test_numpy' for @f failed: Mishap: boom")
    generators.behave.clear()
    x, y = arrays()
    np.testing.assert_array_equal(exe(x, y)[1], x + y)


def test_an_interrupt_is_an_interrupt():
    def interrupt(*arrays: Any) -> Any:
        raise KeyboardInterrupt

    exe, _ = compiled(program("test_numpy"))
    generators.behave.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        exe(*arrays())


@pytest.mark.parametrize(
    "result, message",
    [
        (lambda x, y: x, "ValueError: returned 1 arrays, expected 2"),
        (lambda x, y: (x, y, x), "ValueError: returned 3 arrays, expected 2"),
        (
            lambda x, y: (x[0], y),
            r"ValueError: result 0 is float32 of shape \(3,\), expected float32 of shape \(2, 3\)",
        ),
        (lambda x, y: (x, y.astype(float)), "ValueError: result 1 is float64 of shape"),
        (lambda x, y: (x, None), "ValueError: result 1 is object"),
        (lambda x, y: x.__setitem__(0, 1), "ValueError: assignment destination is read-only"),
    ],
)
def test_results_that_do_not_fit_are_errors(result: Any, message: str):
    exe, _ = compiled(program("test_numpy"))
    generators.behave.append(result)
    with pytest.raises(ExternalError, match=message):
        exe(*arrays())


def test_native_code_that_fails_is_a_failed_check():
    t = "tensor<3xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
  %0 = func.call @NAME(%x) : ({t}) -> {t}
  func.return %0 : {t}
}}
func.func private @NAME(%x: {t}) -> {t} attributes {{graph.primitive, graph.compiler = "test_llvm"}} {{
  func.return %x : {t}
}}"""
    x = np.zeros(3, np.float32)
    assert compiled(text.replace("NAME", "works"))[0](x)[0][0] == 7.0
    with pytest.raises(ExecutionError, match="graph.compiler: code of 'test_llvm' for @fails failed") as caught:
        compiled(text.replace("NAME", "fails"))[0](x)
    assert not isinstance(caught.value, ExternalError)


@pytest.mark.parametrize(
    "code, message",
    [
        (lambda function, context: 5, "for @f made an int, expected a function, LLVM text or NativeCode"),
        (lambda function, context: "define nonsense", "for @f made LLVM text that is not valid"),
        (lambda function, context: 1 / 0, "'test_any' of module 'external_codegens' failed on @f: ZeroDivisionError"),
        # AUDIT C7
        (
            lambda function, context: "define i32 @other(ptr %a) {\n  ret i32 0\n}",
            "code generator 'test_any' for @f made LLVM text that does not define '_stepwell_external_f'",
        ),
        (
            lambda function, context: (
                f"declare i32 @nowhere()\ndefine i32 @{context.symbol}(ptr %a, ptr %b, ptr %c, ptr %d) {{\n"
                "  %r = call i32 @nowhere()\n  ret i32 %r\n}"
            ),
            "for @f made LLVM text that calls 'nowhere', which is defined nowhere",
        ),
    ],
)
def test_what_is_no_code_is_an_error_of_loading(code: Any, message: str):
    generators.made.append(code)
    with pytest.raises(StepwellError, match=message):
        compiled(program("test_any"))


def test_addresses_that_differ_are_an_error():
    numbers = iter((16, 32))
    text = program("test_any") + program("test_any", name="g").partition("\n}\n")[2]
    text = text.replace("func.return %2", "%3, %4 = func.call @g(%x, %y) : (T, T) -> (T, T)\nfunc.return %3").replace(
        "T,", "tensor<2x3xf32>,"
    )
    text = text.replace("T)", "tensor<2x3xf32>)")
    generators.made.append(
        lambda function, context: NativeCode(
            f"define i32 @{context.symbol}(ptr %a, ptr %b, ptr %c, ptr %d) {{\n  ret i32 0\n}}",
            {"other": next(numbers)},
        )
    )
    with pytest.raises(StepwellError, match="gives symbol 'other' another address than code before it"):
        compiled(text)


# Who compiles


def test_an_unknown_code_generator_is_an_error_that_lists_the_known():
    with pytest.raises(PassFailedException) as caught:
        compiled(program("test_nunpy"))
    assert "there is no code generator 'test_nunpy'; registered are: " in str(caught.value)
    assert "openblas, test_absent, test_any, test_llvm, test_numpy" in str(caught.value)


@pytest.mark.parametrize(
    "compiler, op, reason",
    [
        ("test_absent", "add", "code generator 'test_absent' cannot be used: its library is on the moon"),
        ("openblas", "add", "'graph.add' is not a product, nor the addend of one"),
    ],
)
def test_stepwell_compiles_what_nobody_else_does(compiler: str, op: str, reason: str):
    exe, remarks = compiled(program(compiler, op=op))
    assert f"'func.func': @f is compiled by stepwell itself: {reason}" in remarks
    x, y = arrays()
    np.testing.assert_array_equal(exe(x, y)[0], x + y + x)


def test_a_library_that_is_gone_by_the_time_of_loading(monkeypatch: pytest.MonkeyPatch):
    """
    The text of the llvm level was made where the code generator could be used; now Stepwell compiles the function.
    """
    text = compiled(program("test_numpy"))[0].ir("llvm")
    found = find_codegen("test_numpy")
    gone = Codegen("test_numpy", found.function, lambda: "it left")
    monkeypatch.setitem(codegens._registered, "test_numpy", gone)  # pyright: ignore[reportPrivateUsage]
    exe, remarks = compiled(text)
    assert any("code generator 'test_numpy' cannot be used: it left" in remark for remark in remarks)
    x, y = arrays()
    np.testing.assert_array_equal(exe(x, y)[0], x + y + x)
    assert generators.calls == []


def test_a_name_belongs_to_who_took_it_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(codegens, "_registered", dict(codegens._registered))  # pyright: ignore[reportPrivateUsage]

    def other(function: Any, context: Any) -> Any:
        return None

    with pytest.raises(StepwellError, match="'test_numpy' is already defined by .*numpy_code"):
        codegen("test_numpy")(other)
    codegen("test_other")(other)
    codegen("test_other")(other)


def test_a_package_gives_a_code_generator(monkeypatch: pytest.MonkeyPatch):
    registry = codegens.registry()
    packed = Codegen("packed", lambda function, context: lambda x, y: (x - y, y))
    monkeypatch.setattr(
        registry,
        "extensions",
        {**registry.extensions, "codegen": {"packed": lambda: packed, "bad": lambda: 3}},
    )
    x, y = arrays()
    np.testing.assert_array_equal(compiled(program("packed"))[0](x, y)[1], x - y)
    with pytest.raises(PassFailedException, match="code generator 'bad' is of type int, expected Codegen"):
        compiled(program("bad"))


# The cache

SCRIPT = """
import sys
import numpy as np, stepwell
from stepwell.core.codegens import codegen
from stepwell.runtime import source as module

lowered = []
kept = module.Source.compiled
module.Source.compiled = lambda *arguments, **options: (lowered.append(1), kept(*arguments, **options))[1]

absent = []

@codegen("local", available=lambda: absent[0] if absent else None)
def code(function, context):
    return lambda x, y: (x + FACTOR * y, x)

text = open(sys.argv[1]).read()
x = np.ones((2, 3), np.float32)
print(stepwell.compile(text)(x, x)[1][0, 0], len(lowered))
absent.append("gone")
print(stepwell.compile(text)(x, x)[1][0, 0], len(lowered))
"""


@pytest.mark.ci_cases(0)
def test_the_cache_holds_no_address_and_knows_who_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "p.mlir").write_text(program("local"))
    script = tmp_path / "script.py"

    def fresh_process(factor: int) -> str:
        script.write_text(SCRIPT.replace("FACTOR", str(factor)))
        command = [sys.executable, str(script), str(tmp_path / "p.mlir")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    # the second number of a line is how often a program was lowered so far
    assert fresh_process(10) == "11.0 1\n2.0 2\n", "when it is gone stepwell compiles the function"
    assert fresh_process(10) == "11.0 0\n2.0 0\n", "both from the cache, with an address of this process"
    assert fresh_process(20) == "21.0 1\n2.0 2\n", "the file of the code generator has changed"


def test_the_cache_knows_files_that_the_pipeline_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    table = tmp_path / "t.mlir"
    rule = (
        'pattern.rule "test_numpy.x" {\n%x = pattern.any\n%root = pattern.op "graph.NAME"(%x)\n'
        "pattern.partition %root\n}"
    )
    text = (
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n%0 = graph.abs %x : (tensor<3xf32>)\n"
        "func.return %0 : tensor<3xf32>\n}"
    )
    for name, count in (("abs", 1), ("exp", 1), ("abs", 2)):
        table.write_text(rule.replace("NAME", name))
        pipeline = f'partition-by-pattern{{table="{table}" annotate-codegen}}'
        stepwell.compile(text, pipeline=pipeline)(np.ones(3, np.float32))
        assert len(generators.calls) == count
