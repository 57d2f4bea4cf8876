"""Sequences of passes, and passes that are called."""

from __future__ import annotations

import pytest
from sample_passes import (
    PROGRAM,
    FailingPass,
    HighPass,
    LowPass,
    Recorder,
    needs_high,
    ran,
    run,
)
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.sequential import Sequential
from stepwell.core.text.parsing import parse

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
    assert run(Sequential([LowPass()], "with-requirement", requires=["high-registered"])) == ("high-registered low")


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
