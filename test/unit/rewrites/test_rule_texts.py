"""What the text of a rule says of the ops that a match needs, and that nothing else depends on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import stepwell.rewrites.shipped as shipped
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.patterns import Op, Or, Pattern
from stepwell.patterns.text.loading import rules_of_valid_text
from stepwell.rewrites.rule_texts import excerpt, rule_texts
from stepwell.rewrites.shipped import SHIPPED, nothing_matches, rule_names, shipped_rules
from stepwell.rewrites.simplify.simplify_expr import SimplifyExprPass


def needs(equation: str, header: str = "") -> list[set[str]]:
    (rule,) = rule_texts(f'pattern.rule "x" {header}: {equation}\n')
    return [{name.removeprefix("graph.") for name in names} for names in rule.needs]


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("relu(%x) => %x", [{"relu"}]),
        ("relu(abs(%x) as %y) => %y where single-use(%y)", [{"relu"}, {"abs"}]),
        ("[abs, relu](%x) => %x", [{"abs", "relu"}]),
        ("%x * %y + 0 => %x", [{"multiply"}, {"add"}]),
        ("%x - -%y => %x + %y", [{"subtract"}]),
        ("-(-%x) => %x", [{"negative"}]),
        ("%x + -0.0 => %x", [{"add"}]),
        ("where(1, %x, %y) => %x", [{"where"}]),
        ("own.op(%x) => %x", [{"own.op"}]),
        ("relu(%x) // abs(%x)\n  => %x", [{"relu"}]),
        ("(relu(%x) or abs(%x)) => %x", []),
        ("any_op where equivalent(any_op %first, %root) => %first", []),
    ],
)
def test_a_rule_asks_for_the_ops_of_its_left_side(equation: str, expected: list[set[str]]):
    assert needs(equation) == expected


def test_names_after_for_are_those_of_the_function():
    assert needs("%f(pad(%x)) => %f(%x)", 'doc "a: b(c)" for %f in [abs, relu] ') == [{"abs", "relu"}, {"pad"}]


def test_a_rule_in_its_normal_form_asks_for_nothing():
    (rule,) = rule_texts('pattern.rule "x" {\n  %x = pattern.any : !pattern.value\n}\n')
    assert (rule.name, rule.needs) == ("x", ())


def certain_ops(pattern: Pattern) -> Iterator[Op]:
    """Yields the ops of a pattern that every match has: none below alternatives."""
    if isinstance(pattern, Op):
        yield pattern
    if not isinstance(pattern, Or):
        for part in pattern.certain_parts():
            yield from certain_ops(part)


@pytest.mark.parametrize("file", SHIPPED)
def test_every_match_of_a_shipped_rule_has_what_its_text_asks_for(file: str):
    texts = {each.name: each for each in rule_texts(shipped._text(file)) if each.name}
    rules = shipped_rules(file)
    assert [rule.name for rule in rules] == list(texts)
    for rule in rules:
        ops = [set(op.names) for op in certain_ops(rule.lhs)]
        for wanted in texts[rule.name].needs:
            assert any(names and names <= wanted for names in ops), (rule.name, wanted)
        assert texts[rule.name].numerics == rule.numerics


@pytest.mark.parametrize("file", SHIPPED)
def test_an_excerpt_has_the_same_rules(file: str):
    text = shipped._text(file)
    texts = rule_texts(text)
    for each in texts[::9]:
        if each.name:
            own = [other for other in texts if other is each or not other.name]
            (rule,) = rules_of_valid_text(excerpt(text, own), file)
            (whole,) = [one for one in shipped_rules(file) if one.name == each.name]
            assert (rule.doc, str(rule.lhs), str(rule.rhs)) == (whole.doc, str(whole.lhs), str(whole.rhs))


TYPE = "tensor<4xf32>"


def module_of(*lines: str, result: str = "%x"):
    body = "\n".join(lines)
    text = f"func.func @main(%x: {TYPE}, %y: {TYPE}) -> {TYPE} {{\n{body}\nfunc.return {result} : {TYPE}\n}}"
    return parse_text(make_context(), text, "<test>")


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes no file count as read."""
    monkeypatch.setattr(shipped, "_WHOLE", set())


@pytest.mark.usefixtures("unread")
def test_no_rule_is_read_for_ops_that_none_is_about(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shipped, "rules_of_valid_text", lambda *_: pytest.fail("a rule is read"))
    monkeypatch.setattr(shipped, "_READ", {})
    module = module_of(f"%0 = graph.tanh %x : ({TYPE}) -> {TYPE}", result="%0")
    before = str(module)
    SimplifyExprPass().apply(make_context(), module)
    assert str(module) == before


@pytest.mark.usefixtures("unread")
def test_a_match_is_found_and_nothing_is_changed_by_that():
    lines = [f"%{i + 1} = graph.relu {of} : ({TYPE}) -> {TYPE}" for i, of in enumerate(("%x", "%1"))]
    module = module_of(*lines, result="%2")
    before = str(module)
    assert not nothing_matches(make_context(), module, ("simplify",), "default") and str(module) == before
    SimplifyExprPass().apply(make_context(), module)
    assert str(module).count("graph.relu") == 1


def test_what_a_rule_makes_lets_others_match():
    one = f"%one = graph.full 1.0 : {TYPE}"
    steps = [
        ("negative", "%x"), ("exp", "%1"), ("add", "%2, %one"), ("divide", "%one, %3"), ("multiply", "%x, %4"),
    ]  # fmt: skip
    lines = [
        f"%{i + 1} = graph.{op} {of} : ({', '.join([TYPE] * len(of.split(',')))}) -> {TYPE}"
        for i, (op, of) in enumerate(steps)
    ]
    module = module_of(one, *lines, result="%5")
    SimplifyExprPass().apply(make_context(), module)
    assert "graph.silu %x" in str(module) and "sigmoid" not in str(module), "there was no sigmoid at first"


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("numerics", ["strict", "default", "fast"])
def test_rules_of_another_class_are_not_looked_at(numerics: str):
    zero = f"%0 = graph.full -0.0 : {TYPE}"
    module = module_of(zero, f"%1 = graph.add %x, %0 : ({TYPE}, {TYPE}) -> {TYPE}", result="%1")
    assert nothing_matches(make_context(), module, ("simplify",), numerics) is False


@pytest.mark.usefixtures("unread")
def test_who_wants_remarks_gets_those_of_all_rules():
    with listening(lambda _: None):
        assert not nothing_matches(make_context(), module_of(), ("simplify",), "default")
    assert nothing_matches(make_context(), module_of(), ("simplify",), "default")


def test_names_are_those_of_the_rules():
    assert rule_names("ewise_fma") == {"add-of-multiply"}
