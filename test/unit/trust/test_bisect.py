"""The search for the application of a rule that is wrong."""

from __future__ import annotations

from pathlib import Path

import stepwell
from stepwell.core.passes.applications import counting
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.trust.bisect import bisect
from stepwell.trust.halving import first_bad
from stepwell.trust.check import CheckOptions

RULES = """
pattern.rule "twice" {
  %x = pattern.any
  %a = pattern.op "graph.relu"(%x)
  %root = pattern.op "graph.relu"(%a)
  pattern.replace %root with %a
}
pattern.rule "abs-is-nothing" {
  %x = pattern.any
  %root = pattern.op "graph.abs"(%x)
  pattern.replace %root with %x
}
"""
T = "tensor<4xf32>"
OPS = [*["relu"] * 9, "negative", "abs", "exp", *["relu"] * 6]
BODY = "\n".join(f"  %{n + 1} = graph.{op} %{n} : ({T}) -> {T}" for n, op in enumerate(OPS))
TEXT = f"func.func @main(%0: {T}) -> {T} {{\n{BODY}\n  func.return %{len(OPS)} : {T}\n}}"


def test_the_first_bad_number_takes_few_runs():
    asked: list[int] = []
    assert first_bad(lambda n: asked.append(n) or n >= 1234, 2000) == (1233, 1234)
    assert len(asked) <= 11


def test_the_application_is_found(tmp_path: Path):
    file = tmp_path / "wrong.rules"
    file.write_text(RULES)
    passes = parse_pipeline(f'cse,apply-patterns{{file="{file}"}},canonicalize-ops')
    found = bisect(make_context(), stepwell.parse(TEXT), passes, CheckOptions())
    assert found is not None and found.application is not None
    assert (found.number, found.application.name, found.application.kind) == (2, "abs-is-nothing", "rule")
    assert "graph.abs" in found.diff and "found in" in str(found)
    assert found.runs <= 20
    right = stepwell.parse(TEXT)
    with counting(found.count - 1):
        run_pipeline(make_context(), right, passes)
    assert "graph.abs" in str(right)


def test_a_right_pipeline_has_no_culprit():
    assert bisect(make_context(), stepwell.parse(TEXT), parse_pipeline("simplify-expr"), CheckOptions()) is None
