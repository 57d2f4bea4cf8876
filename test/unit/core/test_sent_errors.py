"""Errors and warnings arrive in another process as they were raised: a pool of processes breaks on others."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import Diagnostic, DiagnosticWarning, OperationError, StepwellError, warn
from stepwell.core.passes.pipelines import BrokenByPassError
from stepwell.core.text.parsing import parse
from stepwell.frontends.onnx.errors import OnnxError
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.text.loading import rules_of_text
from stepwell.schedule.primitives.errors import ScheduleError

IDENTITY = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}"


def rule_error() -> None:
    raise RuleError("no such thing", at=parse(IDENTITY), hint="look again")


def operation_error() -> None:
    raise OperationError(parse(IDENTITY), "found this, expected that", hint="do that")


def schedule_error() -> None:
    raise ScheduleError("no loop is called 'k'", (parse(IDENTITY),), hint="there is %i")


def broken_by_pass() -> None:
    raise BrokenByPassError(Diagnostic("a pass made it", notes=(Diagnostic("in pass 'x'", "note"),)))


RAISED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "text": (StepwellError, lambda: stepwell.compile("func.func @main( {")),
    "program": (VerificationError, lambda: stepwell.compile(IDENTITY.replace("-> tensor<2xf32>", "-> tensor<3xf32>"))),
    "pass": (StepwellError, lambda: stepwell.compile(IDENTITY, pipeline="fold-constat")),
    "model": (OnnxError, lambda: stepwell.compile_onnx("no_such_file.onnx")),
    "rule text": (StepwellError, lambda: rules_of_text('pattern.rule "a" : relu(%x) => %z')),
    "rule": (RuleError, rule_error),
    "op": (OperationError, operation_error),
    "schedule": (ScheduleError, schedule_error),
    "broken": (BrokenByPassError, broken_by_pass),
}


@pytest.mark.parametrize("name", RAISED)
def test_errors_are_the_same_when_they_arrive(name: str) -> None:
    kind, raising = RAISED[name]
    with pytest.raises(kind) as caught:
        raising()
    sent: Any = caught.value
    arrived: Any = pickle.loads(pickle.dumps(sent))
    assert type(arrived) is type(sent)
    assert str(arrived) == str(sent)
    assert arrived.diagnostic == sent.diagnostic


def test_warnings_are_the_same_when_they_arrive() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn(Diagnostic("an old file", "warning", hint="write it again"))
    sent: Any = told[0].message
    assert isinstance(sent, DiagnosticWarning)
    arrived: Any = pickle.loads(pickle.dumps(sent))
    assert str(arrived) == str(sent) == "warning: an old file\nhint: write it again"
    assert arrived.diagnostic == sent.diagnostic


def test_a_pool_of_processes_goes_on_after_an_error() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        bad, good = pool.submit(parse, "func.func @main( {"), pool.submit(len, IDENTITY)
        with pytest.raises(StepwellError, match="error: "):
            bad.result()
        assert good.result() == len(IDENTITY)
