"""Instruments: their hooks, vetoes, and what an exception leaves behind."""

from __future__ import annotations

import pytest
from sample_passes import (
    HOOKS,
    PROGRAM,
    FailingPass,
    HighPass,
    LowPass,
    Recorder,
    high_registered,
    needs_high,
    ran,
    run,
)
from stepwell.core.passes.base import count
from stepwell.core.passes.context import PassContext, current_context
from stepwell.core.passes.instruments import FailureDump, Statistics, Veto
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse


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
    where = "at pass 'low' of module 'sample_passes' (number 1 of the pipeline)"
    assert str(failure) == f"in after_pass of Recorder, {where}"
    assert str(failure) in caught.value.__notes__


def test_an_exception_in_a_pass_names_it():
    events: list[str] = []
    with pytest.raises(KeyError) as caught:
        run(LowPass(), FailingPass(), instruments=[Recorder(events)])
    assert str(caught.value.failed_pass) == "in pass 'failing' of module 'sample_passes' (number 2 of the pipeline)"
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
