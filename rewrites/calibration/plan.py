"""The calls of a module that calibration records, and the reasons why others are not recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from graphlib import CycleError, TopologicalSorter
from typing import NoReturn

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    ModuleOp,
    TensorType,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...core.codegens import COMPILER
from ...core.messages.diagnostics import (
    Diagnostic,
    OperationError,
    about,
    did_you_mean,
    emit_remark,
    emit_warning,
    fail,
)
from ...core.messages.locations import nearest_source_point
from ...core.messages.texts import missing_function
from ...core.roles import CALIBRATION_MAP
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from ..fusion.inline_primitive import inline_call

REPEATED = ("error", "list")
"""What to do with a second call of a recorded function."""

_CONTROL_FLOW_DIALECTS = ("scf", "cf", "affine")


@dataclass(frozen=True)
class Slice:
    """The place of the data of one call among the results of the calibration entry: inputs first, then outputs."""

    offset: int
    inputs: int
    outputs: int

    @property
    def input_numbers(self) -> range:
        """The numbers of the results that are its arguments."""
        return range(self.offset, self.offset + self.inputs)

    @property
    def output_numbers(self) -> range:
        """The numbers of the results that are its results."""
        return range(self.offset + self.inputs, self.offset + self.inputs + self.outputs)


@dataclass(frozen=True)
class RecordedCall:
    """One call. It holds the function, and its arguments and results as the operands of an op that is in no block."""

    function: str
    slice: Slice
    values: UnrealizedConversionCastOp = field(repr=False)

    @property
    def recorded(self) -> list[SSAValue]:
        """The arguments, then the results. They stay right when the function is inlined."""
        return list(self.values.operands)


@dataclass
class CalibrationPlan:
    """
    The calls of functions with `graph.compiler` that run from `entry`, in program order.

    `recursive` inlines into the entry every function through which such a call is reached, so the module changes.
    `multi="list"` allows a second call of a function. `subject` is the name of the pass, for errors that concern no op.
    With `warn` the calls that are not recorded are reported.
    """

    module: ModuleOp = field(repr=False)
    entry: str
    recursive: bool
    multi: str
    subject: str
    warn: bool = True
    calls: list[RecordedCall] = field(default_factory=list)
    _first_calls: dict[str, Operation] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.multi not in REPEATED:
            raise PassFailedException(f"{self.subject}: multi is '{self.multi}', expected one of {', '.join(REPEATED)}")
        self.functions = {each.sym_name.data: each for each in functions_of(self.module)}
        if self.entry not in self.functions:
            raise PassFailedException(f"{self.subject}: {missing_function(self.entry, self.functions)}")
        self.function = self.functions[self.entry]
        self._check_one_block(self.function)
        for function in self.functions.values():
            for call in _calls(function):
                if call.callee.string_value() == self.entry:
                    message = f"@{self.entry} is called, but its results become the data that are recorded"
                    fail(call, message, hint="calibrate a function that nothing calls")

    def collect(self) -> list[RecordedCall]:
        """Finds the calls. `release` gives back what this holds. Raises `PassFailedException` where it cannot."""
        try:
            self._collect()
        except BaseException:
            self.release()
            raise
        if not self.calls and self.warn:
            emit_warning(self.function, f"no call of a function with {COMPILER} is recorded in @{self.entry}")
        return self.calls

    def _collect(self) -> None:
        through = self._functions_on_the_way()
        op = self.function.body.block.first_op
        offset = 0
        while op is not None:
            following = op.next_op
            self._refuse_control_flow(op)
            if isinstance(op, func.CallOp):
                name = op.callee.string_value()
                if COMPILER in self._callee(op).attributes:
                    self.calls.append(self._record(op, name, offset))
                    offset += len(op.operands) + len(op.results)
                if self.recursive and name in through:
                    self._check_one_block(self.functions[name])
                    copies = inline_call(op, self.functions[name])
                    following = copies[0] if copies else following
            op = following

    def release(self) -> None:
        """Drops the uses that the plan has of the module's values."""
        for call in self.calls:
            call.values.erase()
        self.calls = []

    # Calls

    def _callee(self, call: func.CallOp) -> func.FuncOp:
        name = call.callee.string_value()
        if name not in self.functions:
            hint = did_you_mean(name, self.functions)
            fail(call, f"function @{name} is not defined", hint=hint)
        return self.functions[name]

    def _record(self, call: func.CallOp, name: str, offset: int) -> RecordedCall:
        if self.multi == "error" and name in self._first_calls:
            self._fail_repeated(call, name)
        self._first_calls[name] = call
        if not self.functions[name].body.blocks:
            fail(call, f"function @{name} has no body, so there is nothing to run for its data")
        for word, values in (("argument", call.operands), ("result", call.results)):
            for number, value in enumerate(values):
                if not isinstance(value.type, TensorType):
                    fail(call, f"{word} {number} of @{name} has type {value.type}, expected a tensor")
        if self.warn and not any(True for result in call.results for _ in result.uses):
            emit_remark(call, f"no result of this call of @{name} is used; it is recorded all the same")
        values = UnrealizedConversionCastOp.create(operands=[*call.operands, *call.results])
        return RecordedCall(name, Slice(offset, len(call.operands), len(call.results)), values)

    def _fail_repeated(self, call: func.CallOp, name: str) -> NoReturn:
        message = f"repeated call of @{name}: one set of data per function is recorded"
        error = OperationError(call, message, hint="the option multi=list records every call")
        first = self._first_calls[name]
        note = Diagnostic(about(first, "the first call is here"), "note", nearest_source_point(first))
        error.diagnostic = replace(error.diagnostic, notes=(note,))
        raise error

    # Control flow

    def _check_one_block(self, function: func.FuncOp) -> None:
        name = function.sym_name.data
        if not function.body.blocks:
            fail(function, f"function @{name} has no body")
        if len(function.body.blocks) > 1:
            last = function.body.blocks[0].last_op
            fail(last or function, f"control flow in @{name}: it has {len(function.body.blocks)} blocks")

    def _refuse_control_flow(self, op: Operation) -> None:
        """Refuses a call inside a branch or a loop, whose data are no values of the entry."""
        is_control_flow = op.name.partition(".")[0] in _CONTROL_FLOW_DIALECTS and (op.regions or op.successors)
        if is_control_flow or any(isinstance(each, func.CallOp) for each in op.walk() if each is not op):
            function = op.parent_op()
            name = function.sym_name.data if isinstance(function, func.FuncOp) else self.entry
            fail(
                op,
                f"control flow in @{name}: only straight-line code can be calibrated",
                hint="move the branch or the loop into a function that is called",
            )

    # Calls that are not in the entry

    def _functions_on_the_way(self) -> set[str]:
        """
        The functions other than the entry that run from it and lead to a recorded function by a call of their own.

        With `recursive` they are inlined, so they may not call themselves. Without it a warning reports such calls.
        """
        graph = self._call_graph()
        callers: dict[str, list[str]] = {}
        for name, callees in graph.items():
            for callee in callees:
                callers.setdefault(callee, []).append(name)
        through: set[str] = set()
        pending = [name for name in graph if COMPILER in self.functions[name].attributes]
        while pending:
            new = [name for name in callers.get(pending.pop(), ()) if name not in through]
            through.update(new)
            pending += new
        if self.recursive:
            self._refuse_cycles({name: [each for each in graph[name] if each in through] for name in through})
        elif self.warn:
            for name in graph:
                if name in through and name != self.entry:
                    self._warn_of_nested_calls(self.functions[name])
        return through

    def _call_graph(self) -> dict[str, list[str]]:
        """Returns for every function that runs from the entry the functions that it calls, in order of discovery."""
        graph: dict[str, list[str]] = {}
        pending = [self.entry]
        while pending:
            name = pending.pop()
            if name not in graph:
                callees = [self._callee(call).sym_name.data for call in _calls(self.functions[name])]
                graph[name] = list(dict.fromkeys(callees))
                pending += reversed(graph[name])
        return graph

    def _refuse_cycles(self, graph: Mapping[str, list[str]]) -> None:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            name = min(error.args[1])
            fail(self.functions[name], f"function @{name} calls itself: its calls cannot be recorded one by one")

    def _warn_of_nested_calls(self, function: func.FuncOp) -> None:
        for call in _calls(function):
            name = call.callee.string_value()
            if COMPILER in self.functions[name].attributes:
                emit_warning(
                    call,
                    f"this call of @{name} in @{function.sym_name.data} is not recorded: only calls in "
                    f"@{self.entry} are; the option recursive records it",
                )


def _calls(function: func.FuncOp) -> Iterator[func.CallOp]:
    return (op for op in function.walk() if isinstance(op, func.CallOp))


# The map


def map_attribute(slices: Mapping[str, list[Slice]], multi: str) -> DictionaryAttr:
    """The map as an attribute: `[offset, inputs, outputs]` of a function, a list of these with `multi="list"`."""

    def of(part: Slice) -> Attribute:
        return DenseArrayBase.from_list(i64, [part.offset, part.inputs, part.outputs])

    return DictionaryAttr(
        {
            name: of(parts[0]) if multi == "error" else ArrayAttr([of(part) for part in parts])
            for name, parts in slices.items()
        }
    )


def read_map(function: func.FuncOp) -> dict[str, list[Slice]]:
    """The map that an entry carries, by function. Raises `PassFailedException` when it has none or a malformed one."""
    attribute = function.attributes.get(CALIBRATION_MAP)
    if not isinstance(attribute, DictionaryAttr):
        found = "missing" if attribute is None else f"{attribute}, expected a dictionary"
        fail(function, f"{CALIBRATION_MAP} is {found}", hint="the pass calibrate-map makes it")
    slices: dict[str, list[Slice]] = {}
    for name, value in attribute.data.items():
        parts = value.data if isinstance(value, ArrayAttr) else (value,)
        numbers = [part.get_values() for part in parts if isinstance(part, DenseArrayBase)]
        if not numbers or len(numbers) != len(parts) or any(len(each) != 3 for each in numbers):
            fail(function, f"{CALIBRATION_MAP} of @{name} is {value}, expected an array of offset, inputs, outputs")
        slices[name] = [Slice(*map(int, each)) for each in numbers]
    return slices
