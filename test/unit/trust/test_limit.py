"""The one count of applications, and programs that stay right whatever its limit is."""

from __future__ import annotations

import pytest
import stepwell
from stepwell.core.messages.diagnostics import listening
from stepwell.core.passes.applications import Applications, allowed, counting
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.trust.check import CheckOptions, CheckSemantics

T = "tensor<6x8xf32>"
TEXT = f"""
func.func @main(%x: {T}, %w: tensor<8x8xf32>) -> {T} {{
  %a = graph.full 2.0 : {T}
  %b = graph.full 3.0 : {T}
  %c = graph.add %a, %b : ({T}, {T}) -> {T}
  %d = graph.matmul %x, %w : ({T}, tensor<8x8xf32>) -> {T}
  %e = graph.add %d, %c : ({T}, {T}) -> {T}
  %f = graph.relu %e : ({T}) -> {T}
  %g = graph.tanh %f : ({T}) -> {T}
  %h = graph.matmul %g, %w : ({T}, tensor<8x8xf32>) -> {T}
  %i = graph.exp %h : ({T}) -> {T}
  %j = graph.negative %i : ({T}) -> {T}
  func.return %j : {T}
}}
"""


def run(limit: int | None) -> Applications:
    module = stepwell.parse(TEXT)
    with counting(limit) as count:
        run_pipeline(make_context(), module, parse_pipeline("O3"), instruments=[CheckSemantics(CheckOptions())])
    return count


def test_every_kind_is_counted():
    found: set[str] = set()
    module = stepwell.parse(TEXT)
    with counting() as count:
        admit = count.admit
        count.admit = lambda kind, *rest: found.add(kind) or admit(kind, *rest)
        run_pipeline(make_context(), module, parse_pipeline("O3"))
    assert found >= {"fold", "fusion", "lowering", "loops", "schedule", "buffer", "math", "function"}


def test_the_application_that_reaches_the_limit_is_told():
    module = stepwell.parse(TEXT)
    with counting(7) as count:
        run_pipeline(make_context(), module, parse_pipeline("O3"))
    assert count.count == 7 and count.last is not None and count.last.kind == "fusion"


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("limit", range(0, 44, 4))
def test_a_program_is_right_at_every_limit(limit: int):
    assert run(limit).count <= limit


def test_a_refused_lowering_ends_the_pipeline():
    module = stepwell.parse(TEXT)
    told: list[str] = []
    with counting(0) as count, listening(lambda diagnostic: told.append(diagnostic.message)):
        run_pipeline(make_context(), module, parse_pipeline("O0"))
    assert "'graph.full'" in count.stopped
    assert "the pipeline ends after pass 'lower-graph-to-loops': the limit of applications leaves" in "".join(told)
    assert any(op.name == "graph.matmul" for op in module.walk())


def test_nothing_is_counted_by_default():
    assert allowed("fold", "graph.add", stepwell.parse(TEXT))
