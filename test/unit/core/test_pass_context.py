"""Pass contexts: which passes run, and scopes."""

from __future__ import annotations

from itertools import product

import pytest
from sample_passes import (
    HighPass,
    LowPass,
    Recorder,
    high_registered,
    needs_high,
    run,
)
from stepwell.core.messages.diagnostics import StepwellError, listening
from stepwell.core.passes.context import PassContext, current_context
from stepwell.core.passes.decorators import module_pass
from stepwell.core.passes.info import level_of
from stepwell.core.passes.instruments import Veto
from stepwell.core.passes.plan import planned
from stepwell.core.passes.sequential import Sequential
from stepwell.rewrites.constants.fold_constant import FoldConstantPass


@module_pass("chicken", requires=["egg"])
def chicken(module, ctx):
    """Needs an egg."""


@module_pass("egg", requires=("chicken",))
def egg(module, ctx):
    """Needs a chicken."""


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
    assert [each.message for each in heard] == ["'builtin.module': pass 'high' skipped: level 3 is above opt level 2"]


def test_levels_of_the_pipelines_cut_them_down_to_each_other():
    """`O2` under opt level 1 is `O1`. Under 0 it specialises shapes once more, on the graph as it is."""
    names = {}
    for level in range(3):
        with PassContext(level):
            steps = planned(Sequential(["O2"]).parts)
        names[level] = [step.pass_.name for step in steps if step.skipped is None]
    for level in range(3):
        with PassContext(3):
            alone = [step.pass_.name for step in planned(Sequential([f"O{level}"]).parts)]
        assert names[level] == ["specialize-shapes"] * (level == 0) + alone
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
            pytest.raises(StepwellError, match="requires pass 'high-registered', which instrument Veto vetoes"),
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
