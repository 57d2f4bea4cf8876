"""Passes and pipelines: options, named pipelines, instruments, counters, plug-ins, remarks."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest
from sample_passes import refusal
from stepwell.core import plugins
from stepwell.core.messages.diagnostics import (
    Diagnostic,
    OperationError,
    closest,
    emit_remark,
    emit_warning,
    fail,
    listening,
    render,
    shorten,
)
from stepwell.core.messages.points import SourcePoint
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.instrument import Instrument
from stepwell.core.passes.instruments import Statistics, Timing
from stepwell.core.passes.options import make_pass, pass_options, pass_summary
from stepwell.core.passes.pipeline_text import expand_pipeline, load_pass, parse_pipeline
from stepwell.core.passes.pipelines import BrokenByPassError, run_pipeline
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import is_program_text, make_context, parse
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_spec
from xdsl.utils.exceptions import PassFailedException

PROGRAM = "func.func @main(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32\n  func.return %y : i32\n}\n"


@dataclass(frozen=True)
class SamplePass(StepwellPass):
    """
    Counts the ops of the module
    by name. Everything after the first sentence is detail.
    """

    name = "sample"

    size: int
    enabled: bool = False
    rate: float = 0.5
    rules: tuple[str, ...] = ()
    target: str | None = None
    mode: str = "fast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in op.walk():
            self.count(nested.name)


def sample(text: str) -> SamplePass:
    pass_ = make_pass(SamplePass, parse_spec(text))
    assert isinstance(pass_, SamplePass)
    return pass_


@pytest.mark.parametrize(
    "text, expected",
    [
        ("sample{size=3}", SamplePass(3)),
        ("sample{size=3 enabled}", SamplePass(3, enabled=True)),
        ("sample{size=3 enabled=true}", SamplePass(3, enabled=True)),
        ("sample{size=3 enabled=1}", SamplePass(3, enabled=True)),
        ("sample{size=3 enabled=false}", SamplePass(3)),
        ("sample{size=3 rate=2}", SamplePass(3, rate=2.0)),
        ("sample{size=3 rate=0.25}", SamplePass(3, rate=0.25)),
        ("sample{size=-3 rules=a}", SamplePass(-3, rules=("a",))),
        ('sample{size=3 rules=a,"b.c"}', SamplePass(3, rules=("a", "b.c"))),
        ('sample{size=3 target="x"}', SamplePass(3, target="x")),
        ("sample{size=3 mode=slow}", SamplePass(3, mode="slow")),
    ],
)
def test_options_are_read(text: str, expected: SamplePass):
    made = sample(text)
    assert made == expected
    assert type(made.rate) is float
    assert sample(str(made)) == made


@pytest.mark.parametrize(
    "text, message",
    [
        ("sample", "pass 'sample' requires the option 'size'"),
        ("sample{size}", "option 'size' of pass 'sample' is nothing, expected integer"),
        ("sample{size=big}", 'is "big", expected integer'),
        ("sample{size=true}", "option 'size' of pass 'sample' is true, expected integer"),
        ("sample{size=1 rate=false}", "option 'rate' of pass 'sample' is false, expected number"),
        ("sample{size=1,2}", "is 1,2, expected integer"),
        ("sample{size=1.5}", "is 1.5, expected integer"),
        ("sample{size=1 enabled=maybe}", "expected flag"),
        ("sample{size=1 rate=fast}", "expected number"),
        ("sample{size=1 mode=1}", "expected string"),
        ("sample{size=1 enabeld}", "did you mean 'enabled'?"),
        ("sample{sise=1}", "did you mean 'size'?"),
    ],
)
def test_wrong_options_are_explained(text: str, message: str):
    assert message in refusal(lambda: sample(text))


def test_a_pass_without_options_is_what_xdsl_makes_of_it():
    for name in {spec.name for spec in expand_pipeline("O3")}:
        assert make_pass(load_pass(name), ArgSpec(name, {})) == load_pass(name).from_spec(ArgSpec(name, {}))


def test_a_pass_may_be_made_in_another_way():
    @dataclass(frozen=True)
    class Counted(StepwellPass):
        name = "counted"
        number: int = 0

        @classmethod
        def from_spec(cls, spec: ArgSpec):
            return cls(7)

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            pass

    assert make_pass(Counted, ArgSpec("counted", {})) == Counted(7)


def test_options_are_listed():
    assert [str(option) for option in pass_options(SamplePass)] == [
        "size: integer = required",
        "enabled: flag = false",
        "rate: number = 0.5",
        "rules: list of strings = none",
        "target: string = none",
        'mode: string = "fast"',
    ]
    assert pass_summary(SamplePass) == "Counts the ops of the module by name"


# Pipelines

PIPELINES = {
    "tidy": "cse,canonicalize",
    "all": "tidy, dce, tidy",
    "loop": "cse,pool",
    "pool": "loop",
    "cse": "dce",
}


def test_named_pipelines_expand_inside_each_other():
    names = [spec.name for spec in expand_pipeline("all,convert-scf-to-cf", PIPELINES)]
    assert names == ["cse", "canonicalize", "dce", "cse", "canonicalize", "convert-scf-to-cf"]


def test_a_pass_wins_over_a_pipeline_of_its_name():
    assert [spec.name for spec in expand_pipeline("cse", PIPELINES)] == ["cse"]


@pytest.mark.parametrize(
    "text, message",
    [
        ("loop", "pipeline 'loop' contains itself: loop -> pool -> loop"),
        ("tidy{x=1}", "pipeline 'tidy' takes no options"),
        ("fold-constant{prepare max-elements=1 prepare}", "option 'prepare' of pass 'fold-constant' is given twice\n"),
        (
            "cse,fold-constant{max-elements=1 max_elements=2}",
            "option 'max-elements' of pass 'fold-constant' is given twice, as 'max-elements' and as 'max_elements'\n"
            "hint: leave one of them out",
        ),
    ],
)
def test_wrong_pipelines_are_explained(text: str, message: str):
    assert message in refusal(lambda: expand_pipeline(text, PIPELINES))


@pytest.mark.parametrize(
    "text", ["cse,canonicalize", " cse , canonicalize ", "cse,\n  canonicalize", "cse,canonicalize,"]
)
def test_white_space_in_pipelines(text: str):
    assert [pass_.name for pass_ in parse_pipeline(text)] == ["cse", "canonicalize"]


def test_commas_in_options_do_not_split_a_pipeline():
    specs = expand_pipeline('a{x=1,2 y="p, q"}, b', {})
    assert [(spec.name, spec.parameters) for spec in specs] == [
        ("a", {"x": (1, 2), "y": ("p, q",)}),
        ("b", {}),
    ]


class Recorder(Instrument):
    def __init__(self):
        self.events: list[str] = []

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.events.append(f"before {pass_.name} {index}")

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.events.append(f"after {pass_.name} {index}")

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        self.events.append("verified")


def test_instruments_see_every_step():
    recorder = Recorder()
    run_pipeline(make_context(), parse(PROGRAM), "cse,dce", instruments=[recorder])
    assert recorder.events == [
        "verified",
        *("before cse 0", "after cse 0", "verified"),
        *("before dce 1", "after dce 1", "verified"),
    ]


def test_statistics_belong_to_the_pass_that_counted():
    statistics, timing = Statistics(), Timing()
    passes = [sample("sample{size=1}"), *parse_pipeline("cse"), sample("sample{size=2}")]
    run_pipeline(make_context(), parse(PROGRAM), passes, instruments=[statistics, timing])
    counts = {"arith.addi": 1, "builtin.module": 1, "func.func": 1, "func.return": 1}
    assert [(name, dict(counter)) for name, _, _, counter in statistics.rows] == [
        ("sample", counts),
        ("cse", {}),
        ("sample", counts),
    ]
    assert "sample: 3 ops -> 3 ops" in statistics.report()
    assert [row[0] for row in timing.rows] == ["sample", "cse", "sample"]
    sample("sample{size=1}").count("outside of a run")


@dataclass(frozen=True)
class BreakingPass(StepwellPass):
    """Makes the module invalid."""

    name = "breaking"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sum_ = next(nested for nested in op.walk() if isinstance(nested, arith.AddiOp))
        sum_.operands[0] = sum_.result


@dataclass(frozen=True)
class FailingPass(StepwellPass):
    """Fails at the addition; `way` chooses how."""

    name = "failing"

    way: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sum_ = next(nested for nested in op.walk() if isinstance(nested, arith.AddiOp))
        if self.way == "fail":
            fail(sum_, "cannot do it", hint="try less")
        if self.way == "emit_error":
            sum_.emit_error("cannot do it", PassFailedException("cannot do it"))
        if self.way == "plain":
            raise PassFailedException("cannot do it")
        raise KeyError("oops")


def test_a_pass_that_breaks_the_module_is_named():
    with pytest.raises(BrokenByPassError) as caught:
        run_pipeline(make_context(), parse(PROGRAM), [BreakingPass()])
    assert caught.value.failed_pass.pass_ == BreakingPass()
    run_pipeline(make_context(), parse(PROGRAM), [BreakingPass()], verify_each=False)


@pytest.mark.parametrize(
    "way, expected",
    [
        ("fail", "<text>:2:3: error: 'arith.addi': cannot do it\nhint: try less"),
        ("emit_error", "<text>:2:3: error: 'arith.addi': cannot do it"),
        ("plain", "error: cannot do it"),
        ("bug", "<text>:2:3: error: 'arith.addi': module 'test' failed: KeyError: 'oops' (test_passes.py:"),
    ],
)
def test_failures_of_passes_become_diagnostics(way: str, expected: str):
    with pytest.raises(Exception) as caught:
        run_pipeline(make_context(), parse(PROGRAM), [FailingPass(way)])
    assert render(diagnostic_of(caught.value)).startswith(expected)


# Remarks


def test_remarks_and_warnings_reach_the_listener():
    sum_ = next(op for op in parse(PROGRAM).walk() if op.name == "arith.addi")
    emit_remark(sum_, "nobody listens")
    heard: list[Diagnostic] = []
    with listening(heard.append):
        emit_remark(sum_, "not fused")
        emit_warning(sum_, "slow")
    assert [render(each) for each in heard] == [
        "<text>:2:3: remark: 'arith.addi': not fused",
        "<text>:2:3: warning: 'arith.addi': slow",
    ]


# Rendering


def test_long_messages_are_shortened():
    assert shorten("a" * 5000).startswith("aaa") and len(shorten("a" * 5000)) <= 800
    assert shorten("x\n" * 100).count("\n") < 20


def test_the_caret_stays_under_its_column_in_a_long_line():
    line = "x" * 500 + "HERE" + "y" * 500
    text = render(Diagnostic("m", point=SourcePoint("f", 1, 501), length=4, source_line=line))
    excerpt, carets = text.split("\n")[1:]
    assert excerpt[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_tabs_and_control_characters_keep_the_caret_in_place():
    text = render(Diagnostic("m", point=SourcePoint("f", 1, 3), source_line="\t\x00HERE"))
    excerpt, carets = text.split("\n")[1:]
    assert excerpt[carets.index("^")] == "H"


def test_closest_name():
    assert closest("canonicalise", ["canonicalize", "cse"]) == "canonicalize"
    assert closest("max_elements", ["max-elements"]) == "max-elements"
    assert closest("zzz", ["canonicalize"]) is None


@pytest.mark.parametrize(
    "text, is_text",
    [
        ("", True),
        ("a\nb", True),
        ("func.func @f() { func.return }", True),
        ("builtin.module {}", True),
        ("module {}", True),
        ('"test.op"() : () -> ()', True),
        ("%0 = arith.constant 1 : i32", True),
        ("// comment", True),
        ("#map = 1 : i32", True),
        ("program.mlir", False),
        ("folder/program.mlir", False),
        ("/abs/my.program.mlir", False),
        ("module", True),
        ("a folder/x.mlir", False),
    ],
)
def test_program_text_is_told_from_a_path(text: str, is_text: bool):
    assert is_program_text(text) == is_text


def test_operation_error_is_a_pass_failure():
    assert issubclass(OperationError, PassFailedException)


# Plug-ins


class FakeEntryPoint(EntryPoint):
    """An entry point that loads a given object, or raises it."""

    dist = None

    def load(self):  # pyright: ignore[reportIncompatibleMethodOverride]
        loaded = LOADED[self.name]
        if isinstance(loaded, BaseException):
            raise loaded
        return loaded


LOADED: dict[str, object] = {
    "good": Universe(all_passes={"new-pass": lambda: SamplePass}),
    "clash": Universe(all_passes={"cse": lambda: SamplePass, "newer-pass": lambda: SamplePass}),
    "broken": ImportError("no module named nothing"),
    "exits": SystemExit(3),
    "wrong": 42,
    "extension": plugins.StepwellPlugin(pipelines={"mine": "cse"}, extensions={"codegen": {"c": lambda: 1}}),
}


def loaded_registry(*names: str) -> plugins.Registry:
    found = plugins.Registry()
    found.add_universe(plugins.XDSL_UNIVERSE, "xdsl")
    groups = {"extension": plugins.PLUGIN_GROUP}
    entries = [FakeEntryPoint(name, f"{name}_package.universe:U", groups.get(name, "xdsl.universe")) for name in names]
    plugins.load_entry_points(found, list(entries))
    return found


def test_plugins_are_loaded_one_by_one(capsys: pytest.CaptureFixture[str]):
    found = loaded_registry("broken", "good", "clash", "exits", "wrong", "extension")
    assert {"new-pass", "newer-pass", "cse"} <= set(found.passes)
    assert found.passes["cse"] is plugins.XDSL_UNIVERSE.all_passes["cse"]
    assert found.plugin_pipelines == {"mine": "cse"} and found.extensions_of("codegen")["c"]() == 1
    warnings = capsys.readouterr().err.strip().split("\n")
    assert len(warnings) == 4
    assert "'broken' of package broken_package.universe: skipped" in warnings[0]
    assert "no module named nothing" in warnings[0]
    assert "pass 'cse' is already defined by xdsl" in warnings[1]
    assert "SystemExit" in warnings[2]
    assert "expected Universe" in warnings[3]
    assert [plugin.problem is None for plugin in found.plugins] == [False, True, False, False, False, True]
