"""
A program before it is compiled: what `compile` reads, and how it becomes machine code, once per set of input shapes.

`Executable`, pickles, profiles, traces and exports compile through a `Source` when they need more than they have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import Context, copy_context
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from ..core.codegens import COMPILER, registrations_fingerprint
from ..core.ir.cloning import clone_op
from ..core.ir.exact_hash import exact_hash
from ..core.ir.role_checks import output_names
from ..core.ir.teardown import take_apart
from ..core.ir.verification import verify_module
from ..core.mapped import Stamp
from ..core.messages.collector import patient_collector
from ..core.messages.locations import source_directory
from ..core.messages.stages import stage
from ..core.passes.context import config_value, context_key, set_config
from ..core.passes.instrument import Instrument
from ..core.passes.pipelines import run_pipeline
from ..core.passes.progress import PassProgress
from ..core.roles import DONATED, PRIMITIVE, WEIGHTS
from ..core.text.parsing import make_context
from ..core.weights import WeightsError, identity_of, open_weights
from ..lazy_dataclass import dataclass
from ..machine.code_target import CodeTarget
from ..machine.host import host_machine
from ..machine.named import machine_named
from . import cache as disk
from .donation import donated_numbers
from .errors import CompileError
from .external_code.external import LinkedExternals
from .modules import copy_of, verified_module
from .native.jit import LinkError, assembly, describe_host, describe_target
from .native.targets import check_runs_here, code_target
from .native.threads import thread_count
from .program.arrays import ArrayType
from .program.describe import (
    argument_attributes,
    array_type,
    describe,
    functions,
    input_names,
    is_public,
    signature,
)
from .program.description import Description, DescriptionError
from .program.program import Program
from .program.weights import bind_weights, given_weights, refuse_idle_file
from .side_car import check_unchanged, named_side_car, side_car_of, stamp_of_side_car
from .specialisations import Shapes
from .stairs import (
    STAIRS,
    StairTexts,
    chosen_pipeline,
    has_unknown_sizes,
    in_pipeline,
    leave_open_entries_out,
    nobody_watches,
    set_signatures,
    take_down,
)

MACHINE_CODE = 0.5
"""
The time that LLVM takes as a part of what the passes take, for the progress bar.

LLVM took a third of the whole on convolutions and encoders.
"""


Named = tuple[str, ArrayType]
"""The name and the type of an argument or a result."""


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
    """The name and the text that the module was read from. They say all that the module says, locations included."""
    threads_asked: int | None = None
    """The argument `threads` of `compile`."""
    progress: bool | None = None
    """The argument `progress` of `compile`."""
    texts: dict[Shapes | None, dict[str, str]] = field(default_factory=dict)
    stamp: Stamp | None = None
    """The side-car as it was at the time of `compile`."""
    context: Context = field(default_factory=copy_context)
    """The pass context at the time of `compile`. What is lowered later, for new shapes, is lowered under it."""

    @property
    def target(self) -> str:
        """The name of the machine that schedules and machine code are for, `host` for this one."""
        return self.context.copy().run(config_value, "target")

    @property
    def code_target(self) -> CodeTarget:
        """What LLVM is told of that machine."""
        return self.context.copy().run(lambda: code_target(config_value("target")))

    def for_target(self, name: str) -> Source:
        """
        Returns this program with schedules and machine code for the machine `name`.

        Raises `StepwellError` for a name that is not known, CompileError for what is no name.
        """
        check_target(name)
        context = self.context.copy()
        context.run(set_config, {"target": name})
        return replace(self, context=context, texts={})

    @property
    def has_unknown_sizes(self) -> bool:
        """Returns whether the entry is compiled anew for the shapes of its arguments."""
        return has_unknown_sizes(self.module, self.entry)

    @property
    def entry_names(self) -> list[str]:
        """Returns the names of the public functions."""
        return [name for name, op in functions(self.module).items() if is_public(op)]

    def for_entry(self, name: str) -> Source:
        """Returns this program with the public function `name` as its entry. Raises the errors of `set_signatures`."""
        module = copy_of(self.module)
        set_signatures(module, name)
        return replace(self, module=module, entry=name, texts={})

    def arguments(self, description: Description | None) -> tuple[list[Named], list[Named]]:
        """
        Returns the names and types of the inputs and outputs. A `description` says them where there are no `?`; it is
        made where there is none.
        """
        if not self.has_unknown_sizes:
            description = self.lower(None)[0] if description is None else description
            entry = next(each for each in description.entries if each.name == self.entry)
            return [(a.name, a.type) for a in entry.of("input")], [(a.name, a.type) for a in entry.of("output")]
        function = functions(self.module)[self.entry]
        types = signature(function)
        assert types is not None  # has_unknown_sizes has seen the types
        results = list(map(array_type, types.outputs))
        inputs = list(zip(input_names(function), map(array_type, types.inputs), strict=True))
        return inputs, list(zip(output_names(function, len(results)), results, strict=True))

    def pipeline_for(self, shapes: Shapes | None) -> str:
        """Returns all passes. With `shapes`, the first one specialises the entry to them."""
        if shapes is None:
            return self.pipeline
        sizes = ",".join("x".join(map(str, shape)) for shape in shapes)
        return f'specialize-shapes{{entry="{in_pipeline(self.entry)}" shapes="{sizes}"}},{self.pipeline}'

    def key(self, shapes: Shapes | None) -> str:
        """
        Returns the name of the machine code in the compile cache.

        The target is part of it twice: what schedules know of it is in the pass context, and what LLVM is told follows.
        The host is part of it, since schedules for it depend on its number of cores and its caches.
        """
        written = self.written or (self._hash_without_path(),)
        return disk.program_key(
            *written,
            self.entry,
            self.pipeline_for(shapes),
            describe_host(),
            describe_target(self.code_target),
            host_machine().describe(),
            self.context.copy().run(context_key),
            registrations_fingerprint(),
            disk.files_named_in(self.pipeline),
            self._tuning_key(),
        )

    def _hash_without_path(self) -> str:
        """
        Returns the hash of the module with the identity of its weights in place of their path.

        The weights of an imported model are in a file whose name is another one in each process.
        """
        told: dict[str, str] = {}
        file = named_side_car(self.module)
        if file is not None:
            with suppress(WeightsError):
                found = identity_of(open_weights(file))
                if found is not None:
                    told[WEIGHTS] = found
        return exact_hash(self.module, told)

    def _tuning_key(self) -> str:
        """Returns what the tuning database says, for the key of the compile cache."""
        if self.tuning is None:
            return ""
        from ..schedule.tuned.records import tuning_fingerprint

        return tuning_fingerprint(self.tuning)

    def run(self, passes: Sequence[ModulePass]) -> None:
        """Runs passes on the module, which is then verified. Raises their errors."""

        def run() -> None:
            run_pipeline(make_context(), self.module, passes, verify_each=self.verify_each)
            verify_module(self.module)

        self.context.copy().run(run)
        set_signatures(self.module, self.entry)
        self.written = None
        self.stamp = stamp_of_side_car(self.module, self.weights)

    def donate(self, patterns: Any) -> None:
        """
        Marks the arguments of the entry whose names match `patterns` as ones that a call may overwrite.

        Raises CompileError for a pattern that matches none.
        """
        function = functions(self.module)[self.entry]
        names = input_names(function)
        marked = argument_attributes(function) or [{} for _ in names]
        for number in donated_numbers(patterns, names, f"@{self.entry}"):
            marked[number][DONATED] = UnitAttr()
        function.properties["arg_attrs"] = ArrayAttr(map(DictionaryAttr, marked))
        self.written = None

    def watch(self) -> PassProgress:
        """Returns an instrument for `lower` that shows, inside `with`, how far a compilation has come."""
        return PassProgress("compile", self.progress, MACHINE_CODE)

    def lower(self, shapes: Shapes | None, *instruments: Instrument, lines: bool = False) -> tuple[Description, str]:
        """
        Returns the description and LLVM text for `shapes`, with `lines` the source's. The module itself stays as it is.
        """
        from ..lowering.llvm_text.emit_llvm_text import emit_llvm_text

        module = copy_of(self.module)
        description = self._lower(module, self.pipeline_for(shapes), instruments)
        return description, emit_llvm_text(module, lines=lines)

    def compiled(self, module: ModuleOp, pipeline: str, *, drops: bool = False) -> tuple[Description, bytes]:
        """
        Returns the description and machine code of `module`.

        The module is lowered in place, under the pass context and the options of this program. With `drops` it may not
        be looked at after that. Raises ProcessorError where this process cannot run code for the target.
        """
        from .machine_code import MachineCode

        check_runs_here(self.target)
        maker = MachineCode(self.target, self.code_target, self.use_cache, drops=drops)
        with self.watch() as progress, maker as code:
            description = self._lower(module, pipeline, [progress], code.watching())
            progress.then("machine code")
            with stage("machine code"):
                made = code.of(module, [each.symbol for each in description.externals])
            return replace(description, kernels=tuple(code.names.items())), made

    def _lower(
        self,
        module: ModuleOp,
        pipeline: str,
        instruments: Sequence[Instrument],
        scope: AbstractContextManager[None] | None = None,
    ) -> Description:
        def lowered() -> Description:
            leave_open_entries_out(module, self.entry)
            with scope or nullcontext():
                take_down(
                    make_context(),
                    module,
                    self.entry,
                    pipeline,
                    verify_each=self.verify_each,
                    instruments=instruments,
                    tuning=self.tuning,
                )
            return describe(module)

        with patient_collector():
            return self.context.copy().run(lowered)

    def load(self, shapes: Shapes | None) -> Program:
        """Returns the program for `shapes`, from the compile cache when it is there."""
        check_runs_here(self.target)
        self.side_car()  # Nothing is compiled for weights of another time.
        key = self.key(shapes) if self.use_cache else ""
        if self.use_cache and (kept := self._kept(key)) is not None:
            return kept
        module, pipeline = copy_of(self.module), self.pipeline_for(shapes)
        alone = self.context.copy().run(nobody_watches, pipeline)
        description, code = self.compiled(module, pipeline, drops=alone)
        if alone:
            take_apart(module)
        if self.use_cache:
            disk.store(key, description.to_json(), code)
        return self.program(description, code)

    def _kept(self, key: str) -> Program | None:
        """Returns the program in the compile cache. An entry that is none is deleted, and is as good as absent."""
        found = disk.load(key)
        if found is None:
            return None
        try:
            return self.program(Description.from_json(found[0]), found[1])
        except (DescriptionError, LinkError):
            disk.remove(key)
            return None

    def program(self, description: Description, code: bytes) -> Program:
        """Returns the program of this machine code, with the weights that it asks for."""
        with stage("load"):
            return loaded(description, code, self.arrays_for(description), self.use_cache, self.threads)

    def side_car(self) -> Path | None:
        """
        Returns the file that weights come from, or None when they are arrays or there are none.

        Raises WeightsError where it has changed since `compile`.
        """
        path = side_car_of(self.module, self.weights)
        check_unchanged(path, self.stamp)
        return path

    def arrays_for(self, description: Description) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the weights that native code asks for, by key. Raises the errors of `side_car`."""
        self.side_car()
        file = self.module.attributes.get(WEIGHTS)
        named = file.data if isinstance(file, StringAttr) else None
        return bind_weights(description, named, source_directory(self.module), self.weights, self.module)

    def text_of(self, level: str, shapes: Shapes | None) -> str:
        """Returns the text of a level. Raises CompileError for an unknown one."""
        if level not in STAIRS:
            raise CompileError(f"there is no level '{level}', expected one of {', '.join(STAIRS)}")
        if shapes not in self.texts:
            kept = StairTexts()
            try:
                with self.watch() as progress:
                    _, text = self.lower(shapes, kept, progress)
            except DiagnosticException as error:
                if level in kept.texts:
                    return kept.texts[level]  # With `?` there is a graph, but no lower level.
                if shapes is None and self.has_unknown_sizes:
                    hint = getattr(getattr(error, "diagnostic", None), "hint", None)
                    raise CompileError(
                        f"@{self.entry} takes arrays of unknown sizes (?): give shapes=, one per input"
                        + (f"\nhint: {hint}" if hint else "")
                    ) from error
                raise
            self.texts[shapes] = kept.texts | {"llvm-ir": text}
        texts = self.texts[shapes]
        if level == "asm" and level not in texts:
            texts["asm"] = assembly(texts["llvm-ir"], self.code_target)
        return texts[level]


def check_target(name: Any) -> None:
    """Raises `StepwellError` for the name of a machine that is not known, CompileError for what is no name."""
    if not isinstance(name, str):
        raise CompileError(f"the target is {name!r}, expected the name of a machine (docs/targets.md)")
    machine_named(name)


def read_source(
    module_or_path: Operation | str | Path,
    entry: str,
    pipeline: str,
    *,
    use_cache: bool = True,
    verify_each: bool = False,
    weights: str | Path | Mapping[str, Any] | None = None,
    threads: int | None = None,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> Source:
    """
    Returns a program, read and verified. The parameters are those of `compile`, `pipeline` names all passes to run.

    Raises CompileError where there is no such entry, and the diagnostics of parser and verifier.
    """
    most_threads, database, weights = thread_count(threads), disk.tuning_database(tuning), given_weights(weights)
    module, text = verified_module(module_or_path)
    set_signatures(module, entry)
    if isinstance(weights, str | Path):
        refuse_idle_file(weights, module)
    return Source(
        *(module, entry, pipeline, use_cache, verify_each, weights),
        *(most_threads, database, text, threads, progress),
        stamp=stamp_of_side_car(module, weights),
    )


def own_code(module: ModuleOp, function: str) -> Callable[..., Any]:
    """Returns the function `function` of `module` compiled by Stepwell, whatever code generator it is marked for."""
    copy = clone_op(module)
    for op in copy.body.ops:
        op.attributes.pop(COMPILER, None)
        if isinstance(op, FuncOp) and op.sym_name.data == function:
            op.attributes.pop(PRIMITIVE, None)
            op.properties["sym_visibility"] = StringAttr("public")
    return read_source(copy, function, chosen_pipeline(), progress=False).load(None).entry(function)


def loaded(description: Description, code: bytes, weights: Mapping[str, Any], use_cache: bool, threads: int) -> Program:
    """Returns the program of this machine code, linked with what it calls from outside."""
    linked = LinkedExternals(description.externals, own_code, use_cache)
    return Program(description, code, weights, use_cache, threads, linked)
