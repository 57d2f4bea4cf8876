"""Marking, regions and partitioning: what is told by hand-made programs, and what holds for random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import OperationError, StepwellError, listening
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.patterns import Any_, is_op
from stepwell.patterns.language.rules import Rule
from stepwell.reference.run import run
from stepwell.rewrites.partition import pattern_tables as targets
from stepwell.rewrites.partition.annotate_target import AnnotateTargetPass
from stepwell.rewrites.partition.block_order import producers_in
from stepwell.rewrites.partition.pattern_tables import (
    PatternContext,
    PatternEntry,
    pattern_table,
    register_pattern_table,
    supported,
)
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import PassFailedException

CTX = make_context()
F = "tensor<4xf32>"
PARTITION = "merge-regions,partition-graph"


@pytest.fixture(autouse=True)
def own_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_PREDICATES", {})
    monkeypatch.setattr(targets, "_TABLES", {})


def parsed(body: str, result: str = "%r", more: str = "") -> ModuleOp:
    text = f"func.func @main(%x: {F}, %y: {F}, %c: i1) -> {F} {{\n{body}\nfunc.return {result} : {F}\n}}\n{more}"
    return parse_text(CTX, text, "t.mlir")


def g(result: str, name: str, *operands: str, attributes: str = "") -> str:
    types = ", ".join(F for _ in operands)
    return f"{result} = graph.{name} {', '.join(operands)} {attributes} : ({types}) -> {F}\n"


def apply(module: ModuleOp, pipeline: str) -> list[str]:
    """Runs a pipeline; the remarks."""
    remarks: list[str] = []
    with listening(lambda diagnostic: remarks.append(diagnostic.message)):
        run_pipeline(CTX, module, parse_pipeline(pipeline), verify_each=True)
    return remarks


def main(module: ModuleOp) -> func.FuncOp:
    function = module.body.ops.first
    assert isinstance(function, func.FuncOp)
    return function


def marks(module: ModuleOp) -> list[str | None]:
    """The target of each op of `main`."""
    found = [op.attributes.get("graph.target") for op in main(module).body.block.ops]
    return [each.data if isinstance(each, StringAttr) else None for each in found[:-1]]


def inputs() -> list[np.ndarray]:
    return [np.array([0.5, -1.0, 2.0, 0.25], np.float32), np.array([1, 2, -3, 4], np.float32), np.array(True)]


# Marks


def test_the_first_target_that_supports_an_op_wins():
    supported("graph.abs", "graph.relu", target="one")(lambda op: True)
    supported("graph.relu", "graph.add", target="two")(lambda op: True)
    body = g("%a", "abs", "%x") + g("%b", "relu", "%a") + g("%d", "tanh", "%b") + g("%r", "add", "%d", "%b")
    module = parsed(body)
    apply(module, "annotate-target{targets=one,two}")
    assert marks(module) == ["one", "one", None, "two"]
    module = parsed(body)
    apply(module, "annotate-target{targets=two,one}")
    assert marks(module) == ["one", "two", None, "two"]


def test_a_second_run_marks_only_what_has_no_mark():
    supported("graph.abs", target="one")(lambda op: True)
    supported("graph.abs", "graph.tanh", target="two")(lambda op: True)
    module = parsed(g("%a", "abs", "%x") + g("%r", "tanh", "%a"))
    apply(module, "annotate-target{targets=one},annotate-target{targets=two}")
    assert marks(module) == ["one", "two"]


def test_what_comes_after_default_is_not_asked():
    supported("graph.abs", target="one")(lambda op: True)
    supported("graph.tanh", target="two")(lambda op: True)
    module = parsed(g("%a", "abs", "%x") + g("%r", "tanh", "%a"))
    apply(module, "annotate-target{targets=one,default,two}")
    assert marks(module) == ["one", None]


def test_a_reason_is_a_remark_and_the_next_target_is_asked():
    supported("graph.abs", target="one")(lambda op: "is too small")
    supported("graph.abs", target="two")(lambda op: op.results[0].type.get_shape() == (4,))
    module = parsed(g("%r", "abs", "%x"))
    remarks = apply(module, "annotate-target{targets=one,two}")
    assert remarks == ["'graph.abs': not for target 'one': is too small"]
    assert marks(module) == ["two"]


def test_no_mark_on_constants_weights_failing_ops_and_calls():
    for name in ("constant", "full", "weight", "take", "abs"):
        supported(f"graph.{name}", target="one")(lambda op: True)
    body = (
        f'%w = graph.weight "w" : {F}\n%k = graph.full 2.0 : {F}\n%i = graph.constant dense<0> : tensor<4xi64>\n'
        f"%t = graph.take %x, %i, axis = 0 : ({F}, tensor<4xi64>) -> {F}\n"
        f"%r = func.call @abs(%t) : ({F}) -> {F}\n"
    )
    callee = f"func.func private @abs(%x: {F}) -> {F} {{\n{g('%r', 'abs', '%x')}func.return %r : {F}\n}}"
    module = parsed(body, more=callee)
    apply(module, "annotate-target{targets=one}")
    assert marks(module) == [None] * 5
    assert "graph.target" in str(list(module.ops)[1])


def test_a_composite_function_is_asked_for_by_name():
    supported("one.pair", target="one")(lambda op: isinstance(op, func.CallOp))
    table = [Rule("one.pair", is_op("graph.relu")(is_op("graph.abs")(Any_())), ())]
    register_pattern_table("pairs", table)
    module = parsed(g("%a", "abs", "%x") + g("%b", "relu", "%a") + g("%r", "tanh", "%b"))
    apply(module, "merge-composite{table=pairs},annotate-target{targets=one}," + PARTITION)
    before = run(parsed(g("%a", "abs", "%x") + g("%b", "relu", "%a") + g("%r", "tanh", "%b")), "main", *inputs())
    np.testing.assert_array_equal(run(module, "main", *inputs())[0], before[0])
    names = [op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)]
    assert names == ["main", "one_pair_0", "one_main_0"]


def test_unknown_targets_and_tables_are_errors():
    with pytest.raises(PassFailedException, match="there is no target 'openbls', did you mean 'openblas'"):
        apply(parsed(g("%r", "abs", "%x")), "annotate-target{targets=openbls}")
    with pytest.raises(PassFailedException, match="there is no pattern table 'x'; there is .*openblas"):
        apply(parsed(g("%r", "abs", "%x")), "merge-composite{table=x}")
    with pytest.raises(PassFailedException, match="targets is empty"):
        AnnotateTargetPass(())(parsed(g("%r", "abs", "%x")))
    with pytest.raises(StepwellError, match="no/such.mlir"):
        apply(parsed(g("%r", "abs", "%x")), 'merge-composite{table="no/such.mlir"}')


# Tables in Python


def test_a_check_sees_ops_inputs_users_and_bindings():
    seen: list[PatternContext] = []
    leaf = Any_()

    def check(context: PatternContext) -> bool | str:
        seen.append(context)
        return "not today" if len(seen) == 1 else len(seen) != 2

    rule = Rule("pair", is_op("graph.relu")(is_op("graph.abs")(leaf)), ())
    register_pattern_table("t", [PatternEntry(rule, check)])
    body = g("%a", "abs", "%x") + g("%b", "relu", "%a") + g("%d", "tanh", "%b") + g("%r", "add", "%b", "%d")
    module = parsed(body)
    assert apply(module, "partition-by-pattern{table=t}") == ["'graph.relu': not 'pair': not today"]
    (context,) = seen
    assert [op.name for op in context.ops] == ["graph.abs", "graph.relu"]
    assert [value.name_hint for value in context.inputs] == ["x"] == [context[leaf].name_hint]
    assert sorted(op.name for op in context.users) == ["graph.add", "graph.tanh"]
    refused = apply(parsed(body), "partition-by-pattern{table=t}")
    assert refused == ["'graph.relu': not 'pair': the check of 'pair' refuses it"]
    module = parsed(body)
    apply(module, "partition-by-pattern{table=t}")
    assert len(list(module.ops)) == 2


def test_names_in_a_table_are_unique_and_patterns_have_one_root():
    rule = Rule("pair", is_op("graph.abs")(Any_()), ())
    with pytest.raises(PassFailedException, match="pattern table 't' has two patterns called 'pair'"):
        register_pattern_table("t", [rule, rule])
    with pytest.raises(PassFailedException, match="has several roots"):
        register_pattern_table("t", [Rule("two", is_op("graph.abs")(Any_()), (), also=("other",))])


def test_a_package_gives_tables_and_targets(monkeypatch: pytest.MonkeyPatch):
    registry = targets.registry()
    entries = [PatternEntry(Rule("p.abs", is_op("graph.abs")(Any_()), ()))]
    kinds = {
        "pattern-table": {"p": lambda: entries},
        "external-target": {"q": lambda: {"graph.tanh": lambda op: True}},
    }
    monkeypatch.setattr(registry, "extensions", {**registry.extensions, **kinds})
    module = parsed(g("%a", "abs", "%x") + g("%r", "tanh", "%a"))
    apply(module, "annotate-target{targets=q,p}")
    assert marks(module) == ["p", "q"]
    assert [entry.name for entry in pattern_table("p", CTX)] == ["p.abs"]


def test_matches_that_use_each_other_are_outlined_in_order():
    register_pattern_table("t", [Rule("t.pair", is_op("graph.relu")(is_op("graph.abs")(Any_())), ())])
    body = "".join(g(f"%a{i}", "abs", f"%b{i - 1}" if i else "%x") + g(f"%b{i}", "relu", f"%a{i}") for i in range(5))
    module = parsed(body, "%b4")
    apply(module, "partition-by-pattern{table=t}")
    calls = [op for op in main(module).body.block.ops if isinstance(op, func.CallOp)]
    assert [call.callee.string_value() for call in calls] == [f"t_pair_{i}" for i in range(5)]
    np.testing.assert_array_equal(run(module, "main", *inputs())[0], np.abs(inputs()[0]))


# Random programs


def random_program(seed: int) -> str:
    """
    Elementwise ops on what came before, some in branches; every third is supported by `one`, every third by `two`.
    """
    source = random.Random(seed)
    values, lines = ["%x", "%y"], []
    for number in range(source.randint(3, 24)):
        kind = source.random()
        if kind < 0.08:
            used = source.choice(values)
            inner = g(f"%t{number}", source.choice(["abs", "tanh"]), used) + g(f"%u{number}", "relu", f"%t{number}")
            lines.append(
                f"%v{number} = scf.if %c -> ({F}) {{\n{inner}scf.yield %u{number} : {F}\n}}"
                f" else {{\nscf.yield {source.choice(values)} : {F}\n}}\n"
            )
        elif kind < 0.14:
            lines.append(f"%v{number} = graph.full {number}.5 : {F}\n")
        elif kind < 0.55:
            lines.append(
                g(
                    f"%v{number}",
                    source.choice(["abs", "relu", "negative", "tanh"]),
                    source.choice(values[-6:]),
                )
            )
        else:
            name = source.choice(["add", "subtract", "maximum", "minimum"])
            lines.append(g(f"%v{number}", name, source.choice(values[-6:]), source.choice(values)))
        values.append(f"%v{number}")
    results = list(dict.fromkeys([values[-1], source.choice(values), source.choice(values)]))
    types = ", ".join(F for _ in results)
    body = "".join(lines) + f"func.return {', '.join([*results, results[0]])} : {types}, {F}\n"
    return f"func.func @main(%x: {F}, %y: {F}, %c: i1) -> ({types}, {F}) {{\n{body}}}"


def supports_some() -> None:
    supported("graph.abs", "graph.add", "graph.relu", "graph.maximum", target="one")(lambda op: True)
    supported("graph.relu", "graph.tanh", "graph.subtract", target="two")(lambda op: True)


def blocks(module: ModuleOp) -> Iterator[Block]:
    for op in module.walk():
        for region in op.regions:
            yield from region.blocks


def node_of(op: Operation) -> object:
    number = op.attributes.get("graph.region")
    return op if not isinstance(number, IntegerAttr) else number.value.data


def has_cycle(edges: set[tuple[object, object]]) -> bool:
    """By taking away, again and again, what nothing leads to."""
    while edges:
        targets_ = {after for _, after in edges}
        kept = {(before, after) for before, after in edges if before in targets_}
        if kept == edges:
            return True
        edges = kept
    return False


def merged(edges: set[tuple[object, object]], one: object, other: object) -> set[tuple[object, object]]:
    renamed = {(one if a == other else a, one if b == other else b) for a, b in edges}
    return {(a, b) for a, b in renamed if a != b}


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("seed", range(1000 if FULL else 25))
def test_random_programs_keep_their_meaning(seed: int):
    supports_some()
    text = random_program(seed)
    module = parse_text(CTX, text, "t.mlir")
    apply(module, "annotate-target{targets=one,two},merge-regions")
    for block in blocks(module):
        edges = {(node_of(producer), node_of(op)) for op in block.ops for producer in producers_in(op, block)}
        edges = {(a, b) for a, b in edges if a != b}
        assert not has_cycle(edges)
        target = {node_of(op): op.attributes.get("graph.target") for op in block.ops}
        for one, other in edges:
            if target[one] is not None and target[one] == target[other]:
                assert has_cycle(merged(edges, one, other)), "these regions could have been one"
    again = parse_text(CTX, str(module), "t.mlir")
    apply(again, "merge-regions")
    assert str(again) == str(module)
    for options in ("", "{bind-constants}"):
        made = parse_text(CTX, str(module), "t.mlir")
        apply(made, f"partition-graph{options}")
        verify_module(parse_text(CTX, str(made), "t.mlir"))
        for one, other in zip(
            run(parse_text(CTX, text, "t.mlir"), "main", *inputs()), run(made, "main", *inputs()), strict=True
        ):
            np.testing.assert_array_equal(one, other)
        twice = parse_text(CTX, str(made), "t.mlir")
        apply(twice, f"partition-graph{options}")
        assert str(twice) == str(made)


@pytest.mark.parametrize("seed", range(300 if FULL else 20))
def test_random_marks_are_partitioned_or_refused(seed: int):
    """Marks that nobody checked: the pass gives a program of the same meaning, or an error; never anything else."""
    source = random.Random(seed)
    text = random_program(seed)
    module = parse_text(CTX, text, "t.mlir")
    for op in module.walk():
        if op.name.startswith("graph.") and op.name != "graph.full" and source.random() < 0.4:
            op.attributes["graph.target"] = StringAttr("one")
            op.attributes["graph.region"] = IntegerAttr(source.randint(0, 2), 64)
    try:
        apply(module, "partition-graph")
    except OperationError as error:
        assert "depends on itself" in str(error)
        return
    for one, other in zip(
        run(parse_text(CTX, text, "t.mlir"), "main", *inputs()), run(module, "main", *inputs()), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_the_order_of_ops_that_may_fail_is_a_dependence():
    """The first of two ops that may fail uses one half of what would be a region, the second feeds the other half."""
    supports_some()
    body = (
        f"%i = graph.constant dense<0> : tensor<4xi64>\n{g('%a', 'abs', '%x')}"
        f"%t = graph.take %a, %i, axis = 0 : ({F}, tensor<4xi64>) -> {F}\n"
        f"%u = graph.take %y, %i, axis = 0 : ({F}, tensor<4xi64>) -> {F}\n"
        f"{g('%b', 'add', '%a', '%u')}{g('%r', 'negative', '%b')}{g('%s', 'negative', '%t')}"
    )
    module = parsed(body)
    apply(module, "annotate-target{targets=one}," + PARTITION)
    names = [op.name for op in main(module).body.block.ops]
    assert names[1:5] == ["func.call", "graph.take", "graph.take", "func.call"]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("names", [("abs", "abs"), ("abs", "tanh"), ("abs", "negative")])
def test_long_chains(names: tuple[str, str]):
    """One region, two targets in turn, and a target with gaps."""
    supported("graph.abs", target="one")(lambda op: True)
    supported("graph.tanh", target="two")(lambda op: True)
    length = 20000 if FULL and names == ("abs", "abs") else 2000
    body = "".join(g(f"%v{i}", names[i % 2], f"%v{i - 1}" if i else "%x") for i in range(length))
    module = parsed(body, f"%v{length - 1}")
    # without verification: that of xDSL looks for the callee of each call among all functions
    run_pipeline(CTX, module, parse_pipeline("annotate-target{targets=one,two}," + PARTITION), verify_each=False)
    functions = len(list(module.ops)) - 1
    assert functions == {("abs", "abs"): 1, ("abs", "tanh"): length, ("abs", "negative"): length // 2}[names]
