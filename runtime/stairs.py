"""
Takes a module down the levels from wherever it stands, and keeps the text of each level.

The requested pipeline runs first. Then `finish` lowers the remaining ops, and leaves levels alone that are already
lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..core.ir.role_checks import signature_of_roles
from ..core.ir.verification import verify_module
from ..core.ir.walk import walk
from ..core.messages.diagnostics import fail, printable
from ..core.messages.stages import stage
from ..core.passes.applications import counted
from ..core.passes.context import current_context
from ..core.passes.instrument import Instrument
from ..core.passes.pipeline_text import expand_pipeline, parse_pipeline
from ..core.passes.pipelines import PassFailure, run_pipeline
from ..core.passes.progress import PassProgress
from ..core.roles import SIGNATURE
from ..core.text.parsing import make_context
from ..dialects.tensor_loop import FuncOp as LoopFuncOp
from ..lazy_dataclass import dataclass
from ..lowering.pipelines import PIPELINES, pipeline_text
from ..lowering.shared.te_types import dtype_of, is_static
from ..rewrites.simplify.remove_unused_functions import RemoveUnusedFunctionsPass
from ..te import dtypes
from .errors import CompileError
from .program.describe import MISSING_ROLES, functions, is_public, signature
from .program.entry_types import check_entry_types

if TYPE_CHECKING:
    from ..lowering.kernels_first import Work

STAIRS = ("graph", "tensor_loop", "scf", "llvm", "llvm-ir", "asm")
"""The names that `Executable.ir` knows, top down."""

_LAST_PASS_OF_STAIR = {
    "lower-external-functions": "graph",
    "lower-graph-to-loops": "graph",
    "bufferize": "tensor_loop",
    "lower-loops-to-scf": "tensor_loop",
    "lower-to-llvm-dialect": "scf",
}
"""Maps a pass to a level. Before the pass runs, the module is the last of that level."""


@dataclass
class StairTexts(Instrument):
    """Keeps the module's text at the foot of each level."""

    texts: dict[str, str] = field(default_factory=dict)

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if (stair := _LAST_PASS_OF_STAIR.get(pass_.name)) is not None:
            self.texts.setdefault(stair, str(module))

    def after_pipeline(self, module: ModuleOp) -> None:
        self.texts["llvm"] = str(module)


NUMERICS = ("default", "strict", "fast")
"""What `compile` may do to rounding."""


def chosen_pipeline(pipeline: str | None = None, opt_level: int = 3, numerics: str = "default") -> str:
    """Returns all passes to run: those of the level, or `pipeline` and whatever it leaves to lower."""
    if pipeline is None:
        return pipeline_text(opt_level, numerics)
    return f"{pipeline},finish" if pipeline else "finish"


def what_is_left_out(pipeline: str | None, module: ModuleOp) -> str | None:
    """
    Returns the remark that `pipeline` runs in place of the optimiser, and how to have both.

    Returns `None` where it holds the optimiser, goes below the graph level by itself, or the program has no graph op.
    """
    if not pipeline or not any(op.name.startswith("graph.") for op in walk(module)):
        return None
    names = {spec.name for spec in expand_pipeline(pipeline)}
    if names & {"plan-fusion", "lower-graph-to-loops"}:
        return None
    return f"the pipeline '{pipeline}' runs in place of the optimiser; '{pipeline},O3' has both"


def take_down(
    context: Context,
    module: ModuleOp,
    entry: str,
    pipeline: str,
    *,
    verify_each: bool = False,
    instruments: Sequence[Instrument] = (),
    tuning: Path | None = None,
) -> None:
    """
    Lowers `module` in place to the llvm dialect. `apply-tuning` takes its schedules from `tuning`.

    The input must have been verified. LLVM verifies its text. The llvm dialect is verified here unless the passes are
    all ours, since that takes a quarter of the time to compile. With `verify_each`, every pass is followed by the
    verifier. Raises CompileError when `entry` cannot be an entry, and the passes' own errors.
    """
    set_signatures(module, entry)
    with stage("import of passes"):
        passes = parse_pipeline(pipeline)
    if tuning is not None:
        from ..schedule.tuned.apply_tuning import with_database

        passes = with_database(passes, tuning)
    first = None if verify_each else _first_of_kernels(passes, instruments)
    if first is None:
        run_pipeline(context, module, passes, verify_each=verify_each, instruments=instruments)
    else:
        _take_down_kernels_first(context, module, passes, first, instruments)
    if pipeline not in PIPELINES and not verify_each:
        verify_module(module)


def _first_of_kernels(passes: Sequence[ModulePass], instruments: Sequence[Instrument]) -> int | None:
    """
    Returns the place from which `passes` may run on one kernel after the other, or `None` where they must not.

    Whoever looks at the module between passes, or counts what they apply, expects all of it. A bar shows the names of
    passes only.
    """
    counts = current_context() is not None or counted() is not None
    watched = counts or any(type(each) is not PassProgress for each in instruments)
    if watched:
        return None
    from ..lowering.kernels_first import first_of_lowering
    from ..lowering.llvm.listening import is_anybody_listening

    return first_of_lowering(passes) if is_anybody_listening() else None


class _Whole(Instrument):
    """Tells instruments of the first passes of a run as if the others followed in the same run."""

    def __init__(self, passes: Sequence[ModulePass], instruments: Sequence[Instrument]):
        self._passes, self._instruments = passes, instruments

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        for each in self._instruments:
            each.before_pipeline(self._passes, module)

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        for each in self._instruments:
            each.before_pass(pass_, index, module)

    def comes(self, place: float, name: str) -> None:
        """Tells bars that a pass comes next on a kernel alone, when so many passes are done."""
        for each in self._instruments:
            if isinstance(each, PassProgress):
                each.comes(place, name)


def _take_down_kernels_first(
    context: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    first: int,
    instruments: Sequence[Instrument],
) -> None:
    """Runs `passes`, those from `first` on one kernel after the other, so that LLVM can begin with the first one."""
    from ..lowering.kernels_first import lower_kernels_first

    whole = _Whole(passes, instruments)
    run_pipeline(context, module, passes[:first], verify_each=False, instruments=[whole])

    def run(
        pass_: ModulePass, number: int, module: ModuleOp, work: Work | None = None, done: float | None = None
    ) -> Any:
        whole.comes(first + (number if done is None else done), pass_.name)
        try:
            return (work or pass_.apply)(context, module)
        except Exception as error:
            failure = PassFailure(pass_, first + number + 1)
            error.failed_pass = failure  # pyright: ignore[reportAttributeAccessIssue]
            error.add_note(str(failure))
            raise

    lower_kernels_first(module, passes[first:], run)


def nobody_watches(pipeline: str) -> bool:
    """Returns whether nobody can keep ops of a module while it is lowered: no instrument, and no pass but our own."""
    context = current_context()
    return pipeline in PIPELINES and (context is None or not context.instruments)


def in_pipeline(entry: str) -> str:
    """Returns the name of an entry as an option of a pass. Raises CompileError when no pipeline can spell it."""
    if not entry.isprintable() or not set(entry).isdisjoint('"\\'):
        message = f"the name of entry @{printable(entry)} has a quote, a backslash or a character that is not printable"
        raise CompileError(f"{message}, expected none in a program that is profiled or has sizes ?")
    return entry


def set_signatures(module: ModuleOp, entry: str) -> None:
    """
    Writes the tensor types of every entry into its `stepwell.signature`, where a later level can read them.

    Raises CompileError when `entry` does not exist, is private, or stands below the tensors without roles.
    """
    found = functions(module)
    if entry not in found:
        known = ", ".join(f"@{name}" for name, op in found.items() if is_public(op)) or "none"
        raise CompileError(f"the module has no function @{entry}; its public functions are: {known}")
    if not is_public(found[entry]):
        raise CompileError(f"function @{entry} is private or has no body, expected a public function as the entry")
    for name, function in found.items():
        if SIGNATURE in function.attributes or (is_public(function) and isinstance(function, LoopFuncOp)):
            check_entry_types(function)
        if not is_public(function) or SIGNATURE in function.attributes:
            continue
        if isinstance(function, LoopFuncOp):
            _check_all_buffers(function)
        types = signature(function) or signature_of_roles(function)
        if types is not None:
            _check_element_types(name, types)
            function.attributes[SIGNATURE] = types
            check_entry_types(function)
        elif name == entry and function.name != "tensor_loop.func":  # A loop function gets its roles from bufferize.
            _check_all_tensors(name, function)
            raise CompileError(f"function @{entry} works on buffers but its arguments have no roles; {MISSING_ROLES}")


MOST_ELEMENTS: Final = 1 << 60
"""The most elements of an argument or result. Their size in bytes is an i64 that is not negative."""


def _check_element_types(name: str, types: FunctionType) -> None:
    for type_ in (*types.inputs, *types.outputs):
        if isinstance(type_, TensorType) and dtype_of(type_.get_element_type()) not in dtypes.ALL:
            raise CompileError(
                f"function @{name} takes or returns {type_}, expected an element type of {', '.join(dtypes.ALL)}"
            )
        if isinstance(type_, TensorType) and prod(n for n in type_.get_shape() if n >= 0) > MOST_ELEMENTS:
            raise CompileError(f"function @{name} takes or returns {type_}, expected at most 2^60 elements")


def _check_all_tensors(name: str, function: Operation) -> None:
    """Raises CompileError for an entry that neither works on tensors alone nor on buffers alone."""
    type_ = function.get_attr_or_prop("function_type")
    if function.name == "func.func" and isinstance(type_, FunctionType):
        for found in (*type_.inputs, *type_.outputs):
            if not isinstance(found, MemRefType | TensorType):
                number = "i64" if isinstance(found, IndexType) else str(found)
                expected = "tensors of known rank only"
                if number in dtypes.ALL:
                    expected = f"tensor<{number}>: a number is a tensor of rank 0"
                raise CompileError(f"function @{name} takes or returns {found}, expected {expected}")


def _check_all_buffers(function: LoopFuncOp) -> None:
    """Raises `OperationError` for an entry on the tensor_loop level with an argument that is no buffer."""
    for type_ in function.input_types:
        if not isinstance(type_, MemRefType):
            fail(function, f"an entry takes buffers only, found an argument of type {type_}")


def has_unknown_sizes(module: ModuleOp, entry: str) -> bool:
    """Returns whether the entry takes a tensor with a `?` dimension. An entry on buffers is compiled for all sizes."""
    types = functions(module)[entry].get_attr_or_prop("function_type")
    return isinstance(types, FunctionType) and any(isinstance(t, TensorType) and not is_static(t) for t in types.inputs)


def leave_open_entries_out(module: ModuleOp, entry: str) -> None:
    """Removes other public functions that take `?`: they are lowered with the sizes of their own calls."""
    found = functions(module)
    others = [name for name, op in found.items() if name != entry and is_public(op) and has_unknown_sizes(module, name)]
    for name in others:
        found[name].properties["sym_visibility"] = StringAttr("private")
    if others:
        RemoveUnusedFunctionsPass().apply(make_context(), module)
