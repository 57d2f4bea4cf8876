"""What a saved program says of itself: the entry `stepwell.json` of its container (docs/saving.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ...lazy_dataclass import dataclass
from ..program.arrays import ArrayType
from ..specialisations import Shapes
from .container import refuse

FORMAT: Final = 1
"""Grows with every change after which this version cannot read what the next one writes. Old files are always read."""

INTERFACE: Final = 2
"""
Grows when machine code and the runtime change what they expect of each other: how entries are called, the description
beside the code, what the code takes from the process. Code of another number is not run. A test keeps what each number
stands for.
"""

MANIFEST: Final = "stepwell.json"
PROGRAM: Final = "program.mlir"
WEIGHTS: Final = "weights.safetensors"

LONGEST: Final = 64 * 1024 * 1024
"""The most bytes of a manifest, which is read before anything is verified."""

NamedTypes = tuple[tuple[str, ArrayType], ...]


@dataclass(frozen=True)
class SavedCode:
    """Machine code for some shapes, `None` for all. Its entries begin with `prefix`."""

    shapes: Shapes | None
    prefix: str

    @property
    def description(self) -> str:
        """The entry with the description of the code, JSON."""
        return f"{self.prefix}.json"

    @property
    def code(self) -> str:
        """The entry with the machine code."""
        return f"{self.prefix}.o"

    @property
    def prepared(self) -> str:
        """The entry with what the prepare functions made of the weights. There need not be one."""
        return f"{self.prefix}.safetensors"


@dataclass(frozen=True)
class Level:
    """Machine code for one kind of processor, and what it asks of it."""

    name: str
    triple: str
    features: tuple[str, ...]
    interface: int
    programs: tuple[SavedCode, ...]
    stubs: dict[str, str]
    """The entries with the code that calls programs, by the hash of its LLVM text."""


@dataclass(frozen=True)
class Manifest:
    """All that a saved program says beside its text, its weights and its code."""

    version: str
    entry: str
    entry_names: tuple[str, ...]
    inputs: NamedTypes
    outputs: NamedTypes
    pipeline: str
    verify_each: bool
    threads: int | None
    context: tuple[int, tuple[str, ...], tuple[str, ...], dict[str, Any]] | None
    """Level, disabled and required passes, and configuration of the pass context."""
    levels: tuple[Level, ...]
    hashes: dict[str, str]
    """The SHA-256 of every other entry."""

    def to_json(self) -> bytes:
        """Returns the text of the entry."""
        plain = {
            "format": FORMAT,
            "stepwell": self.version,
            "entry": self.entry,
            "entry_names": self.entry_names,
            "inputs": [(name, type_.dtype, type_.shape) for name, type_ in self.inputs],
            "outputs": [(name, type_.dtype, type_.shape) for name, type_ in self.outputs],
            "pipeline": self.pipeline,
            "verify_each": self.verify_each,
            "threads": self.threads,
            "context": self.context,
            "levels": [
                vars(level) | {"programs": [(each.shapes, each.prefix) for each in level.programs]}
                for level in self.levels
            ],
            "hashes": self.hashes,
        }
        return json.dumps(plain, indent=1).encode()


class _Misfit(Exception):
    """A value in a manifest that is not what stands there."""


def read_manifest(path: Path, text: bytes) -> Manifest:
    """Returns what the entry `text` says. Raises SavedError where it is of a newer version, or says nothing known."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        refuse(path, f"entry '{MANIFEST}' is not JSON: {error}")
    if not isinstance(plain, dict) or not _is_count(plain.get("format")):
        refuse(path, f"entry '{MANIFEST}' does not say which format it has")
    if plain["format"] > FORMAT:
        written = f" by stepwell {plain['stepwell']}" if isinstance(plain.get("stepwell"), str) else ""
        message = f"it was written{written} in format {plain['format']}, and this version reads up to {FORMAT}"
        refuse(path, message, "load it with a newer version of stepwell")
    try:
        return _manifest(plain)
    except _Misfit as error:
        refuse(path, f"entry '{MANIFEST}' says nothing usable about {error}")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


def _field(plain: Any, name: str, fits: Callable[[Any], bool]) -> Any:
    if not isinstance(plain, dict) or name not in plain or not fits(plain[name]):
        raise _Misfit(f"'{name}'")
    return plain[name]


def _manifest(plain: dict[str, Any]) -> Manifest:
    levels = _field(plain, "levels", lambda value: isinstance(value, list))
    return Manifest(
        _field(plain, "stepwell", _is_text),
        _field(plain, "entry", _is_text),
        tuple(_field(plain, "entry_names", _is_texts)),
        _types(plain, "inputs"),
        _types(plain, "outputs"),
        _field(plain, "pipeline", _is_text),
        _field(plain, "verify_each", lambda value: isinstance(value, bool)),
        _field(plain, "threads", lambda value: value is None or (_is_count(value) and value > 0)),
        _context(plain),
        tuple(map(_level, levels)),
        _field(plain, "hashes", _is_text_map),
    )


def _types(plain: dict[str, Any], name: str) -> NamedTypes:
    return tuple(map(_type, _field(plain, name, lambda value: isinstance(value, list))))


def _type(plain: Any) -> tuple[str, ArrayType]:
    if not isinstance(plain, list) or len(plain) != 3:
        raise _Misfit("a type")
    name, dtype, shape = plain
    sizes = isinstance(shape, list) and all(size is None or _is_count(size) for size in shape)
    if not (_is_text(name) and _is_text(dtype) and sizes):
        raise _Misfit("a type")
    return name, ArrayType(dtype, tuple(shape))


def _context(plain: dict[str, Any]) -> Any:
    found = _field(plain, "context", lambda value: value is None or (isinstance(value, list) and len(value) == 4))
    if found is None:
        return None
    level, disabled, required, config = found
    if not (
        type(level) is int and level >= 0 and _is_texts(disabled) and _is_texts(required) and isinstance(config, dict)
    ):
        raise _Misfit("'context'")
    return level, tuple(disabled), tuple(required), config


def _level(plain: Any) -> Level:
    programs = _field(plain, "programs", lambda value: isinstance(value, list))
    return Level(
        _field(plain, "name", _is_text),
        _field(plain, "triple", _is_text),
        tuple(_field(plain, "features", _is_texts)),
        _field(plain, "interface", _is_count),
        tuple(map(_code, programs)),
        _field(plain, "stubs", _is_text_map),
    )


def _code(plain: Any) -> SavedCode:
    if not isinstance(plain, list) or len(plain) != 2 or not _is_text(plain[1]):
        raise _Misfit("'programs'")
    return SavedCode(_shapes(plain[0]), plain[1])


def _shapes(plain: Any) -> Shapes | None:
    if plain is None:
        return None
    if not isinstance(plain, list) or not all(map(_is_sizes, plain)):
        raise _Misfit("'programs'")
    return tuple(map(tuple, plain))


def entries_of(levels: Sequence[Level]) -> list[str]:
    """Returns the names of the entries that the machine code of `levels` must have."""
    codes = [each for level in levels for each in level.programs]
    stubs = [name for level in levels for name in level.stubs.values()]
    return [*(each.description for each in codes), *(each.code for each in codes), *stubs]
