"""`stepwell.tune` and `tools/tune.py`: what is measured, what is kept, and what the next compilation does with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import stepwell
import tuning_hooks as hooks
from interrupts import take_interrupts
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.runtime.errors import CompileError
from stepwell.runtime.tuning.measure import _program, measure
from stepwell.runtime.tuning.report import KernelReport, Trial, TuningReport
from stepwell.schedule.tuned.kernels import Kernel, kernels_of
from stepwell.schedule.tuned.records import BEST, CONFIRMATION, TRIAL, Record, read_records
from stepwell.tools import tune as tool
from xdsl.utils.exceptions import DiagnosticException

MODEL = """
func.func @main(%x: tensor<24x128xf32>) -> tensor<24x64xf32> {
  %w = graph.weight "w" : tensor<128x64xf32>
  %z = graph.matmul %x, %w : (tensor<24x128xf32>, tensor<128x64xf32>) -> tensor<24x64xf32>
  %v = graph.weight "v" : tensor<64x64xf32>
  %y = graph.matmul %z, %v : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32>
  return %y : tensor<24x64xf32>
}
"""


WEIGHTS = {"w": np.ones((128, 64), np.float32), "v": np.ones((64, 64), np.float32)}


def annotated(kernel: Kernel, rows: int) -> str:
    """A schedule of one's own."""
    return f"""schedule.program {{
  %b = schedule.get_block "block0" in @kernel
  schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = {rows}, columns = 16, packed>
}}"""


def two_of_mine(kernel: Kernel) -> list[str]:
    """Tiles of four rows, which the hooks treat badly, and of three."""
    return [annotated(kernel, 4), annotated(kernel, 3)]


@pytest.fixture
def tuned(tmp_path: Path) -> Callable[..., TuningReport]:
    """`stepwell.tune` of one kernel of the model with a database of its own, measured by `hooks.by_rows`."""

    def run(**options: Any) -> TuningReport:
        given = {"database": tmp_path / "db", "trials": 13, "measure": hooks.by_rows, "kernel": "matmul"}
        return stepwell.tune(MODEL, **(given | options))

    return run


def test_other_functions_may_take_any_sizes(tmp_path: Path) -> None:
    other = """
func.func @other(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = graph.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
"""
    report = stepwell.tune(MODEL + other, database=tmp_path / "db", trials=1, measure=hooks.by_rows)
    assert all("matmul" in name for kernel in report.kernels for name in kernel.names)
    with pytest.raises(DiagnosticException, match="whose sizes are not all known"):
        stepwell.tune(MODEL + other, entry="other", database=tmp_path / "db", trials=1, measure=hooks.by_rows)


def only(report: TuningReport) -> KernelReport:
    (kernel,) = report.kernels
    return kernel


def programs(report: TuningReport) -> list[str]:
    return [trial.program for trial in only(report).trials]


def test_the_best_is_confirmed_and_kept(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    kernel = only(tuned())
    assert kernel.best is not None and kernel.statuses == {"ok": 13} and kernel.measured == 13
    rows = [hooks.rows_of(trial.program) for trial in kernel.trials]
    assert hooks.rows_of(kernel.best.program) == max(rows)
    kinds = [record.kind for record in read_records(tmp_path / "db")]
    assert kinds == [TRIAL] * 13 + [CONFIRMATION] * 3 + [BEST]
    assert kernel.best.rounds == 31


def test_what_is_not_confirmed_leaves_the_default(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    report = tuned(measure=hooks.by_rows_once)
    assert only(report).best is None and "the default stays" in str(report)
    kinds = [record.kind for record in read_records(tmp_path / "db")]
    assert kinds == [TRIAL] * 13 + [CONFIRMATION] * 3
    again = tuned(measure=hooks.unwilling)
    assert only(again).measured == 0 and only(again).best is None


def test_what_is_faster_in_one_process_only_leaves_the_default(
    tuned: Callable[..., TuningReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEN", str(tmp_path))
    assert only(tuned(measure=hooks.by_rows_in_one_process)).best is None
    found = [record for record in read_records(tmp_path / "db") if record.kind == CONFIRMATION]
    assert len(found) == 3 and all(record.ratio == 1.0 for record in found)


def test_the_same_seed_gives_the_same_candidates(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    found = programs(tuned(measure=hooks.slower))
    assert programs(tuned(measure=hooks.slower, database=tmp_path / "other")) == found
    assert programs(tuned(measure=hooks.slower, database=tmp_path / "third", seed=1)) != found


def test_nothing_is_measured_twice(tuned: Callable[..., TuningReport]) -> None:
    first = tuned(trials=6, measure=hooks.slower)
    assert only(tuned(trials=6, measure=hooks.unwilling)).measured == 0
    more = only(tuned(measure=hooks.slower))
    assert [trial.known for trial in more.trials] == [True] * 6 + [False] * 7
    assert [trial.program for trial in more.trials][:6] == programs(first)


def test_a_replay_measures_nothing(tuned: Callable[..., TuningReport]) -> None:
    found = tuned(measure=hooks.slower)
    again = tuned(replay=True, measure=hooks.unwilling, trials=13)
    assert programs(again) == programs(found) and only(again).measured == 0 and not only(again).remark
    further = only(tuned(replay=True, measure=hooks.unwilling, trials=40))
    assert further.remark == "the next candidates are not in the database"
    assert [trial.program for trial in further.trials][:12] == programs(found)[:12]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    ("measure", "status"),
    [
        (hooks.crashing, "crashed"),
        (hooks.hanging, "timeout"),
        (hooks.raising, "failed"),
        (hooks.wrong, "wrong"),
    ],
    ids=["crashing", "hanging", "raising", "wrong"],
)
def test_bad_candidates_are_survived_and_never_kept(
    tuned: Callable[..., TuningReport], tmp_path: Path, measure: Any, status: str
) -> None:
    report = tuned(measure=measure, candidates=two_of_mine, trials=2, timeout=2.0 if status == "timeout" else 60.0)
    bad, good = only(report).trials
    assert (bad.record.status, good.record.status) == (status, "ok")
    assert bad.record.ratio is None and good.record.ratio is not None
    assert f"1 {status}" in str(report)
    best = only(report).best
    assert best is None or best.program != bad.program
    assert only(tuned(measure=hooks.unwilling, candidates=two_of_mine, trials=2)).measured == 0


def test_candidates_of_ones_own_that_are_none_are_refused(tuned: Callable[..., TuningReport]) -> None:
    found = only(tuned(candidates=lambda kernel: ["schedule.program {", annotated(kernel, 3)], trials=2)).trials
    assert [trial.record.status for trial in found] == ["refused", "ok"]
    assert found[0].record.detail.startswith("candidate:1:")


def test_an_executor_of_ones_own_gives_the_same(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    found = programs(tuned(measure=hooks.slower))
    with ThreadPoolExecutor(3) as pool:
        assert programs(tuned(measure=hooks.slower, executor=pool, jobs=3, database=tmp_path / "other")) == found
        assert pool.submit(lambda: 1).result() == 1, "it is still the caller's"


def test_the_next_compilation_uses_the_database(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    best = only(tuned(candidates=lambda kernel: [annotated(kernel, 3)], trials=1)).best
    assert best is not None
    generator = np.random.default_rng(0)
    weights = {
        key: generator.integers(-3, 4, shape).astype(np.float32) for key, shape in (("w", (128, 64)), ("v", (64, 64)))
    }
    x = generator.integers(-3, 4, (24, 128)).astype(np.float32)
    exe = stepwell.compile(MODEL, tuning=tmp_path / "db", weights=weights, cache=False)
    assert "vector<3x16xf32>" in exe.ir("tensor_loop")
    np.testing.assert_array_equal(exe(x)[0], x @ weights["w"] @ weights["v"])
    assert "vector<3x16xf32>" not in stepwell.compile(MODEL, tuning=False, weights=weights, cache=False).ir(
        "tensor_loop"
    )


def test_the_default_is_what_it_is_without_a_database(
    tuned: Callable[..., TuningReport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    The second run was compared with what the first one had found, where it was in the database that `compile` uses.
    """
    best = only(tuned(candidates=lambda kernel: [annotated(kernel, 3)], trials=1)).best
    assert best is not None
    monkeypatch.setenv("STEPWELL_TUNING_DB", str(tmp_path / "db"))
    module = parse(MODEL)
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    (text,) = (str(kernel.module) for kernel in kernels_of(module) if kernel.name == "matmul")
    assert "vector<3x16xf32>" not in _program(text, "host", 1, 0).ir("tensor_loop")
    assert "vector<3x16xf32>" in stepwell.compile(MODEL, weights=WEIGHTS, cache=False).ir("tensor_loop")


def test_equal_kernels_are_tuned_once(tmp_path: Path) -> None:
    model = MODEL.replace("128", "64")
    report = stepwell.tune(model, database=tmp_path / "db", trials=2, measure=hooks.by_rows)
    assert len(report.kernels) == 1


def test_the_program_stays_as_it_is(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    module = parse(MODEL)
    stepwell.tune(module, database=tmp_path / "db", trials=1, measure=hooks.by_rows)
    assert str(module) == str(parse(MODEL))


def test_kernels_take_turns(tmp_path: Path) -> None:
    stepwell.tune(MODEL, database=tmp_path / "db", trials=24, measure=hooks.slower)
    order = [record.name for record in read_records(tmp_path / "db")]
    assert order == ["matmul"] * 12 + ["matmul_1"] * 12 + ["matmul"] * 12 + ["matmul_1"] * 12


def test_time_ends_the_search(tuned: Callable[..., TuningReport]) -> None:
    kernel = only(tuned(seconds=0.001, trials=100))
    assert len(kernel.trials) < 100 and kernel.remark == "the time is up"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "matmull"}, "the program has no kernel 'matmull'"),
        ({"trials": 0}, "trials is 0, expected a positive number"),
        ({"timeout": -1.0}, "timeout is -1.0, expected a positive number"),
        ({"target": "x86"}, "unknown target 'x86'"),
        ({"measure": lambda job: job}, "measure is .*<lambda>, expected a function at the top of a module"),
        (
            {"candidates": ["schedule.program {\n}"]},
            "candidates is .*, expected a function that takes a kernel and returns texts of schedules, such as lambda",
        ),
        ({"measure": None}, "measure is None, expected a function at the top of a module"),
        ({"trials": -3}, "trials is -3, expected a positive number"),
        ({"trials": 2.5}, "trials is 2.5, expected a positive whole number"),
        ({"jobs": 0}, "jobs is 0, expected a positive number"),
        ({"seconds": float("nan")}, "seconds is nan, expected a positive number"),
        ({"timeout": float("nan")}, "timeout is nan, expected a positive number"),
        ({"timeout": float("inf")}, "timeout is inf, expected at most 1000000 seconds"),
        ({"seed": -1}, "seed is -1, expected a whole number from 0 on"),
        ({"numerics": "loose"}, "numerics is 'loose', expected one of default, strict, fast"),
        ({"executor": 3}, "executor is 3, expected a concurrent.futures.Executor"),
        ({"opt_level": 9}, "opt_level is 9, expected 0, 1, 2 or 3"),
        ({"target": 5}, "target is 5, expected the name of a machine"),
        ({"database": 5}, "database is 5, expected the name of a file"),
    ],
)
def test_wrong_arguments_are_errors(tuned: Callable[..., TuningReport], options: dict[str, Any], message: str) -> None:
    with pytest.raises(StepwellError, match=message):
        tuned(**options)


def test_a_target_that_does_not_run_here_is_an_error(tuned: Callable[..., TuningReport]) -> None:
    with pytest.raises(CompileError, match="the program is compiled for neoverse-v2, and this processor is of"):
        tuned(target="neoverse-v2", measure=measure)
    assert only(tuned(target="neoverse-v2", trials=1)).measured == 1  # Another machine may measure.


@pytest.mark.parametrize("level", [0, 1])
def test_a_level_without_tuned_schedules_is_an_error(tuned: Callable[..., TuningReport], level: int) -> None:
    with pytest.raises(CompileError, match="the pipeline has no 'apply-tuning', so there is nothing to tune in it"):
        tuned(opt_level=level)


def test_without_a_database_there_is_an_error(
    tuned: Callable[..., TuningReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPWELL_TUNING_DB", "")
    with pytest.raises(StepwellError, match="there is no tuning database: STEPWELL_TUNING_DB is empty"):
        tuned(database=None)


def test_a_database_that_cannot_be_written_is_found_before_anything_is_measured(
    tuned: Callable[..., TuningReport], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StepwellError, match="cannot write tuning database '.*': "),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TOLD", str(told))
        tuned(database=tmp_path / "file" / "db", measure=hooks.hanging_and_telling, timeout=5.0)
    assert not told.exists()


def test_a_replay_needs_a_database(tuned: Callable[..., TuningReport], tmp_path: Path) -> None:
    with pytest.raises(StepwellError, match="there is no tuning database '.*db'"):
        tuned(replay=True)
    assert not (tmp_path / "db").exists()


def test_a_kernel_without_choices_says_so(tmp_path: Path) -> None:
    model = """func.func @main(%x: tensor<64x96xf32>) -> tensor<96x64xf32> {
      %y = graph.permute_dims %x, axes = [1, 0] : (tensor<64x96xf32>) -> tensor<96x64xf32>
      return %y : tensor<96x64xf32>
    }"""
    report = stepwell.tune(model, database=tmp_path / "db", measure=hooks.unwilling)
    assert only(report).trials == () and only(report).remark == "nothing can be chosen"


class FakeBar:
    """In place of `tqdm.tqdm`."""

    shown: list[str] = []

    def __init__(self, **options: Any):
        self.shown.append(f"of {options['total']}")

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.shown.append(text)

    def update(self) -> None:
        self.shown.append("+1")

    def close(self) -> None:
        self.shown.append("closed")


def test_a_bar_shows_each_candidate(tuned: Callable[..., TuningReport], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=FakeBar))
    tuned(trials=2, progress=True, candidates=lambda kernel: [annotated(kernel, 3), annotated(kernel, 2)])
    assert FakeBar.shown[:5] == ["of 2", "@matmul: best 1.03 x", "+1", "@matmul: best 1.03 x", "+1"]
    assert FakeBar.shown[-1] == "closed"


def test_without_tqdm_there_is_no_bar(
    tuned: Callable[..., TuningReport], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    tuned(trials=1, progress=True)
    assert capsys.readouterr().err == ""


def test_an_interrupted_run_ends_what_it_started(tmp_path: Path) -> None:
    code = (
        "import sys, stepwell, tuning_hooks as hooks\n"
        "stepwell.tune(sys.argv[1], database=sys.argv[2], measure=hooks.hanging_and_telling, timeout=600.0)\n"
    )
    (tmp_path / "model.mlir").write_text(MODEL)
    told = tmp_path / "told"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "model.mlir"), str(tmp_path / "db")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TOLD": str(told)},
        stderr=subprocess.PIPE,
        preexec_fn=take_interrupts,
    )
    while not told.exists() or not told.read_text().endswith("\n"):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


# The tool


def test_an_interrupted_tool_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stepwell.runtime.tuning.tune.tune", interrupted)
    (tmp_path / "model.mlir").write_text(MODEL)
    assert tool.main([str(tmp_path / "model.mlir"), "--db", str(tmp_path / "db")]) == 130
    assert capsys.readouterr().err == "interrupted; the same command goes on from what the database has\n"


@pytest.mark.ci_cases(0)
def test_the_tool_measures_for_real_and_says_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, database = tmp_path / "model.mlir", tmp_path / "db"
    file.write_text(MODEL)
    words = [str(file), "--db", str(database), "--kernel", "matmul", "--trials", "2"]
    assert tool.main(words) == 0
    out, err = capsys.readouterr()
    assert err == "", "no bar where there is no terminal"
    assert out.startswith("@matmul ") and "2 schedules (2 ok); 2 measured now; " in out
    assert f"database: {database}" in out
    assert all(json.loads(line)["status"] == "ok" for line in database.read_text().splitlines())
    assert tool.main([*words, "--replay", "--show"]) == 0
    out = capsys.readouterr().out
    assert "// candidate 2 of @matmul: ok " in out and "0 measured now" in out and "#schedule.tiling<" in out


def test_errors_of_the_tool_are_one_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.mlir"
    file.write_text(MODEL)
    assert tool.main([str(file), "--db", str(tmp_path / "db"), "--kernel", "nothing"]) == 1
    assert capsys.readouterr().err.startswith("error: the program has no kernel 'nothing'\nhint: it has matmul")
    assert tool.main([str(tmp_path / "nowhere.mlir")]) == 1
    assert "cannot read" in capsys.readouterr().err


def test_the_report_says_times() -> None:
    def record(ratio: float, default: float, mine: float) -> Record:
        return Record(TRIAL, "k", "t", "c", "p", ratio=ratio, interval=(ratio, ratio), microseconds=(default, mine))

    trials = tuple(Trial("p", each, False) for each in (record(0.9, 10.0, 11.11), record(0.5, 10.4, 2500.0)))
    said = str(KernelReport(("f",), "h", trials, None))
    assert said == (
        "@f h: 2 schedules (2 ok); 2 measured now; the default stays: "
        "it takes 10.2 µs, the fastest of the others 11.1 µs"
    )
    assert str(KernelReport(("f",), "h", trials, record(1.5, 1234.0, 823.4))).endswith(
        "1.50 × as fast as the default [1.50, 1.50]: 823 µs in place of 1.23 ms"
    )
