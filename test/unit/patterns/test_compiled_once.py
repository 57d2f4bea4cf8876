"""Shipped rules are compiled once per process, others each time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stepwell.core.text.parsing import make_context
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.matching.compiled_rule import compiled_once
from stepwell.patterns.matching.tracing import TRACER, Tracer
from stepwell.rewrites.shipped import shipped_rules
from xdsl.context import Context

RULE = next(rule for rule in shipped_rules("simplify") if rule.name == "subtract-of-zero")


def test_a_shipped_rule_is_compiled_once() -> None:
    assert compiled_once(RULE, make_context()) is compiled_once(RULE, make_context())


def test_another_rule_is_compiled_each_time() -> None:
    other = replace(RULE)
    assert compiled_once(other, make_context()) is not compiled_once(other, make_context())


def test_a_context_without_the_ops_is_refused_each_time() -> None:
    compiled_once(RULE, make_context())
    with pytest.raises(RuleError) as caught:
        compiled_once(RULE, Context())
    assert str(caught.value).startswith(f"error: rule '{RULE.name}': op 'graph.subtract' is unknown")


def test_a_trace_has_a_rule_of_its_own() -> None:
    token = TRACER.set(Tracer())
    try:
        traced = compiled_once(RULE, make_context())
    finally:
        TRACER.reset(token)
    assert traced is not compiled_once(RULE, make_context())
