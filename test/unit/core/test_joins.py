"""A pass of a plug-in joins O1, O2 and O3 at a named point (issue 13, item 8)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import stepwell
from stepwell.core import module_pass
from stepwell.core.codegens import registrations_fingerprint
from stepwell.core.passes.pipeline_text import expand_pipeline
from stepwell.core.plugins import StepwellPlugin, registry
from stepwell.lowering.pipelines import POINTS

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}"""

seen: list[str] = []


@module_pass("look-at-ops")
def look_at_ops(module, ctx):
    """Notes the kinds of the ops of a module."""
    names = {op.name for op in module.walk()}
    seen.append("graph" if any(name.startswith("graph.relu") for name in names) else "loops")


@pytest.fixture(autouse=True)
def no_joins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry(), "joins", {})
    seen.clear()
    yield


def join(point: str, passes: str = "look-at-ops") -> list[str]:
    return registry().add_plugin(StepwellPlugin(joins={point: passes}), "mine")


def names(pipeline: str) -> list[str]:
    return [spec.name for spec in expand_pipeline(pipeline)]


@pytest.mark.parametrize(
    ("point", "before"),
    [
        ("at-start", "specialize-shapes"),
        ("before-fusion", "fuse-ewise-fma"),
        ("after-fusion", "specialize-shapes"),
        ("before-schedule", "widen-left-operands"),
        ("before-buffers", "bufferize"),
    ],
)
def test_a_pass_stands_at_its_point(point: str, before: str):
    plain = {pipeline: names(pipeline) for pipeline in ("O0", "O1", "O2", "O3", "finish")}
    assert join(point) == []
    for pipeline in ("O2", "O3"):
        assert names(pipeline)[names(pipeline).index("look-at-ops") + 1] == before
        assert [each for each in names(pipeline) if each != "look-at-ops"] == plain[pipeline]
    assert names("O1").count("look-at-ops") == 1
    assert names("O0") == plain["O0"] and names("finish") == plain["finish"]


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("numerics", ["default", "strict", "fast"])
@pytest.mark.parametrize("point", POINTS)
def test_it_runs_once(point: str, numerics: str):
    join(point)
    x = np.array([-1, 0, 1, 2], np.float32)
    for options in ({"opt_level": 3}, {"opt_level": 2}, {"pipeline": "canonicalize-cast,O3"}):
        seen.clear()
        program = stepwell.compile(PROGRAM, cache=False, numerics=numerics, **options)
        assert len(seen) == 1 and seen[0] == ("loops" if point in ("before-schedule", "before-buffers") else "graph")
        np.testing.assert_allclose(program(x)[0], np.exp(np.maximum(x, 0)), rtol=1e-5)


def test_several_run_in_the_order_of_the_plug_ins():
    join("at-start", "canonicalize-cast")
    join("at-start", "canonicalize-ops,look-at-ops")
    assert names("O3")[:3] == ["canonicalize-cast", "canonicalize-ops", "look-at-ops"]


def test_a_point_that_is_not_there_is_named():
    assert join("befor-fusion") == [
        "there is no point 'befor-fusion' to join, expected one of at-start, before-fusion, after-fusion, "
        "before-schedule, before-buffers"
    ]


def test_the_compile_cache_tells_programs_with_and_without_it_apart():
    before = registrations_fingerprint()
    join("at-start")
    assert registrations_fingerprint() != before
    assert "at-start:['look-at-ops']" in registrations_fingerprint()
