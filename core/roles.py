"""
The names of the attributes by which Stepwell's stages tell each other what a function or argument is for.

They are part of the textual IR: docs/ir.md lists them.
"""

from __future__ import annotations

from typing import Final

# Of an argument of an entry on buffers

ROLE: Final = "stepwell.role"
"""`input`, `output`, `weight` or `arena`; `size` or `stride` of the buffer before it."""

AXIS: Final = "stepwell.axis"
"""Of a size or stride: the dimension."""

NAME: Final = "stepwell.name"
"""What errors call it, and how it is passed by keyword."""

KEY: Final = "stepwell.key"
"""Of a weight: its name in the side-car, or `@function#result` of a prepare function."""

DIMS: Final = "stepwell.dims"
"""Of an argument: a name per dimension, `["batch", ""]` (empty: none); equal names are equal sizes."""

TYPE: Final = "stepwell.type"
"""Of a weight: its tensor type."""

BYTES: Final = "stepwell.bytes"
"""Of an arena: its size."""

LIVE_BYTES: Final = "stepwell.live_bytes"
"""Of an arena: the most bytes alive at one time, which no plan can do without."""

TEMPORARY: Final = "stepwell.temporary"
"""Of an argument of a kernel: a buffer that holds nothing before and after."""

IN_PLACE: Final = "stepwell.in_place"
"""Of an output of a kernel: it holds an input when the kernel is called."""

# Of a function

SIGNATURE: Final = "stepwell.signature"
"""The tensor types of an entry at the top of the stairs."""

PREPARE: Final = "stepwell.prepare"
"""Runs once per set of weights, when a program is loaded."""

INSTANCES: Final = "stepwell.instances"
"""Of a prepare function: others that do the same to other weights, by name the keys in place of its own."""

PROFILE: Final = "stepwell.profile"
"""What the rows of the result `profile` of an entry stand for (`profile-kernels`)."""

NOALIAS: Final = "stepwell.noalias"
"""No two memref arguments share memory."""

ENTRY_PREFIX: Final = "_stepwell_entry_"
"""Of the name of the C function `i32 entry(void **arguments)` around an entry."""

# Of a loop

LOOP: Final = "stepwell.loop"
"""Hints for LLVM: words of `vectorize`, `no-vectorize`, `unroll`, `no-unroll`."""

PARALLEL: Final = "stepwell.parallel"
"""The iterations are independent and may run at the same time."""

# Of a block

TILING: Final = "stepwell.tiling"
"""A `#schedule.tiling`: how the contraction that the block computes is cut up."""

GRAIN: Final = "stepwell.grain"
"""Of a block, then of the function around it: about so many nanoseconds of work are one chunk of a parallel loop."""

# Of a module

WEIGHTS: Final = "stepwell.weights"
"""The side-car, relative to the file of the program."""

CHECKS: Final = "stepwell.checks"
"""What each status that an entry returns stands for."""
