"""Origins: locations of ops that stand for several."""

from __future__ import annotations

from io import StringIO

import pytest
from stepwell.core.ir.structural_hash import structural_hash
from stepwell.core.messages.locations import source_point
from stepwell.core.messages.origins import LARGEST, Shared, fuse, inherit, node_of, origins_of, rules_of, unknown_ops
from stepwell.core.messages.points import SourcePoint
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.printer import Printer

TWICE = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.softmax %1, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.exp %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.tanh %3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
"""


def at(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("a.mlir"), IntAttr(line), IntAttr(1))


def lines(op: Operation) -> set[int]:
    return {origin.point.line for origin in origins_of(op.location) if origin.point is not None}


def ran(text: str, pipeline: str) -> ModuleOp:
    module = parse_text(make_context(), text, "a.mlir")
    run_pipeline(make_context(), module, pipeline)
    return module


def printed(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    return stream.getvalue()


class TestFuse:
    def test_one_stays_as_it_is(self) -> None:
        place = at(1)
        assert fuse([place, UnknownLoc(), place]) is place

    def test_nothing_is_unknown(self) -> None:
        assert isinstance(fuse([]), UnknownLoc)
        assert isinstance(fuse([UnknownLoc()], "rule"), UnknownLoc)

    def test_flat_each_once_with_rules_in_order(self) -> None:
        one, two, three = at(1), at(2), at(3)
        location = fuse([fuse([one, two], "first"), two, three], "second")
        assert str(location) == 'loc(fused<["first", "second"]>["a.mlir":1:1, "a.mlir":2:1, "a.mlir":3:1])'
        assert rules_of(location) == ["first", "second"]
        assert source_point(location) == SourcePoint("a.mlir", 1, 1)

    def test_large_ones_are_not_taken_apart(self) -> None:
        large = fuse(at(line) for line in range(1, LARGEST + 2))
        both = fuse([large, at(500)])
        assert isinstance(both, FusedLoc)
        assert len(both.locations.data) == 2  # pyright: ignore[reportAttributeAccessIssue]
        assert len(origins_of(both)) == LARGEST + 2

    def test_names_of_nodes(self) -> None:
        node = NameLoc(StringAttr("/l/Conv"), NameLoc(StringAttr("Conv"), at(7)))
        assert [str(each) for each in origins_of(node)] == ["node '/l/Conv' (Conv) at a.mlir:7:1"]


class TestThroughPasses:
    def test_a_rule_names_what_it_matched_and_itself(self) -> None:
        text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
        module = ran(text, "simplify-expr")
        (made,) = [op for op in module.walk() if op.name.startswith("graph.")]
        assert made.name == "graph.subtract"
        assert lines(made) == {2, 3}
        assert len(rules_of(made.location)) == 1

    def test_equal_ops_become_one_that_stands_for_both(self) -> None:
        text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
        module = ran(text, "eliminate-common-subexpr")
        (exp,) = [op for op in module.walk() if op.name == "graph.exp"]
        assert lines(exp) == {2, 3}
        assert rules_of(exp.location) == ["reuse-equivalent"]

    def test_a_shared_kernel_names_all_its_nodes(self) -> None:
        module = ran(TWICE, "O0")
        functions = {str(op.get_attr_or_prop("sym_name")): op for op in module.ops}
        assert lines(functions['"exp"']) == {2, 5}
        assert lines(functions['"tanh"']) == {3, 6}
        assert lines(functions['"softmax"']) == {4}

    def test_a_fused_kernel_names_all_its_groups(self) -> None:
        text = """func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.relu %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = graph.relu %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
"""
        module = ran(text, "plan-fusion,apply-fusion-plan")
        (shared,) = [op for op in module.ops if lines(op) == {2, 3, 4, 5}]
        inside = {op.name: lines(op) for op in shared.walk() if op is not shared}
        assert inside["graph.matmul"] == {2, 4}
        assert inside["graph.relu"] == {3, 5}
        assert [lines(op) for op in module.walk() if op.name == "func.call"] == [{2, 3}, {4, 5}]

    @pytest.mark.ci_cases(2)
    @pytest.mark.parametrize("pipeline", ["O0", "O1", "O3"])
    def test_no_op_is_without_an_origin(self, pipeline: str) -> None:
        assert [op.name for op in unknown_ops(ran(TWICE, pipeline))] == []

    def test_kernels_do_not_depend_on_locations(self) -> None:
        module = parse_text(make_context(), TWICE, "a.mlir")
        moved = parse_text(make_context(), "\n\n" + TWICE, "b.mlir")
        for each in (module, moved):
            run_pipeline(make_context(), each, "O3")
        assert str(module) == str(moved)
        assert structural_hash(module) == structural_hash(moved)

    def test_printed_and_read_again(self) -> None:
        module = ran(TWICE, "graph-optimize")
        again = parse_text(make_context(), printed(module), "other.mlir")
        assert printed(again) == printed(module)

    def test_metadata_is_read(self) -> None:
        text = 'func.func @f() { return loc(fused<["r"]>["a":1:2, "n"("a":3:4)]) } loc("a":1:1)'
        module = parse_text(make_context(), text)
        (end,) = [op for op in module.walk() if op.name == "func.return"]
        assert rules_of(end.location) == ["r"]
        assert [str(each) for each in origins_of(end.location)] == ["a:1:2", "'n' at a:3:4"]


def test_shared_settles_once() -> None:
    module = parse_text(make_context(), "func.func @f() { return }", "a.mlir")
    op = next(iter(module.ops))
    shared = Shared()
    shared.add(op, at(5))
    shared.add(op, at(6))
    shared.settle()
    assert lines(op) == {1, 5, 6}


def test_inherit_takes_the_nearest() -> None:
    module = parse_text(make_context(), "func.func @f() {\n  return\n}", "a.mlir")
    end = next(op for op in module.walk() if op.name == "func.return")
    end.location = UnknownLoc()
    assert unknown_ops(module) == [end]
    inherit(module)
    assert lines(end) == {1}


def test_the_node_of_an_op_is_that_of_the_first_place_around_it() -> None:
    module = ran(TWICE, "")
    function, op = (next(op for op in module.walk() if op.name == name) for name in ("func.func", "graph.exp"))
    place = NameLoc(StringAttr("/a/Exp"), NameLoc(StringAttr("Exp"), at(3)))
    assert node_of(op) == "" and node_of(module) == ""
    op.location = fuse([place, at(9)])
    assert node_of(op) == "node '/a/Exp' (Exp)"
    op.location = fuse([at(9), place])
    assert node_of(op) == "", "messages point at line 9"
    op.location, function.location = UnknownLoc(), place
    assert node_of(op) == "node '/a/Exp' (Exp)"
    function.location = NameLoc(StringAttr("main"), at(1))
    assert node_of(op) == "", "a name without an operator is that of a function"
