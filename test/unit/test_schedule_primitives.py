"""Every primitive where it is legal (it keeps what the function computes) and where it is not (the message is quoted)."""

from __future__ import annotations

import pytest
from stepwell.core.errors import diagnostic_of
from stepwell.core.parsing import make_context, parse_text
from stepwell.core.verification import verify_module
from stepwell.schedule.apply_schedule import ApplySchedulePass
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

FLAGS = "fastmath<reassoc,contract>"

PRODUCT = """
tensor_loop.func @f(%A: memref<12x16xf32>, %B: memref<16x20xf32>) outs(%C: memref<12x20xf32>) {
  %S = tensor_loop.alloc : memref<12x20xf32>
  tensor_loop.grid (%i, %j, %k) in (12, 20, 16) {
    tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<12x20xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<12x16xf32>
      %b = memref.load %B[%vk, %vj] : memref<16x20xf32>
      %c = memref.load %S[%vi, %vj] : memref<12x20xf32>
      %p = arith.mulf %a, %b FLAGS : f32
      %s = arith.addf %c, %p FLAGS : f32
      memref.store %s, %S[%vi, %vj] : memref<12x20xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (12, 20) {
    tensor_loop.block "relu" spatial(%vx in 12 = %x, %vy in 20 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<12x20xf32>
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %C[%vx, %vy] : memref<12x20xf32>
    }
  }
}
"""

CHAIN = """
tensor_loop.func @f(%A: memref<24xf32>) outs(%C: memref<24xf32>, %D: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<24xf32>
  tensor_loop.grid (%i) in (24) {
    tensor_loop.block "add" spatial(%vi in 24 = %i) {
      %a = memref.load %A[%vi] : memref<24xf32>
      %one = arith.constant 1.0 : f32
      %b = arith.addf %a, %one : f32
      memref.store %b, %T[%vi] : memref<24xf32>
    }
  }
  tensor_loop.grid (%j) in (24) {
    tensor_loop.block "mul" spatial(%vj in 24 = %j) {
      %t = memref.load %T[%vj] : memref<24xf32>
      %two = arith.constant 2.0 : f32
      %m = arith.mulf %t, %two : f32
      memref.store %m, %C[%vj] : memref<24xf32>
    }
  }
  MORE
}
"""

WINDOW = """tensor_loop.grid (%n, %w) in (8, 3) {
    tensor_loop.block "window" spatial(%vn in 8 = %n) reduce(%vw in 3 = %w) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %D[%vn] : memref<8xf32>
      }
      %three = arith.constant 3 : index
      %q = arith.muli %vn, %three : index
      %r = arith.addi %q, %vw : index
      %e = memref.load %T[%r] : memref<24xf32>
      %d = memref.load %D[%vn] : memref<8xf32>
      %g = arith.addf %d, %e : f32
      memref.store %g, %D[%vn] : memref<8xf32>
    }
  }"""

FUNCTIONS = {
    "product": PRODUCT.replace("FLAGS", FLAGS),
    "strict product": PRODUCT.replace("FLAGS", ""),
    "chain": CHAIN.replace("MORE", ""),
    "window": CHAIN.replace("MORE", WINDOW),
}

FIND = {
    "product": """%mm = schedule.get_block "mm" in @f
  %i, %j, %k = schedule.get_loops %mm : 3
  %relu = schedule.get_block "relu" in @f
  %x, %y = schedule.get_loops %relu : 2""",
    "chain": """%add = schedule.get_block "add" in @f
  %i = schedule.get_loops %add : 1
  %mul = schedule.get_block "mul" in @f
  %j = schedule.get_loops %mul : 1""",
}
FIND["strict product"] = FIND["product"]
FIND["window"] = (
    FIND["chain"]
    + """
  %window = schedule.get_block "window" in @f
  %n, %w = schedule.get_loops %window : 2"""
)


def apply(function: str, steps: str, check: bool) -> ModuleOp:
    """The module after the steps, the handles of all blocks and loops being there already."""
    context = make_context()
    program = f"schedule.program {{\n  {FIND[function]}\n  {steps}\n}}"
    module = parse_text(context, FUNCTIONS[function] + program, "case.mlir")
    verify_module(module)
    ApplySchedulePass(check=check).apply(context, module)
    return module


LEGAL = {
    "get_producers": ("product", "%p = schedule.get_producers %relu : 1\n schedule.add_unit_loop %p", "in 1 {"),
    "get_consumers": ("product", "%c = schedule.get_consumers %mm : 1", '"relu"'),
    "split": ("product", "%a, %b = schedule.split %i [?, 4]", "%vi in 12 = %i0 * 4 + %i1"),
    "split inexact": ("product", "%a, %b = schedule.split %i [?, 5]", "where(%i0 * 5 + %i1 < 12)"),
    "split balanced": ("product", "%a, %b = schedule.split %i [?, 8] balanced", "%vi in 12 = %i0 * 6 + %i1"),
    "split reduce": ("strict product", "%a, %b = schedule.split %k [3, ?]", "where(%k0 * 6 + %k1 < 16)"),
    "fuse": ("product", "%a = schedule.fuse %i, %j", "%vi in 12 = %ij floordiv 20, %vj in 20 = %ij mod 20"),
    "split of fuse": ("product", "%a = schedule.fuse %i, %j\n %b, %c = schedule.split %a [?, 20]", "%vi in 12 = %ij0, %vj in 20 = %ij1"),
    "reorder": ("strict product", "schedule.reorder %k, %i", "tensor_loop.for %k in 16 {\n      tensor_loop.for %j"),
    "reorder reduce": ("product", "%a, %b = schedule.split %k [?, 4]\n schedule.reorder %b, %a", "for %k1 in 4 {\n          tensor_loop.for %k0"),
    "loop_partition": ("product", "%a, %b = schedule.split %i [?, 5]\n %c, %d = schedule.loop_partition %a [2]", '"mm_1"'),
    "loop_partition reduce": ("strict product", "%a, %b = schedule.loop_partition %k [5]", "%vk_1 in 16 = %k_1 + 5"),
    "add_unit_loop": ("product", "%u = schedule.add_unit_loop %mm", "%u in 1"),
    "unroll": ("product", "schedule.unroll %k", "%k in 16 unrolled"),
    "vectorize": ("product", "schedule.vectorize %y", "%y in 20 vectorized"),
    "vectorize reduce": ("product", "schedule.vectorize %k", "%k in 16 vectorized"),
    "parallel": ("product", "schedule.parallel %i", "%i in 12 parallel"),
    "annotate": ("product", 'schedule.annotate %i "grain" with 4 : i64', "attributes {grain = 4 : i64}"),
    "compute_inline": ("chain", "schedule.compute_inline %add", None),
    "compute_inline twice": ("window", "schedule.compute_inline %add", None),
    "reverse_compute_inline": ("chain", "schedule.reverse_compute_inline %mul", None),
    "reverse_compute_at": ("product", "schedule.reverse_compute_at %relu, %i", "%vx in 12 = %i"),
    "reverse_compute_at tile": (
        "product",
        "%a, %b = schedule.split %i [?, 5]\n schedule.reverse_compute_at %relu, %a",
        "%vx in 12 = %i0 * 5 + %x",
    ),
    "cache_read": ("product", '%c = schedule.cache_read %mm 1 scope "local"', '%B_cache = tensor_loop.alloc scope "local"'),
    "cache_read at": ("product", "%c = schedule.cache_read %mm 1\n schedule.compute_at %c, %j", "%vd1 in 20 = %j"),
    "cache_write": ("product", "%c = schedule.cache_write %mm 0", '"S_cache"'),
    "cache_write at": ("product", "%c = schedule.cache_write %relu 0\n schedule.reverse_compute_at %c, %x", "%vd0 in 12 = %x"),
    "set_scope": ("product", 'schedule.set_scope %mm 0 to "local"', 'alloc scope "local" : memref<12x20xf32>'),
    "transform_layout argument": (
        "product",
        'schedule.transform_layout %mm "read" 1 by affine_map<(k, j) -> (j floordiv 8, k, j mod 8)>',
        "memref<3x16x8xf32>",
    ),
    "transform_layout temporary": ("product", 'schedule.transform_layout %mm "write" 0 by affine_map<(i, j) -> (j, i)>', "memref<20x12xf32>"),
    "pad_to_tile": ("product", "schedule.pad_to_tile %mm [8, 16, 3]", "memref<16x32xf32>"),
    "decompose_reduction": ("strict product", "%c = schedule.decompose_reduction %mm, %j", '"mm_init"'),
    "rfactor": ("product", "%a, %b = schedule.split %k [?, 4]\n %c, %d = schedule.rfactor %a axis 1", "memref<12x4x20xf32>"),
    "rfactor whole": ("product", "%c, %d = schedule.rfactor %k axis 0", "memref<16x12x20xf32>"),
    "blockize": ("chain", "%a, %b = schedule.split %i [?, 4]\n %c = schedule.blockize %b", '"add_outer" spatial(%vi0 in 6 = %i0)'),
    "blockize reduce": ("product", "%c = schedule.blockize %k", '"mm_outer"'),
    "tensorize mma": ("product", 'schedule.tensorize %mm "mma" shape [4, 16]', "tile.mma"),
    "tensorize mma packed": ("product", 'schedule.tensorize %mm "mma" shape [6, 20] packed', "packed"),
    "tensorize row": ("product", '%a, %b = schedule.split %y [?, 10]\n schedule.tensorize %b "row"', "vector<1x10xf32>"),
    "compute_at": ("chain", "%a, %b = schedule.split %j [?, 8]\n schedule.compute_at %add, %a", "%vi in 24 = %j0 * 8 + %i"),
    "compute_at reduction": ("product", "schedule.compute_at %mm, %y", "%vi in 12 = %x, %vj in 20 = %y"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_step_keeps_the_results(name: str) -> None:
    function, steps, expected = LEGAL[name]
    module = apply(function, steps, check=True)
    assert expected is None or expected in str(module), str(module)


ILLEGAL = {
    "get_block": ("product", '%q = schedule.get_block "nn" in @f', """'schedule.get_block': there is no block "nn" in @f; its blocks are "mm", "relu\""""),
    "get_block function": ("product", '%q = schedule.get_block "mm" in @g', "there is no loop function @g; there are: @f"),
    "get_loops": ("product", "%q, %r = schedule.get_loops %mm : 2", "finds 3 loops (%i, %j, %k), expected 2: the program is for another function"),
    "get_producers": ("product", "%q, %r = schedule.get_producers %relu : 2", 'finds 1 block (block "mm"), expected 2'),
    "get_consumers": ("product", "%q = schedule.get_consumers %relu : 1", "finds 0 blocks, expected 1"),
    "stale": ("product", "%a, %b = schedule.split %i [?, 4]\n schedule.unroll %i", "the handle of %i is stale: step 5, 'schedule.split', removed it"),
    "split small": ("product", "%a, %b = schedule.split %i [2, 4]", "'schedule.split': the factors of %i make 8 iterations, expected at least its 12"),
    "split marked": ("product", "schedule.unroll %i\n %a, %b = schedule.split %i [?, 4]", "%i is unrolled, expected a serial loop"),
    "split annotated": ("product", 'schedule.annotate %i "g" with 1 : i64\n %a, %b = schedule.split %i [?, 4]', "%i is annotated with g, expected no annotation"),
    "split unbound": ("product", "%u = schedule.add_unit_loop %mm\n %a, %b = schedule.split %u [3, 1]", "does not depend on it and would run 3 times"),
    "fuse apart": ("product", "%a = schedule.fuse %i, %k", "%k is not the only op in %i, so the two cannot be fused"),
    "reorder reduce": ("strict product", "%a, %b = schedule.split %k [?, 4]\n schedule.reorder %b, %a", 'the updates of %S in block "mm" may not be regrouped'),
    "reorder apart": ("product", "schedule.reorder %x, %i", "the loops are not one perfect nest"),
    "loop_partition": ("product", "%a, %b = schedule.loop_partition %i [12]", "points [12] do not cut 0 … 12 in ascending order"),
    "unroll": ("product", "schedule.unroll %i\n schedule.unroll %i", "%i is unrolled already, expected a serial loop"),
    "vectorize outer": ("product", "schedule.vectorize %i", "%i holds other loops, so it cannot be vectorized"),
    "vectorize reduce": ("strict product", "schedule.vectorize %k", "%k cannot be vectorized: the updates of %S"),
    "parallel reduce": ("product", "schedule.parallel %k", '%k cannot run in parallel: different iterations of %k touch the same elements of %S in block "mm"'),
    "annotate": ("product", 'schedule.annotate %i "" with 1 : i64', "the key is empty"),
    "compute_at output": ("product", "schedule.compute_at %relu, %i", "%C is no temporary: block \"relu\" writes an output and must stay"),
    "compute_at own loop": ("product", "schedule.compute_at %mm, %i", 'block "mm" is under %i already'),
    "compute_at other reader": ("window", "schedule.compute_at %add, %j", 'block "window" reads %T but is not under %j'),
    "compute_at marked": ("chain", "schedule.parallel %j\n schedule.compute_at %add, %j", "%j is parallel, so nothing may be moved into it"),
    "compute_at without init": ("product", "%q = schedule.decompose_reduction %mm, %k\n schedule.compute_at %mm, %x", "shares its loops with other blocks"),
    "reverse_compute_at reduce loop": ("product", "schedule.reverse_compute_at %relu, %k", "%S is not complete after an iteration of %k"),
    "reverse_compute_at reduction": ("window", "schedule.reverse_compute_at %window, %i", 'block "window" has reduce axes'),
    "compute_inline reduction": ("product", "schedule.compute_inline %mm", 'block "mm" has reduce axes: its result is complete after all its runs only'),
    "compute_inline output": ("product", "schedule.compute_inline %relu", "%C is no temporary"),
    "reverse_compute_inline": ("product", "schedule.reverse_compute_inline %relu", 'block "mm" has reduce axes: %S is complete after all its runs only'),
    "reverse_compute_inline shared": ("window", "schedule.reverse_compute_inline %mul", 'block "window" uses %T too'),
    "cache_read index": ("product", "%q = schedule.cache_read %mm 2", 'block "mm" reads %A, %B: there is no buffer number 2'),
    "cache_read scope": ("product", '%q = schedule.cache_read %mm 0 scope "far"', 'unknown scope "far", expected "global" or "local"'),
    "cache_write": ("product", "%a = schedule.decompose_reduction %mm, %i\n %q = schedule.cache_write %mm 0", 'block "mm" reads %S as it was before'),
    "set_scope": ("product", 'schedule.set_scope %relu 0 to "local"', "%C is an argument of the function, expected a temporary"),
    "transform_layout not one to one": ("product", 'schedule.transform_layout %mm "read" 1 by affine_map<(k, j) -> (k, j floordiv 8)>', "the map may send two elements of %B to one place"),
    "transform_layout output": ("product", 'schedule.transform_layout %relu "write" 0 by affine_map<(i, j) -> (j, i)>', "%C is an output: only the caller can change its layout"),
    "pad_to_tile": ("window", "schedule.pad_to_tile %window [8, 4]", 'block "window" indexes %T by more than an axis that is padded'),
    "decompose_reduction": ("product", "schedule.reorder %k, %i\n %q = schedule.decompose_reduction %mm, %j", 'runs through reduce axes of block "mm"'),
    "rfactor": ("strict product", "%q, %r = schedule.rfactor %k axis 0", "may not be regrouped (a float sum needs fastmath<reassoc>)"),
    "rfactor spatial": ("product", "%q, %r = schedule.rfactor %i axis 0", "%i is no loop of the reduce axes"),
    "rfactor axis": ("product", "%q, %r = schedule.rfactor %k axis 3", "axis 3 of %S, expected 0 to 2"),
    "blockize": ("product", "schedule.reorder %k, %i\n %q = schedule.blockize %j", 'block "mm" has an init and reduce loops outside %j'),
    "tensorize mma": ("strict product", 'schedule.tensorize %mm "mma"', 'block "mm" is no contraction whose sums may be regrouped'),
    "tensorize row": ("product", 'schedule.tensorize %k "row"', 'block "mm" has reduce axes'),
    "tensorize handle": ("product", 'schedule.tensorize %mm "row"', 'the form "row" takes a loop, found a block'),
}  # fmt: skip


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_step_is_refused_with_a_reason(name: str) -> None:
    function, steps, expected = ILLEGAL[name]
    with pytest.raises(PassFailedException) as caught:
        apply(function, steps, check=False)
    diagnostic = diagnostic_of(caught.value)
    assert expected in diagnostic.message
    assert diagnostic.point is not None and diagnostic.point.file == "case.mlir"


def test_an_error_shows_the_loops_with_the_culprits_marked() -> None:
    with pytest.raises(PassFailedException) as caught:
        apply("product", "schedule.parallel %k", check=False)
    assert diagnostic_of(caught.value).message.split("\n")[1:] == [
        "  tensor_loop.for %i in 12 {",
        "    tensor_loop.for %j in 20 {",
        ">     tensor_loop.for %k in 16 {",
        '>       tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k)',
        "  tensor_loop.for %x in 12 {",
        "    tensor_loop.for %y in 20 {",
        '      tensor_loop.block "relu" spatial(%vx in 12 = %x, %vy in 20 = %y)',
    ]


def test_check_blames_the_step_that_changes_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from stepwell.schedule.primitives import marks

    def broken(loop: object) -> None:
        from xdsl.dialects.builtin import DenseArrayBase, i64

        loop.static_extents = DenseArrayBase.from_list(i64, [11])  # type: ignore[attr-defined]

    monkeypatch.setattr(marks, "unroll", broken)
    with pytest.raises(PassFailedException, match="this step changes %C of @f: .* elements differ"):
        apply(
            "product",
            "%a, %b = schedule.split %j [?, 4]\n schedule.unroll %i\n schedule.parallel %x",
            check=True,
        )
