"""
Every construct of the pattern language, in Python and in text: what it matches, what not, as a group and in a rule.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from pattern_cases_larger import CASES
from pattern_programs import CTX, Case, program
from stepwell.core.ir.verification import verify_module
from stepwell.core.roles import PARTITIONED
from stepwell.patterns.language.patterns import Pattern
from stepwell.patterns.language.rules import Build, Create, Require, Rule, root_pattern
from stepwell.patterns.running.matching import find_all, match
from stepwell.patterns.running.partition import partition
from stepwell.patterns.running.sweeps import rewrite_once
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f64
from xdsl.ir import SSAValue

FORMS = ("python", "text")
NUMBER = FloatAttr(7.0, f64)


def rule_of(case: Case, form: str) -> Rule:
    """The rule that puts a constant, or an op with the captured attribute, in the place of every root."""
    if form == "text":
        (found,) = rules_of_text(rule_text(case))
        return found
    root, also = root_pattern(case.pattern)
    rhs = tuple(Build("full", (), (("value", NUMBER),)) for _ in range(case.several))
    if case.capture is not None:
        rhs = (Create("graph.softmax", (rhs[0],), (("axis", case.capture),)),)
    return Rule("t", root, rhs, case.when, numerics="rounding", also=also)


def required_text(case: Case) -> str:
    """The conditions of a case, whose keys begin with the names of the text."""

    def one(each: Require) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in each.parameters)
        names = ", ".join(f"%{key.partition('.')[0]}" for key in each.keys)
        return f'pattern.require "{each.name}"({names}){f" with {{{given}}}" if given else ""}'

    return "\n".join(map(one, case.when))


def rule_text(case: Case) -> str:
    requires = required_text(case)
    made = [f'%new{n} = pattern.build "full"() with {{value = 7.0}}' for n in range(case.several)]
    names = ", ".join(f"%new{n}" for n in range(case.several))
    if case.capture is not None:
        made.append('%made = pattern.create "graph.softmax"(%new0) set ["axis"](%axis)')
        names = "%made"
    body = "\n".join(made)
    return (
        f'pattern.rule "t" numerics "rounding" {{\n{case.matching}\n{requires}\n'
        f"pattern.rewrite {case.root_names} {{\n{body}\npattern.yield {names}\n}}\n}}"
    )


def group_rule(case: Case, form: str) -> Rule:
    if form == "python":
        return replace(rule_of(case, form), rhs=(), group=(("tag", NUMBER),))
    requires = required_text(case)
    (found,) = rules_of_text(
        f'pattern.rule "t" {{\n{case.matching}\n{requires}\npattern.partition {case.root_names} with {{tag = 7.0}}\n}}'
    )
    return found


def matches(case: Case, form: str, value: SSAValue) -> bool:
    """Whether the pattern matches at the value, or the roots, of which the value is one, anywhere."""
    rule = rule_of(case, form) if case.when or form == "text" else None
    pattern: Pattern | tuple[Pattern, ...] | Rule = case.pattern if rule is None else replace(rule, rhs=())
    if case.several > 1:
        scope = value.owner.parent_op()  # type: ignore[union-attr]
        assert scope is not None
        given = pattern if isinstance(pattern, tuple) else pattern.lhs.patterns  # type: ignore[union-attr]
        return bool(find_all(given, scope, ctx=CTX))
    if isinstance(pattern, Rule):
        from stepwell.patterns.matching.compiled_rule import compile_rule
        from stepwell.patterns.running.matching import match_compiled

        return match_compiled(compile_rule(pattern, CTX), value).matched
    return match(pattern, value, ctx=CTX) is not None


by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
by_form = pytest.mark.parametrize("form", FORMS)


@by_case
@by_form
def test_matches(form: str, case: Case) -> None:
    assert case.yes
    for text in case.yes:
        _, value = program(text)
        assert matches(case, form, value), text


@by_case
@by_form
def test_does_not_match(form: str, case: Case) -> None:
    assert case.no
    for text in case.no:
        _, value = program(text)
        assert not matches(case, form, value), text


def main_of(module: ModuleOp) -> func.FuncOp:
    main = module.body.ops.first
    assert isinstance(main, func.FuncOp)
    return main


def defines_p(module: ModuleOp) -> str:
    """The name of the op that defines `%p` now."""
    (found,) = [op for op in main_of(module).walk() if any(v.name_hint == "p" for v in op.results)]
    return found.name


@pytest.mark.ci_cases(20)
@by_case
@by_form
def test_partitions(form: str, case: Case) -> None:
    rule = group_rule(case, form)
    module, _ = program(case.yes[0])
    made = partition(rule, main_of(module), ctx=CTX)
    verify_module(module)
    assert [str(each.attributes[PARTITIONED].data) for each in made] == [case.group]  # type: ignore[attr-defined]
    assert len(made[0].body.block.args) == case.parameters
    assert made[0].attributes["tag"] == NUMBER and defines_p(module) == "func.call"
    for text in case.no:
        module, value = program(text)
        before = value.owner
        partition(rule, main_of(module), ctx=CTX)
        verify_module(module)
        assert value.owner is before and before.parent is not None, f"partitioned: {text}"  # type: ignore[union-attr]


@pytest.mark.ci_cases(14)
@by_case
@by_form
def test_rewrites(form: str, case: Case) -> None:
    rule = rule_of(case, form)
    module, _ = program(case.yes[0])
    assert rewrite_once([rule], module, ctx=CTX)
    verify_module(module)
    assert defines_p(module) == ("graph.softmax" if case.capture is not None else "graph.full")
    for text in case.no:
        module, value = program(text)
        before = value.owner
        rewrite_once([rule], module, ctx=CTX)
        verify_module(module)
        assert value.owner is before and before.parent is not None, f"rewritten: {text}"  # type: ignore[union-attr]
