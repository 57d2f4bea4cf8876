"""Rules that decide about blocks: what they give, what is wrong in them, and who refuses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import stepwell
from loop_functions import COPY, CTX, OPEN, SUM, program
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.dialects.tensor_loop import BlockOp
from stepwell.patterns import Any_, Capture, Driver, Rest, op, rule
from stepwell.patterns.language.loops import Axis, block, kernel
from stepwell.patterns.language.match import Session
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Decide, Rule, compute, decide, decision_rule, require
from stepwell.patterns.running.decisions import Decided, Decider
from stepwell.patterns.running.partition import partition
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute

ONE = IntegerAttr(1, i64)
MARK = 'pattern.rule "t" : block(%a...) {%p...} => decide(%root, my.mark = 1) because "s"'
i, x = Axis("spatial", key="i"), Any_("x")


def decisions(made: Rule, module: ModuleOp) -> dict[str, Attribute]:
    """What a rule decides about the only block of a module."""
    (target,) = [each for each in module.walk() if isinstance(each, BlockOp)]
    decider = Decider(CTX, [made])
    found: list[Decided] = list(decider.decisions_at(target, Session(CTX, module)))
    return {each.name: each.value for each in found}


# Decisions


def test_attributes_are_computed_and_kept() -> None:
    text = """pattern.rule "t" : block(spatial %i in %n, spatial %j, block_name = %name) {%parts...} as %b
      => decide(%b, my.rows = %n / 4 + 1, my.name = %name) because "a quarter" """
    (made,) = rules_of_text(text, "r.mlir", CTX)
    module = program(COPY)
    assert decisions(made, module) == {"my.rows": IntegerAttr(25, i64), "my.name": StringAttr("copy")}
    (target,) = [each for each in module.walk() if isinstance(each, BlockOp)]
    target.attributes["my.rows"] = ONE
    assert list(decisions(made, module)) == ["my.name"]


def test_python_computes_as_the_text_does() -> None:
    name = Capture("name")
    pattern = block(i, Axis("spatial"), of=(Rest(),), block_name=name)
    formula = compute("extent($0) / 4 + 1", i)
    made = decision_rule("t", pattern, decide(pattern, "a quarter", **{"my.rows": formula, "my.name": name}))
    assert isinstance(made.decisions[0], Decide) and str(made).endswith("…>")
    assert decisions(made, program(COPY)) == {"my.rows": IntegerAttr(25, i64), "my.name": StringAttr("copy")}


def test_an_unknown_number_is_not_decided() -> None:
    text = (
        'pattern.rule "t" : block(spatial %i in %n) {%p...} as %b => decide(%b, my.rows = %n, my.mark = 1) because "s"'
    )
    (made,) = rules_of_text(text, "r.mlir", CTX)
    assert list(decisions(made, program(OPEN, extent="%n: index, "))) == ["my.mark"]


def test_two_decisions_of_one_rule(tmp_path: Path) -> None:
    text = """pattern.rule "pair" : kernel(%all...) {nest(%r...) {block(%a...) {%p...} as %first},
        nest(%q...) {block(%b...) {%o...} as %second}}
      => decide(%first, my.part = 1) because "it comes first", decide(%second, my.part = 2) because "it comes last" """
    module = program(SUM, COPY)
    run_pipeline(CTX, module, f'decide-schedules{{file="{write(text, tmp_path)}"}}')
    blocks = [each for each in module.walk() if isinstance(each, BlockOp)]
    assert [each.attributes["my.part"] for each in blocks] == [IntegerAttr(1, i64), IntegerAttr(2, i64)]
    assert 'stepwell.reason = {my.part = "it comes last"}' in str(module)


def write(text: str, folder: Path) -> Path:
    """Writes a rule file and returns its path."""
    path = folder / "rules.mlir"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("page", "name"), [("rewrites.md", "loops"), ("schedules.md", "decide")])
def test_examples_of_the_pages(page: str, name: str, tmp_path: Path) -> None:
    text = (Path(stepwell.__file__).parent / "docs" / page).read_text(encoding="utf-8")
    (example,) = re.findall(rf"```mlir\n(// example: {name}\n.*?)```", text, re.S)
    module = program(SUM.replace("%x[%vk, %vi]", "%p[%vi, %vk]").replace("64x96xf32", "96x64xf32"), COPY)
    run_pipeline(CTX, module, f'decide-schedules{{file="{write(example, tmp_path)}"}}')
    assert 'stepwell.share = "a sum of few terms takes no time"' in str(module)
    assert ('stepwell.grain = "its rows are in a cache"' in str(module)) is (name == "loops")


# What is wrong


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("block(spatial %i {} => DECIDE", "expected ',' or ')' between the arguments of 'block', found '{'"),
        ("block(spatial %i) => DECIDE", "1:38: error: expected '{' before what the block does, found '='"),
        ("block(spatial %i) {%y = %x} => DECIDE", "expected '[' after the buffer that is written, found '='"),
        ("block(spatial %i) {%y[%i] %x} => DECIDE", "expected '=' after the element that is written, found '%x'"),
        ("block(spatial %i) {%y[%i %j] = %x} => DECIDE", "expected ',' or ']' between indices, found '%j'"),
        ("block(spatial %i) {(%y[%i] = %x, %z[%i] = %x)} => DECIDE", "expected ')' after the part in parentheses"),
        ("block(spatial %i) {%y[%i] = %x %z[%i] = %x} => DECIDE", "expected ',' or '}' between the parts of a block"),
        ("block(spatial %i in) {} => DECIDE", "an extent"),
        ("block(spatial %i) {nest(%p) {}} => DECIDE", "'pattern.block': a nest cannot be inside a block"),
        ("block(spatial %i) {memref.load(%x, %i)} => DECIDE", "'memref.load' has a result, so it is no part"),
        ("block(spatial %i) {constant} => DECIDE", "a part of a block is an op, not a value"),
        ("block(%all..., spatial %i) {} => DECIDE", "a rest of arguments must be the last one of a block"),
        ("block(nest(%p) {}) {} => DECIDE", "a nest is no value"),
        ('block(spatial %i) {} => decide(%root, b = 1) because "s"', "a decision 'b' has no dialect, such as that of"),
        (
            'block(spatial %i) {} => decide(%root, stepwell.shaer = 0) because "s"',
            "a rule cannot decide 'stepwell.shaer', expected a prefix of your own, or one of stepwell.grain, "
            "stepwell.maximum, stepwell.prepacked, stepwell.reason, stepwell.rows, stepwell.rows_at_once, "
            "stepwell.share, stepwell.strip, stepwell.tiling; did you mean 'stepwell.share'?",
        ),
        (
            'block(spatial %i) {} => decide(%root, stepwell.unchecked = 0) because "s"',
            "a rule cannot decide 'stepwell.unchecked', expected a prefix of your own",
        ),
        ('block(spatial %i) {} => decide(%root) because "s"', "decides nothing, expected an attribute"),
        ('block(spatial %i) {} => decide(%root, 1) because "s"', "expected an attribute and its value, found '1'"),
        ('block(spatial %i) {} => decide(%i, a.b = 1) because "s"', "a decision is about a block, a nest or a kernel"),
        ("block(spatial %i) {} => decide(%root, a.b = 1)", "expected 'because' and the reason of the decision"),
        ('block(spatial %i) {} => decide(%b, a.b = 1) because "s"', "%b is not bound by the match; bound are %i,"),
        ("block(spatial %i in %i) {} => DECIDE", "%i has been bound before"),
        ("block(spatial %i, no_such = 1) {} => DECIDE", "'tensor_loop.block' has no property 'no_such'"),
        ("block(spatial %i) {} => %i", "a rule about loops ends in 'pattern.decide', and no other does"),
        ("relu(%x) => DECIDE", "a rule that decides is about one block, nest or kernel that holds all else, found 0"),
        ('block(spatial %i) {} => decide(%root, a.b = %n) because "s"', "%n is not bound by the match"),
        ('block(spatial %i in %n) {} => decide(%root, a.b = size(%n, 0)) because "s"', "size(%n, 0)"),
        ("block(spatial %i) {} => DECIDE where no-such(%root)", "unknown condition 'no-such'"),
        ("block(spatial %i) {} => DECIDE where walks(%i, %i)", "condition 'walks' takes an op, found a value (%i)"),
        ("relu(block(spatial %i) {}) => %i", "a block is no value"),
        ("block(spatial %i) {} => DECIDE, %i", "expected another 'decide' after ','"),
    ],
)  # fmt: skip
def test_what_is_wrong(text: str, message: str) -> None:
    text = text.replace("DECIDE", 'decide(%root, a.b = 1) because "s"')
    with pytest.raises((StepwellError, VerificationError)) as error:
        rules_of_text(f'pattern.rule "r" : {text}', "r.mlir", CTX)
    assert message in str(error.value) and "r.mlir:1:" in str(error.value)


def test_what_is_wrong_in_python() -> None:
    with pytest.raises(RuleError, match="unknown kind of axis 'sum', expected one of spatial, reduce, serial"):
        Axis("sum")
    with pytest.raises(RuleError, match="a part of a block is an op, not a value"):
        block(i, of=(x,))
    with pytest.raises(RuleError, match="the parts of a kernel are ops, of which 'each' says nothing"):
        kernel(of=(Rest(each=x),))
    with pytest.raises(RuleError, match="rule 't' decides nothing"):
        decision_rule("t", block(i, of=()), require("float", x))


def test_other_passes_refuse_decisions(tmp_path: Path) -> None:
    (made,) = rules_of_text(MARK, "r.mlir", CTX)
    with pytest.raises(RuleError, match="rule 't' decides about loops, and replaces nothing"):
        Driver(CTX, [made])
    file = write(MARK, tmp_path)
    module = stepwell.parse("func.func @main() { func.return }")
    for name in ("apply-patterns", "partition-pattern"):
        with pytest.raises(
            Exception, match=f"{name}: rule 't' decides about loops; it is for the pass decide-schedules"
        ):
            run_pipeline(CTX, module, f'{name}{{file="{file}"}}')
    write('pattern.rule "t" : relu(relu(%x) as %y) => %y', tmp_path)
    with pytest.raises(Exception, match="decide-schedules: rule 't' decides nothing; it is for apply-patterns"):
        run_pipeline(CTX, module, f'decide-schedules{{file="{file}"}}')
    assert rule("t", op("graph.relu", x), x).decisions == ()


def test_no_function_is_made_of_blocks() -> None:
    module = stepwell.parse("func.func @main() { func.return }")
    (main,) = module.body.ops
    assert partition(rules_of_text(MARK, "r.mlir", CTX)[0], main, ctx=CTX) == []  # type: ignore[arg-type]
