"""The configuration of pass contexts: names, keys and values."""

from __future__ import annotations

import pytest
from sample_passes import (
    LowPass,
    Recorder,
    refusal,
    run,
)
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes import config as pass_config
from stepwell.core.passes.config import ConfigKey, parse_setting, register_config
from stepwell.core.passes.context import PassContext, config_value
from stepwell.core.passes.info import pass_info
from stepwell.core.passes.instruments import Statistics, Veto
from stepwell.core.passes.plan import planned
from stepwell.core.passes.sequential import Sequential
from stepwell.core.plugins import registry
from stepwell.rewrites.constants.fold_constant import FoldConstantPass


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
            "unknown config key 'verify-eich'; the keys are check-bounds, target, verify-each, ",
        ),
        ({"config": {"verify-eich": 1}}, "vectorize-loops.wide"),
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
    assert message in refusal(lambda: PassContext(**arguments))


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
    assert message in refusal(lambda: parse_setting(text))


def test_config_stands_in_for_options_left_at_their_defaults():
    with PassContext(config={"fold-constant.max-elements": 7}):
        (free, given) = planned([FoldConstantPass(), FoldConstantPass(max_elements=9)])
        (required,) = [
            step.pass_ for step in planned(Sequential(["graph-optimize"]).parts) if step.pass_.name == "fold-constant"
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
    assert info.summary == "Needs another pass before it" and info.source == "sample_passes"
    assert str(info) == "needs-high (level 1): Needs another pass before it"
    folding = pass_info(FoldConstantPass())
    assert folding == pass_info("fold-constant") == pass_info(FoldConstantPass)
    assert (folding.source, folding.opt_level) == ("stepwell", 1)
    assert [option.name for option in folding.options][0] == "max-elements"
    assert (pass_info("canonicalize").source, pass_info("canonicalize").opt_level) == ("xdsl", 0)
