"""
The page of targets and of the rules by which schedules follow from them, docs/targets.md.

`python -m stepwell.tools.pages.targets > docs/targets.md` brings it up to date; a test fails when it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...machine.families import FEATURES, NAMED
from ...machine.machine import Machine
from ...schedule.kernels.register_tiles import choose_tile

_INTRODUCTION = """# Targets

Made by `python -m stepwell.tools.pages.targets`; do not edit.

A schedule is made for a *target*: vector registers and caches, by name or those of the machine it is made on (`host`,
the default). Which one: the option `target` of `schedule-cpu` and `prepack-weights`, else the key `target` of the pass
context (`PassContext(config={"target": "x86-64-v3"})`, `stepwell-opt --config target=x86-64-v3`). Results do not depend
on it beyond the order of sums: LLVM cuts wide vectors to the registers that there are. `stepwell.compile` makes machine
code for the host whatever the schedule is for; `stepwell-opt -t 'asm{machine="aarch64-neon"}'` prints that of another
machine.

On the host the registers come from the CPU flags of Linux (AVX-512 F, VL, BW and DQ: as `x86-64-v4`; AVX2 and FMA: as
`x86-64-v3`), elsewhere from the kind of machine; the data caches from `/sys/devices/system/cpu`, else those of the
named target. *Products* are instructions for sums of products of bytes and half floats. Those of AMX count only where
Linux lets the process use tile registers: it is asked once, when the first program is compiled or loaded, for all
threads and what is forked later. A program that multiplies by AMX is refused (CompileError) where there is no such
leave.
"""

_RULES = (
    (
        "rows x columns of a register tile",
        "every contraction",
        "the pair with the fewest cycles for the whole result: per step of the sum, the multiply-adds, two a cycle "
        "(two "
        "instructions each without FMA), or the loads, two a cycle, or the latency of a sum; "
        "on top 1/12 cycle per row of a and 0.12 per "
        "vector of b, 0.15 where b has more than L2 / 2",
    ),
    (
        "tiles that are not considered",
        "`rows * vectors + vectors + 1` (+ 2 without FMA; + 3 of integers, + 4 without FMA) above the registers - 1; "
        "with 32 registers above "
        "- 3 with 3 vectors or more, or where products take no element from memory in all lanes, else - 2; "
        "of integers one vector and "
        "half of the registers in rows",
        "LLVM would spill",
    ),
    (
        "one step of the sum per trip of its loop, not four",
        "products of integers, of floats without FMA, or tiles of more rows than six per vector where products take "
        "no element from "
        "memory",
        "LLVM would spill between the steps, and the loop is little beside so many instructions (measured: no slower)",
    ),
    (
        "no padded copy of the image of a convolution",
        "the padding is zero and only the convolution reads the copy, along each padded dimension one axis of the "
        "window moves, and all tiles at "
        "borders together have 24 runs of taps at most that find the same rows inside; not in `tensorize`",
        "a copy is 4 to 20 % of the time: taps outside the image are left out, of tiles at borders along the row in "
        "code of their own, "
        "above and below by a condition",
    ),
    (
        "rows x pixels of a tile of a depthwise convolution, one vector of channels",
        "at most 32 taps, one output per channel: the pair with the fewest cycles for an image, multiply-adds or "
        "loads, of those "
        "whose sums, inputs of one row and weights for it take all registers but 3, of 32 but 5; "
        "each form of a tile, at borders or of "
        "another size, counts as 5 % more; one pixel wide where image and result together have more than 3/4 L2",
        "an input is loaded once for all sums of the tile; taps outside the image are left out: no padded copy, "
        "where the taps of the "
        "runs along a row are 64 at most together; memory beyond L2 is read in few streams",
    ),
    (
        "vectors of a depthwise convolution run on from pixel to pixel, down up to 32 rows of the image",
        "that takes nine tenths of the vectors or fewer; the window moves by a pixel and a row per step, its weights "
        "and sums take all "
        "registers but 2, and what follows reads the same places, a number per channel, or one for all",
        "channels that do not fill vectors leave lanes empty; weights repeat every pixel and stay in registers, a "
        "row of inputs is "
        "read once",
    ),
    (
        "a convolution 3x3 as Winograd's F(2x2, 3x3)",
        "stride 1, f32 or f64, constant filters, no groups: 16 multiply-adds and 120 cycles per vector for each "
        "transform take fewer "
        "cycles than 36 multiply-adds per square of 2x2 outputs, or filters beyond L2 / 2 at 8 bytes a cycle do; "
        'not with `numerics="strict"`',
        "docs/numerics.md: errors are no larger",
    ),
    (
        "squares at once",
        (
            "as many as fit L2 / 2 transformed, before and after the products, but 48 at least; "
            "blocks that cores can share come first"
        ),
        "the filters are read once per block, what is between the transforms and the products stays in L2",
    ),
    (
        "b copied into panels as wide as a tile",
        (
            "b is a constant; or its rows are not contiguous; or 20 tiles of rows or more read it, 4 where it has L2 "
            "/ 8 bytes or more"
        ),
        "panels are read in order, a tile at a time",
    ),
    (
        "parts of k",
        (
            "b in panels, more than two tiles of rows, one reduce axis: as many equal parts as make each at most "
            "1024 steps"
        ),
        "a panel of a part stays near while the rows go by; each further part loads and stores the result once more",
    ),
    (
        "panels per block",
        "the same: as many as have, twice, 3/4 L2 less the bytes of a, which count where they are L2 / 2 at most",
        "the block stays in L2 while the rows go by, and the next one can be copied beside it",
    ),
    (
        "panels outside the rows",
        "one axis of rows: a of a part of k has L2 / 8 bytes at most, L2 / 4 where b is prepacked, and a panel has "
        "twice L1 at most, "
        "or b more than L2 / 2, or up to 4 tiles of rows read b; several: b has more than L2 / 8 bytes",
        "each panel is read once, all of a stays in L2, which holds b as it came too while it is copied; "
        "else the rows of a tile stay in L1, or, with several axes of rows, those of one "
        "value of the others",
    ),
    (
        "lines of panels to come are asked for (`tile.prefetch`)",
        "b is a constant of more than L2 / 2, two panels have 3/4 L2 at most, two tiles or more read each: every "
        "tile asks for its "
        "share of the next panels, a few lines every four steps of the sum",
        "b comes from L3 or memory while the tiles compute, not only while the first of them does",
    ),
    (
        "rows of a to come are asked for (`tile.prefetch`)",
        "a has more than 2 L2 and its rows follow each other, b is one panel and k one part: each step asks for its "
        "share of the rows "
        "of the next tile",
        "several rows read side by side from memory are more than the processor keeps track of; "
        "1x1 convolutions to few channels get "
        "5 to 8 % faster",
    ),
    (
        "loops of vectors on register tiles of 1 x 64",
        (
            "registers of 64 bytes here and on the target: loops over f32 of 16 iterations or more, neighbours in a "
            "row (`vectorize-loops`)"
        ),
        (
            "four registers hide the latency of each other; functions and maxima by instructions that LLVM's "
            "vectoriser does not use"
        ),
    ),
    (
        "the next row is asked for (`tile.prefetch`)",
        (
            "the same, several loops after each other on one row: what the second reads and the first writes, where "
            "two rows of each fit L1"
        ),
        "the processor starts anew with each row, as the loops that find it in L1 miss nothing",
    ),
)

_BYTE_RULES = (
    (
        "products of bytes by `amx-int8`, else by `avx512vnni`",
        (
            "`i8` or `ui8` on either side, sums in 32 bits, at least 16 columns, steps of the sum, and rows unless b "
            "is a constant"
        ),
        "exact all the same: both wrap and neither saturates",
    ),
    (
        "products of `bf16` by `amx-bf16`",
        'only with `numerics="fast"`: sums in f32, sizes as above; two elements per group',
        "numbers below 2^-126 count as zeros there",
    ),
    (
        "32 x 32 sums, b in panels of 32 columns in groups of four bytes",
        "`amx-int8`",
        "four tile registers of sums, two of rows and two of columns: four loads for four products; "
        "all of k at once, sums are "
        "written once",
    ),
    (
        "rows of a copied",
        "`amx-int8`: the last rows that make no tile register; all where k is no multiple of 64 or not contiguous",
        "tile registers are read whole",
    ),
    (
        "panels per block",
        "`amx-int8`, more than 32 rows: as many as have L2 / 2 bytes",
        "the block stays in L2 while the rows go by, 32 of them in L1",
    ),
    (
        "convolutions: a product per tap of the window, the sums stay in registers; blocks of panels outside all rows",
        (
            "as above, with at least 16 channels, which are the last dimension of the image, and at most 64 taps "
            "with `amx-int8`"
        ),
        "no patches: the windows of a row overlap in memory",
    ),
    (
        "the image copied, with room around",
        "`amx-int8`: what the last pixels of a row reach, those that make no tile register; "
        "all with padding, or where channels are no "
        "multiple of 64; `avx512vnni`: with padding, where signs are flipped, or channels no multiple of 4",
        "tile registers are read whole; bytes past the channels meet zeros of b",
    ),
    (
        "rows of a with the other sign bit",
        "`avx512vnni`, both sides with a sign or both without",
        "the instruction takes one of each; the sums start at what that changes",
    ),
)

_RESULTS = ((1, 64), (4, 128), (64, 10), (56, 64), (128, 768), (1024, 1024))


def page() -> str:
    """The text of docs/targets.md."""
    sections = [_INTRODUCTION, *_machines(), *_rules(), *_tiles()]
    return "\n".join(section.rstrip("\n") + "\n" for section in sections)


def _machines() -> Iterator[str]:
    yield "## What is known of each\n"
    rows = [_machine(target) for target in NAMED.values()]
    yield _table(
        ("target", "register", "registers", "FMA", "products", "L1 data", "L2", "L3", "3/4 L2", "L2 / 8"),
        rows,
    )


def _machine(target: Machine) -> Sequence[str]:
    sizes = (
        target.l1_bytes,
        target.l2_bytes,
        target.l3_bytes,
        target.near_bytes,
        target.a_bytes,
    )
    return (
        f"`{target.name}`",
        f"{target.register_bytes} bytes",
        str(target.registers),
        "yes" if target.fma else "no",
        ", ".join(f"`{feature}`" for feature in FEATURES if feature in target.features),
        *(f"{size // 1024} KiB" for size in sizes),
    )


def _rules() -> Iterator[str]:
    yield "## Which rule fires when\n"
    yield _table(("choice", "when", "why"), _RULES)
    yield "## Products of bytes\n"
    yield _table(("choice", "when", "why"), _BYTE_RULES)


def _tiles() -> Iterator[str]:
    yield "## Tiles of f32\n"
    rows: list[Sequence[str]] = []
    for height, width in _RESULTS:
        tiles = [choose_tile(height, width, 4, target) for target in NAMED.values()]
        rows.append((f"{height} x {width}", *(f"{tile.rows} x {tile.columns}" for tile in tiles)))
    yield _table(("result", *(f"`{name}`" for name in NAMED)), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(page(), end="")
