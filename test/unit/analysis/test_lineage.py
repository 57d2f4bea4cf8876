"""Chains of origins: from what an op was made, and what was made from an op of the source."""

from __future__ import annotations

from stepwell.analysis.lineage import Lineages, common_path, path_of
from stepwell.core.messages.origins import Origin, fuse
from stepwell.core.messages.points import SourcePoint
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
PROGRAM = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""


def program(pipeline: str = "") -> ModuleOp:
    module = parse_text(CTX, PROGRAM, "a.mlir")
    run_pipeline(CTX, module, pipeline)
    return module


def line(number: int, column: int = 3) -> Origin:
    return Origin(SourcePoint("a.mlir", number, column))


def test_an_op_of_the_source_has_its_own_place_and_no_rule() -> None:
    module, lineages = program(), Lineages()
    (op,) = (op for op in module.walk() if op.name == "graph.exp")
    assert lineages.of(op).origins == (line(2),)
    assert lineages.of(op).rules == ()


def test_what_was_made_of_several_names_them_all_and_the_rules() -> None:
    module, lineages = program(), Lineages()
    exp, tanh = (op for op in module.walk() if op.name.startswith("graph."))
    exp.location = fuse([exp.location, tanh.location], "both")
    assert lineages.of(exp).origins == (line(2), line(3))
    assert lineages.of(exp).rules == ("both",)
    assert lineages.of(exp).meets([line(3)]) and not lineages.of(exp).meets([line(1)])


def test_ops_are_found_by_their_origins_on_another_level() -> None:
    before, after, lineages = program(), program("O3"), Lineages()
    left, right = lineages.by_origin(before), lineages.by_origin(after)
    assert [op.name for op in left[line(2)]] == ["graph.exp"]
    assert left.keys() == right.keys()
    assert "llvm.load" in {op.name for op in right[line(2)]}
    assert all(lineages.of(op).meets([line(2)]) for op in right[line(2)])


def test_several_ops_have_the_origins_of_all() -> None:
    module, lineages = program(), Lineages()
    found = lineages.of_all(op for op in module.walk() if op is not module).origins
    assert found == (line(1, 1), line(2), line(3), line(4))


def test_names_of_nodes_are_paths() -> None:
    assert path_of(Origin(None, "/encoder/layer.0/MatMul", "MatMul")) == ("encoder", "layer.0", "MatMul")
    assert path_of(Origin(None, "Conv_3", "Conv")) == ("Conv_3",)
    assert path_of(line(2)) == ("a.mlir:2:3",)


def test_the_part_of_a_model_that_holds_several_nodes() -> None:
    assert common_path([("a", "b", "c"), ("a", "b", "d")]) == ("a", "b")
    assert common_path([("a", "b")]) == ("a", "b")
    assert common_path([("a", "b"), ("a", "b", "c")]) == ("a", "b")
    assert common_path([("a",), ("b",)]) == ()
    assert common_path([]) == ()
