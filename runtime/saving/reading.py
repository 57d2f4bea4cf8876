"""
Reads a program from one file: `stepwell.load` (docs/saving.md).

Machine code is loaded without xDSL. What compiles the program from its text is imported when something is compiled.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING

from ...core.roles import prepare_function, prepare_key
from ..native.jit import LinkError, give_objects
from ..native.threads import thread_count
from ..program.arrays import ArrayType, check_input
from ..program.description import Description, DescriptionError
from ..program.program import LinkedCode, Program
from ..specialisations import Shapes
from .container import refuse
from .manifest import Level, SavedCode
from .opening import Arrays, SavedFile
from .processor import best_level

if TYPE_CHECKING:
    from ..source import Source


class LoadedCode:
    """
    The machine code of a saved program for this processor, and its text for what there is no code for.

    `stubs` and code are those of `level`. Nothing is compiled for shapes that it has.
    """

    def __init__(self, file: SavedFile, level: Level, use_cache: bool, threads: int | None):
        self._file = file
        self._codes = {each.shapes: each for each in level.programs}
        self._use_cache = use_cache
        self._threads = threads
        give_objects({key: file.container.data(name) for key, name in level.stubs.items()})

    @property
    def is_static(self) -> bool:
        """True for a program without `?`."""
        return None in self._codes

    @property
    def shapes(self) -> list[Shapes | None]:
        """The shapes that there is code for."""
        return list(self._codes)

    def load(self, shapes: Shapes | None) -> Program:
        """Returns the program for `shapes`. Raises SavedError where code and description do not fit."""
        saved = self._codes.get(shapes)
        return self.source.load(shapes) if saved is None else self._program(saved)

    def _program(self, saved: SavedCode) -> Program:
        file = self._file
        try:
            description = Description.from_json(json.loads(file.container.data(saved.description)))
            self._check_entry(saved, description)
            return Program(
                description,
                file.container.data(saved.code),
                file.weights,
                self._use_cache,
                thread_count(self._threads),
                self._linked(description),
                self._prepared(saved, description),
            )
        except (DescriptionError, LinkError, ValueError, RecursionError) as error:
            refuse(file.path, f"entry '{saved.prefix}' is no machine code of a program: {error}")

    def _check_entry(self, saved: SavedCode, description: Description) -> None:
        """Raises SavedError unless the entry takes and returns what the manifest says."""
        manifest = self._file.manifest
        entry = next((each for each in description.entries if each.name == manifest.entry), None)
        for role, types in (("input", manifest.inputs), ("output", manifest.outputs)):
            found = [] if entry is None else [each.type for each in entry.of(role)]
            fits = len(found) == len(types) and all(
                _is_case_of(each, type_) for each, (_, type_) in zip(found, types, strict=True)
            )
            if entry is None or not fits:
                refuse(self._file.path, f"the {role}s of '{saved.description}' are not those of @{manifest.entry}")
        for each in description.entries:
            for weight in each.of("weight"):
                if prepare_function(weight.key) is None and weight.key not in self._file.weights:
                    refuse(self._file.path, f"it has no weight '{weight.key}', which '{saved.code}' reads")

    def _prepared(self, saved: SavedCode, description: Description) -> Arrays | None:
        """Returns what prepare functions have made, mapped from the file. There is None where they are to run."""
        if saved.prepared not in self._file.container:
            return None
        file = self._file.tensors(saved.prepared)
        found: Arrays = {}
        for entry in description.entries if file.entries else ():
            for index, output in enumerate(entry.of("output") if entry.is_prepare else ()):
                key = prepare_key(entry.name, index)
                found[key] = check_input(file.array(key), output.type, key)
        return found

    def _linked(self, description: Description) -> LinkedCode | None:
        if not description.externals:
            return None
        from .text import linked

        return linked(description, self._use_cache)

    @cached_property
    def source(self) -> Source:
        """The program to be compiled from its text."""
        from .text import source_of

        return source_of(self._file, True, self._use_cache, self._threads)


def _is_case_of(found: ArrayType, declared: ArrayType) -> bool:
    """Returns whether `found` is `declared`, where that has `?` for some sizes."""
    return (found.dtype, len(found.shape)) == (declared.dtype, len(declared.shape)) and all(
        want is None or want == size for want, size in zip(declared.shape, found.shape, strict=True)
    )


def fitting_code(file: SavedFile, use_cache: bool, threads: int | None) -> LoadedCode | None:
    """Returns the machine code that this process runs best, and None where there is none for it."""
    level = best_level(file.manifest.levels)
    if level is None or not level.programs:
        return None
    return LoadedCode(file, level, use_cache, threads)
