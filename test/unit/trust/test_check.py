"""Programs that are run before and after each pass: what is blamed, what is not, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from loop_levels import PARALLEL, PROGRAMS
from stepwell.core.messages.diagnostics import listening
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.testing.graphs.random_graph import random_graph
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.run import main as run_main
from stepwell.trust.bisect import bisect
from stepwell.trust.check import CheckOptions, CheckSemantics
from stepwell.trust.evaluate import is_graph
from stepwell.trust.inputs import KINDS
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr

BIAS = """
func.func @main(%x: tensor<3x?xf32>, %y: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %0 = graph.add %x, %y : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  func.return %0 : tensor<3x?xf32>
}
"""


@dataclass(frozen=True)
class Swap(StepwellPass):
    """Swaps the operands of subtractions, which is wrong."""

    name = "swap-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if each.name in ("graph.subtract", "arith.subf"):
                each.operands = tuple(reversed(each.operands))


SUBTRACT = BIAS.replace("graph.add", "graph.subtract").replace("?", "4")


def checked(text: str, pipeline: object, options: CheckOptions | None = None) -> CheckSemantics:
    """Runs a pipeline with a check. Returns the check, or raises what it found."""
    check = CheckSemantics(CheckOptions() if options is None else options)
    passes = pipeline if isinstance(pipeline, str) else list(pipeline)  # pyright: ignore
    run_pipeline(make_context(), stepwell.parse(text), passes, instruments=[check])
    return check


def message(text: str, pipeline: object, options: CheckOptions | None = None) -> str:
    with pytest.raises(stepwell.StepwellError) as caught:
        checked(text, pipeline, options)
    return str(caught.value)


def test_a_wrong_pass_on_the_graph_is_blamed():
    found = message(SUBTRACT, [Swap()])
    assert "pass 'swap-operands' changes a result of @main: result 0 at [" in found
    assert "number 1 of the pipeline, class exact, inputs 'random' of seed 0" in found


@pytest.mark.parametrize("before", ["O0", "lower-graph-to-loops,bufferize,lower-loops-to-scf"])
def test_a_wrong_pass_between_right_ones_is_blamed(before: str):
    passes = [each for each in stepwell.Sequential([before]).parts if each.name != "lower-to-llvm-dialect"]
    cut = [each.name for each in passes].index("lower-loops-to-scf") + 1
    found = message(SUBTRACT, [*passes[:cut], Swap(), *passes[cut:]])
    assert "pass 'swap-operands' changes a result of @main" in found
    assert f"number {cut + 1} of the pipeline" in found


@pytest.mark.parametrize("name", ["half floats", "top_k"])
def test_right_programs_pass(name: str):
    check = checked(PROGRAMS[name].text, "O3")
    assert check.counts.changed > 3
    assert check.counts.native > 0
    assert check.report().startswith(f"check-semantics: {check.counts.changed} passes changed the program")


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("level, seed, flavour", [("O1", 4, "decided"), ("O3", 5, "smooth")])
def test_random_programs_pass(level: str, seed: int, flavour: Any):
    graph = random_graph(seed, flavour)
    check = CheckSemantics(CheckOptions(seed, weights=graph.weights))
    run_pipeline(make_context(), graph.module, level, instruments=[check])
    assert check.counts.changed > 0


def test_threads_pass():
    assert checked(PARALLEL, "finish").counts.changed > 2


@dataclass(frozen=True)
class MarkParallel(StepwellPass):
    """Has threads share loops, which nobody has proven to be right."""

    name = "mark-parallel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if isinstance(each, scf.ForOp):
                each.attributes |= {"stepwell.parallel": UnitAttr(), "stepwell.unchecked": UnitAttr()}


STEPS = """
func.func @main(%x: memref<2001xf32> {stepwell.role = "input", stepwell.name = "x"},
    %y: memref<2001xf32> {stepwell.role = "output", stepwell.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 2000 : index
  %first = memref.load %x[%c0] : memref<2001xf32>
  memref.store %first, %y[%c0] : memref<2001xf32>
  scf.for %i = %c0 to %end step %c1 {
    %next = arith.addi %i, %c1 : index
    %0 = memref.load %x[%next] : memref<2001xf32>
    %1 = memref.load %SOURCE[%i] : memref<2001xf32>
    %2 = arith.maximumf %0, %1 : f32
    memref.store %2, %y[%next] : memref<2001xf32>
  }
  func.return
}"""


def test_a_race_is_found_in_a_program_that_is_too_long_for_the_interpreter(monkeypatch: pytest.MonkeyPatch):
    """Machine code of one thread gives the same numbers before and after the pass."""
    monkeypatch.setattr("stepwell.trust.check.MOST_STEPS", 1000)
    options = CheckOptions(inputs={"x": np.arange(2001, dtype=np.float32)})
    found = message(STEPS.replace("%SOURCE", "%y"), [MarkParallel()], options)
    assert "pass 'mark-parallel' makes @main wrong on several threads: " in found
    assert "iterations 0 and 1 of a parallel loop touch element [1] of %y" in found
    checked(STEPS.replace("%SOURCE", "%x"), [MarkParallel()], options)


@pytest.mark.parametrize("seconds", [None, 1e-9])
def test_passes_are_checked_together_where_a_check_takes_long(seconds: float | None):
    passes = [*stepwell.Sequential(["O0"]).parts]
    cut = [each.name for each in passes].index("lower-loops-to-scf") + 1
    passes = [*passes[:cut], Swap(), *passes[cut:]]
    found = message(SUBTRACT, passes, CheckOptions(seconds=seconds))
    assert ("one of the passes 'bufferize{reuse=false}', 'lower-loops-to-scf', 'swap-operands'" in found) == (
        seconds is not None
    )
    culprit = bisect(make_context(), stepwell.parse(SUBTRACT), passes, CheckOptions(seconds=seconds))
    assert culprit is not None and str(culprit.application).startswith("function 'swap-operands'")


def test_a_program_of_tiles_is_not_on_the_graph_level():
    """It once was taken for one, which the interpreter runs at any length."""
    text = """
    func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {
      %c0 = arith.constant 0 : index
      %0 = tile.load %x[%c0] : memref<64xf32>, vector<1x16xf32>
      tile.store %0, %y[%c0] : vector<1x16xf32>, memref<64xf32>
      func.return
    }"""
    assert not is_graph(stepwell.parse(text)) and is_graph(stepwell.parse(SUBTRACT))


def test_a_pass_that_changes_nothing_runs_nothing():
    check = checked(SUBTRACT, "cse,canonicalize-ops,eliminate-dead-code")
    assert check.counts.changed == 0
    assert check.counts.interpreted == len(KINDS)


def test_open_sizes_are_those_given():
    assert checked(BIAS, "simplify-expr", CheckOptions(shapes=((3, 5), (3, 5)))).counts.interpreted == len(KINDS)
    found = message(BIAS, "cse", CheckOptions(shapes=((4, 5), (3, 5))))
    assert "the shape of 'x' is 3x?, found 4x5 in the shapes" in found


def test_sums_that_overflow_both_ways_are_left_open():
    """The reference sums in f64: infinite. A sum in f32 is NaN, as one in another order."""
    text = (
        "func.func @main(%x: tensor<1x3xf32>, %y: tensor<3x1xf32>) -> tensor<1x1xf32> {\n"
        "  %0 = graph.matmul %x, %y : (tensor<1x3xf32>, tensor<3x1xf32>) -> tensor<1x1xf32>\n"
        "  func.return %0 : tensor<1x1xf32>\n}"
    )
    huge = {"x": np.array([[3e38, 3e38, np.inf]], np.float32), "y": np.array([[3e38], [-3e38], [1]], np.float32)}
    check = checked(text, "O0", CheckOptions(inputs=huge))
    assert check.counts.unsettled > 0
    with np.errstate(all="ignore"):
        alone = {**huge, "y": np.array([[1], [-1], [1]], np.float32)}
    assert checked(text, "O0", CheckOptions(inputs=alone)).counts.changed > 0


def test_inputs_that_do_not_fit_are_refused():
    found = message(SUBTRACT, "cse", CheckOptions(inputs={"x": np.zeros((3, 4), np.float32)}, inputs_file="in.npz"))
    assert "'in.npz' has no array for argument 'y' of @main" in found
    found = message(SUBTRACT, "cse", CheckOptions(inputs={"x": np.zeros(3), "y": np.zeros(3)}, inputs_file="in.npz"))
    assert "array 'x' of 'in.npz' is float64[3], expected f32 [3x4]" in found


def test_the_inputs_of_a_failure_are_saved_and_repeat_it(tmp_path: Path):
    file = tmp_path / "in.npz"
    found = message(SUBTRACT, [Swap()], CheckOptions(save_inputs=file))
    assert f"the inputs are in {file}: repeat with --inputs" in found
    with np.load(file) as arrays:
        assert sorted(arrays) == ["x", "y"]
        again = message(SUBTRACT, [Swap()], CheckOptions(inputs=dict(arrays)))
    assert "inputs of the user" in again


def test_a_context_checks_compilations():
    with stepwell.PassContext(3, check_semantics=True):
        first = stepwell.compile(SUBTRACT, cache=True)
        with pytest.raises(stepwell.StepwellError, match="pass 'swap-operands' changes a result"):
            stepwell.compile(SUBTRACT, pipeline=[Swap()])
        with pytest.raises(stepwell.StepwellError, match="pass 'swap-operands' changes a result"):
            Swap()(stepwell.parse(SUBTRACT))
    one, two = np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)
    assert (first(one, two)[0] == 1).all()


def test_calls_of_the_outside_are_skipped_with_a_remark():
    text = "func.func private @log(tensor<4xf32>) -> tensor<4xf32>\n" + (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = func.call @log(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  func.return %0 : tensor<4xf32>\n}"
    )
    heard: list[str] = []
    with listening(lambda each: heard.append(each.message)):
        checked(text, "cse")
    assert "'func.func': @main is not checked: it calls @log, which has no body here and may have effects" in heard


@dataclass(frozen=True)
class OutOfBounds(StepwellPass):
    """Makes each index constant one that is outside of its buffer."""

    name = "out-of-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if isinstance(each, arith.ConstantOp) and str(each.result.type) == "index":
                each.properties["value"] = arith.ConstantOp.from_int_and_width(99, each.result.type).value  # pyright: ignore
                return


def test_a_program_that_leaves_its_buffers_is_blamed():
    passes = [*stepwell.Sequential(["lower-graph-to-loops,bufferize,lower-loops-to-scf"]).parts, OutOfBounds()]
    found = message(SUBTRACT, passes)
    assert "pass 'out-of-bounds' makes @main fail: " in found


def test_a_run_is_checked(tmp_path: Path):
    file = tmp_path / "m.mlir"
    file.write_text(SUBTRACT)
    finished = call_tool(run_main, Command(["stepwell-run", str(file), "--random", "3", "--check"]), b"")
    assert finished.exit_code == 0
    assert "check-semantics: " in finished.stderr.decode()
    refused = call_tool(run_main, Command(["stepwell-run", str(file), "--random", "3", "--save-inputs", "x.npz"]), b"")
    assert "--save-inputs is for --check, which is not given" in refused.stderr.decode()
