"""`stepwell.compile`: from a module, a path or text, on any stair, to a program that runs."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException

from ..core.codegens import registrations_fingerprint
from ..core.collector import patient_collector
from ..core.locations import nearest_source_point, source_directory, source_point
from ..core.parsing import make_context, named_text, parse_text
from ..core.pipelines import Instrument, context_key
from ..core.progress import PassProgress
from ..core.roles import NAME, WEIGHTS
from ..core.verification import verify_module
from ..core.walk import ops_of, walk
from ..dialects.graph.constants import WeightOp
from . import cache as disk
from .describe import argument_attributes, array_type, describe, functions, is_public, signature
from .errors import CompileError
from .executable import Executable
from .jit import assembly, compile_object, host_target
from .program import Description, Program
from .specialisations import Shapes
from .stairs import STAIRS, StairTexts, chosen_pipeline, has_unknown_sizes, set_signatures, take_down
from .weights import bind_weights

NUMERICS = ("default", "strict", "fast")

MACHINE_CODE = 0.5
"""What LLVM takes, as a part of what the passes take, for the progress bar: a third of the whole, measured on convolutions and encoders."""


def compile(
    module_or_path: ModuleOp | str | Path,
    *,
    entry: str = "main",
    pipeline: str | None = None,
    opt_level: int = 3,
    threads: int | None = None,
    numerics: str = "default",
    cache: bool = True,
    weights: str | Path | Mapping[str, Any] | None = None,
    verify_each: bool = False,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> Executable:
    """
    Compiles a program to native code.

    `module_or_path`: a module, a path, or program text, on any stair; a module is not changed. `pipeline` replaces the
    passes of `opt_level` (0 to 3); whatever it leaves is lowered all the same. `numerics`: `strict` keeps every rounding,
    `default` allows rules that round differently, `fast` those that may lose NaN, inf and -0. `threads`: at most so many;
    `STEPWELL_THREADS` or all usable CPUs when None. `weights`: a safetensors file or arrays by key, in place of the
    module's `stepwell.weights`. `cache=False` leaves the compile cache on disk alone. `tuning`: a database of
    tuned schedules (docs/tuning.md); that of `STEPWELL_TUNING_DB`, or `tuning.jsonl` in the folder of the compile cache, where it
    exists, when None; none when False. `progress`: a bar on standard error where it takes more than a second (by tqdm, if that is
    installed); on a terminal when None.

    Raises CompileError, or the diagnostics of parser, verifier and passes.
    """
    if numerics not in NUMERICS:
        raise CompileError(f"numerics is {numerics!r}, expected one of {', '.join(NUMERICS)}")
    if opt_level not in range(4):
        raise CompileError(f"opt_level is {opt_level!r}, expected 0, 1, 2 or 3")
    most_threads = thread_count(threads)
    database = tuning_database(tuning)
    with patient_collector():
        module, text = _verified(module_or_path)
        set_signatures(module, entry)
        passes = chosen_pipeline(pipeline, opt_level, numerics)
        source = Source(module, entry, passes, cache, verify_each, weights, most_threads, database, text)
        source.threads_asked, source.progress = threads, progress
        return _executable(source)


def _verified(module_or_path: ModuleOp | str | Path) -> tuple[ModuleOp, tuple[str, str] | None]:
    """A verified module of our own, and the name and text that it was read from, if it was."""
    if not isinstance(module_or_path, ModuleOp):
        name, text = named_text(module_or_path)
        module = parse_text(make_context(), text, name)
        verify_module(module, sources={name: text})
        return module, (name, text)
    module = copy_of(module_or_path)
    verify_module(module)
    return module, None


def copy_of(module: ModuleOp) -> ModuleOp:
    """A clone with the location of `module`, which a clone has not."""
    copy = module.clone()
    copy.location = module.location
    return copy


def thread_count(threads: int | None) -> int:
    """How many threads a program may use. Raises CompileError for less than one."""
    chosen = os.environ.get("STEPWELL_THREADS") if threads is None else threads
    if chosen is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not str(chosen).isdecimal() or int(chosen) < 1:
        raise CompileError(f"the number of threads is {chosen!r}, expected at least 1")
    return int(chosen)


def tuning_database(tuning: bool | str | Path | None = None) -> Path | None:
    """
    The file of tuned schedules that `compile(tuning=…)` means; None for none. Raises CompileError where one that is named does not
    exist, StepwellError where it is none.
    """
    if tuning is False:
        return None
    if isinstance(tuning, str | Path):
        if not Path(tuning).is_file():
            raise CompileError(f"there is no tuning database '{tuning}'")
        from ..schedule.tuning_records import check_database

        check_database(Path(tuning))
        return Path(tuning)
    path = disk.tuning_path()
    return path if path is not None and path.is_file() else None


@dataclass
class Source:
    """A verified module and how to compile it, once per set of input shapes."""

    module: ModuleOp
    entry: str
    pipeline: str
    use_cache: bool
    verify_each: bool
    weights: str | Path | Mapping[str, Any] | None
    threads: int = 1
    tuning: Path | None = None
    written: tuple[str, str] | None = None
    """The name and the text of the program where it was read: they say all that the module does, its locations included."""
    threads_asked: int | None = None
    """The argument `threads` of `compile`."""
    progress: bool | None = None
    """The argument `progress` of `compile`."""
    texts: dict[Shapes | None, dict[str, str]] = field(default_factory=dict)
    context: Context = field(default_factory=copy_context)
    """The pass context at the time of `compile`: what is lowered later, for new shapes, is lowered under it."""

    def pipeline_for(self, shapes: Shapes | None) -> str:
        """All passes; with `shapes`, the entry is specialised to them first."""
        if shapes is None:
            return self.pipeline
        sizes = ",".join("x".join(map(str, shape)) for shape in shapes)
        return f'specialize-shapes{{entry="{self.entry}" shapes="{sizes}"}},{self.pipeline}'

    def key(self, shapes: Shapes | None) -> str:
        """The name of the machine code in the compile cache. Schedules depend on how many cores and which caches there are."""
        from ..schedule.targets import host_target as scheduled_for

        written = self.written or (_locations(self.module), str(self.module))
        return disk.program_key(
            *written,
            self.entry,
            self.pipeline_for(shapes),
            host_target().describe(),
            scheduled_for().describe(),
            self.context.copy().run(context_key),
            registrations_fingerprint(),
            _files_named_in(self.pipeline),
            self._tuning_key(),
        )

    def _tuning_key(self) -> str:
        """What the tuning database says, for the key of the compile cache."""
        if self.tuning is None:
            return ""
        from ..schedule.tuning_records import tuning_fingerprint

        return tuning_fingerprint(self.tuning)

    def watch(self) -> PassProgress:
        """Shows how far a compilation has come, inside `with`; an instrument of `lower`."""
        return PassProgress("compile", self.progress, MACHINE_CODE)

    def lower(self, shapes: Shapes | None, *instruments: Instrument) -> tuple[Description, str]:
        """The description and LLVM text for `shapes`; the module itself stays as it is."""
        return self._lower(copy_of(self.module), self.pipeline_for(shapes), instruments)

    def compiled(self, module: ModuleOp, pipeline: str) -> tuple[Description, bytes]:
        """The description and machine code of `module`, lowered in place under the pass context and options of this program."""
        with self.watch() as progress:
            description, text = self._lower(module, pipeline, [progress])
            progress.then("machine code")
            return description, compile_object(text)

    def _lower(self, module: ModuleOp, pipeline: str, instruments: Sequence[Instrument]) -> tuple[Description, str]:
        def lowered() -> tuple[Description, str]:
            text = take_down(
                make_context(),
                module,
                self.entry,
                pipeline,
                verify_each=self.verify_each,
                instruments=instruments,
                tuning=self.tuning,
            )
            return describe(module), text

        with patient_collector():
            return self.context.copy().run(lowered)

    def load(self, shapes: Shapes | None) -> Program:
        """The program for `shapes`, from the cache when it is there."""
        key = self.key(shapes) if self.use_cache else ""
        if self.use_cache and (kept := disk.load(key)) is not None:
            description, code = Description.from_json(kept[0]), kept[1]
        else:
            description, code = self.compiled(copy_of(self.module), self.pipeline_for(shapes))
            if self.use_cache:
                disk.store(key, description.to_json(), code)
        return Program(description, code, self.arrays_for(description), self.use_cache, self.threads)

    def side_car(self) -> Path | None:
        """The file that weights come from, when it is one."""
        if self.weights is not None:
            return None if isinstance(self.weights, Mapping) else Path(self.weights)
        file = self.module.attributes.get(WEIGHTS)
        return (source_directory(self.module) or Path()) / file.data if isinstance(file, StringAttr) else None

    def arrays_for(self, description: Description) -> dict[str, np.ndarray[Any, Any]]:
        """The weights that native code asks for, by key."""
        file = self.module.attributes.get(WEIGHTS)
        named = file.data if isinstance(file, StringAttr) else None
        places = {op.weight_key: nearest_source_point(op) for op in ops_of(self.module, WeightOp)}
        return bind_weights(description, named, source_directory(self.module), self.weights, places)

    def text_of(self, stair: str, shapes: Shapes | None) -> str:
        """The text on `stair`."""
        if stair not in STAIRS:
            raise CompileError(f"there is no stair '{stair}', expected one of {', '.join(STAIRS)}")
        if shapes not in self.texts:
            kept = StairTexts()
            try:
                with self.watch() as progress:
                    _, text = self.lower(shapes, kept, progress)
            except DiagnosticException:
                if stair in kept.texts:
                    return kept.texts[stair]  # with `?` there is a graph, but nothing below
                raise
            self.texts[shapes] = kept.texts | {"llvm-ir": text}
        texts = self.texts[shapes]
        if stair == "asm" and stair not in texts:
            texts["asm"] = assembly(texts["llvm-ir"])
        return texts[stair]


def _locations(module: ModuleOp) -> str:
    """Where every op stands: error messages hold it, so programs that differ in it are different."""
    return "\n".join(str(source_point(op.location)) for op in walk(module))


def _files_named_in(pipeline: str) -> str:
    """The hashes of the files (of rules, of pattern tables) that the options of a pipeline name."""
    names = dict.fromkeys(re.findall(r'"([^"]*)"|([^\s{}=,"]+)', pipeline))
    paths = [Path(one or other) for one, other in names]
    files = [path for path in paths if "." in path.name and len(path.name) < 256 and path.is_file()]
    return "\n".join(f"{path}={hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files)


def _executable(source: Source) -> Executable:
    found = functions(source.module)
    function = found[source.entry]
    types = signature(function)
    dynamic = has_unknown_sizes(source.module, source.entry)
    program = None if dynamic else source.load(None)
    names = [name for name, op in found.items() if is_public(op)]
    if program is not None:
        entry = next(each for each in program.description.entries if each.name == source.entry)
        inputs = [(a.name, a.type) for a in entry.of("input")]
        outputs = [(a.name, a.type) for a in entry.of("output")]
    else:
        assert types is not None  # has_unknown_sizes has seen them
        inputs = list(zip(input_names(function), map(array_type, types.inputs), strict=True))
        outputs = [(f"result{i}", array_type(t)) for i, t in enumerate(types.outputs)]
    return Executable(source.entry, inputs, outputs, names, source.load, source.text_of, program, lambda: source)


def input_names(function: Operation) -> list[str]:
    """The names of an entry's arguments for messages: `stepwell.name`, the name in the IR, else `arg0` …"""
    attributes = argument_attributes(function)
    names: list[str] = []
    for index, argument in enumerate(function.regions[0].blocks[0].args):
        given = attributes[index].get(NAME) if attributes else None
        names.append(given.data if isinstance(given, StringAttr) else argument.name_hint or f"arg{index}")
    return names
