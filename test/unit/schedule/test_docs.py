"""The program of docs/schedules.md runs, and its walk gives, step by step, the loops that the page shows."""

from __future__ import annotations

import io
import re
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import REASON
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.schedule import STEPS, ProgramOp, StepOp
from stepwell.dialects.tensor_loop import BlockOp, LoopOp
from stepwell.schedule import Schedule
from stepwell.schedule.program.check import Checker
from stepwell.schedule.program.replay import Replay
from stepwell.tools.opt import main
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr

PAGE = Path(__file__).parents[3] / "docs" / "schedules.md"


def block(language: str, first: str = "") -> str:
    (found,) = re.findall(rf"```{language}\n{first}(.*?)```", PAGE.read_text(), re.DOTALL)
    return found


LAYER = "graph-optimize,to-loops,plan-schedules"
REST = "prepack-weights,apply-schedule-plan"


def lines_of_plan(module: ModuleOp) -> list[str]:
    """What a plan has decided about each block, with the reasons, as the page shows it."""
    found: list[str] = []
    for op in module.walk():
        if isinstance(op, BlockOp):
            reasons = op.attributes[REASON]
            assert isinstance(reasons, DictionaryAttr)
            found.append(f'"{op.block_name.data}"')
            for name, reason in reasons.data.items():
                assert isinstance(reason, StringAttr)
                found += [f"  {name} = {op.attributes[name]}", f"    {reason.data}"]
    return found


def test_a_kernel_from_plan_to_assembly() -> None:
    layer = block("mlir", "// layer\n")
    with PassContext(opt_level=3, config={"target": "x86-64-v4"}):
        module = parse_text(make_context(), layer, "layer.mlir")
        run_pipeline(make_context(), module, LAYER)
        assert lines_of_plan(module) == block("text", "// plan\n").splitlines()
        plan = str(module)
        run_pipeline(make_context(), module, REST)
        assert headers(module) == block("text", "// loops\n").rstrip()
        made = ["-p", f"{REST},finish", "--config", "target=x86-64-v4", "-t", "asm"]
        assembly = printed(plan, *made)
        for line in block("text", "// assembly\n").splitlines():
            assert line in assembly
        edited = parse_text(make_context(), plan.replace("rows = 8", "rows = 4"), "plan.mlir")
        run_pipeline(make_context(), edited, REST)
        assert "tensor_loop.for %m0 in 6" in str(edited) and "vector<4x48xf32>" in str(edited)
        refused = parse_text(make_context(), plan.replace("rows = 8", "rows = 12"), "plan.mlir")
        with pytest.raises(OperationError) as caught:
            run_pipeline(make_context(), refused, REST)
    assert str(caught.value).splitlines()[0] == block("text", "// refused\n").rstrip()


def printed(text: str, *arguments: str) -> str:
    """What `stepwell-opt` prints for a program."""
    out = io.StringIO()
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file, redirect_stdout(out):
        file.write(text)
        file.flush()
        assert main([file.name, *arguments]) == 0
    return out.getvalue()


def headers(module: ModuleOp) -> str:
    """The lines of the printed module that open a loop or a block, up to the regions of the block."""
    kept = []
    for line in str(module).split("\n"):
        if re.match(r"\s*tensor_loop\.(for|grid|block)", line):
            kept.append(line.partition(" reads(")[0].removeprefix("    "))
    return "\n".join(kept)


def test_the_lines_of_python_record_the_program() -> None:
    program = block("mlir", "// program\n")
    module = parse_text(make_context(), block("mlir", "// function\n"), "gemm.mlir")
    scope: dict[str, object] = {"module": module}
    exec(compile(block("python"), str(PAGE), "exec"), scope)
    assert isinstance(scope["s"], Schedule)
    assert str(scope["s"].program()) == program.rstrip()
    replayed = parse_text(make_context(), block("mlir", "// function\n") + program, "gemm.mlir")
    run_pipeline(make_context(), replayed, "apply-schedule{check=true}")
    assert headers(replayed) == headers(module)


def test_the_walk_shows_what_each_step_gives() -> None:
    text = PAGE.read_text()
    function = block("mlir", "// function\n")
    pairs = re.findall(r"```mlir\n// steps\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(pairs) == 6
    module = parse_text(make_context(), function, "gemm.mlir")
    lines = "".join(steps for steps, _ in pairs)
    parsed = parse_text(make_context(), f"schedule.program {{\n{lines}}}", "page.mlir")
    (program,) = (op for op in parsed.ops if isinstance(op, ProgramOp))
    replay = Replay(module, Checker(module).after)
    remaining = iter(program.body.block.ops)
    for steps, shown in pairs:
        for _ in steps.strip().split("\n"):
            step = next(remaining)
            assert isinstance(step, StepOp)
            replay.run(step)
        assert headers(module) == shown.rstrip("\n")
    assert any(isinstance(op, LoopOp | BlockOp) for op in module.walk())


def test_the_page_names_every_step() -> None:
    text = PAGE.read_text()
    missing = [op.name for op in STEPS if f"`{op.name.partition('.')[2]}`" not in text]
    assert missing == []
