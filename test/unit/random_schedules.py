"""Random loop functions and random sequences of primitives on them; illegal ones are refused and leave everything as it was."""

from __future__ import annotations

from random import Random

from stepwell.core.verification import verify_module
from stepwell.schedule.schedule import BlockHandle, LoopHandle, Schedule
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import PassFailedException

FLAGS = "fastmath<reassoc,contract>"


def random_function(random: Random) -> str:
    """`@f`: an elementwise block, a reduction of it (product, sum, window or maximum), and an elementwise block on the result."""
    m, n, k = (random.choice([1, 3, 4, 5, 6, 8]) for _ in range(3))
    kind = random.choice(["product", "row_sum", "window", "row_max"])
    width = n if kind == "product" else 2
    rows = m + width if kind == "window" else m
    a = f"memref<{rows}x{k}xf32>"
    result = f"memref<{m}x{n}xf32>" if kind == "product" else f"memref<{m}xf32>"
    at = "%vi, %vj" if kind == "product" else "%vi"
    flags = FLAGS if random.random() < 0.8 else ""
    spatial = f"%vi in {m} = %i" + (f", %vj in {n} = %j" if kind == "product" else "")
    reduce = f"%vk in {k} = %k" + (f", %vw in {width} = %w" if kind == "window" else "")
    loops = {"product": "%i, %j, %k", "window": "%i, %k, %w"}.get(kind, "%i, %k")
    extents = {"product": f"{m}, {n}, {k}", "window": f"{m}, {k}, {width}"}.get(kind, f"{m}, {k}")
    row = "%r" if kind == "window" else "%vi"
    update = "arith.maximumf %c, %p : f32" if kind == "row_max" else f"arith.addf %c, %p {flags} : f32"
    start = "0xFF800000" if kind == "row_max" else "0.0"
    factor = (
        f"%b = memref.load %B[%vk, %vj] : memref<{k}x{n}xf32>\n      %p = arith.mulf %a, %b {flags} : f32"
        if kind == "product"
        else "%p = arith.addf %a, %a : f32"
    )
    index = "%r = arith.addi %vi, %vw : index" if kind == "window" else ""
    tail = "%x, %y" if kind == "product" else "%x"
    tail_axes = f"%vx in {m} = %x" + (f", %vy in {n} = %y" if kind == "product" else "")
    tail_extents = f"{m}, {n}" if kind == "product" else f"{m}"
    tail_at = "%vx, %vy" if kind == "product" else "%vx"
    return f"""
tensor_loop.func @f(%A: {a}, %B: memref<{k}x{n}xf32>) outs(%C: {result}) {{
  %T = tensor_loop.alloc : {a}
  tensor_loop.grid (%p0, %q) in ({rows}, {k}) {{
    tensor_loop.block "first" spatial(%vp in {rows} = %p0, %vq in {k} = %q) {{
      %x0 = memref.load %A[%vp, %vq] : {a}
      %one = arith.constant 1.0 : f32
      %y0 = arith.addf %x0, %one : f32
      memref.store %y0, %T[%vp, %vq] : {a}
    }}
  }}
  %S = tensor_loop.alloc : {result}
  tensor_loop.grid ({loops}) in ({extents}) {{
    tensor_loop.block "reduce" spatial({spatial}) reduce({reduce}) {{
      init {{
        %z = arith.constant {start} : f32
        memref.store %z, %S[{at}] : {result}
      }}
      {index}
      %a = memref.load %T[{row}, %vk] : {a}
      {factor}
      %c = memref.load %S[{at}] : {result}
      %s = {update}
      memref.store %s, %S[{at}] : {result}
    }}
  }}
  tensor_loop.grid ({tail}) in ({tail_extents}) {{
    tensor_loop.block "last" spatial({tail_axes}) {{
      %u = memref.load %S[{tail_at}] : {result}
      %two = arith.constant 2.0 : f32
      %v = arith.mulf %u, %two : f32
      memref.store %v, %C[{tail_at}] : {result}
    }}
  }}
}}"""


def random_steps(schedule: Schedule, random: Random, steps: int) -> tuple[int, int]:
    """Tries `steps` random primitives; how many were legal and how many were refused."""
    legal = refused = 0
    for _ in range(steps):
        before = str(schedule.module)
        try:
            _step(schedule, random)
            verify_module(schedule.module)
            legal += 1
        except PassFailedException as error:
            refused += 1
            assert "internal" not in str(error)
            _assert_same(before, schedule.module)
    return legal, refused


def _assert_same(before: str, module: ModuleOp) -> None:
    """A refused primitive changes nothing; grids may have become single loops."""
    assert before.count("tensor_loop.block") == str(module).count("tensor_loop.block")
    verify_module(module)


def _blocks(schedule: Schedule) -> list[str]:
    from stepwell.dialects.tensor_loop import BlockOp

    return [op.block_name.data for op in schedule.module.walk() if isinstance(op, BlockOp)]


def _step(schedule: Schedule, random: Random) -> None:
    names = _blocks(schedule)
    block = schedule.get_block(random.choice(names), "f")
    loops = schedule.get_loops(block)
    other = schedule.get_block(random.choice(names), "f")
    other_loops = schedule.get_loops(other)
    choice = random.choice(
        [
            "split",
            "split",
            "fuse",
            "reorder",
            "reorder",
            "partition",
            "unit",
            "mark",
            "compute_at",
            "compute_at",
            "reverse_compute_at",
        ]
        + [
            "reverse_compute_at",
            "inline",
            "reverse_inline",
            "cache_read",
            "cache_write",
            "scope",
            "layout",
            "pad",
            "decompose",
        ]
        + ["rfactor", "rfactor", "blockize", "mma", "row"]
    )
    if loops:
        _on_loops(schedule, random, choice, block, loops)
    _on_blocks(schedule, random, choice, block, other_loops)


def _on_loops(
    schedule: Schedule, random: Random, choice: str, block: BlockHandle, loops: list[LoopHandle]
) -> None:
    loop = random.choice(loops)
    if choice == "split":
        factors: list[int | None] = [None, random.choice([1, 2, 3, 4])]
        random.shuffle(factors)
        schedule.split(loop, factors, random.random() < 0.3)
    elif choice == "fuse" and len(loops) > 1:
        first = random.randrange(len(loops) - 1)
        schedule.fuse(*loops[first : first + 2])
    elif choice == "reorder" and len(loops) > 1:
        schedule.reorder(*random.sample(loops, random.randint(2, len(loops))))
    elif choice == "partition":
        schedule.loop_partition(loop, [random.choice([1, 2, 3])])
    elif choice == "mark":
        random.choice([schedule.unroll, schedule.vectorize, schedule.parallel])(loop)
    elif choice == "decompose":
        schedule.decompose_reduction(block, loop)
    elif choice == "rfactor":
        schedule.rfactor(loop, random.randint(0, 1))
    elif choice == "blockize":
        schedule.blockize(loop)
    elif choice == "row":
        schedule.tensorize(loops[-1], "row")


def _on_blocks(
    schedule: Schedule, random: Random, choice: str, block: BlockHandle, other_loops: list[LoopHandle]
) -> None:
    if choice == "unit":
        schedule.add_unit_loop(block)
    elif choice == "compute_at" and other_loops:
        schedule.compute_at(block, random.choice(other_loops))
    elif choice == "reverse_compute_at" and other_loops:
        schedule.reverse_compute_at(block, random.choice(other_loops))
    elif choice == "inline":
        schedule.compute_inline(block)
    elif choice == "reverse_inline":
        schedule.reverse_compute_inline(block)
    elif choice == "cache_read":
        schedule.cache_read(block, 0, random.choice(["global", "local"]))
    elif choice == "cache_write":
        schedule.cache_write(block, 0)
    elif choice == "scope":
        schedule.set_scope(block, 0, "local")
    elif choice == "layout":
        maps = [
            AffineMap.from_callable(lambda i, j: (j, i)),
            AffineMap.from_callable(lambda i, j: (j // 4, i, j % 4)),
            AffineMap.from_callable(lambda i: (i // 3, i % 3)),
        ]
        schedule.transform_layout(block, random.choice(["read", "write"]), 0, random.choice(maps))
    elif choice == "pad":
        schedule.pad_to_tile(block, [random.choice([1, 2, 4]) for _ in block.op.axes])
    elif choice == "mma":
        schedule.tensorize(block, "mma", random.choice([None, [2, 4], [3, 16]]), random.random() < 0.3)
