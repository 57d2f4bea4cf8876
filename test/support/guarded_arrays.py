"""
Runs compiled programs on arrays that touch memory nobody may read; a program of its own, since a fault ends it.

`python guarded_arrays.py LEVEL SEED COUNT`: COUNT programs per family of ops, on operands, results and intermediate
buffers that lie against a page without any access, at their end and then at their start. Prints the program that it is
about to run. `python guarded_arrays.py short-rows LEVEL`: one program that once faulted.
`python guarded_arrays.py touch` faults.
"""

from __future__ import annotations

import ctypes
import mmap
import pickle
import sys
from typing import Any

import numpy as np
import stepwell
from stepwell.runtime.program import bound_entry as entry_module
from stepwell.te.dtypes import numpy_dtype
from stepwell.testing.programs.ir_generators import RandomChooser, batch_text
from stepwell.testing.programs.movement_generators import FAMILIES, random_case

Array = np.ndarray[Any, Any]

PROT_NONE = 0
LIBC = ctypes.CDLL(None, use_errno=True)
_REGIONS: list[mmap.mmap] = []
"""Kept for as long as the process lives."""


def guarded(size: int, at_end: bool) -> Array:
    """`size` bytes with a forbidden page right behind them (`at_end`), else right before them."""
    page = mmap.PAGESIZE
    pages = max(1, -(-size // page))
    region = mmap.mmap(-1, (pages + 2) * page)
    _REGIONS.append(region)
    memory = np.frombuffer(region, np.uint8)
    for guard in (0, (pages + 1) * page):
        address = ctypes.c_void_p(memory.ctypes.data + guard)
        if LIBC.mprotect(address, ctypes.c_size_t(page), PROT_NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    start = (pages + 1) * page - size if at_end else page
    return memory[start : start + size]


def guarded_like(array: Array, at_end: bool) -> Array:
    """An array of the shape and type of `array`, not initialised."""
    return guarded(array.nbytes, at_end).view(array.dtype).reshape(array.shape)


def check(text: str, arrays: list[Array], level: int) -> None:
    """Runs the program on guarded memory, both ways; the results do not depend on where the arrays lie."""
    results: list[list[bytes]] = []
    kept = pickle.dumps(stepwell.compile(text, opt_level=level, cache=False))
    for at_end in (True, False):
        # Intermediate buffers lie in the arena, whose size is a multiple of its alignment. Each copy has its own.
        entry_module.aligned_bytes = lambda size, at_end=at_end: guarded(size, at_end)
        program = pickle.loads(kept)
        inputs = [guarded_like(array, at_end) for array in arrays]
        for copy, array in zip(inputs, arrays, strict=True):
            copy[...] = array
        types = [type_ for _, type_ in program.output_types]
        outputs = [guarded_like(np.empty(t.sizes, numpy_dtype(t.dtype)), at_end) for t in types]
        program.run_into(outputs, *inputs)
        results.append([output.tobytes() for output in outputs])
    assert results[0] == results[1], text


def main(level: int, seed: int, count: int) -> None:
    """Programs of all families at optimisation level `level`."""
    for number in range(count):
        for family, ops in FAMILIES.items():
            choose = RandomChooser(seed * 1000 + number)
            cases = [random_case(choose, family, op) for op in ops]
            arrays = [array for k, case in enumerate(cases) for array in case.arrays(seed + number + k)]
            print(f"{family} {number}", flush=True)
            check(batch_text(cases), arrays, level)


SHORT_ROWS = """func.func @main(%x: tensor<4x8x9xbf16>, %g: tensor<9xbf16>, %b: tensor<9xbf16>) -> tensor<4x8x9xbf16> {
  %0 = graph.group_norm %x, %g, %b, num_groups = 3, axis = -1 : (tensor<4x8x9xbf16>, tensor<9xbf16>, tensor<9xbf16>)
  func.return %0 : tensor<4x8x9xbf16>
}
"""
"""Rows of nine half floats: LLVM 22 once stored the last one as four bytes (a masked step of a short vector loop)."""


def short_rows(level: int) -> None:
    """The program above on ones."""
    shapes = ((4, 8, 9), (9,), (9,))
    check(SHORT_ROWS, [np.ones(shape, numpy_dtype("bf16")) for shape in shapes], level)


def touch_a_guard() -> None:
    """Reads one byte too many: what the test of the guards expects to end the process."""
    ctypes.string_at(guarded(100, True).ctypes.data, 101)


if __name__ == "__main__":
    if sys.argv[1] == "touch":
        touch_a_guard()
    elif sys.argv[1] == "short-rows":
        short_rows(int(sys.argv[2]))
    else:
        main(*map(int, sys.argv[1:4]))
