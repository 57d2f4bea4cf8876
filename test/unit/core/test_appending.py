"""Ops that are appended the short way are those that xDSL makes."""

from __future__ import annotations

from typing import Any

from stepwell.core.ir.appending import append_op, new_op
from stepwell.dialects import graph, tile
from stepwell.dialects.tensor_loop import AllocOp, ForOp, FuncOp, GridOp
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import llvm, test
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    IndexType,
    IntAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
    f32,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue

LOCATION = FileLineColLoc(StringAttr("a.mlir"), IntAttr(1), IntAttr(2))


def _fields(op: Operation, block: Block, known: dict[Any, str]) -> dict[str, Any]:
    """All that an op holds, with names in place of what has no equal."""
    known |= {result: f"result {index}" for index, result in enumerate(op.results)}
    found = {name: value for name, value in vars(op).items() if value is not None}
    found |= {"_operands": [known[each] for each in op.operands], "results": [each.type for each in op.results]}
    found["_operand_uses"] = [(use.operation is op, use.index) for use in op._operand_uses]
    found |= {"parent": found["parent"] is block, "_prev_op": found.get("_prev_op") is block.first_op}
    return found


def _uses(value: SSAValue) -> list[tuple[str, int]]:
    return [(use.operation.name, use.index) for use in value.uses]


def test_an_appended_op_is_the_one_that_xdsl_makes() -> None:
    cases: list[tuple[type[Operation], int, tuple[Any, ...], dict[str, Any]]] = [
        (llvm.FAddOp, 2, (f32,), {}),
        (llvm.ZeroOp, 0, (f32,), {}),
        (llvm.ReturnOp, 1, (), {}),
        (llvm.CallIntrinsicOp, 2, (f32,), {"intrin": StringAttr("llvm.x"), "fastmathFlags": llvm.FastMathAttr(None)}),
        (test.TestOp, 2, (f32, i64), {"flag": UnitAttr()}),
    ]
    for kind, count, types, properties in cases:
        for location in (None, LOCATION):
            fields, uses = [], []
            for short in (False, True):
                block = Block(arg_types=[f32])
                operands = [block.args[0]] * count
                block.add_op(test.TestPureOp.create(operands=block.args))
                if short:
                    op = append_op(block, kind, operands, types, properties, location)
                else:
                    made = {"operands": operands, "result_types": types, "properties": properties}
                    op = kind.create(**made, location=location or UNKNOWN_LOC)
                    block.add_op(op)
                assert block.last_op is op and list(block.ops)[1] is op
                fields.append(_fields(op, block, {block.args[0]: "argument"}))
                uses.append(_uses(block.args[0]))
            assert fields[0] == fields[1]
            assert uses[0] == uses[1]


def test_a_new_op_is_the_one_that_xdsl_makes() -> None:
    argument = Block(arg_types=[f32]).args[0]
    made = {"operands": [argument, argument], "result_types": (f32,)}
    ops = [new_op(llvm.FAddOp, **made), llvm.FAddOp.create(**made)]
    known = {argument: "argument"}
    fields = [vars(op) | {"results": [each.type for each in op.results], "_operand_uses": None} for op in ops]
    assert fields[0] == fields[1] and known.keys() == {*ops[0].operands}
    assert _uses(argument) == [("llvm.fadd", index) for index in (1, 0, 1, 0)]


def _made_by_xdsl(op: Operation) -> Operation:
    """The op that the constructor of xDSL makes of the parts of `op`, which loses its regions."""
    regions = [op.detach_region(region) for region in list(op.regions)]
    return type(op).create(
        operands=op.operands,
        result_types=[each.type for each in op.results],
        properties=op.properties,
        attributes=op.attributes,
        regions=regions,
    )


def test_constructors_that_fill_ops_themselves_make_what_xdsl_makes() -> None:
    index, buffer = Block(arg_types=[IndexType(), MemRefType(f32, [8, 8])]).args
    kind = VectorType(f32, [1, 4])
    cases: list[Operation] = [
        ForOp(4, "i"),
        ForOp(index, "i", "parallel"),
        GridOp([4, index], ["i", "j"]),
        tile.LoadOp(buffer, [index, index], kind),
        tile.LoadOp(buffer, [index, index], kind, (0, 1), (1, 2), repeat=2),
        tile.StoreOp(Block(arg_types=[kind]).args[0], buffer, [index, index]),
        AllocOp(MemRefType(f32, [8])),
        AllocOp(MemRefType(f32, [-1]), [index], "local"),
        FuncOp("f", [MemRefType(f32, [8])], [], visibility="private"),
        graph.ConstantOp.from_values([1.0, 2.0], TensorType(f32, [2])),
        graph.FullOp(0.5, TensorType(f32, [8]), attributes={"note": UnitAttr()}),
        graph.WeightOp("w", TensorType(f32, [8])),
        graph.CallKernelOp("f", [Block(arg_types=[TensorType(f32, [8])]).args[0]], [TensorType(f32, [8])]),
    ]
    for op in cases:
        text, fields = str(op), vars(op).keys()
        other = _made_by_xdsl(op)
        assert (str(other), vars(other).keys()) == (text, fields)


def test_an_implicit_builder_of_xdsl_takes_ops_that_fill_themselves() -> None:
    block = Block(arg_types=[IndexType()])
    with ImplicitBuilder(block):
        loop = ForOp(4, "i")
    assert block.last_op is loop


def test_an_op_with_successors_is_appended() -> None:
    block, target = Block(), Block()
    op = append_op(block, llvm.BrOp, (), (), {}, None, (target,))
    assert block.last_op is op and list(op.successors) == [target] and target.first_use is not None
