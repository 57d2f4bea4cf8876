"""What the prompt shows for objects of the public classes: a short line without an address."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import analysis, core, patterns, rewrites, runtime, te, testing
from stepwell.core.safetensors import WeightEntry
from stepwell.dialects import graph, schedule, tensor_loop, tile
from stepwell.dialects.traits import BoxAccess
from stepwell.frontends import Emitter, KnownValue, RuntimeValue, TorchExecutable
from stepwell.frontends.pytorch.exporting import Exported
from stepwell.frontends.pytorch.structure import Structure
from stepwell.machine import host_machine
from stepwell.rewrites.calibration.plan import CalibrationPlan
from stepwell.schedule import Replay
from stepwell.schedule.tuned.records import Record
from stepwell.tools.pages.api_listing import ROOMS, public_names, room_module
from xdsl.dialects.builtin import UnrealizedConversionCastOp, f32
from xdsl.ir import Attribute, Block, Operation
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass

TEXT = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = graph.relu %y : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}
"""

MOST_CHARACTERS = 500
"""More than any line should have. A machine and a report of a tuner say much."""

RECORD = Record("kernel", "hash", "target", "compiler", "schedule.program {\n}", ratio=1.5)

WITHOUT_OBJECTS = {
    "ClosedToLoops": "a trait, used as a class",
    "Commutative": "a trait, used as a class",
    "AccessesBoxes": "ops mix it in",
    "LoopSemantics": "ops mix it in",
    "LoopTemplate": "ops mix it in",
    "MayFail": "ops mix it in",
    "Expr": "the base of expressions",
    "Handle": "the base of handles",
    "Known": "an annotation of converters",
    "Pattern": "the base of patterns",
    "Test": "the base of tests",
    "Value": "the base of the values of a model",
    "OnnxExecutable": "made by compile_onnx; test_onnx_compiled.py",
}
"""Public classes of which nobody makes an object, or whose objects another test shows."""


def public_classes() -> list[type]:
    """The classes that `docs/api.md` lists, each once."""
    found = [getattr(room_module(room), name) for room in ROOMS for name in public_names(room)]
    return list(dict.fromkeys(each for each in found if inspect.isclass(each)))


def objects_of_patterns() -> Iterator[Any]:
    x, relu = patterns.wildcard(), patterns.op("graph.relu", patterns.wildcard())
    yield from (x, relu, relu | x, relu & x, ~relu, relu.has_dtype("f32"), patterns.Constant(), patterns.Splat(0.0))
    yield from (
        patterns.chain("graph.relu", x),
        patterns.Rest(),
        patterns.Result(relu, 1),
        patterns.Capture("axes"),
        patterns.Argument(0),
    )
    yield from (patterns.call("f", x), patterns.Function((x,), relu), patterns.If(x, relu, x))
    yield from (patterns.together(relu, x), patterns.dominates(relu, x, relu), patterns.associative(x * (relu / x)))
    yield from (
        patterns.literal(f32),
        patterns.HasAttr((("axis", 1),)),
        patterns.HasDtype(f32),
        patterns.HasShape((4,)),
    )
    yield from (patterns.HasKind(("elementwise",)), patterns.HasType(f32), patterns.Holds("single-use"))
    yield from (patterns.Bound("x"), patterns.Build("full", ("x",)), patterns.Create("graph.relu"))
    yield from (patterns.Require("single-use", ("x",)), patterns.RuleStatistics())
    block = patterns.block(patterns.Axis("spatial", 4), patterns.Rest(), of=(patterns.Rest(),))
    yield from (block, *block.parts(), patterns.decide(block, "it is short"))
    yield patterns.decision_rule("short", block, patterns.decide(block, "it is short"))
    rule = patterns.rule("relu-of-relu", patterns.op("graph.relu", relu), relu)
    yield rule
    module = stepwell.parse(TEXT)
    y = next(op for op in module.walk() if op.name == "graph.relu").results[0]
    (match,) = patterns.find_all(rule.lhs, module)
    yield from (match, patterns.Driver(core.make_context(), [rule]), patterns.NameSupply(module), patterns.is_expr(y))
    yield from (patterns.explain(rule, y), rewrites.PatternEntry(rule, lambda context: True), testing.Report(rule))
    yield rewrites.PatternContext(match, (y.owner,), (y,), ())


def objects_of_passes(tmp_path: Path) -> Iterator[Any]:
    show = str
    yield from (stepwell.PassContext(instruments=[core.Timing()]), stepwell.Sequential([]), core.Instrument())
    yield from (core.PipelineRecord(), core.RunRecord(), core.Statistics(), core.Timing(), core.Veto.of("cse"))
    yield from (core.DumpDirectory(tmp_path), core.IRPrinting(show, sys.stdout), core.Diagnostic("no"))
    yield from (core.Codegen("c", lambda f, c: None), core.NativeCode("text" * 200), core.pass_info("canonicalize"))
    yield from (core.CodegenContext("c", "s", stepwell.parse(TEXT)), core.ConfigKey("k", int, 1, "what", "package"))
    yield from (core.PassRecord("cse", {}, 1, 1), core.PassFailure(rewrites.SimplifyExprPass(), 1))
    yield core.StepwellPlugin(extensions={"codegen": {"c": lambda: None}})
    core.write_weights(tmp_path / "w.safetensors", {"w": np.ones(4, "f")})
    yield from (core.open_weights(tmp_path / "w.safetensors"), WeightEntry("f32", (4,), 0, 16))


def objects_of_ir() -> Iterator[Any]:
    module = stepwell.parse(TEXT)
    x, shaped = module.body.block.first_op.body.block.args[0], graph.Shaped((4, 8), "f32")  # type: ignore
    yield from (
        graph.GraphMutator(),
        schedule.Field("points", "numbers"),
        graph.FLOAT,
        shaped,
        stepwell.GraphBuilder(),
        tensor_loop.Axis("spatial", 4),
    )
    yield from (tensor_loop.BufferRegion(x, (AffineExpr.constant(0),), (4,)), tile.Place(x, (x, x), (0, 1), (1, 1)))
    yield from (BoxAccess(x, (x, x), (1, 4), True), analysis.OpFacts(analysis.kind_of_op(x.owner.parent_op())))
    yield from (Emitter(Block(), lambda *_: []), KnownValue(np.ones(4, "f")), RuntimeValue(x))
    yield from (
        rewrites.Slice(0, 1, 1),
        rewrites.RecordedCall("f", rewrites.Slice(0, 1, 1), UnrealizedConversionCastOp.get([], [])),
    )
    yield CalibrationPlan(module, "main", False, "error", "calibrate-map")
    a = te.placeholder((4, 8), "f32", "A")
    k = te.reduce_axis(8, "k")
    total = te.compute((4,), lambda i: te.sum(a[i, k], k), name="total")
    yield from (a, total, k, te.const(1.0, "f32"), te.var("n"), total.source, total.source.bodies[0])
    yield from (total.source.bodies[0].reduction, total.source.bodies[0].reduction.reducer)


NOTHING = Structure(None, ())


def objects_of_programs() -> Iterator[Any]:
    exe = stepwell.compile(TEXT, cache=False)
    lineages = analysis.Lineages()
    yield from (lineages, lineages.of(stepwell.parse(TEXT)))
    x = np.ones((4, 8), np.float32)
    profile, steps, trace, memory = exe.profile(x, rounds=1), exe.schedule(), exe.trace(x), exe.memory
    yield from (exe, exe.signature, exe.specialisations, profile, *profile.kernels, steps, trace, *trace.values, memory)
    yield from (analysis.ArenaBuffer("a", "f32", 0, 4, 0, 1), analysis.InPlaceUpdate(1, "k", "a"), host_machine())
    yield TorchExecutable("Net", Exported(None, signature(len), NOTHING, NOTHING), exe)
    yield from (runtime.Job("a", "b"), runtime.Outcome("faster"), runtime.Exported(Path("a"), None, None, "p"))
    yield from (runtime.StatisticsOptions(), runtime.TensorStatistics("tensor<4xf32>"), runtime.ArrayType("f32", (4,)))
    name = next(op.sym_name.data for op in steps.module.walk() if op.name == "tensor_loop.func")
    block = steps.get_block("relu", name)
    loops = steps.get_loops(block)
    yield from (block, *loops, steps.sample_perfect_tile(loops[-1], 2)[0], Replay(steps.module))
    kernel = runtime.KernelReport(("k",), "hash", (runtime.Trial("schedule.program {\n}", RECORD, True),), None)
    yield from (*kernel.trials, kernel, runtime.TuningReport(Path("a"), (kernel,)))
    layer = runtime.LayerReport("y", "matmul", "a.mlir:1:1", (2, 2), quantised=True)
    report = runtime.QuantizationReport((layer,), "accuracy", 1.0, 1.0, 40.0, 16, 4)
    yield from (layer, report, runtime.Quantized(stepwell.parse(TEXT), report))
    yield from (
        testing.MutantReport("a.mlir", "r", "what", "caught"),
        testing.random_program(0),
        testing.Settings(),
        testing.StepwellTest(),
    )


def test_public_objects_show_as_a_short_line_without_an_address(tmp_path: Path) -> None:
    seen: dict[type, str] = {}
    makers = (objects_of_patterns(), objects_of_passes(tmp_path), objects_of_ir(), objects_of_programs())
    for thing in (each for maker in makers for each in maker):
        for kind in type(thing).__mro__:
            seen.setdefault(kind, repr(thing))
        words = repr(thing)
        assert not re.search(r"\b0x[0-9a-f]{6,}|(?<![\d.])\d{12,}\b", words), words
        assert len(words) <= MOST_CHARACTERS, words
        assert "\n" not in words, words
    others = [each for each in public_classes() if each not in seen and each.__name__ not in WITHOUT_OBJECTS]
    checked = (Operation, Attribute, ModulePass, BaseException, Enum)
    assert " ".join(each.__name__ for each in others if not issubclass(each, checked)) == ""


def test_ops_of_our_dialects_show_as_their_first_line() -> None:
    for each in public_classes():
        if issubclass(each, Operation):
            assert each.__repr__ is not Operation.__repr__, each.__name__
    function = tensor_loop.FuncOp
    module = stepwell.compile(TEXT, cache=False).schedule().module
    words = repr(next(op for op in module.walk() if isinstance(op, function)))
    assert re.fullmatch(r"<FuncOp tensor_loop.func .* \{>", words), words


def test_passes_show_their_options() -> None:
    for each in public_classes():
        if issubclass(each, ModulePass):
            try:
                words = repr(each())
            except TypeError:  # it has an option without a default
                continue
            assert " at 0x" not in words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("relu(relu(%x)) => relu(%x)", "<stepwell.Rule r: relu(relu(%x)) => relu(%x)>"),
        ("add(%x, negative(%y)) => subtract(%x, %y)", "<stepwell.Rule r: add(%x, negative(%y)) => subtract(%x, %y)>"),
    ],
)
def test_a_rule_shows_as_it_is_written(text: str, expected: str) -> None:
    assert [repr(rule) for rule in patterns.rules_of_text(f'pattern.rule "r" : {text}')] == [expected]


def test_a_deep_pattern_is_cut_at_the_prompt_and_whole_where_rules_are_compared() -> None:
    from stepwell.patterns.language.shown import in_full

    deep: patterns.Pattern = patterns.wildcard()
    for _ in range(2000):
        deep = patterns.op("graph.relu", deep)
    assert repr(deep) == "<stepwell.Pattern relu(relu(relu(relu(relu(relu(relu(relu(relu(…)))))))))>"
    assert in_full(deep).count("graph.relu") == 2000
