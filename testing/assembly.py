"""
Loops of assembly text: which there are, and what their instructions do.

For tests of machine code, on x86-64 (AT&T syntax, as LLVM prints it) and AArch64. A loop is what lies between a label
and the last branch back to it; innermost are those without another inside. In FileCheck tests `asm-loops` is a filter
that prints those with products of vectors (`--all`: all innermost loops), each under a line that counts what is in it:

    loop .LBB0_3: 96 products, 40 loads, 0 stores, 0 of the stack, 0 calls
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from ..lazy_dataclass import dataclass

_LABEL = re.compile(r"^([.\w$]+):")
_BRANCH = re.compile(r"^(j[a-z]+|b|b\.[a-z]+|cbn?z|tbn?z)$")
_PRODUCT = re.compile(
    r"^(vf(n?)m(add|sub)\w*[ps][sdh]|v?mul[ps][sdh]|f(mla|mls|mul)|vpdpbusds?|v?pmaddwd|v?pmull[wd]|(us?|s)dot|bfdot|mla|"
    r"[su]mlal2?|tdp\w+)$"
)
_VECTOR = re.compile(r"%[xyzt]mm\d+|\bv\d+\.\d*[bhsd]|\b[qds]\d+\b")
_STACK = re.compile(r"\(%rsp\)|\[sp(, #-?\d+)?\]")
_FRAME = re.compile(r"\(%rbp\)|\[x29(, #-?\d+)?\]")
_FRAME_IS_SET = re.compile(r"mov\w?\s+%rsp, %rbp|(mov|add)\s+x29, sp\b")
_MEMORY = re.compile(r"\(%\w+[^)]*\)|\[[xs]\w+")
_STORED_FIRST = re.compile(r"^st[prnu1]")


@dataclass(frozen=True)
class Loop:
    """The instructions of one loop, label and branch included."""

    label: str
    lines: tuple[str, ...]
    framed: bool = False
    """Says whether `%rbp` (`x29`) points into the stack in its function. Elsewhere it is a register as any other."""

    def mnemonics(self) -> list[str]:
        return [words[0] for line in self.lines if (words := _words(line))]

    def count(self, pattern: str) -> int:
        """Returns how many instructions, written as in the text, `pattern` is found in."""
        return sum(bool(re.search(pattern, line)) for line in self.lines)

    @property
    def products(self) -> int:
        """Multiplications, of floats or integers, with or without an addition."""
        return sum(bool(_PRODUCT.match(name)) for name in self.mnemonics())

    @property
    def spills(self) -> tuple[str, ...]:
        """
        The instructions that touch the stack at one place: registers were short. With an index it is that of an array.
        """
        return tuple(
            line.strip() for line in self.lines if _STACK.search(line) or (self.framed and _FRAME.search(line))
        )

    @property
    def loads(self) -> int:
        """Instructions that read memory, operands in memory included."""
        return sum(_touches_memory(line) and not _is_store(line) for line in self.lines)

    @property
    def stores(self) -> int:
        return sum(_touches_memory(line) and _is_store(line) for line in self.lines)

    @property
    def summary(self) -> str:
        """What is in it, in one line."""
        return (
            f"loop {self.label}: {self.products} products, {self.loads} loads, {self.stores} stores, "
            f"{len(self.spills)} of the stack, {self.calls} calls"
        )

    @property
    def calls(self) -> int:
        return sum(name in ("call", "callq", "bl", "blr") for name in self.mnemonics())


def innermost_loops(assembly: str) -> list[Loop]:
    """Every loop of the text that holds no other, in the order of the text."""
    comment = "#" if "%rsp" in assembly or "%xmm" in assembly else "//"
    lines = [line.split(comment)[0].rstrip() for line in assembly.splitlines()]
    places = {found[1]: number for number, line in enumerate(lines) if (found := _LABEL.match(line))}
    ends: dict[int, int] = {}
    for number, line in enumerate(lines):
        words = _words(line)
        start = places.get(words[-1].lstrip("$"), number) if words and _BRANCH.match(words[0]) else number
        if start < number:
            ends[start] = number
    spans = sorted(ends.items())
    inner = [(start, end) for start, end in spans if not any(start < other and end_ <= end for other, end_ in spans)]
    return [
        Loop(lines[start].rstrip(":"), tuple(lines[start : end + 1]), _is_framed(lines, start)) for start, end in inner
    ]


def _is_framed(lines: Sequence[str], place: int) -> bool:
    """Whether the function around a line sets `%rbp` (`x29`) before it to where the stack is."""
    starts = [number for number, line in enumerate(lines[:place]) if line.endswith(":") and line[0] != "."]
    return any(_FRAME_IS_SET.search(line) for line in lines[starts[-1] if starts else 0 : place])


def tile_loops(assembly: str, least: int = 4) -> list[Loop]:
    """The innermost loops with at least `least` products of vectors."""
    return [
        loop
        for loop in innermost_loops(assembly)
        if sum(bool(_PRODUCT.match(w[0])) and bool(_VECTOR.search(line)) for line in loop.lines if (w := _words(line)))
        >= least
    ]


def _words(line: str) -> list[str]:
    """Mnemonic and operands of an instruction; nothing for a label or a directive."""
    text = line.strip()
    if not text or _LABEL.match(text) or text.startswith("."):
        return []
    return text.removeprefix("{vex}").replace(",", " ").split()


def _touches_memory(line: str) -> bool:
    words = _words(line)
    return bool(words) and not words[0].startswith("lea") and bool(_MEMORY.search(line))


def _is_store(line: str) -> bool:
    """In AT&T syntax the last operand is the destination; on AArch64 the mnemonic says it."""
    if "%" in line:
        return line.rstrip().endswith(")") and not line.strip().startswith(("cmp", "test", "prefetch"))
    return bool(_STORED_FIRST.match(_words(line)[0]))


def main(arguments: Sequence[str]) -> int:
    """The filter: assembly on standard input, its loops on standard output."""
    text = sys.stdin.read()
    for loop in innermost_loops(text) if "--all" in arguments else tile_loops(text):
        print(loop.summary, *loop.lines, sep="\n")
    return 0
