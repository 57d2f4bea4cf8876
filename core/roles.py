"""
What Stepwell's stages tell each other about functions, arguments and buffers without calling each other.

Names of attributes are part of the textual IR: docs/ir.md lists them.
"""

from __future__ import annotations

from typing import Final

# Of an argument of an entry on buffers

ROLE: Final = "stepwell.role"
"""The role of an argument: `input`, `output`, `weight` or `arena`, or `size` or `stride` of the buffer before it."""

AXIS: Final = "stepwell.axis"
"""The dimension that a size or stride belongs to."""

NAME: Final = "stepwell.name"
"""What errors call it, and how it is passed by keyword."""

KEY: Final = "stepwell.key"
"""The name of a weight in the side-car, or the `prepare_key` of a result of a prepare function."""

DIMS: Final = "stepwell.dims"
"""An entry per dimension of an argument: a name, a computed size `= n + 1`, or empty. Equal names are equal sizes."""

TYPE: Final = "stepwell.type"
"""The tensor type of a weight."""

BYTES: Final = "stepwell.bytes"
"""The size of an arena."""

LIVE_BYTES: Final = "stepwell.live_bytes"
"""The most bytes of an arena that are alive at one time, which no plan can do without."""

DONATED: Final = "stepwell.donated"
"""The caller gives an argument away: a result may take its place in memory. Of a tensor too."""

PLACE_OF: Final = "stepwell.place_of"
"""The number of the donated input in whose place an output may lie. Where it does not, the entry copies the input."""

SEPARATE: Final = "stepwell.separate"
"""Marks a `memref.alloc` of exactly the bytes of its buffer, for tools that check memory (`bufferize`)."""

TEMPORARY: Final = "stepwell.temporary"
"""Marks an argument of a kernel that is a buffer which holds nothing before and after."""

IN_PLACE: Final = "stepwell.in_place"
"""Marks an output of a kernel that holds an input when the kernel is called."""

IN_PLACE_COPY: Final = "stepwell.in_place_copy"
"""
The copy of a kernel that finds inputs in an output, on the declaration of one that has been lowered before its callers:
the name of the copy, with the number of the output and the positions of the inputs.
"""

# Of a function

SKIP: Final = "stepwell.skip"
"""
The attribute of a function that keeps passes away from it. It is an array of names of passes, or a unit attribute for
all passes on functions.
"""

EXTERNAL: Final = "stepwell.external"
"""Attribute of a declaration below the graph: `{compiler = name, source = text}`, all that a code generator needs."""

FUNCTION: Final = "stepwell.function"
"""The function that an entry for C is around."""

SIGNATURE: Final = "stepwell.signature"
"""The tensor types of an entry on the graph level."""

PREPARE: Final = "stepwell.prepare"
"""Runs once per set of weights, when a program is loaded."""

INSTANCES: Final = "stepwell.instances"
"""Other prepare functions that do the same to other weights, by name the keys in place of its own."""

PROFILE: Final = "stepwell.profile"
"""What the rows of the result `profile` of an entry stand for (`profile-kernels`)."""

NOALIAS: Final = "stepwell.noalias"
"""No two memref arguments share memory."""

TASK: Final = "stepwell.task"
"""Marks a function that is called in chunks by several threads. It has no results."""

LINK_NAME: Final = "stepwell.link_name"
"""The name that a declaration is linked by, where the symbol in the IR is another one."""

ENTRY_PREFIX: Final = "_stepwell_entry_"
"""The beginning of the name of the C function `i32 entry(void **arguments)` around an entry."""

WRITTEN: Final = "stepwell.written"
"""The loop function reads no element that it has not written, and writes all of its outputs: nothing is checked."""

RUN_PARALLEL: Final = "_stepwell_parallel"
"""
The C function `i32 (task, frame, i64 lower, i64 upper, i64 chunk)` that runs a parallel loop. The runtime gives it
(`runtime.native.threads`).
"""

# Of a loop

LOOP: Final = "stepwell.loop"
"""Hints for LLVM: words of `vectorize`, `no-vectorize`, `unroll`, `no-unroll`."""

PARALLEL: Final = "stepwell.parallel"
"""The iterations are independent and may run at the same time."""

CHUNK: Final = "stepwell.chunk"
"""Marks a call that the threads share, whose first two operands are bounds: how many iterations one task takes."""

# Of a block

UNCHECKED: Final = "stepwell.unchecked"
"""The accesses of the block are taken to be inside their buffers: nothing is proven, refused or checked."""

TILING: Final = "stepwell.tiling"
"""An attribute of the schedule dialect, such as `#schedule.tiling`: how what the block computes is cut up."""

PREPACKED: Final = "stepwell.prepacked"
"""True where `prepack-weights` lays out the right operand of the product that the block computes."""

REASON: Final = "stepwell.reason"
"""The reason of `plan-schedules` for what it decided about the block."""

ROWS: Final = "stepwell.rows"
"""The number of outermost loops that the block shares with the block before it, 0 for none."""

ROWS_AT_ONCE: Final = "stepwell.rows_at_once"
"""The first block in a loop over rows that blocks share: so many rows of each of them run before those of the next."""

STRIP: Final = "stepwell.strip"
"""The rows of a strip that goes through all kernels from this product to the one after its softmax, 0 for none."""

SHARE: Final = "stepwell.share"
"""Threads share loops around the block that take at least so many nanoseconds, 0 for none."""

MAXIMUM: Final = "stepwell.maximum"
"""What a maximum may pass over: `"zeros"` for the sign of a zero, `"nan"` for NaNs as well."""

GRAIN: Final = "stepwell.grain"
"""About so many nanoseconds of work are one chunk of a parallel loop, for a block, then for the function around it."""

DECIDED: Final = frozenset(
    (TILING, PREPACKED, REASON, ROWS, ROWS_AT_ONCE, STRIP, SHARE, MAXIMUM, GRAIN),
)
"""
What schedules and rules may decide about a block. Passes refuse a decision that does not fit, so that none of them
changes what is computed.
"""

# Of a rounding (`arith.truncf`) and of an extension (`arith.extf`)

IMPLIED: Final = "stepwell.implied"
"""
An op rounds its own result in this way, or extends its operand. Where `excess` allows it, what follows the one takes
the result before that, and the other takes its operand before it was rounded.
"""

# Of the graph

PRIMITIVE: Final = "graph.primitive"
"""Marks a function that is a fused group: later passes treat it as one op, and leave its body alone."""

COMPOSITE: Final = "graph.composite"
"""The name of the pattern that the body of a function matches."""

PARTITIONED: Final = "graph.partitioned_from"
"""The names of the ops of a function made by partitioning, in post-order, each followed by `_`."""

COMPILER: Final = "graph.compiler"
"""The name of the code generator that is to compile a private function."""

TARGET: Final = "graph.target"
"""The code generator that is to compute an op."""

REGION: Final = "graph.region"
"""The number, within its block, of the region of an op."""

GROUP: Final = "graph.group"
"""The number of the group that `plan-fusion` puts an op in."""

GROUP_REASON: Final = "graph.group_reason"
"""Why it does so."""

PROTECTED: Final = "graph.no_cse"
"""Marks an op that stays though another one computes the same."""

APART: Final = "graph.apart"
"""Marks a constant that stays an input of the groups that use it, though all of its elements are one number."""

CALIBRATION_MAP: Final = "graph.calibration_map"
"""The map of an entry: for each recorded function `[offset, inputs, outputs]` of each of its calls."""

# Of rules (docs/rewrites.md)

ANY_TYPE: Final = "pattern.any_type"
"""Marks `@pattern`, or one of its parameters, whose written type then stands for any type."""

ANY_DTYPE: Final = "pattern.any_dtype"
"""The same for the element type only."""

ANY_SHAPE: Final = "pattern.any_shape"
"""The same for the shape only. Its rank is included."""

PATTERN_ATTRIBUTES: Final = "pattern.attributes"
"""
Names for other attributes of an op. By `{axis = "a"}` its `axis` may be anything, and `a` in `@replacement` is
the same.
"""

NUMERICS_CLASS: Final = "pattern.numerics"
"""The class of a rule: on `@pattern`, on a `pdl.rewrite`, or on a module for all patterns in it."""

EFFECTS: Final = "pattern.effects"
"""Marks a rule that may erase, move and make ops with effects: at the same places."""

DOC: Final = "pattern.doc"
"""The line of a `pdl.rewrite` that says what the rule does."""

# Of a module

WEIGHTS: Final = "stepwell.weights"
"""The side-car, relative to the file of the program."""

CHECKS: Final = "stepwell.checks"
"""What each status that an entry returns stands for."""

PREFIXES: Final = ("stepwell.", "graph.", "tensor_loop.", "schedule.", "tile.", "pattern.")
"""The beginnings of the names of our attributes. Those of other packages begin with another word."""

NAMES: Final = frozenset(
    value
    for name, value in tuple(vars().items())
    if name.isupper() and isinstance(value, str) and value.startswith(PREFIXES)
)
"""All of these names. A name that is none of them is a slip of the pen, and would be without effect."""

FLAGS: Final = frozenset(
    (
        *(APART, DONATED, EFFECTS, IN_PLACE, NOALIAS, PARALLEL),
        *(PREPARE, PRIMITIVE, SEPARATE, TEMPORARY, UNCHECKED, WRITTEN),
    )
)
"""Attributes that hold by being there take no value: `= false` would mean what `= true` does."""

# Of memory and weights

BUFFER_ALIGNMENT: Final = 64
"""
Bytes: every address of a buffer or array that Stepwell allocates, and every place in an arena, is a multiple of it.

64 bytes are a cache line and the widest vector register, so no aligned access of a register meets two lines.
"""


def aligned(size: int) -> int:
    """Returns `size` rounded up to a multiple of `BUFFER_ALIGNMENT` bytes."""
    return -(-size // BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT


def prepare_key(function: str, result: int) -> str:
    """Returns the `KEY` of a weight that is a result of a prepare function: `@prepare_0#1`."""
    return f"@{function}#{result}"


def prepare_function(key: str) -> str | None:
    """Returns the prepare function that a `KEY` mentions, or None where the key is one of the side-car."""
    return key[1:].partition("#")[0] if key.startswith("@") else None
