"""Legalization tables: which functions run, on what, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.messages.origins import origins_of, rules_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects import graph
from stepwell.reference.run import run
from stepwell.rewrites.simplify.legalization import TABLES, Legalized, legalization
from stepwell.rewrites.simplify.legalize import LegalizePass
from stepwell.testing.programs.program_generators import random_program
from tolerances import check_same
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

CTX = make_context()
TEXT = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.ewise_fma %0, %1, %y : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}"""


@pytest.fixture
def table() -> Iterator[str]:
    """The name of a table that is empty again afterwards."""
    yield "test"
    TABLES.pop("test", None)


def legalized(table: str, **options: int) -> ModuleOp:
    module = parse_text(CTX, TEXT)
    LegalizePass(table, **options).apply(CTX, module)
    verify_module(module)
    return module


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith("graph.")]


def test_one_table_does_not_touch_ops_of_another(table: str) -> None:
    @legalization("graph.abs", table=table)
    def _(op: Operation) -> Legalized:
        return op.operands[0]

    assert names(legalized(table)) == ["graph.square", "graph.ewise_fma"]
    assert names(legalized("elementary")) == ["graph.multiply", "graph.abs", "graph.ewise_fma"]
    assert names(legalized("other")) == ["graph.square", "graph.abs", "graph.ewise_fma"]


def test_several_inputs_make_several_ops(table: str) -> None:
    @legalization("graph.ewise_fma", table=table)
    def _(op: Operation) -> Legalized:
        x, y, z = op.operands
        return graph.AddOp(graph.MultiplyOp(x, y), z)

    assert names(legalized(table)) == ["graph.square", "graph.abs", "graph.multiply", "graph.add"]


def test_none_keeps_the_op_or_asks_the_next_function(table: str) -> None:
    asked: list[str] = []

    @legalization("graph.square", table=table)
    def _(op: Operation) -> Legalized:
        asked.append("first")
        return None

    assert names(legalized(table)) == ["graph.square", "graph.abs", "graph.ewise_fma"]

    @legalization("graph.square", table=table)
    def _(op: Operation) -> Legalized:
        return graph.AbsOp(op.operands[0])

    assert names(legalized(table)) == ["graph.abs", "graph.abs", "graph.ewise_fma"]
    assert asked


def test_functions_see_operands_that_are_legal_already(table: str) -> None:
    seen: list[str] = []

    @legalization("graph.square", table=table)
    def _(op: Operation) -> Legalized:
        return graph.MultiplyOp(op.operands[0], op.operands[0])

    @legalization("graph.abs", table=table)
    def _(op: Operation) -> Legalized:
        seen.append(op.operands[0].owner.name)  # pyright: ignore
        return None

    legalized(table)
    assert seen[-1] == "graph.multiply"


def test_results_are_legalized_again(table: str) -> None:
    @legalization("graph.abs", table=table)
    def _(op: Operation) -> Legalized:
        return graph.SquareOp(op.operands[0])

    @legalization("graph.square", table=table)
    def _(op: Operation) -> Legalized:
        return graph.MultiplyOp(op.operands[0], op.operands[0])

    assert names(legalized(table)) == ["graph.multiply", "graph.multiply", "graph.ewise_fma"]


def test_new_ops_have_the_location_of_the_old_one(table: str) -> None:
    @legalization("graph.ewise_fma", table=table)
    def _(op: Operation) -> Legalized:
        return graph.AddOp(graph.MultiplyOp(op.operands[0], op.operands[1]), op.operands[2])

    before = {op.name: op.location for op in parse_text(CTX, TEXT).walk()}
    after = {op.name: op.location for op in legalized(table).walk()}
    assert after["graph.multiply"] == after["graph.add"]
    assert origins_of(after["graph.add"]) == origins_of(before["graph.ewise_fma"])
    assert rules_of(after["graph.add"]) == ["test/graph.ewise_fma"]


def test_another_type_is_an_error(table: str) -> None:
    @legalization("graph.abs", table=table)
    def _(op: Operation) -> Legalized:
        return graph.ExpandDimsOp(op.operands[0], axis=[0])

    message = "'graph.abs': legalization table 'test' gives a result of type tensor<1x4xf32>, expected tensor<4xf32>"
    with pytest.raises(OperationError) as caught:
        legalized(table)
    assert caught.value.diagnostic.message == message


def test_no_fixed_point_is_an_error(table: str) -> None:
    @legalization("graph.abs", table=table)
    def _(op: Operation) -> Legalized:
        return graph.AbsOp(op.operands[0])

    with pytest.raises(PassFailedException, match="no fixed point after 5 rewrites of one op.*'test/graph.abs'"):
        legalized(table, limit=5)
    with pytest.raises(PassFailedException, match="limit is 0, expected a positive number"):
        legalized(table, limit=0)


def test_elementary_keeps_every_bit() -> None:
    changed = 0
    for seed in range(60):
        program = random_program(seed)
        module = parse_text(CTX, program.text)
        before = str(module)
        LegalizePass("elementary").apply(CTX, module)
        verify_module(module)
        once = str(module)
        changed += once != before
        check_same(run(module, "main", *program.inputs), program.expected)
        LegalizePass("elementary").apply(CTX, module)
        assert str(module) == once
    assert changed
