"""
Loop functions, and steps on them that are legal (with what they print) or not (with what they say): the cases of the
primitives.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.schedule.program.apply_schedule import ApplySchedulePass
from xdsl.dialects.builtin import ModuleOp

Array = NDArray[np.float32]
FLAGS = "fastmath<reassoc,contract>"


def product(m: int, n: int, k: int, flags: str) -> str:
    """`C = relu(A @ B)`."""
    a, b, c = f"memref<{m}x{k}xf32>", f"memref<{k}x{n}xf32>", f"memref<{m}x{n}xf32>"
    return f"""
tensor_loop.func @f(%A: {a}, %B: {b}) outs(%C: {c}) {{
  %S = tensor_loop.alloc : {c}
  tensor_loop.grid (%i, %j, %k) in ({m}, {n}, {k}) {{
    tensor_loop.block "mm" spatial(%vi in {m} = %i, %vj in {n} = %j) reduce(%vk in {k} = %k) {{
      init {{
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : {c}
      }}
      %a = memref.load %A[%vi, %vk] : {a}
      %b = memref.load %B[%vk, %vj] : {b}
      %c = memref.load %S[%vi, %vj] : {c}
      %p = arith.mulf %a, %b {flags} : f32
      %s = arith.addf %c, %p {flags} : f32
      memref.store %s, %S[%vi, %vj] : {c}
    }}
  }}
  tensor_loop.grid (%x, %y) in ({m}, {n}) {{
    tensor_loop.block "relu" spatial(%vx in {m} = %x, %vy in {n} = %y) {{
      %u = memref.load %S[%vx, %vy] : {c}
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %C[%vx, %vy] : {c}
    }}
  }}
}}
"""


def chain(n: int, with_window: bool) -> str:
    """`C = (A + 1) * 2`, and with a window `D[i] = sum of (A + 1)[3 i : 3 i + 3]`."""
    a, d = f"memref<{n}xf32>", f"memref<{n // 3}xf32>"
    return f"""
tensor_loop.func @f(%A: {a}) outs(%C: {a}{f", %D: {d}" if with_window else ""}) {{
  %T = tensor_loop.alloc : {a}
  tensor_loop.grid (%i) in ({n}) {{
    tensor_loop.block "add" spatial(%vi in {n} = %i) {{
      %a = memref.load %A[%vi] : {a}
      %one = arith.constant 1.0 : f32
      %b = arith.addf %a, %one : f32
      memref.store %b, %T[%vi] : {a}
    }}
  }}
  tensor_loop.grid (%j) in ({n}) {{
    tensor_loop.block "mul" spatial(%vj in {n} = %j) {{
      %t = memref.load %T[%vj] : {a}
      %two = arith.constant 2.0 : f32
      %m = arith.mulf %t, %two : f32
      memref.store %m, %C[%vj] : {a}
    }}
  }}
  {window(n, a, d) if with_window else ""}
}}
"""


def window(n: int, a: str, d: str) -> str:
    return f"""tensor_loop.grid (%n, %w) in ({n // 3}, 3) {{
    tensor_loop.block "window" spatial(%vn in {n // 3} = %n) reduce(%vw in 3 = %w) {{
      init {{
        %z = arith.constant 0.0 : f32
        memref.store %z, %D[%vn] : {d}
      }}
      %three = arith.constant 3 : index
      %q = arith.muli %vn, %three : index
      %r = arith.addi %q, %vw : index
      %e = memref.load %T[%r] : {a}
      %d = memref.load %D[%vn] : {d}
      %g = arith.addf %d, %e : f32
      memref.store %g, %D[%vn] : {d}
    }}
  }}"""


def neighbours(n: int, guarded: bool) -> str:
    """`C[i] = A[i] + A[i + 1]`, or `A[i - 1]` with a guard, 0 at the start."""
    first = """%zero = arith.constant 0 : index
      %c = arith.cmpi sgt, %vj, %zero : index
      %t = scf.if %c -> (f32) {
        %before = arith.subi %vj, %one : index
        %in = memref.load %A[%before] : TYPE
        scf.yield %in : f32
      } else {
        %none = arith.constant 0.0 : f32
        scf.yield %none : f32
      }"""
    second = """%next = arith.addi %vj, %one : index
      %x = memref.load %A[%vj] : TYPE
      %y = memref.load %A[%next] : TYPE
      %t = arith.addf %x, %y : f32"""
    runs = n if guarded else n - 1
    return f"""
tensor_loop.func @f(%A: TYPE) outs(%C: TYPE) {{
  tensor_loop.grid (%j) in ({runs}) {{
    tensor_loop.block "mul" spatial(%vj in {runs} = %j) {{
      %one = arith.constant 1 : index
      {first if guarded else second}
      memref.store %t, %C[%vj] : TYPE
    }}
  }}
}}
""".replace("TYPE", f"memref<{n}xf32>")


SIZES = (12, 20, 16)
FUNCTIONS: dict[str, Callable[[int, int, int], str]] = {
    "product": lambda m, n, k: product(m, n, k, FLAGS),
    "strict product": lambda m, n, k: product(m, n, k, ""),
    "chain": lambda m, n, k: chain(2 * m, False),
    "window": lambda m, n, k: chain(3 * m - 12, True),
    "stencil": lambda m, n, k: neighbours(2 * m, False),
    "guarded": lambda m, n, k: neighbours(2 * m, True),
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
    "stencil": """%mul = schedule.get_block "mul" in @f
  %j = schedule.get_loops %mul : 1""",
}
FIND["strict product"] = FIND["product"]
FIND["guarded"] = FIND["stencil"]
FIND["window"] = (
    FIND["chain"]
    + """
  %window = schedule.get_block "window" in @f
  %n, %w = schedule.get_loops %window : 2"""
)


def expected(function: str, inputs: list[Array]) -> list[Array]:
    """What the function computes, by NumPy."""
    a = inputs[0]
    match function:
        case "product" | "strict product":
            return [np.maximum(a @ inputs[1], 0)]
        case "chain":
            return [(a + 1) * 2]
        case _:
            return [(a + 1) * 2, (a + 1).reshape(-1, 3).sum(axis=1)]


def source(function: str, steps: str, sizes: tuple[int, int, int] = SIZES) -> str:
    """The function and a program that has the handles of all its blocks and loops before the steps."""
    lines = re.sub(r"\n *", "\n  ", steps)
    return FUNCTIONS[function](*sizes) + f"schedule.program {{\n  {FIND[function]}\n  {lines}\n}}"


def apply(
    function: str, steps: str, check: bool = False, sizes: tuple[int, int, int] = SIZES, seed: int = 0
) -> ModuleOp:
    """The module after the steps."""
    context = make_context()
    module = parse_text(context, source(function, steps, sizes), "case.mlir")
    verify_module(module)
    ApplySchedulePass(check=check, seed=seed).apply(context, module)
    return module


LEGAL: dict[str, tuple[str, str, str]] = {
    "get_block": ("product", '%q = schedule.get_block "relu" in @f\n schedule.unroll %y', "%y in 20 unrolled"),
    "get_loops": ("product", "%q, %r = schedule.get_loops %relu : 2\n schedule.unroll %r", "%y in 20 unrolled"),
    "get_producers": ("product", "%p = schedule.get_producers %relu : 1\n schedule.add_unit_loop %p", "in 1 {"),
    "get_consumers": ("product", "%c = schedule.get_consumers %mm : 1\n schedule.add_unit_loop %c", "in 1 {"),
    "split": ("product", "%a, %b = schedule.split %i [?, 4]", "%vi in 12 = %i0 * 4 + %i1"),
    "split inexact": ("product", "%a, %b = schedule.split %i [?, 5]", "where(%i0 * 5 + %i1 < 12)"),
    "split balanced": ("product", "%a, %b = schedule.split %i [?, 8] balanced", "%vi in 12 = %i0 * 6 + %i1"),
    "split reduce": ("strict product", "%a, %b = schedule.split %k [3, ?]", "where(%k0 * 6 + %k1 < 16)"),
    "fuse": ("product", "%a = schedule.fuse %i, %j", "%vi in 12 = %ij floordiv 20, %vj in 20 = %ij mod 20"),
    "fuse and split": ("product", "%a = schedule.fuse %i, %j\n %b, %c = schedule.split %a [?, 20]",
                       "%vi in 12 = %ij0, %vj in 20 = %ij1"),
    "reorder": ("strict product", "schedule.reorder %k, %i", "tensor_loop.for %k in 16 {\n      tensor_loop.for %j"),
    "reorder single": (
        "strict product",
        "%a, %b, %c = schedule.split %j [5, 1, 4]\n schedule.reorder %k, %c",
        "for %k in 16 {\n            tensor_loop.for %j2 in 4",
    ),
    "reorder reduce": ("product", "%a, %b = schedule.split %k [?, 4]\n schedule.reorder %b, %a",
                       "for %k1 in 4 {\n          tensor_loop.for %k0"),
    "loop_partition": ("product", "%a, %b = schedule.split %i [?, 5]\n %c, %d = schedule.loop_partition %a [2]",
                       '"mm_1"'),
    "loop_partition reduce": ("strict product", "%a, %b = schedule.loop_partition %k [5]", "%vk_1 in 16 = %k_1 + 5"),
    "fission": ("product", "%z = schedule.decompose_reduction %mm, %k\n %q = schedule.fission %j, %z",
                "%j_1 in 20 {\n        tensor_loop.for %k in 16"),
    "fission twice": ("strict product", "schedule.reverse_compute_at %relu, %j\n %q = schedule.fission %j, %mm\n"
                      " %r = schedule.fission %i, %mm", "%i_1 in 12 {\n      tensor_loop.for %j_1 in 20"),
    "add_unit_loop": ("product", "%u = schedule.add_unit_loop %mm", "%u in 1"),
    "unroll": ("product", "schedule.unroll %k", "%k in 16 unrolled"),
    "vectorize": ("product", "schedule.vectorize %y", "%y in 20 vectorized"),
    "vectorize reduce": ("product", "schedule.vectorize %k", "%k in 16 vectorized"),
    "parallel": ("product", "schedule.parallel %i", "%i in 12 parallel"),
    "annotate": ("product", 'schedule.annotate %i "my.grain" with 4 : i64', "attributes {my.grain = 4 : i64}"),
    "compute_inline": ("chain", "schedule.compute_inline %add", "reads(%A[%vj]) writes(%C[%vj])"),
    "compute_inline twice": ("window", "schedule.compute_inline %add", "reads(%A[%vn * 3 + %vw])"),
    "reverse_compute_inline": ("chain", "schedule.reverse_compute_inline %mul", "reads(%A[%vi]) writes(%C[%vi])"),
    "reverse_compute_at": ("product", "schedule.reverse_compute_at %relu, %i", "%vx in 12 = %i"),
    "reverse_compute_at tile": (
        "product",
        "%a, %b = schedule.split %i [?, 5]\n schedule.reverse_compute_at %relu, %a",
        "%vx in 12 = %i0 * 5 + %x",
    ),
    "cache_read": ("product", '%c = schedule.cache_read %mm 1 scope "local"',
                   '%B_cache = tensor_loop.alloc scope "local"'),
    "cache_read at": ("product", "%c = schedule.cache_read %mm 1\n schedule.compute_at %c, %j", "%vd1 in 20 = %j"),
    "cache_write": ("product", "%c = schedule.cache_write %mm 0", '"S_cache"'),
    "cache_write at": ("product", "%c = schedule.cache_write %relu 0\n schedule.reverse_compute_at %c, %x",
                       "%vd0 in 12 = %x"),
    "reindex": ("window", 'schedule.compute_inline %add\n %c = schedule.reindex %window "read" 0',
                "reads(%A_reindex[%vn, %vw])"),
    "reindex temporary": ("product", '%c = schedule.reindex %mm "write" 0',
                          "%S_reindex = tensor_loop.alloc : memref<12x20xf32>"),
    "reindex output": ("window", '%c = schedule.reindex %window "write" 0', "reads(%D_reindex[%vd0]) writes(%D[%vd0])"),
    "storage_align": ("product", "schedule.storage_align %mm 0 dimension 0 factor 16 offset 8",
                      "%S = tensor_loop.alloc : memref<12x24xf32>"),
    "storage_align and move": ("product",
                               "schedule.storage_align %mm 0 dimension 0 factor 32\n schedule.compute_at %mm, %x",
                               "memref<12x32xf32>"),
    "set_scope": ("product", 'schedule.set_scope %mm 0 to "local"', 'alloc scope "local" : memref<12x20xf32>'),
    "transform_layout argument": (
        "product",
        'schedule.transform_layout %mm "read" 1 by affine_map<(k, j) -> (j floordiv 8, k, j mod 8)>',
        "memref<3x16x8xf32>",
    ),
    "transform_layout temporary": ("product", 'schedule.transform_layout %mm "write" 0 by affine_map<(i, j) -> (j, i)>',
                                   "memref<20x12xf32>"),
    "pad_to_tile": ("product", "schedule.pad_to_tile %mm [8, 16, 3]", "memref<16x32xf32>"),
    "decompose_reduction": ("strict product", "%c = schedule.decompose_reduction %mm, %j", '"mm_init"'),
    "rfactor": ("product", "%a, %b = schedule.split %k [?, 4]\n %c, %d = schedule.rfactor %a axis 1",
                "memref<12x4x20xf32>"),
    "rfactor whole": ("product", "%c, %d = schedule.rfactor %k axis 0", "memref<16x12x20xf32>"),
    "blockize": ("chain", "%a, %b = schedule.split %i [?, 4]\n %c = schedule.blockize %b",
                 '"add_outer" spatial(%vi0 in 6 = %i0)'),
    "blockize reduce": ("product", "%c = schedule.blockize %k", '"mm_outer"'),
    "tensorize mma": ("product", 'schedule.tensorize %mm "mma" shape [4, 16]', "tile.mma"),
    "tensorize mma packed": ("product", 'schedule.tensorize %mm "mma" shape [6, 20] packed', "packed"),
    "tensorize row": ("product", '%a, %b = schedule.split %y [?, 10]\n schedule.tensorize %b "row"',
                      "vector<1x10xf32>"),
    "compute_at": ("chain", "%a, %b = schedule.split %j [?, 8]\n schedule.compute_at %add, %a",
                   "%vi in 24 = %j0 * 8 + %i"),
    "compute_at reduction": ("product", "schedule.compute_at %mm, %y", "%vi in 12 = %x, %vj in 20 = %y"),
    "sample_perfect_tile": (
        "product",
        "%t0, %t1 = schedule.sample_perfect_tile %i most 4 decision [3, 4] : 2\n %a, %b = schedule.split %i [%t0, %t1]",
        "%vi in 12 = %i0 * 4 + %i1",
    ),
    "sample_perfect_tile anew": (
        "product",
        "%t0, %t1, %t2 = schedule.sample_perfect_tile %j most 5 : 3\n %a, %b, %c = schedule.split %j [%t0, %t1, %t2]",
        "%j2 in",
    ),
    "sample_categorical": (
        "product",
        "%t = schedule.sample_categorical [2, 4, 5] weights [1, 0, 1] decision 1\n %a, %b = schedule.split %j [?, %t]",
        "%vj in 20 = %j0 * 4 + %j1",
    ),
    "sample_categorical anew": (
        "product",
        ("%t = schedule.sample_categorical [2, 4]\n %u = schedule.sample_categorical [8, 16]\n"
         " schedule.tensorize %mm \"mma\" shape [%t, %u]"),
        "tile.mma",
    ),
}  # fmt: skip

ILLEGAL: dict[str, tuple[str, str, str]] = {
    "get_block": ("product", '%q = schedule.get_block "nn" in @f',
                  """'schedule.get_block': there is no block "nn" in @f; its blocks are "mm", "relu\""""),
    "get_block function": ("product", '%q = schedule.get_block "mm" in @g',
                           "there is no loop function @g; there are: @f"),
    "get_loops": ("product", "%q, %r = schedule.get_loops %mm : 2",
                  "finds 3 loops (%i, %j, %k), expected 2: the program is for another function"),
    "get_producers": ("product", "%q, %r = schedule.get_producers %relu : 2", 'finds 1 block (block "mm"), expected 2'),
    "get_consumers": ("product", "%q = schedule.get_consumers %relu : 1", "finds 0 blocks, expected 1"),
    "unroll stale": ("product", "%a, %b = schedule.split %i [?, 4]\n schedule.unroll %i",
                     "the handle of %i is stale: step 5, 'schedule.split', removed it"),
    "split small": ("product", "%a, %b = schedule.split %i [2, 4]",
                    "'schedule.split': the factors of %i make 8 iterations, expected at least its 12"),
    "split marked": ("product", "schedule.unroll %i\n %a, %b = schedule.split %i [?, 4]",
                     "%i is unrolled, expected a serial loop"),
    "split annotated": ("product", 'schedule.annotate %i "my.g" with 1 : i64\n %a, %b = schedule.split %i [?, 4]',
                        "%i is annotated with my.g, expected no annotation"),
    "split unbound": ("product", "%u = schedule.add_unit_loop %mm\n %a, %b = schedule.split %u [3, 1]",
                      "does not depend on it and would run 3 times"),
    "fuse apart": ("product", "%a = schedule.fuse %i, %k", "%k is not the only op in %i, so the two cannot be fused"),
    "reorder reduce": ("strict product", "%a, %b = schedule.split %k [?, 4]\n schedule.reorder %b, %a",
                       'the updates of %S in block "mm" may not be regrouped'),
    "reorder apart": ("product", "schedule.reorder %x, %i", "the loops are not one perfect nest"),
    "loop_partition": ("product", "%a, %b = schedule.loop_partition %i [12]",
                       "points [12] do not cut 0 … 12 in ascending order"),
    "fission": ("stencil", '%c = schedule.cache_read %mul 0\n schedule.compute_at %c, %j\n'
                ' %q = schedule.fission %j, %c', "%j cannot be cut in two: both parts touch %A_cache, and different"),
    "fission last": ("product", "%q = schedule.fission %i, %mm", 'nothing stands after block "mm" in %i'),
    "fission outside": ("product", "%q = schedule.fission %i, %relu", 'block "relu" is not in %i'),
    "fission marked": ("product", "schedule.parallel %i\n %q = schedule.fission %i, %mm",
                       "%i is parallel, expected a serial loop"),
    "add_unit_loop": (
        "product",
        "%t = schedule.sample_categorical [2]\n %u = schedule.add_unit_loop %t",
        "a handle is a number, expected a loop or block",
    ),
    "unroll": ("product", "schedule.unroll %i\n schedule.unroll %i", "%i is unrolled already, expected a serial loop"),
    "vectorize outer": ("product", "schedule.vectorize %i", "%i holds other loops, so it cannot be vectorized"),
    "vectorize reduce": ("strict product", "schedule.vectorize %k", "%k cannot be vectorized: the updates of %S"),
    "parallel reduce": ("product", "schedule.parallel %k",
                        ('%k cannot run in parallel: different iterations of %k touch the same elements of %S in '
                         'block "mm"')),
    "annotate": ("product", 'schedule.annotate %i "" with 1 : i64', "the key is empty"),
    "compute_at output": ("product", "schedule.compute_at %relu, %i",
                          "%C is no temporary: block \"relu\" writes an output and must stay"),
    "compute_at own loop": ("product", "schedule.compute_at %mm, %i", 'block "mm" is under %i already'),
    "compute_at other reader": ("window", "schedule.compute_at %add, %j",
                                'block "window" reads %T but is not under %j'),
    "compute_at marked": ("chain", "schedule.parallel %j\n schedule.compute_at %add, %j",
                          "%j is parallel, so nothing may be moved into it"),
    "compute_at without init": ("product", "%q = schedule.decompose_reduction %mm, %k\n schedule.compute_at %mm, %x",
                                "shares its loops with other blocks"),
    "reverse_compute_at reduce loop": ("product", "schedule.reverse_compute_at %relu, %k",
                                       "%S is not complete after an iteration of %k"),
    "reverse_compute_at reduction": ("window", "schedule.reverse_compute_at %window, %i",
                                     'block "window" has reduce axes'),
    "compute_inline reduction": ("product", "schedule.compute_inline %mm",
                                 'block "mm" has reduce axes: its result is complete after all its runs only'),
    "compute_inline output": ("product", "schedule.compute_inline %relu", "%C is no temporary"),
    "reverse_compute_inline": ("product", "schedule.reverse_compute_inline %relu",
                               'block "mm" has reduce axes: %S is complete after all its runs only'),
    "reverse_compute_inline shared": ("window", "schedule.reverse_compute_inline %mul", 'block "window" uses %T too'),
    "cache_read index": ("product", "%q = schedule.cache_read %mm 2",
                         'block "mm" reads %A, %B: there is no buffer number 2'),
    "cache_read scope": ("product", '%q = schedule.cache_read %mm 0 scope "far"',
                         'unknown scope "far", expected "global" or "local"'),
    "cache_write": ("product", "%a = schedule.decompose_reduction %mm, %i\n %q = schedule.cache_write %mm 0",
                    'block "mm" reads %S as it was before'),
    "reindex index": ("product", '%c = schedule.reindex %mm "read" 7',
                      'block "mm" reads %A, %B: there is no buffer number 7'),
    "reindex": ("stencil", '%c = schedule.reindex %mul "read" 0', 'block "mul" accesses %A at 2 places, expected one'),
    "reindex outside": ("guarded", '%c = schedule.reindex %mul "read" 0', 'block "mul" may access %A at -1 … 22 of 24'),
    "reindex written": ("product", '%q = schedule.decompose_reduction %mm, %k\n %c = schedule.reindex %mm "write" 0',
                        'block "mm_init" uses %S in the same nest'),
    "storage_align": ("product", "schedule.storage_align %relu 0 dimension 0 factor 16",
                      "%C is an argument of the function, expected a temporary"),
    "storage_align dimension": ("product", "schedule.storage_align %mm 0 dimension 1 factor 16",
                                "dimension 1 of %S, which has 2: expected one before the last"),
    "storage_align steps": ("product",
                            ("%q, %r = schedule.rfactor %k axis 0\n schedule.storage_align %q 0 dimension 0 factor "
                             "16 offset 3"),
                             ("no size of dimension 1 of %S_rf makes steps of 20 elements add up to 3 more than a "
                              "multiple of 16")),
    "set_scope": ("product", 'schedule.set_scope %relu 0 to "local"',
                  "%C is an argument of the function, expected a temporary"),
    "transform_layout not one to one": ("product",
                                        ('schedule.transform_layout %mm "read" 1 by affine_map<(k, j) -> (k, j '
                                         'floordiv 8)>'), "the map may send two elements of %B to one place"),
    "transform_layout output": ("product", 'schedule.transform_layout %relu "write" 0 by affine_map<(i, j) -> (j, i)>',
                                "%C is an output: only the caller can change its layout"),
    "pad_to_tile": ("window", "schedule.pad_to_tile %window [8, 4]",
                    'block "window" indexes %T by more than an axis that is padded'),
    "decompose_reduction": ("product", "schedule.reorder %k, %i\n %q = schedule.decompose_reduction %mm, %j",
                            'runs through reduce axes of block "mm"'),
    "rfactor": ("strict product", "%q, %r = schedule.rfactor %k axis 0",
                "may not be regrouped (a float sum needs fastmath<reassoc>)"),
    "rfactor spatial": ("product", "%q, %r = schedule.rfactor %i axis 0", "%i is no loop of the reduce axes"),
    "rfactor axis": ("product", "%q, %r = schedule.rfactor %k axis 3", "axis 3 of %S, expected 0 to 2"),
    "blockize": ("product", "schedule.reorder %k, %i\n %q = schedule.blockize %j",
                 'block "mm" has an init and reduce loops outside %j'),
    "tensorize mma": ("strict product", 'schedule.tensorize %mm "mma"',
                      ('block "mm" is no contraction whose sums may be regrouped: the additions to %S lack '
                       'fastmath<reassoc>')),
    "tensorize sum": ("window", 'schedule.tensorize %window "mma"', "the additions to %D lack fastmath<reassoc>"),
    "tensorize elementwise": ("product", 'schedule.tensorize %relu "mma"', "it has no reduce axes"),
    "tensorize parts": (
        "product",
        '%a, %b = schedule.rfactor %k axis 0\n schedule.tensorize %b "mma"',
        "it adds a 'memref.load' to %S, expected a product",
    ),
    "tensorize row": ("product", 'schedule.tensorize %k "row"', 'block "mm" has reduce axes'),
    "tensorize handle": ("product", 'schedule.tensorize %mm "row"', 'the form "row" takes a loop, found a block'),
    "sample_perfect_tile": ("product", "%t0, %t1 = schedule.sample_perfect_tile %j decision [3, 4] : 2",
                            "the decision [3, 4] is for 12 iterations, %j has 20"),
    "sample_perfect_tile single": ("product", "%t0 = schedule.sample_perfect_tile %j most 4 : 1",
                                   "the one factor of %j is 20, expected at most 4"),
    "sample_perfect_tile count": ("product", "%t0, %t1 = schedule.sample_perfect_tile %j decision [20] : 2",
                                  "a decision of 1 numbers for 2 results, expected one each"),
    "sample_categorical": ("product", "%t = schedule.sample_categorical [2, 4] decision 2",
                           "the decision is number 2, expected 0 to 1"),
    "sample_categorical weights": ("product", "%t = schedule.sample_categorical [2, 4] weights [1]",
                                   "weights [1] of 2 candidates, expected one each"),
    "split handle": ("product", "%a, %b = schedule.split %i [?, %j]", "a handle in a list of numbers is no number"),
}  # fmt: skip


def primitive_of(case: str) -> str:
    """The primitive that a case is about."""
    return case.partition(" ")[0]
