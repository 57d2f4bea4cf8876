"""Rules in Python leave ops with effects and closed functions alone, unless they say otherwise."""

from __future__ import annotations

import pytest
from stepwell.core.ir.verification import VerificationError, verify_module
from stepwell.core.messages.diagnostics import Diagnostic, OperationError, listening
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.graph.base import GraphOp, Shaped, tensor_operand, tensor_result
from stepwell.patterns import Any_, Driver, callback, create, op, partition, rule
from stepwell.patterns.language.functions import is_open
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.running.sweeps import rewrite
from stepwell.patterns.text.equations import text_of_rule
from stepwell.patterns.text.loading import rules_of_text
from stepwell.rewrites.fusion.apply_fusion_plan import ApplyFusionPlanPass
from stepwell.rewrites.fusion.plan_fusion import PlanFusionPass
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import MemoryReadEffect

F = "tensor<4xf32>"
OUTER = ("builtin.module", "func.func", "func.return")
CALL = "func.call @effect() : () -> ()"
X, AT = Any_("x"), Any_("i")


@irdl_op_definition
class TracedOp(GraphOp):
    """A `relu` that reads something besides."""

    name = "traced.relu"
    operand = tensor_operand("F")
    result = tensor_result()
    traits = traits_def(MemoryReadEffect())

    @classmethod
    def infer(cls, x: Shaped, **properties: object) -> tuple[Shaped, ...]:
        return (x,)


def context() -> Context:
    ctx = make_context()
    ctx.load_dialect(Dialect("traced", [TracedOp], []))
    return ctx


CTX = context()


def program(*lines: str, result: str = "%r", arguments: str = f"%x: {F}, %y: {F}") -> ModuleOp:
    """A function of lines such as `%r = graph.relu %x`."""
    made = []
    for line in lines:
        operands = ", ".join([F] * line.partition("=")[2].count("%"))
        made.append(line if ":" in line else f"{line} : ({operands}) -> {F}")
    body = "\n".join(made)
    text = (
        f"func.func private @effect()\nfunc.func @main({arguments}) -> {F} {{\n{body}\nfunc.return {result} : {F}\n}}"
    )
    return parse_text(CTX, text, "p.mlir")


def names(module: ModuleOp) -> list[str]:
    return [each.name for each in module.walk() if each.name not in OUTER]


def run(given: Rule, module: ModuleOp) -> tuple[list[str], list[str]]:
    """Returns the ops after the rule, and the remarks."""
    heard: list[Diagnostic] = []
    with listening(heard.append):
        Driver(CTX, [given]).run(module)
    verify_module(module)
    return names(module), [each.message for each in heard]


@pytest.mark.parametrize("effects", [False, True])
def test_root_with_an_effect(effects: bool) -> None:
    given = rule("r", op("traced.relu", X), create("graph.relu", X), effects=effects)
    found, remarks = run(given, program("%r = traced.relu %x"))
    assert found == (["graph.relu"] if effects else ["traced.relu"])
    assert any("leaves 'traced.relu', which has an effect" in each for each in remarks) is not effects


@pytest.mark.parametrize("effects", [False, True])
def test_new_op_with_an_effect(effects: bool) -> None:
    given = rule("r", op("graph.exp", op("traced.relu", X)), create("traced.relu", X), effects=effects)
    found, remarks = run(given, program("%0 = traced.relu %x", "%r = graph.exp %0"))
    assert found == ["traced.relu", "traced.relu" if effects else "graph.exp"]
    assert any("makes 'traced.relu', which has an effect" in each for each in remarks) is not effects


def test_value_of_an_op_with_an_effect() -> None:
    """What has an effect stays, and what is made of its result may change."""
    result = op("traced.relu", X)
    found, remarks = run(
        rule("r", op("graph.abs", result), result), program("%0 = traced.relu %x", "%r = graph.abs %0")
    )
    assert (found, remarks) == (["traced.relu"], [])


@pytest.mark.parametrize("effects", [False, True])
def test_function_as_replacement(effects: bool) -> None:
    def drop(match: Match) -> SSAValue:
        return match[X]

    found, _ = run(callback("r", op("traced.relu", X), drop, effects=effects), program("%r = traced.relu %x"))
    assert found == ([] if effects else ["traced.relu"])
    module = program("%r = traced.relu %x")
    rewrite([callback("r", op("traced.relu", X), drop, effects=effects)], module, ctx=CTX)
    assert names(module) == ([] if effects else ["traced.relu"])


@pytest.mark.parametrize(
    ("between", "applied"), [("%e = graph.exp %y", True), ("func.call @effect() : () -> ()", False)]
)
def test_what_may_fail_does_not_cross_an_effect(between: str, applied: bool) -> None:
    take = op("graph.take", X, AT, axis=0)
    new = op("graph.take", op("graph.relu", X), AT, axis=0)
    text = f"graph.take %x, %i, axis = 0 : ({F}, tensor<4xi64>) -> {F}"
    module = program(f"%0 = {text}", between, "%r = graph.relu %0", arguments=f"%x: {F}, %y: {F}, %i: tensor<4xi64>")
    found, remarks = run(rule("r", op("graph.relu", take), new), module)
    assert (found[-2:] == ["graph.relu", "graph.take"]) is applied
    wanted = "'graph.relu': not applied: rule 'r' moves an op that may fail across 'func.call', which has an effect"
    assert (remarks == [wanted]) is not applied


def test_effects_of_a_branch() -> None:
    branch = """%r = scf.if %c -> ({F}) {{
  %0 = {name}.relu %x : ({F}) -> {F}
  scf.yield %0 : {F}
}} else {{
  scf.yield %x : {F}
}}"""
    for name, kept in (("graph", False), ("traced", True)):
        module = program(branch.format(name=name, F=F), arguments=f"%x: {F}, %c: i1")
        given = rule("r", op("scf.if", Any_("c")), create("graph.full", value=parse_number("1.0 : f32")))
        assert ("scf.if" in run(given, module)[0]) is kept


def parse_number(text: str) -> object:
    module = parse_text(CTX, f'"test.op"() {{value = {text}}} : () -> ()', "n.mlir")
    return next(each for each in module.walk() if each.name == "test.op").attributes["value"]


@pytest.mark.parametrize("effects", [False, True])
def test_partition(effects: bool) -> None:
    pattern = op("graph.abs", op("traced.relu", X))
    module = program("%0 = traced.relu %x", "%r = graph.abs %0")
    given = Rule("r", pattern, (), group=(), effects=effects)
    function = next(each for each in module.ops if isinstance(each, func.FuncOp) and not each.is_declaration)
    made = partition(given, function, ctx=CTX)
    verify_module(module)
    assert len(made) == effects
    assert names(module) == [*(["func.call"] if effects else []), "traced.relu", "graph.abs"]


def test_groups() -> None:
    for name, together in (("graph", True), ("traced", False)):
        module = program("%0 = graph.exp %x", f"%1 = {name}.relu %0", "%r = graph.abs %1")
        PlanFusionPass().apply(CTX, module)
        ApplyFusionPlanPass().apply(CTX, module)
        assert ("func.call" in names(module)) is together


def test_plan_with_an_effect() -> None:
    module = program("%0 = graph.exp %x", "%r = traced.relu %0")
    for each in module.walk():
        if each.results and isinstance(each, Operation):
            each.attributes["graph.group"] = parse_number("0 : i64")  # type: ignore[assignment]
    with pytest.raises((OperationError, VerificationError), match="cannot be in group 0: it has an effect"):
        ApplyFusionPlanPass().apply(CTX, module)


def test_word_is_written_as_it_is_read() -> None:
    text = 'pattern.rule "r" fast injective effects : memref.load(%m, %i) => memref.load(%m, %i)'
    module = parse_text(make_context(), text, "r.mlir")
    (op_,) = module.body.ops
    assert text_of_rule(op_) == text
    assert str(parse_text(make_context(), str(module), "r.mlir")) == str(module)
    (read,) = rules_of_text(text, "r.mlir", CTX)
    assert read.effects


@pytest.mark.parametrize(
    "attribute", ["graph.partitioned_from", "graph.composite", "graph.compiler", "graph.primitive"]
)
def test_closed_functions(attribute: str) -> None:
    """Groups stay open to a driver, partitioned and composite functions to those that say so."""
    relus = rule("r", op("graph.relu", op("graph.relu", X)), create("graph.relu", X))
    for told in (False, True):
        for sweeps in (False, True):
            enter = (lambda each: True) if told else is_open
            module = program("%0 = graph.relu %x", "%r = graph.relu %0")
            main = next(each for each in module.ops if each.regions[0].blocks)
            main.attributes[attribute] = StringAttr("a_")
            if sweeps:
                rewrite([relus], module, ctx=CTX, enter=enter)
            else:
                Driver(CTX, [relus], enter=enter).run(module)
            assert names(module).count("graph.relu") == (1 if told or attribute == "graph.primitive" else 2)
            Driver(CTX, [relus]).run(main)
            assert names(module).count("graph.relu") == 1
