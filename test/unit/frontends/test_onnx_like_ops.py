"""Ops that the importer makes like earlier ones are those that their constructors make."""

from __future__ import annotations

from typing import Any

import pytest
from stepwell.dialects import graph
from stepwell.dialects.graph.shapes import Shaped
from stepwell.dialects.graph.signature import tensor_type
from stepwell.frontends.onnx.emitting.graph_builder import GraphBuilder
from stepwell.frontends.onnx.errors import ConversionError
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Block, Operation


def _builder(*types: str) -> tuple[GraphBuilder, Block]:
    block = Block(arg_types=[tensor_type(Shaped((2, 3), dtype)) for dtype in types])
    return GraphBuilder(block, lambda *_: []), block


def _made(block: Block) -> list[Operation]:
    return list(block.ops)


def test_ops_of_equal_types_and_properties_are_alike() -> None:
    b, block = _builder("f32", "f32")
    x, y = block.args
    b.sum(x, axis=(0,), keepdims=True)
    b.location = FileLineColLoc(StringAttr("m.onnx"), IntAttr(7), IntAttr(1))
    b.sum(y, axis=[0], keepdims=True)
    first, second = _made(block)
    for op, value in ((first, x), (second, y)):
        wanted = graph.SumOp(value, axis=(0,), keepdims=True)
        assert vars(op).keys() >= vars(wanted).keys()
        assert op.operands[0] is value and op.properties == wanted.properties and op.attributes == wanted.attributes
        assert op.results[0].type == wanted.results[0].type
    assert first.location == UNKNOWN_LOC and second.location == b.location
    assert first.results[0] is not second.results[0]
    first.properties.clear()
    assert second.properties  # Each has its own.


@pytest.mark.parametrize("values", [(0.0, -0.0), (1, 1.0), (None, 0.0)])
def test_values_that_are_equal_and_not_the_same(values: tuple[Any, Any]) -> None:
    b, block = _builder("f32")
    for value in values:
        b.pad(block.args[0], pad_width=(0, 0, 1, 1), **({} if value is None else {"value": value}))
    wanted = [
        graph.PadOp(block.args[0], pad_width=(0, 0, 1, 1), **({} if value is None else {"value": value}))
        for value in values
    ]
    assert [repr(op.properties) for op in _made(block)] == [repr(op.properties) for op in wanted]


def test_types_tell_ops_apart() -> None:
    b, block = _builder("f32", "f16")
    results = [b.relu(value) for value in block.args]
    assert [each.dtype for each in results] == ["f32", "f16"]


def test_an_op_that_does_not_verify_does_so_each_time() -> None:
    b, block = _builder("f32", "i32")
    for _ in range(2):
        with pytest.raises(ConversionError, match="operand has element type i32, expected float"):
            b.gelu(block.args[1])
    b.gelu(block.args[0])
