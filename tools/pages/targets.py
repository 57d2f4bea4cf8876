"""
The page of targets and of the rules by which schedules follow from them, docs/targets.md.

`python -m stepwell.tools.pages.targets > docs/targets.md` brings it up to date; a test fails when it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...machine.families import FEATURES, NAMED
from ...machine.machine import Machine
from ...schedule.kernels.register_tiles import choose_tile

_INTRODUCTION = '''# Targets

Made by `python -m stepwell.tools.pages.targets`; do not edit.

You can compile a program for the machine that runs it or for another one, export it for that machine, print its machine
code, and describe a machine of your own. A *target* is the description of a machine: its vector registers, caches and
features. Here a product is compiled for a machine with AVX2:

```python
import stepwell

product = """
func.func @main(%x: tensor<96x64xf32>, %w: tensor<64x128xf32>) -> tensor<96x128xf32> {
  %y = graph.matmul %x, %w : (tensor<96x64xf32>, tensor<64x128xf32>) -> tensor<96x128xf32>
  func.return %y : tensor<96x128xf32>
}"""
program = stepwell.compile(product, target="x86-64-v3")
assert "vector<6x16xf32>" in program.ir("scf")  # sums of 6 rows x 16 columns stay in registers
assert "ymm" in program.ir("asm") and "zmm" not in program.ir("asm")
```

With that text in `product.mlir`, this prints the machine code for 64-bit Arm:

```sh
stepwell-opt product.mlir -p O3 --config target=aarch64-neon -t asm
```

| to choose the target of | write |
| --- | --- |
| a program | `stepwell.compile(product, target="x86-64-v3")`, which goes before the context |
| all programs and passes, in Python | `PassContext(config={"target": "x86-64-v3"})` |
| a program of `stepwell-run`, also with `--export` | `--target x86-64-v3` |
| all passes of `stepwell-opt`, and assembly | `--config target=x86-64-v3` |
| an exported program ([shipping.md](shipping.md)) | `exe.export("model.o")` keeps the target of the program, \
and `exe.export("model.o", target="x86-64-v4")` compiles for another one |
| the schedule alone, of one pass such as `schedule-cpu` or `prepack-weights` | its option `target`, which goes before \
the context |
| assembly | `-t 'asm{machine="x86-64-v3"}'`, which goes before the context |

The default is `host`, the machine that compiles. A target decides two things at once: the schedule is made for that
machine, and LLVM is told of its processor and features. The compile cache keeps programs for different targets apart. A
target changes results only by the order of sums.

A program for a machine that this one is not can be looked at (`exe.ir`) and exported. A call of it is a `CompileError`,
such as `the program is compiled for skylake-avx512, this processor lacks avx512bw, avx512cd, avx512dq, avx512f,
avx512vl`. An exported program asks the processor as well ([shipping.md](shipping.md)).

## The host

Linux shows the CPU flags. AVX-512 F, VL, BW and DQ give the registers of `x86-64-v4`, AVX2 and FMA those of
`x86-64-v3`. On other systems the registers follow from the kind of machine. The sizes of the data caches come from
`/sys/devices/system/cpu`. Those that are not listed there are as in the named target.

The features of the host are those that its flags show. AMX also needs a permission of Linux to use tile registers.
Stepwell requests it once, when it compiles or loads the first program. The permission holds for all threads and for
processes forked later. Without it the host has no AMX, and a program that multiplies by AMX is refused with a
`CompileError`.
'''

_ADDING = """## To add a target

In a program of yours, describe the machine and register it. It is then known by its name until the process ends:

```python
from stepwell.machine import Machine, register_machine

register_machine(
    Machine(
        name="neoverse-n1",
        triple="aarch64-unknown-linux-gnu",
        cpu="neoverse-n1",
        register_bytes=16,
        registers=32,
        fma=True,
        l1_bytes=64 * 1024,
        l2_bytes=1024 * 1024,
    )
)
program = stepwell.compile(product, target="neoverse-n1")
```

To make it part of Stepwell, touch these files:

1. `machine/x86_64.py` or `machine/aarch64.py`: the `Machine`, and its place among the `machines` of the `Family`. A
   feature that the family does not know gets a row in the `features` of the family: the name of LLVM, and the flags of
   Linux that show it. Another instruction set is a `Family` in a file of its own, listed in `machine/families.py`.
2. `docs/targets.md`: run `python -m stepwell.tools.pages.targets > docs/targets.md`.
3. Tests: `test/unit/machine/`, and the machine code of a few kernels in `test/filecheck/schedule/asm/`.

A description chooses among the kernels that there are. To use an instruction that no kernel uses yet, add a kernel to
`schedule/` and a property to `Machine` that says who has it.

What the fields of a `Machine` mean:

| field | meaning |
| --- | --- |
| `name` | what options, messages and tuning records call it |
| `triple` | the triple of LLVM for assembly and exported code |
| `cpu` | LLVM's name of the processor; LLVM warns of a name that it does not know, and takes a generic one |
| `register_bytes` | bytes of a vector register, a power of two; 64 on x86-64 means AVX-512 |
| `registers` | how many vector registers there are, at least 8; tiles are chosen such that none is spilled |
| `fma` | whether a product and a sum are one instruction |
| `features` | features beyond those, by LLVM's names; LLVM may use them, and rules for products of bytes ask for some |
| `multiply_adds` | multiply-adds of vectors that begin in a cycle |
| `loads` | loads of vectors that begin in a cycle |
| `latency` | cycles from an accumulator to its next value |
| `l1_bytes` | bytes of the first-level data cache of a core |
| `l1_way_bytes` | lines this many bytes apart share a set of that cache; `l1_bytes` over this is how many it holds |
| `l2_bytes` | bytes of the second-level cache of a core; most rules compare with it |
| `l3_bytes` | bytes of the shared cache; images of grouped convolutions are compared with half of it |
| `l3_is_near` | whether L3 belongs to few cores, and brings the next image of a batch in time |
| `sweeps_in_place` | tiles of rows up to which a large b is read where it lies, one panel at a time |
| `permutes_apart` | whether units that do not multiply permute vectors, as grouped convolutions do |
| `line_cycles` | cycles that a line of L2 adds to the work on it; depthwise convolutions are cut by it |
| `cores` | how many cores share the blocks of Winograd's convolutions; 1 for a named machine |
"""

_RULES = """## Which rule fires when

A contraction computes `c[m, n]` as the sum of `a[m, k] * b[k, n]` over k. A *tile* is a part of c whose sums stay in
registers. A *panel* is a copy of as many columns of b as a tile has, in the order in which tiles read it. A *tap* is
one place in the window of a convolution. Products *broadcast from memory* where a multiply-add can take an element
from memory into all lanes, as those of AVX-512 do. To *spill* is to keep a value on the stack because registers
ran out.

| choice | when | why |
| --- | --- | --- |
| rows x columns of a register tile | every contraction | The pair with the fewest cycles for the whole result is \
taken. A step of the sum costs the largest of three numbers: multiply-adds (two instructions each without FMA) \
and loads, each by how many begin in a cycle, and the latency of a sum. \
On top come 1/12 cycle per row of a and 0.12 per vector of b, or 0.15 where b is \
larger than L2 / 2. |
| tiles that are not considered | `rows * vectors + vectors + t > registers - k`. Floats: `t` is 1, without FMA 2. \
Integers: `t` is 3, without FMA 4. `k` is 1 with fewer than 32 registers. With 32 it is 2 for one or two vectors where \
products broadcast from memory, else 3. Integers also: one vector and at least half as many rows as registers. | LLVM \
would spill. |
| rows of a tile | no more than have room in L1 side by side, where the elements of a row follow each other | The \
lines of all rows serve as many steps of the sum as they have elements. Rows that are a multiple of 4096 bytes apart \
share a set of L1, and push each other out of it at each step (measured: 4.5 times as long). |
| one step of the sum per trip of its loop instead of four | products of integers; products of floats without FMA; \
tiles of more than six rows per vector where products do not broadcast from memory | LLVM would spill between the \
steps. The loop itself costs little beside so many instructions (measured: no slower). |
| no padded copy of the image of a convolution | The padding is zero, and only the convolution reads the copy. Along \
each padded dimension one axis of the window moves. All tiles at borders together have at most 24 runs of taps that \
find the same rows inside. Not in `tensorize`. | A copy takes 4 to 20 % of the time. Taps outside the image are left \
out instead: tiles at the borders along a row have code of their own, above and below a condition decides. |
| rows x pixels of a tile of a depthwise convolution, one vector of channels | At most 32 taps, one output per \
channel. Sums, inputs of one row and the weights for it fit all registers but 3, of 32 but 5. The tile is one pixel \
wide where image and result together are larger than 3/4 L2, or one image and its result than L2 where L3 is near, or \
all images and results than L3 where a line of L2 costs more than a cycle besides and these have L3 / 4 or more. The \
rows of the image that a tile reads have room in L1 side by side, with one of the result, or with all of a tile where \
these come from L3. | Of the pairs that \
fit, the one with the fewest cycles for an image is taken: multiply-adds or loads, and `line_cycles` for each line of \
inputs that comes from L2. Tiles beside each other share lines where L1 holds what a tile reads of all channels. Each \
form of a tile, at borders or of another size, counts as 2 % more. An input is loaded once for all sums of the tile. \
Taps outside the image are left out, so there is no padded copy, where the taps of the runs along a row are at most \
64 together. Memory beyond L2 is read in few streams. Bytes are summed up in f32, which is exact, and each load of \
them counts as two conversions. |
| vectors of a depthwise convolution run on from pixel to pixel, through up to 32 rows of the image | That takes at \
most nine tenths of the vectors. The window moves by a pixel and a row per step. Its weights and sums fit all \
registers but 2. The epilogue reads the same places, one number per channel, or one number for all. | Channels that do \
not fill vectors leave lanes empty. The weights repeat with every pixel and stay in registers. A row of inputs is read \
once. |
| a product per group of a convolution in groups | Floats. The loop over groups stands inside those over images and \
rows where all panels of constant filters take at most 3/4 L2. | The image is then read once, in order. Otherwise each \
panel is read once. |
| several groups of a convolution in one vector | Two groups or more have room in a register. At most 32 taps, one \
float type. Tiles are those of a depthwise convolution; a tile of up to 9 taps keeps the weights of all. An input \
costs half a cycle more where registers have 64 bytes. | A vector with one small group is mostly empty. An input is \
spread over the lanes of its group once for all taps and rows of a tile. |
| a 3x3 convolution by Winograd's F(2x2, 3x3) | Stride 1, sums in f32 or f64, constant filters, no groups; not with \
`numerics="strict"`. For each square of 2x2 outputs, 16 multiply-adds, and 240 of their cycles per vector for each \
transform, take fewer cycles than 36 multiply-adds. Filters larger than L2 / 2 are read at 8 bytes a cycle: where \
that takes longer than the arithmetic, it counts instead. Those of f16 and bf16 are transformed into f32. | It needs \
fewer products, and docs/numerics.md shows that errors are no larger. |
| squares at once | As many as fit L2 / 2 when transformed, before and after the products, but at least 48, or 24 \
where L3 is near. Blocks that cores can share come first. Where L3 is near and no block of so many fits, one may \
take half of the bytes of the filters. | The filters are read once per block. What lies between \
the transforms and the products stays in L2. |
| b copied into panels as wide as a tile | b is a constant; or its rows are not contiguous; or at least 20 tiles of \
rows read it; where it has L2 / 8 bytes or more, 4 tiles, or more than `sweeps_in_place` where it has at most 4 L2, \
or one where its rows share sets of L1 | Panels are read in order, a tile at a time. |
| at most 10 rows of a tile | a is f16 and the sums are f32 | Four steps of all rows are converted at once. With \
more rows, products wait for that (measured). |
| panels of f16 extended to f32 once, in each call | b is constant and one matrix for all, sums are in f32, at least \
192 rows read it, and it takes at most L2 in f32. Where all tiles of a panel come one after the other and no tap is \
skipped, the first of them extends it. Else that is done before the tiles of its block. | Each tile of rows would \
extend it again. The stores of the first tile run beside its multiply-adds. Weights in memory stay f16. |
| tiles of few rows, such as 6x64 in place of 8x48 | a is f32, b is f16 and extended as it is loaded, and registers \
are worked on in halves (`zen4`). | Multiply-adds, elements of a and conversions share what begins in a cycle. Tiles \
of few rows leave room there (measured). |
| tiles of few columns, such as 13x32 in place of 8x48 | a is f32, b is f16 and extended as it is loaded, and two \
multiply-adds begin in a cycle. | More rows share a vector that is extended, which takes the time of half a \
multiply-add (measured on a Zen 5). |
| two steps of the sum side by side in panels | b is constant, a and b are bf16, the target is x86-64, and parts of \
k have an even number of steps. | A vector of f32 is one instruction on words of two bf16: a shift or a mask. On a \
row of bf16 it is two, which compete with multiply-adds. With AVX2, tiles leave one more register to LLVM. |
| parts of k | b in panels, more than two tiles of rows, one reduce axis: as many equal parts as make each at most \
1024 steps long, 2048 where b is f16 or bf16 | A panel of a part stays near while the rows go by. Each \
further part loads and stores the result once more. |
| panels per block | The same. Twice the panels fit 3/4 L2 less the bytes of a, which count where they are at most L2 \
/ 2. | The block stays in L2 while the rows go by, and the next block can be copied beside it. |
| the loop over panels outside the loop over rows | One axis of rows: a part of k takes at most L2 / 8 bytes of a, or \
L2 / 4 where b is prepacked. In addition, a panel has at most twice L1, or b is larger than L2 / 2, or at most 4 \
tiles of rows read b. Several axes of rows: b is larger than L2 / 8, or than L2 / 2 where a is larger than L2 and a \
panel has more than twice L1. | Each panel is read once, and all of a stays in L2. While b is copied, L2 holds its \
original too. With the other order the rows of a tile stay in L1. With several axes of rows those of one value of the \
others stay there. |
| lines of the next panels are prefetched (`tile.prefetch`) | b is a constant that is larger than L2 / 2 in the type \
of the sums, two panels take at most 3/4 L2, and at least two tiles read each: every tile prefetches its share of the \
next panels, a few lines every four steps of the sum. | b comes from L3 or memory while all tiles compute, not only \
during the first. |
| the next rows of a are prefetched (`tile.prefetch`) | a is larger than 2 L2 and its rows follow each other, b is one \
panel, and k is one part: each step prefetches its share of the rows of the next tile. | The processor does not keep \
track of several rows that are read from memory side by side. 1x1 convolutions to few channels get 5 to 8 % faster. |
| loops of vectors on register tiles of 1 x 64 (`vectorize-loops`) | The target has registers of 64 bytes. \
The loop runs over f32, f16 or bf16, at least 16 iterations, neighbours in a row. | Four registers hide the \
latency of each other. Functions and maxima use instructions that LLVM's vectoriser does not use. |
| bytes are looked up in registers (`tile.translate`) | Registers of 64 bytes. A loop of at least 64 iterations loads \
a byte, takes that element of a table of 256 and stores it. With `avx512vbmi` two permutations do it, else sixteen \
shuffles. | Memory gives one byte per cycle. |
| the next row is prefetched (`tile.prefetch`) | The same, for several loops one after the other on one row. What the \
second loop reads and the first writes is prefetched, where two rows of each fit L1. | The processor starts anew with \
each row, because loops that find the row in L1 miss nothing. |

## Products of bytes

| choice | when | why |
| --- | --- | --- |
| products of bytes by `amx-int8`, else by dot products (`avx512vnni`, `avxvnni`, `dotprod`, `i8mm`), \
else on x86-64 in 16 bits (`vpmaddwd`) | \
`i8` or `ui8` on either side, sums in 32 bits, at least 16 steps of the sum, and 16 rows and \
columns unless b is a constant | The \
result is exact: all of these instructions wrap and none saturates. In 16 bits both operands are extended in memory \
from 16 rows on, and in registers where b has fewer. |
| products of `bf16` by `amx-bf16`, else by `avx512bf16`, on Arm by `bf16` | b is a constant and one matrix for all, \
or `numerics="fast"`; not with `numerics="strict"`. Sums are in f32, sizes as above, two elements per group. \
Convolutions 3x3 are computed so rather than by Winograd's algorithm. | Pairs take half of the time. Numbers below \
2^-126 count as zeros there, as constants below it do anyway. |
| 32 x 32 sums, b in panels of 32 columns in groups of four bytes | `amx-int8` | Four tile registers hold sums, two \
rows and two columns: four loads serve four products. All of k is done at once, so sums are written once. |
| rows of a copied | `amx-int8`: the last rows, where they do not fill a tile register; all rows where k is no \
multiple of 64 or not contiguous | Tile registers are read whole. |
| panels per block | `amx-int8`, more than 32 rows: as many as fit L2 / 2 | The block stays in L2 while the rows go \
by, and 32 rows stay in L1. |
| convolutions: a product per tap of the window, with the sums in registers and blocks of panels outside all rows | As \
above. The channels are the last dimension of the image, and there are at least 16; with `amx-int8` at most 64 taps. | \
No patches are made, because the windows of a row overlap in memory. |
| the image copied, with room around it | `amx-int8`: what the last pixels of a row reach, where they do not fill a \
tile register; all of it with padding, or where channels are no multiple of 64. Dot products: with padding, where \
signs are flipped, or where channels are no multiple of 4. | Tile registers are read whole. Bytes past the channels \
are multiplied by zeros of b. |
| rows of a with the sign bit flipped | `avx512vnni` and `avxvnni`: both sides signed or both unsigned. `dotprod` \
without `i8mm`: one side of each kind | The instruction takes no such bytes. The sums start at what the flip changes. |
"""

_RESULTS = ((1, 64), (4, 128), (64, 10), (56, 64), (128, 768), (1024, 1024))


def page() -> str:
    """The text of docs/targets.md."""
    sections = [_INTRODUCTION, *_machines(), _ADDING, _RULES, *_tiles()]
    return "\n".join(section.rstrip("\n") + "\n" for section in sections)


def _machines() -> Iterator[str]:
    yield "## What is known of each\n\n3/4 L2 and L2 / 8 are bounds in the rules below.\n"
    rows = [_machine(target) for target in NAMED.values()]
    yield _table(
        ("target", "register", "registers", "FMA", "features", "L1 data", "L2", "L3", "3/4 L2", "L2 / 8"), rows
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
