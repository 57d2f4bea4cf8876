"""Patterns of loop functions, nests and blocks, in Python, in normal form and as equations, and what they decide."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from loop_functions import CHOICE, COPY, CTX, NEGATED, OPEN, PARALLEL, STRAIGHT, SUM, program
from stepwell.core.text.parsing import parse_text
from stepwell.dialects.pattern.ops import rules_of
from stepwell.dialects.tensor_loop import BlockOp
from stepwell.patterns import Any_, Rest, op
from stepwell.patterns.language.loops import Axis, Loops, block, kernel, nest
from stepwell.patterns.language.match import Session
from stepwell.patterns.language.rules import Require, Rule, compare, decide, decision_rule
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.running.decisions import Decider
from stepwell.patterns.running.explain import explain
from stepwell.patterns.running.matching import find_all
from stepwell.patterns.text.equations import text_of_rule
from stepwell.patterns.text.loading import rules_of_text
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation

FORMS = ("python", "text", "equation")


@dataclass(frozen=True)
class Case:
    """A pattern in all forms, and programs in which it matches once and not at all."""

    name: str
    pattern: Loops
    equation: str
    text: str
    positive: tuple[ModuleOp, ...]
    negative: tuple[ModuleOp, ...]
    when: tuple[Require, ...] = field(default=())


x, y, v, w = (Any_(name) for name in "xyvw")
i, j = Axis("spatial", key="i"), Axis("spatial", key="j")
k = Axis("reduce", key="k")
p = Axis("serial", key="p")
column, row = Axis("spatial", key="c"), Axis("spatial", key="r")
load = op("memref.load", x, j, i)
store = op("memref.store", load, y, i, j)
any_store = op("memref.store", v, y, Rest(key="at"))
total = op("arith.addf", op("memref.load", y, i), op("memref.load", x, k, i))
copied = block(Axis(key="a"), Axis(key="b"), of=(op("memref.store", w, y, Rest(key="at2")),), block_name="copy")
summed = block(Rest(), of=(Rest(),), block_name="sum")

turned = op("memref.store", op("memref.load", x, column, row), y, row, column)

CASES = [
    Case("copy", block(i, j, of=(store,)), "block(spatial %i, spatial %j) {%y[%i, %j] = %x[%j, %i]}",
         "%i = pattern.axis spatial %j = pattern.axis spatial %x = pattern.any %y = pattern.any "
         '%l = pattern.op "memref.load"(%x, %j, %i) %s = pattern.op "memref.store"(%l, %y, %i, %j) '
         "%root = pattern.block(%i, %j) of %s",
         (program(COPY), program(SUM, COPY)), (program(STRAIGHT), program(SUM), program(NEGATED), program(CHOICE))),
    Case("reduction", block(i, k, of=(op("memref.store", total, y, i),)),
         "block(spatial %i, reduce %k) {%y[%i] = arith.addf(%y[%i], %x[%k, %i])}",
         "%i = pattern.axis spatial %k = pattern.axis reduce %x = pattern.any %y = pattern.any "
         '%a = pattern.op "memref.load"(%y, %i) %l = pattern.op "memref.load"(%x, %k, %i) '
         '%t = pattern.op "arith.addf"(%a, %l) %s = pattern.op "memref.store"(%t, %y, %i) '
         "%root = pattern.block(%i, %k) of %s",
         (program(SUM),), (program(COPY), program(SUM.replace("arith.addf", "arith.mulf")))),
    Case("extent of a number", block(Axis("spatial", 96), Rest(), of=(any_store,)),
         "block(spatial in 96, %rest...) {%y[%at...] = %v}",
         "%i = pattern.axis spatial in 96 %rest = pattern.rest %v = pattern.any %y = pattern.any %at = pattern.rest "
         '%s = pattern.op "memref.store"(%v, %y, %at) %root = pattern.block(%i, %rest) of %s',
         (program(COPY), program(SUM)), (program(COPY.replace("96 = %i", "97 = %i")),)),
    Case("extents with a name", block(i, j, of=(any_store,)),
         "block(spatial %i in %n, spatial %j in %m) {%y[%at...] = %v}",
         "%i = pattern.axis spatial %j = pattern.axis spatial %v = pattern.any %y = pattern.any %at = pattern.rest "
         '%s = pattern.op "memref.store"(%v, %y, %at) %root = pattern.block(%i, %j) of %s',
         (program(COPY),), (program(COPY.replace("in 96", "in 80").replace("(96", "(80")), program(SUM)),
         when=(compare("extent($0) * 2 >= extent($1) * 3", i, j),)),
    Case("an unknown extent", block(i, of=(any_store,)), "block(spatial %i in %n) {%y[%at...] = %v}",
         "%i = pattern.axis spatial %v = pattern.any %y = pattern.any %at = pattern.rest "
         '%s = pattern.op "memref.store"(%v, %y, %at) %root = pattern.block(%i) of %s',
         (program(OPEN.replace("%n", "96")),), (program(OPEN, extent="%n: index, "),),
         when=(compare("extent($0) >= 0", i),)),
    Case("unordered axes", block(column, row, of=(turned,)).unordered(),
         "unordered block(spatial %c, spatial %r) {%y[%r, %c] = %x[%c, %r]}",
         "%c = pattern.axis spatial %r = pattern.axis spatial %x = pattern.any %y = pattern.any "
         '%l = pattern.op "memref.load"(%x, %c, %r) %s = pattern.op "memref.store"(%l, %y, %r, %c) '
         "%root = pattern.block unordered(%c, %r) of %s",
         (program(COPY), program(COPY.replace("(%i, %j) in (96, 64)", "(%j, %i) in (64, 96)").replace(
             "%vi in 96 = %i, %vj in 64 = %j", "%vj in 64 = %j, %vi in 96 = %i"))), (program(STRAIGHT),)),
    Case("each of the axes", block(Rest(each=Axis("spatial")), of=(any_store,)),
         "block(%all... each spatial) {%y[%at...] = %v}",
         "%e = pattern.axis spatial %all = pattern.rest each %e %v = pattern.any %y = pattern.any %at = pattern.rest "
         '%s = pattern.op "memref.store"(%v, %y, %at) %root = pattern.block(%all) of %s',
         (program(COPY), program(PARALLEL)), (program(SUM),)),
    Case("name of a block", block(Rest(), of=(Rest(),), block_name="sum"),
         'block(%all..., block_name = "sum") {%parts...}',
         '%all = pattern.rest %parts = pattern.rest %root = pattern.block(%all) of %parts with {block_name = "sum"}',
         (program(SUM), program(COPY, SUM)), (program(COPY),)),
    Case("nest", nest(Axis("serial", key="p"), Axis(None, 64, key="q"), of=(copied,)),
         'nest(serial %p, %q in 64) {block(%a, %b, block_name = "copy") {%y[%at2...] = %w}}',
         "%p = pattern.axis serial %q = pattern.axis in 64 %a = pattern.any %b = pattern.any %w = pattern.any "
         '%y = pattern.any %at2 = pattern.rest %s = pattern.op "memref.store"(%w, %y, %at2) '
         '%b1 = pattern.block(%a, %b) of %s with {block_name = "copy"} %root = pattern.nest(%p, %q) of %b1',
         (program(COPY), program(SUM, COPY)), (program(PARALLEL), program(SUM))),
    Case("nest of single loops", nest(Axis("parallel", key="p"), Rest(), of=(Rest(),)),
         "nest(parallel %p, %more...) {%parts...}",
         "%p = pattern.axis parallel %more = pattern.rest %parts = pattern.rest "
         "%root = pattern.nest(%p, %more) of %parts",
         (program(PARALLEL),), (program(COPY),)),
    Case("kernel", kernel(Rest(), of=(nest(Rest(), of=(summed,)), Rest(), nest(Rest(), of=(copied,)))),
         'kernel(%buffers...) {nest(%r...) {block(%all..., block_name = "sum") {%parts...}}, %gap..., '
         'nest(%q...) {block(%a, %b, block_name = "copy") {%y[%at2...] = %w}}}',
         '%buffers = pattern.rest %r = pattern.rest %all = pattern.rest %parts = pattern.rest %gap = pattern.rest '
         '%b1 = pattern.block(%all) of %parts with {block_name = "sum"} %n1 = pattern.nest(%r) of %b1 '
         "%q = pattern.rest %a = pattern.any %b = pattern.any %w = pattern.any %y = pattern.any %at2 = pattern.rest "
         '%s = pattern.op "memref.store"(%w, %y, %at2) %b2 = pattern.block(%a, %b) of %s with {block_name = "copy"} '
         "%n2 = pattern.nest(%q) of %b2 %root = pattern.kernel(%buffers) of %n1, %gap, %n2",
         (program(SUM, COPY), program(SUM, STRAIGHT.replace('"copy"', '"other"'), COPY)),
         (program(COPY, SUM), program(SUM), program(SUM, COPY, SUM))),
    Case("kernel by its buffers", kernel(x, v, y, w, of=(nest(Rest(), of=(block(i, j, of=(store,)),)),)),
         "kernel(%x, %p, %y, %s) {nest(%r...) {block(spatial %i, spatial %j) {%y[%i, %j] = %x[%j, %i]}}}",
         "%x = pattern.any %p = pattern.any %y = pattern.any %t = pattern.any %r = pattern.rest "
         "%i = pattern.axis spatial %j = pattern.axis spatial "
         '%l = pattern.op "memref.load"(%x, %j, %i) %s = pattern.op "memref.store"(%l, %y, %i, %j) '
         "%b = pattern.block(%i, %j) of %s %n = pattern.nest(%r) of %b %root = pattern.kernel(%x, %p, %y, %t) of %n",
         (program(COPY),), (program(STRAIGHT), program(COPY, SUM), program(COPY, extent="%n: index, "))),
]  # fmt: skip


def rule_of(case: Case, form: str) -> Rule:
    """The case as a rule that marks what it matches."""
    mark = 'because "it matches"'
    if form == "python":
        return decision_rule("t", case.pattern, *case.when, decide(case.pattern, "it matches", **{"my.mark": ONE}))
    if form == "equation":
        where = {"extents with a name": " where %n * 2 >= %m * 3", "an unknown extent": " where %n >= 0"}
        text = f"{case.equation} => decide(%root, my.mark = 1) {mark}{where.get(case.name, '')}"
        return rules_of_text(f'pattern.rule "t" : {text}', "r.mlir", CTX)[0]
    conditions = " ".join(
        f'pattern.require "{each.name}"({", ".join(f"%{key}" for key in each.keys)}) with '
        + "{" + ", ".join(f"{name} = {value}" for name, value in each.parameters) + "}"
        for each in case.when
    )  # fmt: skip
    end = f"pattern.decide %root with {{my.mark = 1}} {mark}"
    return rules_of_text(f'pattern.rule "t" {{ {case.text} {conditions} {end} }}', "r.mlir", CTX)[0]


ONE = IntegerAttr(1, i64)


def decided_in(module: ModuleOp, made: Rule) -> list[str]:
    """Where a rule decides, by the names of blocks and ops, with the reason."""
    decider = Decider(CTX, [made])
    session = Session(CTX, module)
    found = [each for root in module.walk() for each in decider.decisions_at(root, session)]
    assert all(each.name == "my.mark" and each.value == ONE and each.because == "it matches" for each in found)
    return [each.op.block_name.data if isinstance(each.op, BlockOp) else each.op.name for each in found]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_matches(case: Case, form: str) -> None:
    made = rule_of(case, form)
    for module in case.positive:
        assert len(decided_in(module, made)) == 1


@pytest.mark.ci_cases(20)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_does_not_match(case: Case, form: str) -> None:
    made = rule_of(case, form)
    for module in case.negative:
        assert decided_in(module, made) == []
        for root in module.walk():
            assert compile_rule(made, CTX).names.isdisjoint({root.name}) or not explain(made, root).matched


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_equations_are_written_as_they_are_read(case: Case) -> None:
    text = f'pattern.rule "t" doc "d" : {case.equation} => decide(%root, my.mark = 1) because "it matches"'
    module = parse_text(CTX, text, "r.mlir")
    written = [text_of_rule(each) for each in rules_of(module)]
    again = parse_text(CTX, written[0], "r.mlir")
    assert [text_of_rule(each) for each in rules_of(again)] == written
    assert " in %" in case.equation or written == [text.replace(", %b in", ", %b in")]
    assert str(parse_text(CTX, str(module), "r.mlir")) == str(module)


def test_what_is_bound() -> None:
    (found,) = find_all(block(i, j, of=(store,)), program(COPY))
    assert (found[i].name_hint, found[j].name_hint, found[x].name_hint) == ("vi", "vj", "x")
    assert isinstance(found.op(store), Operation) and found.op(store).name == "memref.store"
    rest = Rest(key="others")
    (found,) = find_all(block(column, rest, of=(Rest(key="parts"),)).unordered(), program(COPY))
    assert [value.name_hint for value in found.all(rest)] == ["vj"] and len(found.bound["parts"]) == 1


def test_explained() -> None:
    (made,) = [each for each in program(SUM).walk() if isinstance(each, BlockOp)]
    for pattern, reason in (
        (block(i, j, of=(store,)), "vk: expected a spatial axis, found a reduce one"),
        (block(i, of=(store,)), "'tensor_loop.block': expected 1 axes, found 2"),
        (block(i, Axis("reduce", 8), of=(store,)), "vk: expected an extent of 8, found 64"),
        (block(i, k, of=()), "expected nothing more, found 'memref.store'"),
        (block(i, k, of=(Rest(), any_store, any_store)), "expected more than 1 parts in 'tensor_loop.block'"),
        (nest(p, of=()), "expected 'tensor_loop.for' or 'tensor_loop.grid', found 'tensor_loop.block'"),
    ):
        assert reason in str(explain(pattern, made))
