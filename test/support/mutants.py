"""Mutants of programs in text: what a slip of the hand, a careless generator or malice makes of a valid program."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FILECHECK = Path(__file__).parents[1] / "filecheck"

NUMBERS = ("0", "1", "-1", "2", "3", "7", "64", "255", "2147483647", "2147483648", "-2147483648", "4294967296",
           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999", "0.0", "-0.0",
           "1.5", "1.0e400", "1.0e-45", "0x7FC00000", "true")  # fmt: skip

SIZES = ("0", "1", "2", "3", "5", "7", "16", "17", "64", "1000", "2147483648", "4294967296", "9223372036854775807", "?")

DTYPES = (
    "f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "ui8", "si8", "ui32", "index", "f8E4M3FN",
    "f8E5M2", "i4", "i128", "tf32", "complex<f32>",
)  # fmt: skip

STRINGS = ("", " ", "é", "名前", "a b", 'a\\"b', "a\\\\", "\\00", "\\0A", "x" * 300, "%s", "{0}", "../../x", "a/b",
           "@main", "llvm.memcpy", "\\FF", "\u200b")  # fmt: skip

TYPES = (
    "memref<4xf32>", "memref<?xf32>", "memref<4x8xf32, strided<[16, 2], offset: 3>>", "memref<f32>",
    "memref<*xf32>", "memref<4xindex>", "memref<4xf32, 3>", "memref<9223372036854775807xf32>", "vector<4xf32>",
    "vector<8xi32>", "vector<4x8xf32>", "vector<f32>", "vector<0xf32>", "vector<[4]xf32>", "vector<4xindex>",
    "tensor<4xf32>", "tensor<4x8xf32>", "tensor<?xf32>", "tensor<f32>", "tensor<*xf32>", "tensor<0xf32>",
    "!llvm.ptr", "none", "i0", "f80", "index", "tuple<f32, i32>",
)  # fmt: skip

NUMBER = re.compile(r"(?<![\w%@^!#.\"])-?\d+(?:\.\d+(?:e[+-]?\d+)?)?(?![\w.x])")
SIZE = re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)")
DTYPE = re.compile(r"(?<=[<x :(>])(?:bf16|f8E\w+|f\d+|[su]?i\d+|index)\b")
TYPE = re.compile(r"(?:tensor|memref|vector)<[^<>]*(?:<[^<>]*>[^<>]*)*>")
SYMBOL = re.compile(r"@[\w.]+")
VALUE = re.compile(r"%[\w.#]+")
OP = re.compile(r"(?<=[ \"])(?:graph|tensor_loop|arith|math|memref|scf|func|vector|tile|schedule|pattern|llvm|cf)\.\w+")
STRING = re.compile(r'(?<=")[^"\n\\]*(?=")')
PROPERTY = re.compile(r", [a-z_]+ = (?:\[[^\[\]\n]*\]|\"[^\"\n]*\"|#?[\w.-]+)(?: : \w+)?")
ENTRY = re.compile(r"[\w.]+ = (?:\[[^\[\]\n]*\]|\"[^\"\n]*\"|#?[\w.-]+)(?: : \w+)?,? ?")
DICTIONARY = re.compile(r" ?(?:attributes )?\{[^{}\n]* = [^{}\n]*\}")
RUN_PASSES = re.compile(r"-p +(?:'([^']*)'|(\S+))")
SEPARATOR = re.compile(r"^// -----\n", re.MULTILINE)

REPLACED: tuple[tuple[re.Pattern[str], Sequence[str]], ...] = (
    (NUMBER, NUMBERS), (NUMBER, NUMBERS), (SIZE, SIZES), (SIZE, SIZES), (DTYPE, DTYPES), (DTYPE, DTYPES),
    (TYPE, TYPES), (STRING, STRINGS))  # fmt: skip
"""What is replaced by a word of a list."""

EXCHANGED = (VALUE, TYPE, OP, SYMBOL, PROPERTY, ENTRY, NUMBER, STRING)
"""What is replaced by another of its kind, from this program or from another one."""

DROPPED = (PROPERTY, ENTRY, DICTIONARY, VALUE, TYPE, STRING)


@dataclass(frozen=True)
class Source:
    """A program of a FileCheck file without its comments, and the pipelines of the RUN lines of that file."""

    path: Path
    text: str
    pipelines: tuple[str, ...] = field(default=())

    @property
    def refused(self) -> bool:
        """Whether its file holds programs with errors."""
        return self.path.stem.endswith(("invalid", "refused"))


def sources(folder: Path = FILECHECK) -> list[Source]:
    """Returns the programs of all FileCheck files, in a fixed order."""
    found: list[Source] = []
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text()
        runs = [match for line in text.splitlines() if "RUN:" in line for match in RUN_PASSES.finditer(line)]
        pipelines = tuple(dict.fromkeys(match[1] or match[2] for match in runs))
        programs = [without_comments(piece) for piece in SEPARATOR.split(text)]
        found += [Source(path, each, pipelines) for each in programs if each.strip()]
    return found


def without_comments(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.lstrip().startswith("//") and line.strip())


def mutant(text: str, other: str, source: random.Random) -> str:
    """Returns `text` after one to three mutations. Some take pieces of `other`."""
    for _ in range(source.choice((1, 1, 1, 1, 2, 3))):
        text = source.choice(MUTATIONS)(text, other, source)
    return text


def _lines(text: str, other: str, source: random.Random) -> str:
    """Deletes, doubles, swaps, moves or takes over a line."""
    lines = text.splitlines(keepends=True) or ["\n"]
    here, there = source.randrange(len(lines)), source.randrange(len(lines))
    match source.randrange(5):
        case 0:
            del lines[here]
        case 1:
            lines.insert(here, lines[here])
        case 2:
            lines[here], lines[there] = lines[there], lines[here]
        case 3:
            lines.insert(there, lines.pop(here))
        case _:
            lines.insert(here, source.choice(other.splitlines(keepends=True) or [""]))
    return "".join(lines)


def _splice(text: str, other: str, source: random.Random) -> str:
    """Puts another program behind this one, before it, or between its halves."""
    lines = text.splitlines(keepends=True)
    cut = source.choice((0, len(lines), source.randint(0, len(lines))))
    return "".join([*lines[:cut], other, *lines[cut:]])


def _one(text: str, other: str, source: random.Random) -> str:
    """Replaces one number, size, element type or string by an odd one."""
    pattern, words = source.choice(REPLACED)
    return _at(text, pattern, source, lambda _: source.choice(words))


def _all_alike(text: str, other: str, source: random.Random) -> str:
    """Replaces a number, size, element type, type, op or symbol wherever it stands, so that uses still agree."""
    pattern, words = source.choice((*REPLACED[:-1], (TYPE, TYPE.findall(other)), (OP, OP.findall(other)), (SYMBOL, ())))
    found = pattern.findall(text)
    words = words or found
    if not found:
        return text
    old, new = source.choice(found), source.choice(words)
    return pattern.sub(lambda match: new if match[0] == old else match[0], text)


def _exchanged(text: str, other: str, source: random.Random) -> str:
    """Replaces one value, type, op, symbol, property, attribute, number or string by another one that is written."""
    pattern = source.choice(EXCHANGED)
    words = pattern.findall(text if source.random() < 0.6 else other)
    return _at(text, pattern, source, lambda old: source.choice(words) if words else old)


def _dropped(text: str, other: str, source: random.Random) -> str:
    return _at(text, source.choice(DROPPED), source, lambda _: "")


def _doubled(text: str, other: str, source: random.Random) -> str:
    return _at(text, source.choice((PROPERTY, ENTRY, DICTIONARY, VALUE)), source, lambda old: old + old)


def _sizes_open(text: str, other: str, source: random.Random) -> str:
    """Opens a size in every type that has it."""
    found = SIZE.findall(text)
    if not found:
        return text
    old = source.choice(found)
    return SIZE.sub(lambda match: "?" if match[0] == old else match[0], text)


def _at(text: str, pattern: re.Pattern[str], source: random.Random, new: Callable[[str], str]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = source.choice(found)
    return text[: match.start()] + new(match[0]) + text[match.end() :]


MUTATIONS = (
    *(_lines, _splice, _one, _one, _one, _all_alike, _all_alike, _all_alike, _all_alike),
    *(_exchanged, _exchanged, _dropped, _doubled, _sizes_open),
)
