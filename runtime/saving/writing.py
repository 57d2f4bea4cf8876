"""Writes a program into one file: `Executable.save` (docs/saving.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ...core.derived_weights import held
from ...core.passes.context import PassContext, current_context
from ...core.roles import prepare_function
from ...core.weights import open_weights, weight_pieces
from ...lazy_dataclass import dataclass
from ...machine.code_target import CodeTarget, uses_tile_registers
from ..errors import CompileError, ProcessorError
from ..native.jit import compile_object, text_hash
from ..native.threads import uses_threads
from ..native.threads_text import LIMITED_TEXT, pool_text
from ..program.call_stub import STUB
from ..program.call_stub_into import INTO
from ..program.description import Description
from ..program.program import Program
from ..program.weights import keys_of
from ..source import Source
from ..specialisations import Shapes
from .container import Bytes, write_container
from .manifest import INTERFACE, MANIFEST, PROGRAM, WEIGHTS, Level, Manifest, NamedTypes, SavedCode
from .processor import needed_features

Entries = list[tuple[str, Sequence[Bytes]]]


@dataclass(frozen=True)
class Code:
    """Machine code for some shapes, with what its prepare functions made where they have run."""

    shapes: Shapes | None
    description: Description
    code: bytes
    prepared: Mapping[str, np.ndarray[Any, Any]]
    uses_tiles: bool


def save(
    source: Source,
    entry_names: Sequence[str],
    inputs: NamedTypes,
    outputs: NamedTypes,
    programs: Mapping[Shapes | None, Program],
    path: str | Path,
    cpu: Sequence[str],
    prepared: bool,
) -> None:
    """
    Writes the program of `source`, compiled as `programs`, to `path`. `cpu` and `prepared` are those of
    `Executable.save`.

    Raises SavedError where the file cannot be written, CompileError for a name that cannot be part of it, and the
    errors of `compile`.
    """
    levels: list[Level] = []
    entries: Entries = []
    descriptions = [each.description for each in programs.values()]
    for name in dict.fromkeys(cpu or [source.target]):
        if not re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", name):
            raise CompileError(f"the machine '{name}' cannot be part of a file, expected small letters, digits and '-'")
        aimed = source if name == source.target else source.for_target(name)
        codes = _codes(aimed, aimed is source, programs)
        levels.append(_level(name, aimed.code_target, codes, prepared, entries))
    arrays = raw_weights(source, descriptions)
    written = "" if source.written is None else source.written[1]
    parts: Entries = [(PROGRAM, [(written or str(source.module)).encode()])]
    if arrays:
        parts.append((WEIGHTS, weight_pieces(arrays)))
    parts += entries
    hashes = {name: _hash(data) for name, data in parts}
    manifest = Manifest(
        *(_version(), source.entry, tuple(entry_names), inputs, outputs, source.pipeline, source.verify_each),
        *(source.threads_asked, source.context.copy().run(context_state), tuple(levels), hashes),
    )
    write_container(path, [(MANIFEST, [manifest.to_json()]), *parts])


def _version() -> str:
    return import_module(__name__.partition(".")[0]).__version__


def _hash(pieces: Sequence[Bytes]) -> str:
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def context_state() -> tuple[Any, ...] | None:
    """Returns the pass context without its instruments, which watch in their own process. None stands for none."""
    found: PassContext | None = current_context()
    if found is None:
        return None
    return found.opt_level, tuple(sorted(found.disabled)), tuple(sorted(found.required)), dict(found.config)


def raw_weights(source: Source, descriptions: Sequence[Description]) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the weights of the program before they are prepared, by key. Those in a side-car are mapped."""
    keys = keys_of(source.module)
    for description in descriptions:
        for entry in description.entries:
            keys |= {argument.key for argument in entry.of("weight")}
    keys = {key for key in keys if prepare_function(key) is None}
    if not keys:
        return {}
    # What follows from a tensor is made of it again when the program is opened.
    if isinstance(source.weights, Mapping):
        return {key: np.asarray(source.weights[key]) for key in held(keys, source.weights.keys())}
    file = source.side_car()
    if file is None:
        return {}
    opened = open_weights(file)
    return {key: opened.array(key) for key in held(keys, opened.entries)}


def _codes(source: Source, is_own: bool, programs: Mapping[Shapes | None, Program]) -> list[Code]:
    """Returns the machine code of `source` for the shapes that `programs` have, compiled where it is not there."""
    dynamic = source.has_unknown_sizes
    found: list[Code] = []
    for shapes in programs if dynamic else [None]:
        try:
            program = programs[shapes] if is_own and shapes in programs else source.load(shapes)
        except ProcessorError:
            description, text = source.lower(shapes)
            code = compile_object(text, source.code_target)
            found.append(Code(shapes, description, code, {}, uses_tile_registers(text)))
        else:
            tiles = source.code_target.has_tile_products
            found.append(Code(shapes, program.description, program.object_code, program.prepared, tiles))
    return found


def _level(name: str, target: CodeTarget, codes: Sequence[Code], prepared: bool, entries: Entries) -> Level:
    """Returns what the manifest says about code for `target`, and adds the entries that hold it."""
    folder = f"code/{name}"
    programs: list[SavedCode] = []
    for number, each in enumerate(codes):
        saved = SavedCode(each.shapes, f"{folder}/{number}")
        entries.append((saved.description, [json.dumps(each.description.to_json()).encode()]))
        entries.append((saved.code, [each.code]))
        if prepared and each.prepared:
            entries.append((saved.prepared, weight_pieces(each.prepared)))
        programs.append(saved)
    stubs: dict[str, str] = {}
    texts = {"call": STUB + INTO} if codes else {}
    if any(uses_threads(each.code) for each in codes):
        texts |= {"pool": pool_text(target), "limited": LIMITED_TEXT}
    for kind, text in texts.items():
        stubs[text_hash(text)] = f"{folder}/{kind}.o"
        entries.append((f"{folder}/{kind}.o", [compile_object(text, target, speed_level=0)]))
    features = needed_features(target, any(each.uses_tiles for each in codes))
    return Level(name, target.triple, features, INTERFACE, tuple(programs), stubs)
