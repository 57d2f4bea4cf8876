"""The tuning database: what it holds, who reads it, and what `apply-tuning` does with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.core.fingerprint import compiler_fingerprint
from stepwell.core.messages.diagnostics import Diagnostic, DiagnosticWarning, StepwellError, listening
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.machine.named import machine_named
from stepwell.schedule.tuned.kernels import Kernel, kernels_of
from stepwell.schedule.tuned.records import (
    BEST,
    TRIAL,
    Record,
    append_record,
    best_records,
    read_records,
    target_key,
    tuning_fingerprint,
)
from xdsl.dialects.builtin import ModuleOp

PROGRAM = """schedule.program {
  %b = schedule.get_block "block0" in @kernel
  schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 3, columns = 16>
}"""

MODEL = """
func.func @main(%x: tensor<12x40xf32>, %y: tensor<40x32xf32>) -> tensor<12x32xf32> {
  %z = graph.matmul %x, %y : (tensor<12x40xf32>, tensor<40x32xf32>) -> tensor<12x32xf32>
  %r = graph.relu %z : (tensor<12x32xf32>) -> tensor<12x32xf32>
  return %r : tensor<12x32xf32>
}
"""

HOST = target_key(machine_named("host"))


def lowered(text: str) -> ModuleOp:
    module = parse(text)
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    return module


def kernel_of(text: str) -> Kernel:
    (kernel,) = kernels_of(lowered(text))
    return kernel


def record(text: str = MODEL, **fields: object) -> Record:
    best = Record(
        BEST,
        kernel_of(text).hash,
        HOST,
        compiler_fingerprint(),
        PROGRAM,
        "ok",
        1.3,
        (1.2, 1.4),
        date="2026-11-21",
    )
    return replace(best, **fields)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "tuning.jsonl"
    append_record(path, record())
    return path


def applied(path: Path, text: str = MODEL, options: str = "") -> tuple[str, list[Diagnostic]]:
    module, found = lowered(text), list[Diagnostic]()
    with listening(found.append):
        run_pipeline(make_context(), module, f'apply-tuning{{database="{path}"{options}}}')
    return str(module), found


def test_a_known_kernel_gets_its_schedule_under_its_own_names(database: Path) -> None:
    text, found = applied(database)
    assert "stepwell.tiling = #schedule.tiling<rows = 3, columns = 16>" in text
    assert [each.message for each in found] == [
        "'tensor_loop.func': @fused_matmul_relu0 takes a tuned schedule of 2026-11-21, 1.30 × as fast when measured"
    ]


def test_an_unknown_kernel_stays(database: Path) -> None:
    other = MODEL.replace("12x", "13x")
    text, found = applied(database, other)
    assert text == str(lowered(other)) and found == []


@pytest.mark.parametrize(
    "change",
    [{"target": "x86-64-v3"}, {"compiler": "of old"}, {"kind": TRIAL}],
    ids=["target", "compiler", "trial"],
)
def test_what_was_measured_elsewhere_is_not_used(tmp_path: Path, change: dict[str, str]) -> None:
    append_record(tmp_path / "db", record(**change))
    assert applied(tmp_path / "db")[0] == str(lowered(MODEL))


def test_schedules_of_another_compiler_are_used_when_asked_for(tmp_path: Path) -> None:
    append_record(tmp_path / "db", record(compiler="of old"))
    assert "stepwell.tiling" in applied(tmp_path / "db", options=" any_compiler=true")[0]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("schedule.program {", "error: "),
        ("builtin.module {}", "0 'schedule.program', expected one"),
        (PROGRAM.replace("block0", "block7"), "block7"),
        (PROGRAM.replace("rows = 3", "parts = 7, rows = 3"), "7 parts do not divide the 40 steps of the sum"),
    ],
    ids=["no text of a program", "no program", "of another kernel", "not legal where it is taken up"],
)
def test_a_schedule_that_does_not_fit_is_left_out_with_a_warning(tmp_path: Path, program: str, reason: str) -> None:
    append_record(tmp_path / "db", record(program=program))
    text, found = applied(tmp_path / "db")
    assert text == str(lowered(MODEL))
    (warning,) = found
    assert warning.severity == "warning"
    assert "the tuned schedule of @fused_matmul_relu0 is left out: " in warning.message
    assert reason in warning.message


def test_names_do_not_matter_but_constants_do() -> None:
    renamed = MODEL.replace("%z", "%product").replace("@main", "@other")
    assert kernel_of(renamed).hash == kernel_of(MODEL).hash
    constant = MODEL.replace(", %y: tensor<40x32xf32>", "").replace(
        "  %z", '  %y = graph.weight "y" : tensor<40x32xf32>\n  %z'
    )
    assert kernel_of(constant).constant == (False, True)
    assert kernel_of(constant).hash != kernel_of(MODEL).hash


def test_a_kernel_alone_computes_what_it_did() -> None:
    module = kernel_of(MODEL).module
    module.verify()
    x, y = (
        np.arange(-5, size - 5, dtype=np.float32).reshape(shape) for size, shape in ((480, (12, 40)), (1280, (40, 32)))
    )
    expected = np.maximum(x.astype(np.float64) @ y, 0)
    np.testing.assert_allclose(stepwell.compile(module, cache=False, tuning=False)(x, y)[0], expected, rtol=1e-5)


# The file


def test_a_torn_line_is_passed_over_and_stays_alone(database: Path) -> None:
    whole = database.read_text()
    database.write_text(whole + whole[: len(whole) // 2])
    assert read_records(database) == [record()]
    append_record(database, record(ratio=2.0))
    assert [each.ratio for each in read_records(database)] == [1.3, 2.0]
    assert database.read_text().count("\n") == 3


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize(
    "line",
    ["{}", "[]", "null", '{"format": 2}', '{"format": 1, "kind": 3}', "\x00\x01", "[" * 100_000],
    ids=lambda line: line[:12],
)
def test_lines_that_are_no_records_are_passed_over(database: Path, line: str) -> None:
    with database.open("a") as file:
        file.write(line + "\n")
    assert read_records(database) == [record()]


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(
    ("field", "other"),
    [
        ('"ratio": 1.3', '"ratio": "fast"'),
        ('"ratio": 1.3', '"ratio": NaN'),
        ('"interval": [1.2, 1.4]', '"interval": [1.2, 1.4], "microseconds": [1, "b"]'),
        ('"interval": [1.2, 1.4]', '"interval": 5'),
        ('"interval": [1.2, 1.4]', '"interval": [1.2]'),
        ('"interval": [1.2, 1.4]', '"interval": ["a", "b"]'),
        ('"seed": 0', '"seed": true'),
        ('"name": ""', '"name": []'),
    ],
)
def test_lines_with_fields_of_other_types_are_passed_over(database: Path, field: str, other: str) -> None:
    line = record().line()
    assert field in line
    with database.open("a") as file:
        file.write(line.replace(field, other))
    assert read_records(database) == [record()]


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    path, one = tmp_path / "new" / "db", record()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: append_record(path, replace(one, rounds=number)), range(200)))
    assert sorted(each.rounds for each in read_records(path)) == list(range(200))


def test_the_best_is_the_one_that_is_surely_fastest(tmp_path: Path) -> None:
    found = [
        record(ratio=1.5, interval=(1.1, 2.0)),
        record(ratio=1.4, interval=(1.3, 1.5)),
        record(target="other"),
    ]
    best = best_records(found, machine_named("host"), compiler_fingerprint())
    assert list(best.values()) == [found[1]]


def test_a_database_that_cannot_be_read_or_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StepwellError, match=f"cannot read tuning database '{tmp_path}': is a directory"):
        read_records(tmp_path)
    with pytest.raises(StepwellError, match=f"cannot write tuning database '{tmp_path}': is a directory"):
        append_record(tmp_path, record())
    with pytest.raises(StepwellError, match="cannot read tuning database 'nowhere': no such file or directory"):
        run_pipeline(make_context(), lowered(MODEL), "apply-tuning{database=nowhere}")


# Compiling


def uses_tuning(exe: stepwell.Executable) -> bool:
    return "vector<3x16xf32>" in exe.ir("tensor_loop")


@pytest.fixture
def compile_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., stepwell.Executable]:
    """`stepwell.compile` of the model with a cache of its own, and no database by default."""
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("STEPWELL_TUNING_DB", raising=False)
    return lambda **options: stepwell.compile(MODEL, **options)


def test_compile_uses_the_database_that_is_named(database: Path, compile_: Callable[..., stepwell.Executable]) -> None:
    assert uses_tuning(compile_(tuning=database)) and uses_tuning(compile_(tuning=str(database)))
    assert not uses_tuning(compile_())
    with pytest.raises(stepwell.runtime.errors.CompileError, match="there is no tuning database 'nowhere'"):
        compile_(tuning="nowhere")


def test_compile_finds_the_database_by_the_environment(
    database: Path, compile_: Callable[..., stepwell.Executable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPWELL_TUNING_DB", str(database))
    assert uses_tuning(compile_()) and not uses_tuning(compile_(tuning=False))
    monkeypatch.setenv("STEPWELL_TUNING_DB", "")
    assert not uses_tuning(compile_())


def test_the_environment_names_a_database_or_a_file_that_is_to_be_one(
    tmp_path: Path, compile_: Callable[..., stepwell.Executable], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04")
    for name, message in (
        ("a.npz", f"'{tmp_path}/a.npz' is not a tuning database"),
        ("", f"cannot read tuning database '{tmp_path}': is a directory"),
    ):
        monkeypatch.setenv("STEPWELL_TUNING_DB", str(tmp_path / name))
        with pytest.raises(StepwellError, match=re.escape(message)):
            compile_()
        compile_(tuning=False)
    monkeypatch.setenv("STEPWELL_TUNING_DB", str(tmp_path / "made later"))
    assert not uses_tuning(compile_())


@pytest.mark.filterwarnings("error")
def test_compile_warns_of_a_schedule_that_does_not_fit(
    tmp_path: Path, compile_: Callable[..., stepwell.Executable]
) -> None:
    append_record(tmp_path / "db", record(program=PROGRAM.replace("rows = 3", "parts = 7, rows = 3")))
    with pytest.warns(DiagnosticWarning, match="the tuned schedule of @fused_matmul_relu0 is left out: "):
        compile_(tuning=tmp_path / "db", cache=False)


def test_compile_finds_the_database_beside_its_cache(
    database: Path, compile_: Callable[..., stepwell.Executable], tmp_path: Path
) -> None:
    (tmp_path / "cache").mkdir()
    database.rename(tmp_path / "cache" / "tuning.jsonl")
    assert uses_tuning(compile_())


def test_a_new_schedule_is_not_hidden_by_the_compile_cache(
    database: Path, compile_: Callable[..., stepwell.Executable], tmp_path: Path
) -> None:
    def programs() -> int:
        return len(list((tmp_path / "cache").glob("*.bin")))

    compile_(tuning=False)
    compile_(tuning=database)
    assert programs() == 2
    append_record(database, record(kind=TRIAL, ratio=3.0))
    compile_(tuning=database)
    assert programs() == 2, "a trial changes no program"
    before = tuning_fingerprint(database)
    append_record(database, record(ratio=1.6, interval=(1.5, 1.7), program=PROGRAM.replace("rows = 3", "rows = 4")))
    assert tuning_fingerprint(database) != before
    assert "vector<4x16xf32>" in compile_(tuning=database).ir("tensor_loop")
    assert programs() == 3


def test_bits_do_not_depend_on_threads(tmp_path: Path) -> None:
    model = MODEL
    for old, new in (("12x", "600x"), ("40", "400"), ("x32x", "x320x")):
        model = model.replace(old, new)
    program = PROGRAM.replace("rows = 3, columns = 16", "rows = 5, columns = 16, packed, parts = 5, panels = 2")
    append_record(tmp_path / "db", record(model, program=program))
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal(shape).astype(np.float32) for shape in ((600, 400), (400, 320)))
    found = [stepwell.compile(model, threads=count, tuning=tmp_path / "db") for count in (1, 2, 3)]
    assert "vector<5x16xf32>" in found[0].ir("tensor_loop")
    results = [exe(x, y)[0] for exe in found]
    np.testing.assert_allclose(results[0], np.maximum(x.astype(np.float64) @ y, 0), rtol=1e-4, atol=1e-3)
    assert all(np.array_equal(results[0], each) for each in results[1:])
