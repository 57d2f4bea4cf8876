"""
Lowers graph ops to loop functions: pass `lower-graph-to-loops`.

Every op with a stated meaning becomes a call of a loop function. The function is made from its tensor expression
(`LoopSemantics`), or the op gives it (`LoopTemplate`). There are no lowerings per op.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, TensorType, UnregisteredOp
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ... import te
from ...core.ir.symbols import fresh_name
from ...core.ir.walk import walk
from ...core.messages.diagnostics import Diagnostic, StepwellError, fail, op_name
from ...core.messages.locations import location_string, nearest_source_point
from ...core.messages.origins import Shared
from ...core.messages.texts import GIVE_SIZES
from ...core.passes.applications import LOWERING, allowed
from ...core.passes.base import StepwellPass
from ...core.plugins import registry
from ...core.text.aliases import ops_called
from ...core.text.parsing import make_context, parse_text
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.constants import ConstantOp, WeightOp
from ...dialects.graph.dynamic import DynamicOp
from ...dialects.tensor_loop import FuncOp as LoopFuncOp
from ...dialects.traits import LoopSemantics, LoopTemplate, may_fail
from ...lazy_dataclass import dataclass
from ...te.tensor import results_of
from ..shared.kernel_calls import replace_by_call
from ..shared.te_types import dtype_of, is_static
from .convert_te_to_tensor_loop import convert_te_to_tensor_loop

LEFT_TO_BUFFERIZE = (
    ConstantOp,
    WeightOp,
    CallKernelOp,
    func.CallOp,
    func.ReturnOp,
    func.FuncOp,
)
"""Ops on tensors that are data or calls, not computations."""

LEFT_BY_NAME = frozenset({"scf.if", "scf.for", "scf.yield", "tensor.extract"})


@dataclass(frozen=True)
class LowerGraphToLoopsPass(StepwellPass):
    """
    Turns every graph op into a call of a loop function made from its tensor expression.

    Before: `%y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>`
    After: `%y = graph.call_kernel @relu(%x) : …` and a private `tensor_loop.func @relu`.

    Ops with equal name, properties and types share one function. Raises an error that lists every op without a
    tensor expression. With `allow-partial` those stay.
    """

    name = "lower-graph-to-loops"

    allow_partial: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = KernelTable(op)
        refused: list[Operation] = []
        for function in [f for f in op.ops if isinstance(f, func.FuncOp)]:
            for inner in [inner for inner in walk(function) if inner is not function]:
                if isinstance(inner, LoopSemantics | LoopTemplate):
                    if not allowed(LOWERING, inner.name, inner):
                        continue
                    replace_by_call(inner, SymbolRefAttr(kernels.kernel_of(inner)))
                    self.count("ops lowered")
                elif not _is_left(inner):
                    refused.append(inner)
        kernels.settle()
        self.count("loop functions", len(kernels.made))
        if refused and not self.allow_partial:
            _refuse(refused)


def _is_left(op: Operation) -> bool:
    if isinstance(op, LEFT_TO_BUFFERIZE) or op.name in LEFT_BY_NAME:
        return True
    return not any(isinstance(value.type, TensorType) for value in (*op.operands, *op.results))


def _refuse(ops: list[Operation]) -> None:
    """Raises one error for all of `ops`: every name, with the places (line:column) of its ops."""
    places: dict[str, list[str]] = {}
    for op in ops:
        point = nearest_source_point(op)
        places.setdefault(op_name(op), []).append(f"{point.line}:{point.column}" if point else "?")
    shown = [f"'{name}' at {_few(found, 4)}" for name, found in sorted(places.items())]
    count = "1 op on tensors has" if len(ops) == 1 else f"{len(ops)} ops on tensors have"
    message = f"{count} no tensor expression: {_few(shown, 8)}"
    raise StepwellError(Diagnostic(message, point=nearest_source_point(ops[0]), hint=_advice(ops)))


def _advice(ops: list[Operation]) -> str:
    """Returns what to write in place of `ops`, as far as that is known."""
    if all(isinstance(op, DynamicOp) for op in ops):
        return "specialize-shapes makes ops that take sizes static, where these follow from shapes and constants"
    names = sorted({op_name(op) for op in ops})
    uses = [f"{' or '.join(found)} for {name}" for name in names if (found := ops_called(name))]
    if uses:
        return f"use {_few(uses, 4)}"
    if unregistered := [op_name(op) for op in ops if isinstance(op, UnregisteredOp)]:
        return f"the op '{unregistered[0]}' is unregistered; the package of its dialect must be installed"
    if all(registry().owner.get(("dialect", name.partition(".")[0])) in ("xdsl", "stepwell") for name in names):
        return "graph ops compute on tensors; docs/graph.md lists them"
    return "implement LoopSemantics or LoopTemplate on the op, or use allow-partial"


def _few(items: list[str], count: int) -> str:
    return ", ".join(items[:count]) + (f" and {len(items) - count} more" if len(items) > count else "")


@dataclass
class KernelTable:
    """The loop functions of a module: by what they compute, and by types and ops."""

    module: ModuleOp
    by_key: dict[object, str] = field(default_factory=dict)
    by_outline: dict[object, list[LoopFuncOp]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """The texts that were made, by the names of their kernels."""
    taken: set[str] = field(init=False)
    shared: Shared = field(default_factory=Shared)
    made: dict[str, LoopFuncOp] = field(default_factory=dict)

    def __post_init__(self) -> None:
        symbols = (op.get_attr_or_prop("sym_name") for op in self.module.ops)
        self.taken = {symbol.data for symbol in symbols if symbol is not None}  # pyright: ignore

    def kernel_of(self, op: Operation) -> str:
        """Returns the name of the loop function that computes `op`, made on first use."""
        key = (
            op.name,
            tuple(sorted(op.properties.items())),
            tuple(sorted(op.attributes.items())),
            tuple(value.type for value in op.operands),
            tuple(value.type for value in op.results),
            _identity(op),
        )
        if key not in self.by_key:
            self.by_key[key] = self._make(op)
        name = self.by_key[key]
        self.shared.add(self.made[name], op.location)
        return name

    def settle(self) -> None:
        """Gives each kernel, and what it is made of, the locations of all ops that it computes."""
        self.shared.settle()
        for kernel in self.made.values():
            for op in walk(kernel):
                op.location = kernel.location

    def _make(self, op: Operation) -> str:
        if isinstance(op, LoopTemplate):
            kernel = _instantiated(op)
        else:
            kernel = convert_te_to_tensor_loop("kernel", *_semantics(op), location=op)
        # Texts take long to make, and few kernels have types, ops and constants in common.
        outline = _identity(op), kernel.function_type, tuple(_outline(each) for each in walk(kernel))
        alike = self.by_outline.setdefault(outline, [])
        text = _text(kernel) if alike else None
        for other in alike:
            if self._text_of(other) == text:
                return other.sym_name.data
        name = fresh_name(op.name.partition(".")[2].replace(".", "_"), self.taken)
        if text is not None:
            self.texts[name] = text
        kernel.properties["sym_name"] = type(kernel.sym_name)(name)
        self.module.body.block.add_op(kernel)
        alike.append(kernel)
        self.made[name] = kernel
        return name

    def _text_of(self, kernel: LoopFuncOp) -> str:
        """Returns the text of a kernel that has been made. It does not change before all of them are."""
        name = kernel.sym_name.data
        if name not in self.texts:
            self.texts[name] = _text(kernel)
        return self.texts[name]


def _outline(op: Operation) -> object:
    """Returns what tells most ops of kernels apart: a constant by its value, the others by their name."""
    return op.properties.get("value") if isinstance(op, arith.ConstantOp) else op.name


def _text(kernel: LoopFuncOp) -> str:
    """Returns the text of a kernel, whatever it is called."""
    own = kernel.properties["sym_name"]
    kernel.properties["sym_name"] = _ANY_NAME
    text = str(kernel)
    kernel.properties["sym_name"] = own
    return text


_ANY_NAME: Final = StringAttr("kernel")


def _identity(op: Operation) -> str:
    """Returns what keeps kernels of equal ops apart: a failing op reports where it stands, so its kernel is its own."""
    return location_string(op) if may_fail(op) else ""


def _semantics(op: Operation) -> tuple[list[te.Tensor], tuple[te.Tensor, ...]]:
    """Returns the placeholders and results of an op's tensor expression. Raises errors at the op."""
    assert isinstance(op, LoopSemantics)
    operands = [_placeholder(op, value, index) for index, value in enumerate(op.operands)]
    try:
        results = results_of(op, operands)
    except te.TEError as error:
        fail(op, f"'{op.name}' has no loops: {error}")
    for value, result in zip(op.results, results, strict=True):
        type_ = value.type
        assert isinstance(type_, TensorType)
        if (dtype_of(type_.get_element_type()), type_.get_shape()) != (result.dtype, result.shape):
            fail(op, f"its tensor expression gives {result.shape} of {result.dtype}, expected {type_}")
    return operands, results


def _instantiated(op: Operation) -> LoopFuncOp:
    """Returns the loop function of an op that gives one. Its ops get the location of `op`."""
    assert isinstance(op, LoopTemplate)
    for index, value in enumerate(op.operands):
        _static_type(op, value, index)
    for value in op.results:
        if isinstance(value.type, TensorType) and not is_static(value.type):
            fail(
                op,
                f"its loops give results of known sizes, expected {value.type}",
                hint="write the sizes of the result",
            )
    module = parse_text(make_context(), op.loop_function(), f"<loops of {op.name}>")
    kernel = module.body.block.first_op
    assert isinstance(kernel, LoopFuncOp)
    kernel.detach()
    kernel.properties["sym_name"] = type(kernel.sym_name)("kernel")
    for inner in walk(kernel):
        inner.location = op.location
    return kernel


def _placeholder(op: Operation, value: SSAValue, index: int) -> te.Tensor:
    type_ = _static_type(op, value, index)
    return te.placeholder(type_.get_shape(), dtype_of(type_.get_element_type()), _operand_name(op, index))


def _static_type(op: Operation, value: SSAValue, index: int) -> TensorType:
    type_ = value.type
    if not isinstance(type_, TensorType):
        fail(op, f"operand {index} has type {type_}, expected a tensor")
    if not is_static(type_):
        fail(op, f"operand {index} has type {type_}, whose sizes are not all known", hint=GIVE_SIZES)
    return type_


def _operand_name(op: Operation, index: int) -> str:
    """Returns the name of an operand in the op's definition. Operands of one variadic group are numbered."""
    declared = op.get_irdl_definition().operands if isinstance(op, IRDLOperation) else []
    if len(declared) == len(op.operands):
        return declared[index][0]
    return f"{declared[0][0]}{index}" if len(declared) == 1 else f"in{index}"
