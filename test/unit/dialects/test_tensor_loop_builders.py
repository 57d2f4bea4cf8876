"""The Python side of the dialect: builders, region inference, accumulators."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from stepwell.analysis.access_regions import body_accesses, root_buffer, stride_along
from stepwell.analysis.reductions import accumulators, init_may_be_hoisted, reduction_nest
from stepwell.core.ir.answers import kept_answers
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import Axis, BlockOp, ForOp, FuncOp, GridOp, build_block, perfect_grid
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type, FloatAttr, IndexType, MemRefType, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

F32 = Float32Type()


def matrix(*shape: int) -> MemRefType:
    return MemRefType(F32, shape)


def row_sum() -> FuncOp:
    func = FuncOp.create_named("row_sum", [matrix(4, 8)], [matrix(4)], ["A", "S"], visibility="private")
    (a,), (s,) = func.inputs, func.outputs

    def init(block: Block, axes: Sequence[SSAValue]) -> None:
        zero = arith.ConstantOp(FloatAttr(0.0, F32))
        block.add_ops([zero, memref.StoreOp.get(zero, s, axes[:1])])

    def body(block: Block, axes: Sequence[SSAValue]) -> None:
        old, new = memref.LoadOp.get(s, axes[:1]), memref.LoadOp.get(a, axes)
        total = arith.AddfOp(old, new)
        block.add_ops([old, new, total, memref.StoreOp.get(total, s, axes[:1])])

    nest = perfect_grid("sum", [Axis("spatial", 4, "vi"), Axis("reduce", 8, "vk")], body, init)
    terminator = func.body.block.last_op
    assert terminator is not None
    func.body.block.insert_op_before(nest, terminator)
    return func


def block_of(module: ModuleOp | FuncOp, name: str | None = None) -> BlockOp:
    return next(op for op in module.walk() if isinstance(op, BlockOp) and name in (None, op.block_name.data))


def test_perfect_grid_builds_what_the_text_says():
    func = row_sum()
    module = ModuleOp([func])
    module.verify()
    lines = [line.strip() for line in str(module).split("\n")]
    assert "tensor_loop.func private @row_sum(%A: memref<4x8xf32>) outs(%S: memref<4xf32>) {" in lines
    assert "tensor_loop.grid (%i, %k) in (4, 8) {" in lines
    assert (
        'tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) reads(%A[%vi, %vk]) writes(%S[%vi]) {'
        in lines
    )
    assert str(parse_text(make_context(), str(module))) == str(module)


def test_perfect_grid_without_axes_is_a_block():
    assert isinstance(perfect_grid("nothing", [], lambda block, axes: None), BlockOp)


def test_one_value_may_bind_two_axes():
    grid = GridOp([4], ["i"])
    block = build_block(
        "diagonal",
        [Axis("spatial", 4, "a"), Axis("spatial", 4, "b")],
        [grid.variables[0], grid.variables[0]],
        lambda block, axes: None,
    )
    assert list(block.binding_operands) == [grid.variables[0]]
    assert block.binding_exprs == (AffineExpr.dimension(0), AffineExpr.dimension(0))


def test_extents_are_numbers_or_values():
    n = Block(arg_types=[IndexType()]).args[0]
    assert GridOp([4, n, 0], ["i", "j", "k"]).extents == (4, n, 0)
    assert ForOp(n, "i", "parallel").extent is n
    assert ForOp(3).kind_name == "serial"


def test_refresh_follows_a_change_of_the_body():
    func = row_sum()
    block = block_of(func)
    loads = [op for op in block.body.block.ops if isinstance(op, memref.LoadOp)]
    zero = arith.ConstantOp.from_int_and_width(0, IndexType())
    block.body.block.insert_op_before(zero, loads[1])
    loads[1].operands[1] = zero.result
    block.refresh_regions()
    assert block.reads[0].lows == (AffineExpr.constant(0), AffineExpr.dimension(1))
    ModuleOp([func]).verify()


def test_accumulators_of_a_reduction():
    block = block_of(row_sum())
    found = accumulators(block)
    assert found is not None and len(found) == 1
    assert found[0].indices == (AffineExpr.dimension(0),)
    nest = reduction_nest(block)
    assert nest.first_reduce == 1
    assert init_may_be_hoisted(nest)


REGIONS = """
tensor_loop.func @f(%A: memref<8x?xf32>, %B: memref<8xf32>) outs(%C: memref<8xf32>) {{
  tensor_loop.grid (%i, %j) in (4, 4) {{
    tensor_loop.block "b" spatial(%vi in 4 = %i, %vj in 4 = %j) {{
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      {body}
    }}
  }}
}}"""


@pytest.mark.parametrize(
    ("body", "reads", "writes"),
    [
        ("%a = memref.load %A[%vi, %vj] : memref<8x?xf32>", "%A[%vi, %vj]", ""),
        (
            "%x = arith.muli %vi, %vj : index\n%a = memref.load %A[%vi, %x] : memref<8x?xf32>",
            "%A[%vi, 0 : ?]",
            "",
        ),
        (
            "%x = arith.addi %vj, %vi : index\n%y = arith.addi %x, %c2 : index\n"
            "%a = memref.load %B[%y] : memref<8xf32>\n"
            "%b = memref.load %B[%x] : memref<8xf32>",
            "%B[%vi + %vj : 3]",
            "",
        ),
        (
            "%a = memref.load %B[%vi] : memref<8xf32>\n%b = memref.load %B[%vj] : memref<8xf32>",
            "%B[0 : 8]",
            "",
        ),
        (
            "%L = memref.alloca() : memref<8xf32>\n%a = memref.load %L[%vi] : memref<8xf32>\n"
            "memref.store %a, %C[%c1] : memref<8xf32>",
            "",
            "%C[1]",
        ),
        ('"test.op"(%B) : (memref<8xf32>) -> ()', "%B[0 : 8]", "%B[0 : 8]"),
        ("%n = memref.dim %A, %c1 : memref<8x?xf32>", "", ""),
    ],
    ids=["point", "not-affine", "hull", "far-apart", "own-buffer", "opaque", "dim"],
)
def test_regions_are_inferred(body: str, reads: str, writes: str):
    context = make_context()
    context.allow_unregistered = True
    module = parse_text(context, REGIONS.format(body=body))
    module.verify()
    assert f"reads({reads}) writes({writes}) {{" in str(module)


def test_unknown_sizes_are_marked():
    module = parse_text(
        make_context(),
        REGIONS.format(body="%x = arith.muli %vi, %vj : index\n%a = memref.load %A[%x, %x] : memref<8x?xf32>"),
    )
    assert block_of(module).reads[0].sizes == (8, DYNAMIC_INDEX)


STRIDES = """
tensor_loop.func @f(%A: memref<8x16xf32>, %S: memref<8x4xf32, strided<[1, 8]>>) outs(%B: memref<128xf32>) {
  tensor_loop.grid (%i, %j) in (2, 4) {
    tensor_loop.block "b" spatial(%vi in 8 = %i * 4 + %j, %vj in 4 = %j) {
      %c2 = arith.constant 2 : index
      %twice = arith.muli %vj, %c2 : index
      %a = memref.load %A[%vi, %twice] : memref<8x16xf32>
      %s = memref.load %S[%vi, %vj] : memref<8x4xf32, strided<[1, 8]>>
      %half = arith.floordivsi %vi, %c2 : index
      memref.store %a, %B[%half] : memref<128xf32>
    }
  }
}"""


def test_strides_follow_bindings_and_layouts():
    block = block_of(parse_text(make_context(), STRIDES))
    accesses = body_accesses(block.body.block).accesses
    along = [[stride_along(access, block.binding_exprs, operand) for access in accesses] for operand in (0, 1)]
    assert along == [[64, 4, None], [18, 9, None]]


def test_accesses_are_kept_until_they_are_cleared():
    body = block_of(parse_text(make_context(), STRIDES)).body.block
    with kept_answers() as answers:
        found = body_accesses(body)
        assert body_accesses(body) is found
        store = next(op for op in body.ops if isinstance(op, memref.StoreOp))
        store.detach()
        assert body_accesses(body) is found
        answers.clear()
        assert body_accesses(body).accesses == found.accesses[:-1]
    assert body_accesses(body) is not body_accesses(body)


def test_views_share_their_root():
    module = parse_text(
        make_context(),
        """
        func.func @f(%arena: memref<64xi8>, %i: index) {
          %a = memref.view %arena[%i][] : memref<64xi8> to memref<4xf32>
          %b = "memref.cast"(%a) : (memref<4xf32>) -> memref<?xf32>
          %c = memref.alloc() : memref<4xf32>
          func.return
        }""",
    )
    function = next(op for op in module.walk() if op.name == "func.func")
    _, b, c = [op.results[0] for op in function.body.block.ops if op.results]
    assert root_buffer(b) is function.body.block.args[0]
    assert root_buffer(c) is c
