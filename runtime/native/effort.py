"""Says how much LLVM is to do with a text. Kernels whose loops the schedule has unrolled need less of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from ...core.roles import ENTRY_PREFIX

UNROLLED_LINES: Final = 400
"""
The lines of a function from which its loops are taken to be unrolled as far as they should be.

A kernel on register tiles has 500 to 4000 lines, and one that goes over its elements once has less than 200.
"""


UNROLLED_BLOCK: Final = 150
"""
The lines of a block that LLVM leaves as it is: a tile of 16 sums takes four steps in 150. Where those of 100 count as
well, ShuffleNet takes 1 % more time.
"""

_LABEL: Final = re.compile(r"^b\d+:$", re.MULTILINE)
"""The label of a basic block, as `lowering/llvm_text/function.py` writes it."""

_BLOCK: Final = re.compile(r"^b(\d+):$|label %b(\d+)", re.MULTILINE)
"""The label of a basic block, or a branch to one."""

_COMPUTES: Final = re.compile(r"<\d+ x | f(?:add|sub|mul|div|neg|cmp) ")
"""Words of vectors and of arithmetic on floats."""

LINES_FOR_CALL: Final = 20
"""The lines that make the arguments of a call and load the arrays of a program, at most."""

LOOP_METADATA: Final = ", !llvm.loop !"

VECTORS_WANTED: Final = '!"llvm.loop.vectorize.enable", i1 true'


TIDY: Final = ("simplify_cfg", "loop_rotate", "instruction_combine", "simplify_cfg")
"""
The passes for unrolled loops: loops end with their test, and what is constant or said twice goes.

Those of `-O1` take six times as long (0.6 s for the kernels of ResNet-50), and their code is not faster: 16 kernels and
three networks, each compiled both ways and called by turns, differ by less than two copies compiled alike. What moves
out of loops, the code generator moves too.
"""


class Effort(NamedTuple):
    """What LLVM does with a text: `passes` by name, or if there are none those of a level as in `-O`."""

    level: int
    passes: tuple[str, ...] = ()
    code: int = 2
    """The level at which machine code is made."""


@lru_cache(4)  # A text is asked about for the cache, and again when it is compiled.
def effort_for(text: str, most: int) -> Effort:
    """
    Returns what the passes of level `most` or a lower one are to do with LLVM text, which alone decides it.

    Unrolled loops are long already. Passes that look for more between their instructions take time and find nothing:
    half of the time that a network takes to compile is theirs. The loops of small kernels are left for LLVM to unroll.
    So are those of a text that asks LLVM for vectors somewhere: short reductions that it neither unrolls nor should
    have met end in an assertion of its vectoriser (LLVM 22, maxima that pass over NaNs).
    """
    if _only_calls(text):
        return Effort(0, code=0)
    if most == 0 or not _is_unrolled(text):
        return Effort(most)
    return Effort(1) if VECTORS_WANTED in text else Effort(1, TIDY)


def _only_calls(text: str) -> bool:
    """
    Returns whether a long text has the entries of a program, which call kernels. It has no loops, and computes nothing
    but addresses: kernels of few elements may be without loops too.

    The machine code for the 260 calls of a quantised BERT takes 70 ms at level 2, and 9 ms at level 0. An argument of a
    call is then on the stack for a while.
    """
    is_program = text.count("\n") >= UNROLLED_LINES and f"@{ENTRY_PREFIX}" in text
    return is_program and _COMPUTES.search(text) is None and not _has_loop(text) and _mostly_calls(text)


def _mostly_calls(text: str) -> bool:
    """Returns whether there is a call for so few lines that the others make its arguments."""
    return text.count(" call ") * LINES_FOR_CALL >= text.count("\n")


def _has_loop(text: str) -> bool:
    """
    Returns whether a block branches to itself or to one before it. Blocks are numbered in their order. A branch with
    metadata of a loop is taken for one.
    """
    if LOOP_METADATA in text:
        return True
    current = 0
    for match in _BLOCK.finditer(text):
        label, target = match.groups()
        if label is not None:
            current = int(label)
        elif int(target) <= current:
            return True
    return False


def _is_unrolled(text: str) -> bool:
    """
    Returns whether more lines are in functions whose loops are unrolled than in others with loops. Those that run once
    are not worth unrolling.
    """
    long = short = 0
    for function in ("\n" + text).split("\ndefine ")[1:]:
        if " phi " in function:
            lines = function.count("\n")
            if lines >= UNROLLED_LINES or _runs_once(function) or _longest_block(function) >= UNROLLED_BLOCK:
                long += lines
            else:
                short += lines
    return long > short


def _longest_block(function: str) -> int:
    """Returns the lines of the longest basic block."""
    return max(block.count("\n") for block in _LABEL.split(function))


def _runs_once(function: str) -> bool:
    """Returns whether a function prepares weights, as its first line says."""
    return " cold " in function[: function.index("\n")]
