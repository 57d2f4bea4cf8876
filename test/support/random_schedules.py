"""
Random loop functions and random sequences of primitives on them; illegal ones are refused and leave everything as it
was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from stepwell.core.ir.verification import verify_module
from stepwell.dialects.tensor_loop import BlockOp, GridOp
from stepwell.schedule.primitives.nests import split_grid
from stepwell.schedule.primitives.queries import get_consumers, get_producers
from stepwell.schedule.program.handles import BlockHandle, LoopHandle
from stepwell.schedule.program.interactive import Schedule
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import PassFailedException

COMPARED = 0.3
"""Share of the steps before which the module is printed, to see that a refused one changes nothing."""

FLAGS = "fastmath<reassoc,contract>"


def random_function(random: Random) -> str:
    """
    `@f`: an elementwise block, a reduction of it (product, sum, window or maximum), and an elementwise block on the
    result.
    """
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


def random_steps(schedule: Schedule, random: Random, steps: int, legal: Counter[str], refused: Counter[str]) -> None:
    """Tries `steps` random primitives, counted by name; refused ones must leave the module as it was."""
    for _ in range(steps):
        name = random.choice(NAMES)
        before = single_loops(schedule.module) if random.random() < COMPARED else None
        try:
            done = PRIMITIVES[name](Choice(schedule, random))
            verify_module(schedule.module)
            legal[name] += done
        except PassFailedException as error:
            refused[name] += 1
            assert "internal" not in str(error)
            if before is not None:
                assert single_loops(schedule.module) == before, f"'{name}' was refused and changed something"


def single_loops(module: ModuleOp) -> str:
    """The text of the module with single loops in the place of grids, which looking for loops leaves."""
    copy = module.clone()
    for op in list(copy.walk()):
        if isinstance(op, GridOp) and op.variables:
            split_grid(op)
    return str(copy)


class Choice:
    """A block with its loops, a loop of some block, and numbers, all at random."""

    def __init__(self, schedule: Schedule, random: Random):
        self.schedule, self.random = schedule, random
        names = [op.block_name.data for op in schedule.module.walk() if isinstance(op, BlockOp)]
        self.block = schedule.get_block(random.choice(names), "f")
        self.loops = schedule.get_loops(self.block)
        self.elsewhere = schedule.get_loops(schedule.get_block(random.choice(names), "f"))

    def loops_near(self, found: list[BlockOp]) -> list[LoopHandle]:
        """The loops of one of `found`, blocks that share a buffer with the block; mostly, for else little is legal."""
        if not found or self.chance:
            return self.elsewhere
        name = self.random.choice(found).block_name.data
        return self.schedule.get_loops(self.schedule.get_block(name, "f"))

    @property
    def loop(self) -> LoopHandle | None:
        return self.random.choice(self.loops) if self.loops else None

    @property
    def chance(self) -> bool:
        return self.random.random() < 0.3

    def on_loop(self, run: Callable[[LoopHandle], object]) -> bool:
        """Runs a step on a loop around the block; whether there is one."""
        loop = self.loop
        if loop is None:
            return False
        run(loop)
        return True

    def under(self, run: Callable[[BlockHandle, LoopHandle], object], loops: list[LoopHandle]) -> bool:
        """Runs a step on the block and one of the loops."""
        if not loops:
            return False
        run(self.block, self.random.choice(loops))
        return True

    def do(self, _: object) -> bool:
        """A step has been run."""
        return True


def _get_producers(c: Choice) -> bool:
    for found in c.schedule.get_producers(c.block):
        c.schedule.annotate(found, "my.produces", 1)
    return True


def _get_consumers(c: Choice) -> bool:
    for found in c.schedule.get_consumers(c.block):
        c.schedule.annotate(found, "my.consumes", 1)
    return True


def _split(c: Choice) -> bool:
    factors: list[int | None] = [None, c.random.choice([1, 2, 3, 4])]
    c.random.shuffle(factors)
    return c.on_loop(lambda loop: c.schedule.split(loop, factors, c.chance))


def _fuse(c: Choice) -> bool:
    if len(c.loops) < 2:
        return False
    first = c.random.randrange(len(c.loops) - 1)
    c.schedule.fuse(*c.loops[first : first + 2])
    return True


def _reorder(c: Choice) -> bool:
    if len(c.loops) < 2:
        return False
    c.schedule.reorder(*c.random.sample(c.loops, c.random.randint(2, len(c.loops))))
    return True


def _fission(c: Choice) -> bool:
    """Cuts a loop after the init of a reduction in it, which otherwise seldom holds two blocks."""
    if len(c.loops) < 2:
        return False
    at = c.random.randrange(1, len(c.loops))
    c.schedule.fission(c.loops[at - 1], c.schedule.decompose_reduction(c.block, c.loops[at]))
    return True


def _transform_layout(c: Choice) -> bool:
    maps = [
        AffineMap.from_callable(lambda i, j: (j, i)),
        AffineMap.from_callable(lambda i, j: (j // 4, i, j % 4)),
        AffineMap.from_callable(lambda i: (i // 3, i % 3)),
    ]
    c.schedule.transform_layout(c.block, c.random.choice(["read", "write"]), 0, c.random.choice(maps))
    return True


def _sample_perfect_tile(c: Choice) -> bool:
    def run(loop: LoopHandle) -> None:
        most = c.random.choice([None, 2, 4])
        c.schedule.split(loop, c.schedule.sample_perfect_tile(loop, c.random.randint(2, 3), most))

    return c.on_loop(run)


def _sample_categorical(c: Choice) -> bool:
    number = c.schedule.sample_categorical([1, 2, 4], [1, 2, 1])
    return c.on_loop(lambda loop: c.schedule.split(loop, [None, number]))


def _tensorize(c: Choice) -> bool:
    if c.chance and c.loops:
        c.schedule.tensorize(c.loops[-1], "row")
    else:
        shape = c.random.choice([None, [2, 4], [3, 16]])
        c.schedule.tensorize(c.block, "mma", shape, c.chance)
    return True


def _storage_align(c: Choice) -> bool:
    factor = c.random.choice([4, 8, 16])
    c.schedule.storage_align(c.block, 0, 0, factor, c.random.randrange(factor))
    return True


def _pad_to_tile(c: Choice) -> bool:
    c.schedule.pad_to_tile(c.block, [c.random.choice([1, 2, 4]) for _ in c.block.op.axes])
    return True


PRIMITIVES: dict[str, Callable[[Choice], bool]] = {
    "get_block": lambda c: True,
    "get_loops": lambda c: True,
    "get_producers": _get_producers,
    "get_consumers": _get_consumers,
    "split": _split,
    "fuse": _fuse,
    "reorder": _reorder,
    "loop_partition": lambda c: c.on_loop(lambda loop: c.schedule.loop_partition(loop, [c.random.choice([1, 2, 3])])),
    "fission": _fission,
    "add_unit_loop": lambda c: c.do(c.schedule.add_unit_loop(c.block)),
    "unroll": lambda c: c.on_loop(c.schedule.unroll),
    "vectorize": lambda c: bool(c.loops) and c.do(c.schedule.vectorize(c.loops[-1])),
    "parallel": lambda c: c.on_loop(c.schedule.parallel),
    "annotate": lambda c: c.do(c.schedule.annotate(c.block, "my.seen", "yes")),
    "compute_at": lambda c: c.under(c.schedule.compute_at, c.loops_near(get_consumers(c.block.op))),
    "reverse_compute_at": lambda c: c.under(c.schedule.reverse_compute_at, c.loops_near(get_producers(c.block.op))),
    "compute_inline": lambda c: c.do(c.schedule.compute_inline(c.block)),
    "reverse_compute_inline": lambda c: c.do(c.schedule.reverse_compute_inline(c.block)),
    "cache_read": lambda c: c.do(c.schedule.cache_read(c.block, 0, "local" if c.chance else "global")),
    "cache_write": lambda c: c.do(c.schedule.cache_write(c.block, 0)),
    "reindex": lambda c: c.do(c.schedule.reindex(c.block, c.random.choice(["read", "write"]), 0)),
    "set_scope": lambda c: c.do(c.schedule.set_scope(c.block, 0, "local")),
    "storage_align": _storage_align,
    "transform_layout": _transform_layout,
    "pad_to_tile": _pad_to_tile,
    "decompose_reduction": lambda c: c.on_loop(lambda loop: c.schedule.decompose_reduction(c.block, loop)),
    "rfactor": lambda c: c.on_loop(lambda loop: c.schedule.rfactor(loop, c.random.randint(0, 1))),
    "blockize": lambda c: c.on_loop(c.schedule.blockize),
    "tensorize": _tensorize,
    "sample_perfect_tile": _sample_perfect_tile,
    "sample_categorical": _sample_categorical,
}
"""Each primitive with random parameters; whether it found something to be run on."""

SELDOM = ["reverse_compute_inline", "reverse_compute_at", "compute_inline", "rfactor", "tensorize"]
OFTEN = ["split", "reorder", "compute_at", "decompose_reduction", "storage_align", *SELDOM * 3]
NAMES = [name for name in PRIMITIVES if not name.startswith("get_")] + [
    "get_producers",
    "get_consumers",
    *OFTEN,
]
"""
What is chosen from: blocks and loops are looked up for every step; what shapes nests, or is seldom legal, comes more
often.
"""
