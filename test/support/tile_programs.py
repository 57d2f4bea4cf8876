"""
Random loads, stores and products of register tiles in native code, against NumPy, on buffers beside memory nobody may
touch.

A program of its own, since a fault ends it: `python tile_programs.py KINDS SEED COUNT [CPU [FEATURES]]` runs COUNT
functions of each of KINDS (`move`, `mma`, `groups`, with commas). Prints each function before it runs.
"""

from __future__ import annotations

import ctypes
import random
import sys
from typing import Any

import ml_dtypes
import numpy as np
from guarded_arrays import guarded
from llvm_jit import lower
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.machine.code_target import CodeTarget
from stepwell.runtime.native.jit import NativeLibrary, compile_object, host_code_target

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "i1": np.bool_,
}
PRODUCTS = (
    *(("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64")),
    *(("i8", "i8"), ("i8", "i32"), ("i16", "i32"), ("i32", "i32"), ("i8", "i64"), ("i64", "i64")),
)


class Region:
    """A buffer of a random type, `strided` or not, and the array with its elements in guarded memory."""

    def __init__(self, rng: random.Random, dtype: str, shape: list[int], at_end: bool, dense: bool = False):
        pads = [0 if dense else rng.choice([0, 0, 1, 3]) for _ in shape]
        strides: list[int] = []
        size = 1
        for extent, pad in zip(reversed(shape), reversed(pads), strict=True):
            strides.insert(0, size)
            size *= extent + pad
        layout = f", strided<[{', '.join(map(str, strides))}]>" if any(pads) else ""
        self.type = f"memref<{''.join(f'{extent}x' for extent in shape)}{dtype}{layout}>"
        item = np.dtype(DTYPES[dtype]).itemsize
        count = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        self.memory = guarded(count * item, at_end).view(DTYPES[dtype])
        self.memory[...] = np.random.default_rng(rng.randrange(2**32)).integers(
            *((0, 2) if dtype == "i1" else (-8, 9)), count
        )
        self.array: Array = np.lib.stride_tricks.as_strided(self.memory, shape, [s * item for s in strides])

    @property
    def pointer(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.memory.ctypes.data)


class Walk:
    """A random place: what is printed for it, and the elements that it names."""

    def __init__(self, rng: random.Random, extents: tuple[int, int], broadcast: bool, groups: bool = False):
        rank = rng.randint(1, 4) if broadcast else rng.randint(2, 6)
        self.by = [rng.choice([1, 1, 2, 3]), 1 if groups else rng.choice([1, 1, 1, 2])]
        if groups:
            rank = max(rank, 2)
        dims = list(range(rank))
        self.along = rng.sample(dims, 2) if rank >= 2 else [-1, 0]
        if rng.random() < 0.6 or groups:
            self.along = [rank - 2, rank - 1] if rank >= 2 else [-1, 0]
        if broadcast:
            for side in range(2):
                if rng.random() < 0.25:
                    self.along[side] = -1
        self.shape = [rng.randint(1, 3) for _ in dims]
        self.corner = [rng.randrange(extent) for extent in self.shape]
        for dimension, step, extent in zip(self.along, self.by, extents, strict=True):
            if dimension >= 0:
                self.corner[dimension] = rng.choice([0, 0, 1, 5])
                self.shape[dimension] = self.corner[dimension] + (extent - 1) * step + 1 + rng.choice([0, 0, 2])
        self.extents = extents

    def positions(self, row: int, column: int) -> tuple[int, ...]:
        found = list(self.corner)
        for dimension, step, number in zip(self.along, self.by, (row, column), strict=True):
            if dimension >= 0:
                found[dimension] += step * number
        return tuple(found)

    def text(self, buffer: str, more: str = "") -> str:
        indices = ", ".join(f"%c{position}" for position in self.corner)
        along, by = (f"[{pair[0]}, {pair[1]}]" for pair in (self.along, self.by))
        return f"{buffer}[{indices}{more}] along {along} by {by}"

    def read(self, array: Array) -> Array:
        rows, columns = self.extents
        found = [[array[self.positions(r, c)] for c in range(columns)] for r in range(rows)]
        return np.array(found, array.dtype).reshape(rows, columns, *array.shape[len(self.corner) :])


def sizes(rng: random.Random, most_elements: int = 400) -> tuple[int, int]:
    """Rows and columns of a tile."""
    columns = rng.choice([1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 50, 64, 100])
    return rng.randint(1, max(1, min(31, most_elements // columns))), columns


class Case:
    """A function, its buffers, and what the last of them shall hold."""

    text: str
    regions: list[Region]
    expected: Array


def function(name: str, regions: list[Region], lines: list[str]) -> str:
    arguments = ", ".join(f"%b{number}: {region.type}" for number, region in enumerate(regions))
    text = "\n  ".join(lines)
    used = sorted({int(part) for part in "".join(c if c.isdigit() else " " for c in text).split()})
    constants = "\n  ".join(f"%c{number} = arith.constant {number} : index" for number in used)
    return f"func.func @{name}({arguments}) {{\n  {constants}\n  {text}\n  func.return\n}}\n"


def move(rng: random.Random, name: str) -> Case:
    """A tile from one place to another."""
    case, extents, dtype = Case(), sizes(rng), rng.choice(list(DTYPES))
    at_end = rng.random() < 0.5
    source, target = Walk(rng, extents, True), Walk(rng, extents, False)
    case.regions = [Region(rng, dtype, walk.shape, at_end) for walk in (source, target)]
    tile = f"vector<{extents[0]}x{extents[1]}x{dtype}>"
    case.text = function(
        name,
        case.regions,
        [
            f"%t = tile.load {source.text('%b0')} : {case.regions[0].type}, {tile}",
            f"tile.store %t, {target.text('%b1')} : {tile}, {case.regions[1].type}",
        ],
    )
    case.expected = case.regions[1].array.copy()
    values = source.read(case.regions[0].array)
    for row in range(extents[0]):
        for column in range(extents[1]):
            case.expected[target.positions(row, column)] = values[row, column]
    return case


def mma(rng: random.Random, name: str) -> Case:
    """A product added to a tile. The sums are small integers, exact in every type."""
    case, (rows, columns) = Case(), sizes(rng)
    element, total = rng.choice(PRODUCTS if HAS_HALF else PRODUCTS[2:])
    right_element = rng.choice(["bf16", "f32", *(["f16"] if HAS_HALF else [])]) if total == "f32" else element
    narrow = element[0] == "i" and element != total
    unsigned, right_unsigned = (narrow and rng.random() < 0.4 for _ in range(2))
    depth = rng.choice([1, 2, 4, 5])
    left, right = Walk(rng, (rows, depth), True), Walk(rng, (depth, columns), True)
    at_end = rng.random() < 0.5
    case.regions = [
        Region(rng, element, left.shape, at_end),
        Region(rng, right_element, right.shape, at_end),
        Region(rng, total, [rows, columns], at_end, dense=True),
    ]
    words = (" unsigned" if unsigned else "", " right_unsigned" if right_unsigned else "")
    keywords = f"depth {depth}{''.join(words)}"
    case.text = product(name, case.regions, (left.text("%b0"), right.text("%b1")), keywords, total)
    a, b = (w.read(r.array) for w, r in zip((left, right), case.regions, strict=False))
    wide = np.float64 if total[0] != "i" and total != "i1" else np.int64
    a = a.view(f"u{a.dtype}") if unsigned else a
    b = b.view(f"u{b.dtype}") if right_unsigned else b
    with np.errstate(over="ignore"):
        case.expected = (a.astype(wide) @ b.astype(wide) + case.regions[2].array).astype(DTYPES[total])
    return case


def groups(rng: random.Random, name: str) -> Case:
    """A product of groups of four bytes of any values, by any instruction that there is for it."""
    case, (rows, columns) = Case(), sizes(rng)
    signs, depth = [rng.random() < 0.5, rng.random() < 0.5], rng.choice([1, 2, 4])
    using, read = "", (rows, columns)
    if HAS_VNNI and signs[0] != signs[1] and rng.random() < 0.6:
        using = ' using "vpdpbusd"'
    elif HAS_AMX and rng.random() < 0.6:
        rows, columns, depth = rng.choice([1, 5, 16, 32]), rng.choice([2, 16, 24, 32]), rng.choice([16, 48])
        using, read = ' using "amx"', (-(-rows // 16) * 16, -(-columns // 16) * 16)
    left = Walk(rng, (read[0], 4 * depth), False, groups=True)
    right = Walk(rng, (depth, read[1]), not using.endswith('"amx"'), groups=True)
    right.along = [len(right.shape) - 2 if right.along[0] >= 0 else -1, len(right.shape) - 1]
    right = redone(rng, right, (depth, read[1]))
    at_end = rng.random() < 0.5
    case.regions = [
        Region(rng, "i8", left.shape, at_end),
        Region(rng, "i8", [*right.shape, 4], at_end, dense=True),
        Region(rng, "i32", [rows, columns], at_end, dense=True),
    ]
    generator = np.random.default_rng(rng.randrange(2**32))
    for region in case.regions[:2]:
        region.memory[...] = generator.integers(-128, 128, region.memory.shape)
    words = [word for word, is_set in zip((" unsigned", " right_unsigned"), signs, strict=True) if is_set]
    keywords = f"depth {depth} groups{''.join(words)}{using}"
    places = (left.text("%b0"), right.text("%b1", ", %c0"))
    case.text = product(name, case.regions, places, keywords, "i32")
    a, b = left.read(case.regions[0].array), right.read(case.regions[1].array)
    a, b = (
        (each.view(np.uint8) if is_set else each).astype(np.int64) for each, is_set in zip((a, b), signs, strict=True)
    )
    sums = np.einsum("rde,dce->rc", a.reshape(read[0], depth, 4), b)[:rows, :columns]
    case.expected = (sums + case.regions[2].array).astype(np.int32)
    return case


def redone(rng: random.Random, walk: Walk, extents: tuple[int, int]) -> Walk:
    """`walk` with its corner and shape for `along` as it is now."""
    for dimension, step, extent in zip(walk.along, walk.by, extents, strict=True):
        if dimension >= 0:
            walk.corner[dimension] = rng.choice([0, 0, 1, 5])
            walk.shape[dimension] = walk.corner[dimension] + (extent - 1) * step + 1
    return walk


def product(name: str, regions: list[Region], places: tuple[str, str], keywords: str, total: str) -> str:
    rows, columns = regions[2].array.shape
    tile = f"vector<{rows}x{columns}x{total}>"
    return function(
        name,
        regions,
        [
            f"%t = tile.load %b2[%c0, %c0] : {regions[2].type}, {tile}",
            f"%r = tile.mma %t, {places[0]}, {places[1]} {keywords} : {tile}, {regions[0].type}, {regions[1].type}",
            f"tile.store %r, %b2[%c0, %c0] : {tile}, {regions[2].type}",
        ],
    )


KINDS = {"move": move, "mma": mma, "groups": groups}
HAS_VNNI = HAS_AMX = False
HAS_HALF = True
"""Whether the CPU converts f16; elsewhere LLVM calls a library that is not there."""


def main(kind: str, seed: int, count: int, cpu: str = "", features: str = "") -> None:
    """Runs `count` functions, on the host or on a lesser CPU of its kind."""
    global HAS_VNNI, HAS_AMX, HAS_HALF
    host = host_code_target()
    HAS_VNNI = "+avx512vnni" in host.features and not cpu
    HAS_AMX = "+amx-int8" in host.features and not cpu
    HAS_HALF = cpu != "x86-64"
    target = CodeTarget(host.triple, cpu, features) if cpu else host
    rng = random.Random(seed)
    cases = [KINDS[kind](rng, f"f{number}") for number in range(count)]
    text = "".join(case.text for case in cases)
    library = NativeLibrary(
        compile_object(emit_llvm_text(lower(text)), target, speed_level=rng.choice([1, 2])),
        [f"f{number}" for number in range(count)],
    )
    for number, case in enumerate(cases):
        print(case.text, flush=True)
        before = [region.array.copy() for region in case.regions[:-1]]
        arguments = [region.pointer for region in case.regions]
        ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arguments))(library.address(f"f{number}"))(*arguments)
        np.testing.assert_array_equal(case.regions[-1].array, case.expected)
        for region, old in zip(case.regions, before, strict=False):
            np.testing.assert_array_equal(region.array, old)


if __name__ == "__main__":
    for each in sys.argv[1].split(","):
        main(each, int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
