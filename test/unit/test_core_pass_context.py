"""Pass contexts: which passes run, scopes, configuration, hooks and what an exception leaves behind."""

from __future__ import annotations

from itertools import product

import pytest
from sample_passes import HOOKS, PROGRAM, FailingPass, HighPass, LowPass, Recorder, note, ran
from stepwell.core import pass_config
from stepwell.core.diagnostics import StepwellError, listening
from stepwell.core.instruments import FailureDump, Statistics, Veto
from stepwell.core.parsing import make_context, parse
from stepwell.core.pass_config import ConfigKey, config_value, parse_setting, register_config
from stepwell.core.pass_context import PassContext
from stepwell.core.pass_decorators import module_pass
from stepwell.core.pass_info import level_of, pass_info
from stepwell.core.passes import count
from stepwell.core.pipelines import current_context, planned, run_pipeline
from stepwell.core.plugins import registry
from stepwell.core.sequential import Sequential
from stepwell.rewrites.fold_constant import FoldConstantPass


@module_pass("needs-high", opt_level=1, requires=["high-registered"])
def needs_high(module, ctx):
    """Needs another pass before it."""
    note(module, "needs-high")


@module_pass("high-registered", opt_level=3)
def high_registered(module, ctx):
    """Is needed by another pass."""
    note(module, "high-registered")


@module_pass("chicken", requires=["egg"])
def chicken(module, ctx):
    """Needs an egg."""


@module_pass("egg", requires=("chicken",))
def egg(module, ctx):
    """Needs a chicken."""


def run(*passes, **arguments) -> str:
    module = parse(PROGRAM)
    run_pipeline(make_context(), module, list(passes), **arguments)
    return ran(module)


# Which passes run


@pytest.mark.parametrize("disabled, required, is_low", list(product((False, True), repeat=3)))
def test_enablement(disabled: bool, required: bool, is_low: bool):
    """Disabled wins, then required, then the level."""
    pass_ = LowPass() if is_low else HighPass()
    expected = {
        # (disabled, required, level <= opt level)
        (False, False, False): "",
        (False, False, True): "low",
        (False, True, False): "high",
        (False, True, True): "low",
        (True, False, False): "",
        (True, False, True): "",
        (True, True, False): "",
        (True, True, True): "",
    }[disabled, required, is_low]
    names = [pass_.name]
    with PassContext(2, disabled=names if disabled else [], required=names if required else []) as context:
        assert run(pass_) == expected
        assert context.enabled(pass_) == bool(expected)


@pytest.mark.parametrize("level, expected", [(0, "low"), (2, "low"), (3, "low high")])
def test_level(level: int, expected: str):
    with PassContext(level):
        assert run(LowPass(), HighPass()) == expected


def test_outside_of_contexts_everything_asked_for_runs():
    assert current_context() is None
    assert run(LowPass(), HighPass()) == "low high"
    assert PassContext.current().opt_level == 2


def test_a_skipped_pass_is_reported():
    events: list[str] = []
    heard = []
    with PassContext(2), listening(heard.append):
        run(HighPass(), instruments=[Recorder(events)])
    assert "skipped_pass high: level 3 is above opt level 2" in events
    assert [each.message for each in heard] == [
        "'builtin.module': pass 'high' skipped: level 3 is above opt level 2"
    ]


def test_levels_of_the_pipelines_cut_them_down_to_each_other():
    """`O2` under opt level 1 is `O1`."""
    names = {}
    for level in range(3):
        with PassContext(level):
            steps = planned(Sequential(["O2"]).parts)
        names[level] = [step.pass_.name for step in steps if step.skipped is None]
    for level in range(3):
        with PassContext(3):
            alone = [step.pass_.name for step in planned(Sequential([f"O{level}"]).parts)]
        assert names[level] == alone
    assert level_of(FoldConstantPass) == 1


# Required passes


def test_a_required_pass_runs_before_on_any_level():
    with PassContext(1):
        assert run(needs_high()) == "high-registered needs-high"
    assert run(needs_high()) == "high-registered needs-high"


def test_a_required_pass_that_has_run_is_not_run_again():
    assert run(high_registered(), LowPass(), needs_high(), needs_high()) == (
        "high-registered low needs-high needs-high"
    )


def test_a_required_pass_that_was_left_out_by_level_is_forced():
    with PassContext(1):
        assert run(high_registered(), LowPass(), needs_high()) == "low high-registered needs-high"


def test_nothing_is_added_for_a_pass_that_does_not_run():
    with PassContext(0):
        assert run(needs_high()) == ""


def test_a_required_pass_is_never_left_out_silently():
    with (
        PassContext(disabled=["high-registered"]),
        pytest.raises(StepwellError, match="'needs-high' requires pass 'high-registered', which is disabled"),
    ):
        run(needs_high())
    for passes in ([needs_high()], [high_registered(), needs_high()]):
        with (
            PassContext(3, instruments=[Veto.of("high-registered")]),
            pytest.raises(
                StepwellError, match="requires pass 'high-registered', which instrument Veto vetoes"
            ),
        ):
            run(*passes)


def test_passes_that_require_each_other():
    with pytest.raises(StepwellError, match="pass 'chicken' requires itself: chicken -> egg -> chicken"):
        run(chicken())


# Scopes


def test_nested_contexts_restore_the_outer_one_after_an_exception():
    with PassContext(0) as outer:
        with pytest.raises(ZeroDivisionError), PassContext(3) as inner:
            assert current_context() is inner and run(HighPass()) == "high"
            raise ZeroDivisionError
        assert current_context() is outer and run(HighPass()) == ""
    assert current_context() is None


def test_a_context_can_be_entered_again_inside_itself():
    context = PassContext(0)
    with context:
        with PassContext(1), context:
            assert current_context() is context
        assert current_context() is context
    assert current_context() is None


def test_a_context_belongs_to_its_thread():
    from threading import Thread

    seen = []
    with PassContext(0):
        thread = Thread(target=lambda: seen.append(current_context()))
        thread.start()
        thread.join()
    assert seen == [None]


# Hooks


def test_order_of_hooks():
    events: list[str] = []
    with PassContext(instruments=[Recorder(events, "a"), Recorder(events, "b")]):
        run(LowPass())
    both = [
        *(
            "enter_context",
            "after_verify input",
            "before_pipeline low",
            "should_run low",
            "before_pass low 0",
        ),
        *("after_pass low 0", "before_verify low", "after_verify low", "after_pipeline"),
    ]
    expected = [f"{name} {event}" for event in both for name in "ab"]
    assert events == [*expected, "b finish", "a finish", "b exit_context", "a exit_context"]


@pytest.mark.parametrize("hook", HOOKS)
def test_an_exception_in_a_hook_unwinds_everything(hook: str):
    events: list[str] = []
    bad = Recorder(events, "bad", hook)
    good = [Recorder(events, "first"), bad, Recorder(events, "last")]
    module = parse(PROGRAM)
    with pytest.raises(ZeroDivisionError, match=hook), PassContext(instruments=good):
        run_pipeline(make_context(), module, [LowPass()])
    assert current_context() is None
    entered = [event.split()[0] for event in events if "enter_context" in event and event.split()[0] != "bad"]
    left = [event.split()[0] for event in events if "exit_context" in event and event.split()[0] != "bad"]
    assert left == entered[::-1]
    if hook not in ("enter_context", "exit_context"):
        assert [event for event in events if event.endswith("finish")] == [
            "last finish",
            "bad finish",
            "first finish",
        ]
        assert count("nobody collects") is None


def test_an_exception_in_a_hook_names_hook_and_pass():
    with pytest.raises(ZeroDivisionError) as caught:
        run(LowPass(), LowPass(), instruments=[Recorder([], fails_in="after_pass")])
    failure = caught.value.failed_pass
    assert str(failure) == "in after_pass of Recorder, at pass 'low' (number 1 of the pipeline)"
    assert str(failure) in caught.value.__notes__


def test_an_exception_in_a_pass_names_it():
    events: list[str] = []
    with pytest.raises(KeyError) as caught:
        run(LowPass(), FailingPass(), instruments=[Recorder(events)])
    assert str(caught.value.failed_pass) == "in pass 'failing' (number 2 of the pipeline)"
    assert caught.value.failed_pass.stage == "pass"
    assert events[-2:] == ["failed_pass failing KeyError", "finish"]


def test_a_failing_report_of_a_failure_does_not_hide_it():
    with pytest.raises(KeyError) as caught:
        run(FailingPass(), instruments=[Recorder([], fails_in="failed_pass")])
    assert any("failed_pass of Recorder failed too" in line for line in caught.value.__notes__)


def test_counters_end_with_the_run_that_failed():
    statistics = Statistics()
    with pytest.raises(KeyError):
        run(FailingPass(), instruments=[statistics])
    count("after the run")
    assert not statistics._counter


def test_what_a_failing_pass_was_given_is_written(tmp_path):
    path = tmp_path / "given.mlir"
    run(LowPass(), instruments=[FailureDump(path)])
    assert not path.exists()
    with pytest.raises(KeyError) as caught:
        run(LowPass(), FailingPass(), instruments=[FailureDump(path)])
    text = path.read_text()
    assert text.startswith("// stepwell-opt given.mlir -p failing\n")
    assert ran(parse(text)) == "low"
    assert f"what the pass was given is in {path}" in caught.value.__notes__


def test_veto():
    events: list[str] = []
    passes = [LowPass(), HighPass(), LowPass()]
    assert run(*passes, instruments=[Veto.of("low"), Recorder(events)]) == "high"
    assert events.count("skipped_pass low: vetoed by instrument Veto") == 2
    grown = Veto(lambda pass_, module: "high" in ran(module))
    assert run(*passes, instruments=[grown]) == "low high"


def test_a_veto_on_a_second_run_does_not_undo_the_first():
    once = Veto(lambda pass_, module: pass_.name == "high-registered" and pass_.name in ran(module))
    passes = [high_registered(), high_registered(), needs_high()]
    assert run(*passes, instruments=[once]) == "high-registered needs-high"


# Sequences


def test_sequences_nest():
    inner = Sequential([HighPass(), LowPass()], name="inner")
    module = parse(PROGRAM)
    assert ran(Sequential([LowPass(), inner, "canonicalize", LowPass()])(module)) == "low high low low"
    assert ran(module) == ""


def test_an_empty_sequence_does_nothing():
    module = parse(PROGRAM)
    assert str(Sequential([])(module)) == str(module)
    assert run(Sequential([])) == ""


def test_a_sequence_has_a_level_and_a_name():
    outer = Sequential([LowPass(), Sequential([LowPass()], "high-sequence", opt_level=3)], "outer-sequence")
    for context, expected in (
        (PassContext(2), "low"),
        (PassContext(3), "low low"),
        (PassContext(3, disabled=["high-sequence"]), "low"),
        (PassContext(0, required=["high-sequence"]), "low low"),
        (PassContext(3, disabled=["outer-sequence"]), ""),
    ):
        with context:
            assert run(outer) == expected
    assert str(outer) == "outer-sequence(low, high-sequence(low))"


def test_a_sequence_resolves_what_its_parts_require():
    assert ran(Sequential([needs_high()])(parse(PROGRAM))) == "high-registered needs-high"
    assert run(Sequential([LowPass()], "with-requirement", requires=["high-registered"])) == (
        "high-registered low"
    )


def test_wrong_parts_of_sequences():
    with pytest.raises(StepwellError, match="contains LowPass, expected a pass.*\n.*make an object"):
        Sequential([LowPass])  # pyright: ignore
    with pytest.raises(StepwellError, match="unknown pass 'canonicalise'"):
        Sequential("canonicalise")


# Calls


def test_a_called_pass_leaves_its_input_alone():
    module = parse(PROGRAM)
    before = str(module)
    result = LowPass()(module)
    assert str(module) == before and ran(result) == "low"
    assert [op.location for op in result.walk()] == [op.location for op in module.walk()]
    with pytest.raises(KeyError):
        FailingPass()(module)
    assert str(module) == before


def test_a_called_pass_runs_on_any_level_with_instruments_and_required_passes():
    events: list[str] = []
    with PassContext(0, instruments=[Recorder(events)]):
        assert ran(HighPass()(parse(PROGRAM))) == "high"
        assert ran(needs_high()(parse(PROGRAM))) == "high-registered needs-high"
        assert ran(Sequential([HighPass(), LowPass()])(parse(PROGRAM))) == "low"
    assert "before_pass high 0" in events


def test_only_modules_can_be_passed():
    module = parse(PROGRAM)
    with pytest.raises(StepwellError, match="pass 'low' is called on func.func, expected builtin.module"):
        LowPass()(next(iter(module.ops)))  # pyright: ignore


# Names and configuration


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            {"disabled": ["fuse-lops"]},
            "unknown pass 'fuse-lops' in disabled\nhint: did you mean 'fuse-loops'?",
        ),
        ({"required": ["zzzzz"]}, "unknown pass 'zzzzz' in required"),
        ({"disabled": "cse"}, "disabled is the string 'cse', expected a list of names of passes"),
        ({"opt_level": "2"}, "opt level is '2', expected 0, 1, 2 or 3"),
        ({"opt_level": -1}, "opt level is -1"),
        ({"opt_level": True}, "opt level is True"),
        (
            {"config": {"verify-eich": 1}},
            "unknown config key 'verify-eich'; the keys are target, verify-each, ",
        ),
        ({"config": {"verify-eich": 1}}, "bufferize.reuse"),
        ({"config": {"verify-eich": 1}}, "hint: did you mean 'verify-each'?"),
        ({"config": {"bufferize.re-use": 1}}, "the keys of pass 'bufferize' are bufferize.reuse"),
        ({"config": {"bufferize.re-use": 1}}, "hint: did you mean 'bufferize.reuse'?"),
        ({"config": {"verify-weights.x": 1}}, "pass 'verify-weights' has no options"),
        ({"config": {"bufferize": True}}, "unknown config key 'bufferize'"),
        ({"config": {"verify-each": "maybe"}}, "config key 'verify-each' is \"maybe\", expected flag"),
        ({"config": {"verify-each": 3}}, "config key 'verify-each' is 3, expected flag"),
        ({"config": {"fold-constant.max-elements": "big"}}, 'is "big", expected integer'),
        ({"config": {"fold-constant.max-elements": True}}, "is true, expected integer"),
        ({"config": {"fold-constant.max-elements": 1.5}}, "is 1.5, expected integer"),
        ({"config": {"fold-constant.max-elements": None}}, "is none, expected integer"),
        ({"config": {"fold-constant.max-elements": [1, 2]}}, "is 1,2, expected integer"),
        ({"config": {"simplify-expr.rules": [1]}}, "is 1, expected list of strings"),
    ],
)
def test_wrong_contexts_are_explained(arguments, message: str):
    with pytest.raises(StepwellError) as caught:
        PassContext(**arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name, given, held",
    [
        ("verify-each", False, False),
        ("verify_each", False, False),
        ("fold-constant.max_elements", 3, 3),
        ("simplify-expr.rules", ["a", "b"], ("a", "b")),
        ("simplify-expr.rules", [], ()),
        ("simplify-expr.numerics", "fast", "fast"),
    ],
)
def test_values_are_held_as_their_keys_want_them(name: str, given, held):
    assert PassContext(config={name: given}).config == {name.replace("_", "-"): held}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("verify-each=false", ("verify-each", False)),
        ("fold-constant.max-elements=-3", ("fold-constant.max-elements", -3)),
        ("simplify-expr.rules=a,b", ("simplify-expr.rules", ("a", "b"))),
        ("simplify-expr.numerics=fast", ("simplify-expr.numerics", "fast")),
        ("specialize-shapes.shapes=2x3", ("specialize-shapes.shapes", "2x3")),
        ("specialize-shapes.shapes=", ("specialize-shapes.shapes", "")),
    ],
)
def test_settings_of_the_command_line(text: str, expected):
    assert parse_setting(text) == expected


@pytest.mark.parametrize(
    "text, message",
    [
        ("verify-each", "'verify-each' is not of the form key=value"),
        ("=3", "is not of the form key=value"),
        ("verify-each=maybe", 'is "maybe", expected flag'),
        ("nothing=1", "unknown config key 'nothing'"),
    ],
)
def test_wrong_settings_are_explained(text: str, message: str):
    with pytest.raises(StepwellError) as caught:
        parse_setting(text)
    assert message in str(caught.value)


def test_config_stands_in_for_options_left_at_their_defaults():
    with PassContext(config={"fold-constant.max-elements": 7}):
        (free, given) = planned([FoldConstantPass(), FoldConstantPass(max_elements=9)])
        (required,) = [
            step.pass_
            for step in planned(Sequential(["graph-optimize"]).parts)
            if step.pass_.name == "fold-constant"
        ]
    assert free.pass_ == FoldConstantPass(max_elements=7)
    assert given.pass_ == FoldConstantPass(max_elements=9)
    assert required == FoldConstantPass(max_elements=7)


def test_verification_can_be_switched_off():
    events: list[str] = []
    with PassContext(config={"verify-each": False}, instruments=[Recorder(events)]):
        run(LowPass())
    assert not any("verify" in event for event in events)


@pytest.fixture
def own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_config, "_KEYS", dict(pass_config._KEYS))


@pytest.mark.usefixtures("own_keys")
def test_keys_can_be_registered():
    key = register_config("tile", int, 4, "the size of a tile", "a")
    assert key == ConfigKey("tile", int, 4, "the size of a tile", "a")
    register_config("tile", int, 4, "the size of a tile", "a")
    assert config_value("tile") == 4
    with PassContext(config={"tile": 8}):
        assert config_value("tile") == 8
        with PassContext():
            assert config_value("tile") == 4
    with pytest.raises(StepwellError, match="config key 'tile' of b is already defined by a"):
        register_config("tile", int, 5, "", "b")
    with pytest.raises(StepwellError, match="has a dot"):
        register_config("a.b", int, 5, "", "b")


@pytest.mark.usefixtures("own_keys")
def test_keys_of_plug_ins(monkeypatch: pytest.MonkeyPatch):
    loaders = {
        "lanes": lambda: ConfigKey("lanes", int, 8, "elements of a vector", "p"),
        "broken": lambda: 1 / 0,
    }
    monkeypatch.setitem(registry().extensions, "config-key", loaders)
    with pytest.raises(StepwellError, match="config key 'broken' cannot be loaded: ZeroDivisionError"):
        PassContext(config={"lanes": 4})
    del loaders["broken"]
    assert config_value("lanes") == 8
    assert PassContext(config={"lanes": 4}).config_value("lanes") == 4
    with pytest.raises(StepwellError, match="unknown config key 'lames'.*\n.*did you mean 'lanes'"):
        config_value("lames")


def test_key_of_a_context():
    assert PassContext(disabled=["cse", "dce"]).key() == PassContext(disabled=["dce", "cse"]).key()
    keys = {
        context().key()
        for context in (
            PassContext,
            lambda: PassContext(1),
            lambda: PassContext(disabled=["cse"]),
            lambda: PassContext(required=["cse"]),
            lambda: PassContext(config={"verify-each": False}),
            lambda: PassContext(instruments=[Veto.of("cse")]),
            lambda: PassContext(instruments=[Veto.of("cse")]),
        )
    }
    assert len(keys) == 7
    assert PassContext(instruments=[Statistics()]).key() == PassContext().key()


# PassInfo


def test_info():
    info = pass_info("needs-high")
    assert (info.name, info.opt_level, info.requires, info.options) == (
        "needs-high",
        1,
        ("high-registered",),
        (),
    )
    assert info.summary == "Needs another pass before it" and info.source == __name__.partition(".")[0]
    assert str(info) == "needs-high (level 1): Needs another pass before it"
    folding = pass_info(FoldConstantPass())
    assert folding == pass_info("fold-constant") == pass_info(FoldConstantPass)
    assert (folding.source, folding.opt_level) == ("stepwell", 1)
    assert [option.name for option in folding.options][0] == "max-elements"
    assert (pass_info("canonicalize").source, pass_info("canonicalize").opt_level) == ("xdsl", 0)
