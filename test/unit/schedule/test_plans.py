"""
Schedules as text: for every class of kernel the decisions are there, with reasons; edited by hand they are obeyed and
the results stay right; a decision that does not fit is refused at its block.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import stepwell
from counts import FULL
from kernel_classes import KERNELS
from named_machines import as_machine, runs_here
from plan_edits import illegal_choice, other_choices, planned_blocks
from stepwell import reference
from stepwell.core.messages.diagnostics import OperationError, listening
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import REASON, ROWS_AT_ONCE, SHARE, STRIP, TILING
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.dialects.schedule import FlatRowsAttr, TileRegistersAttr, TilingAttr
from tolerances import check_program
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))

from suite.programs import describe, load_cases, load_classes
from suite.stepwell_engine import program_text

MACHINE = "x86-64-v3" if runs_here("x86-64-v3") else "host"
REST = "prepack-weights,apply-schedule-plan,merge-prepare-functions"
WITHOUT_CHOICE = ("C8-call",)
"""The classes of bench/cases.json whose programs have no kernel, and so no decision."""

CHEAP = ("gemm", "packed", "conv3x3", "depthwise", "softmax", "transpose")
"""The kernels that are compiled in `make test`."""


def smallest_case(name: str) -> str:
    """The program of the smallest case of a class of bench/cases.json."""
    cases = [case for case in load_cases() if case["class"] == name]
    return program_text(describe(min(cases, key=lambda case: np.prod(case["sizes"]))))


FLAT = """
func.func @main(%x: tensor<1x28x28x33xf32>) -> tensor<1x28x28x33xf32> {
  %w = graph.weight "w" : tensor<3x3x1x33xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 33, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x28x28x33xf32>, tensor<3x3x1x33xf32>) -> tensor<1x28x28x33xf32>
  func.return %y : tensor<1x28x28x33xf32>
}"""
"""A depthwise convolution on flattened rows."""

PROGRAMS = {name: KERNELS[name] for name in (KERNELS if FULL else CHEAP)} | (
    {name: smallest_case(name) for name in load_classes() if name not in WITHOUT_CHOICE} if FULL else {}
)


def planned(text: str, machine: str = MACHINE) -> ModuleOp:
    """A program as loop functions with a plan."""
    module = parse(text)
    with PassContext(config={} if machine == "host" else {"target": machine}):
        run_pipeline(make_context(), module, "graph-optimize,to-loops,plan-schedules")
    return module


def arrays_for(text: str) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Small whole numbers for the inputs and weights of a program, so that the order of sums does not matter."""
    generator = np.random.default_rng(5)

    def draw(shape: str, dtype: str) -> np.ndarray:
        sizes = [int(size) for size in shape.split("x") if size]
        return generator.integers(-3, 4, sizes).astype({"i8": np.int8, "ui8": np.uint8}.get(dtype, np.float32))

    head = text[: text.index("->")]
    inputs = [draw(*found) for found in re.findall(r"%\w+: tensor<([0-9x]*)x(\w+)>", head)]
    named = re.findall(r'graph.weight "([^"]+)" : tensor<([0-9x]*)x(\w+)>', text)
    return inputs, {key: draw(shape, dtype) for key, shape, dtype in named}


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_decisions_are_printed_and_may_be_edited(name: str) -> None:
    """All blocks take their first other choice, then all their last; the text is parsed again in between."""
    text = PROGRAMS[name]
    inputs, weights = arrays_for(text)
    expected = reference.run(parse(text), "main", *inputs, weights=weights)
    for number in (0, -1):
        module = planned(text)
        edited = 0
        for block in planned_blocks(module):
            choices = other_choices(block)
            for attribute, value in [choices[number]] if choices else []:
                block.attributes[attribute] = value
                edited += 1
        for block in planned_blocks(module):
            block.attributes.pop(ROWS_AT_ONCE, None)  # It holds for loops over rows as the plan has them.
        assert edited, "no decision has another legal choice"
        again = parse_text(make_context(), str(module), "plan")
        with as_machine(MACHINE):
            exe = stepwell.compile(again, pipeline=f"{REST},finish", weights=weights, cache=False, threads=1)
            check_program(3000, exe(*inputs), expected)


@pytest.mark.ci_cases(7)
@pytest.mark.parametrize("name", {**KERNELS, **PROGRAMS})
def test_every_kernel_has_a_decision_with_a_reason(name: str) -> None:
    module = planned({**KERNELS, **PROGRAMS}[name])
    found = planned_blocks(module)
    assert found
    for block in found:
        reasons = block.attributes[REASON]
        assert isinstance(reasons, DictionaryAttr)
        strips = any(STRIP in other.attributes for other in found)  # They take other blocks along.
        assert {*reasons.data} <= {*block.attributes}, str(reasons)
        assert TILING in block.attributes or STRIP in reasons.data or strips, str(block.attributes)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", {**KERNELS, **PROGRAMS})
def test_an_illegal_edit_is_refused_at_its_block(name: str) -> None:
    text = {**KERNELS, **PROGRAMS}[name]
    for number in range(len(planned_blocks(planned(text)))):
        module = planned(text)
        block = planned_blocks(module)[number]
        block.attributes[TILING], reason = illegal_choice(block)
        edited = str(module)
        again = parse_text(make_context(), edited, "plan.mlir")
        with (
            pytest.raises(OperationError, match=f"{reason}|no product of its rows follows") as caught,
            PassContext(config={} if MACHINE == "host" else {"target": MACHINE}),
        ):
            run_pipeline(make_context(), again, REST)
        point = caught.value.diagnostic.point
        assert point is not None
        line = edited.splitlines()[point.line - 1]
        own = f'tensor_loop.block "{block.block_name.data}"' in line and str(block.attributes[TILING]) in line
        assert own or "stepwell.strip" in line  # What ends a strip may not be left outside of it.


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    ("rows", "reason"), [(7, None), (14, None), (2, "its rows cannot be flattened in columns of 2")]
)
def test_flattened_rows_go_down_as_far_as_asked(rows: int, reason: str | None) -> None:
    module = planned(FLAT)
    (block,) = (each for each in planned_blocks(module) if isinstance(each.attributes[TILING], FlatRowsAttr))
    block.attributes[TILING] = FlatRowsAttr.of(rows)
    inputs, weights = arrays_for(FLAT)
    with as_machine(MACHINE):
        if reason is None:
            exe = stepwell.compile(module, pipeline=f"{REST},finish", weights=weights, cache=False, threads=1)
            check_program(9, exe(*inputs), reference.run(parse(FLAT), "main", *inputs, weights=weights))
            run_pipeline(make_context(), module, REST)
            assert f"%y in {-(-28 // rows)} {{" in str(module)
        else:
            with pytest.raises(OperationError, match=reason):
                run_pipeline(make_context(), module, REST)


def test_a_plan_applied_is_the_default_schedule() -> None:
    """The text of a plan, parsed again and applied, gives what the passes in a row give. A plan is made once."""
    module = planned(KERNELS["softmax"])
    once = str(module)
    with PassContext(config={} if MACHINE == "host" else {"target": MACHINE}):
        run_pipeline(make_context(), module, "plan-schedules")
        assert str(module) == once
        again = parse_text(make_context(), once, "plan")
        run_pipeline(make_context(), again, "apply-schedule-plan")
        other = parse(KERNELS["softmax"])
        run_pipeline(make_context(), other, "graph-optimize,to-loops,schedule-cpu")
    assert str(again) == str(other)
    assert "stepwell." not in str(again).replace("stepwell.written", "")


def test_a_tiling_by_hand_goes_before_flushed_products() -> None:
    """The tuner's tilings of bf16 give way to tile registers with `flush`; one that is edited in a plan does not."""
    text = """func.func @main(%x: tensor<64x64xbf16>) -> tensor<64x64xf32> {
      %w = graph.weight "w" : tensor<64x64xbf16>
      %y = graph.matmul %x, %w, out_dtype = f32 : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
      func.return %y : tensor<64x64xf32>
    }"""
    rest = "prepack-weights{flush=all},apply-schedule-plan{flush=all}"
    found: list[bool] = []
    for edited in (False, True):
        module = parse(text)
        with PassContext(config={"target": "sapphire-rapids"}):
            run_pipeline(make_context(), module, "graph-optimize,to-loops,plan-schedules{flush=all}")
            (block,) = planned_blocks(module)
            assert isinstance(block.attributes[TILING], TileRegistersAttr)
            if edited:
                block.attributes[TILING] = TilingAttr.of(4, 32, True)
            run_pipeline(make_context(), module, rest)
        found.append('using "amx"' in str(module))
        assert ("vector<4x32xf32>" in str(module)) == edited
    assert found == [True, False]


def test_threads_share_what_the_plan_says() -> None:
    text = KERNELS["gelu"].replace("10000", "4000000")
    module = planned(text)
    (block,) = planned_blocks(module)
    found: dict[int, bool] = {}
    for share in (block.attributes[SHARE].value.data, 0):  # pyright: ignore[reportAttributeAccessIssue]
        module = planned(text)
        (block,) = planned_blocks(module)
        block.attributes[SHARE] = type(block.attributes[SHARE])(share, 64)  # pyright: ignore
        run_pipeline(make_context(), module, "apply-schedule-plan")
        found[share] = "parallel" in str(module)
    assert found == {100000: True, 0: False}


BY_HAND = """tensor_loop.func @f(%A: memref<8xf32>) outs(%C: memref<8xf32>) {
  tensor_loop.for %i in 8 {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      memref.store %a, %C[%vi] : memref<8xf32>
    }
  }
}"""


def test_remarks_tell_decisions_and_plain_loop_nests() -> None:
    """The scan has to keep its order, so nothing better than a plain loop nest is found, and the remark says so."""
    text = """func.func @main(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
      %y = graph.erf %x : (tensor<4x8xf64>) -> tensor<4x8xf64>
      func.return %y : tensor<4x8xf64>
    }"""
    told: list[str] = []
    with listening(lambda each: told.append(each.message)):
        planned(text)
        planned(KERNELS["gemm"], "x86-64-v3")
        planned(BY_HAND)
    assert any(
        "a plain loop nest in order [0] because each element calls a function of the C library; "
        "nothing better than a plain loop nest was found" in each
        for each in told
    ), told
    assert any(re.search(r"tiles \d+x\d+ because \d+x\d+ sums take \d+ of 16 registers", each) for each in told), told
    assert any('"copy" of @f: left alone because its single loops have a schedule' in each for each in told), told
