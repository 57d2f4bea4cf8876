"""The conversion of `func`: signatures, early return of a status, and the entry points that the runtime calls."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf, func, llvm, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...core.ir.role_checks import signature_of_roles
from ...core.ir.walk import ops_of
from ...core.roles import BUFFER_ALIGNMENT, ENTRY_PREFIX, FUNCTION, NOALIAS, PLACE_OF, PREPARE, ROLE, SIGNATURE
from .attributes import number
from .heap import free_live_buffers
from .llvm_body import ConversionTable, LLVMBody
from .state import ModuleState, Signature
from .types import PTR, MemRefLayout, UnsupportedTypeError

ALIGNED_ROLES = ("arena",)

LINKAGE_INTERNAL = llvm.LinkageAttr("internal")
LINKAGE_EXTERNAL = llvm.LinkageAttr("external")

FUNCTION_PROPERTIES = (
    "passthrough",
    "no_inline",
    "optimize_none",
    "target_cpu",
    "target_features",
    "tune_cpu",
)
"""Discardable attributes of a `func.func` that `llvm.func` has as properties of the same name."""

_UNIT = UnitAttr()
_RARELY_RUN = (StringAttr("cold"), StringAttr("optsize"))


def functions_of(module: ModuleOp) -> dict[str, func.FuncOp]:
    """Returns the `func.func`s of a module by name."""
    return {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, func.FuncOp)}


def failing_functions(functions: dict[str, func.FuncOp]) -> set[str]:
    """Returns the names of the functions that hold a check or call, through any number of calls, one that does."""
    callers: dict[str, list[str]] = {}
    pending: list[str] = []
    for name, function in functions.items():
        fails = False
        for op in ops_of(function, cf.AssertOp, memref.AllocOp, func.CallOp):
            if not isinstance(op, func.CallOp):
                fails = True
            else:
                callers.setdefault(op.callee.string_value(), []).append(name)
        if fails:
            pending.append(name)
    failing = set(pending)
    while pending:
        for caller in callers.get(pending.pop(), ()):
            if caller not in failing:
                failing.add(caller)
                pending.append(caller)
    return failing


def argument_attributes(function: func.FuncOp) -> list[dict[str, Attribute]]:
    """Returns the attributes of each argument."""
    if function.arg_attrs is None:
        return [{} for _ in function.function_type.inputs]
    return [dict(attributes.data) for attributes in function.arg_attrs]


def is_entry(function: func.FuncOp) -> bool:
    """
    Returns whether a function is public or a prepare function, with a body and a role on each argument.

    One that takes and returns nothing is an entry where its signature says so, as it can have no role.
    """
    attributes = argument_attributes(function)
    callable_from_outside = is_public(function) or PREPARE in function.attributes
    is_empty = SIGNATURE in function.attributes and not function.function_type.outputs
    has_roles = (bool(attributes) or is_empty) and all(ROLE in argument for argument in attributes)
    return callable_from_outside and has_roles and not function.is_declaration


def is_public(function: func.FuncOp) -> bool:
    """Returns whether the visibility is neither `private` nor `nested`."""
    visibility = function.sym_visibility
    return visibility is None or visibility.data == "public"


def signature_of(state: ModuleState, function: func.FuncOp, symbol: str, may_fail: bool) -> Signature:
    """Returns the llvm signature. A type without counterpart is noted as an error and becomes i64."""

    def convert(source: Attribute) -> Attribute:
        try:
            return state.types.convert(source)
        except UnsupportedTypeError as error:
            state.error(function, str(error))
            return i64

    function_type: FunctionType = function.function_type
    return Signature(
        symbol,
        [convert(source) for source in function_type.inputs],
        [convert(source) for source in function_type.outputs],
        may_fail,
    )


def lowered_argument_attributes(
    state: ModuleState, function: func.FuncOp, signature: Signature, is_called: bool
) -> ArrayAttr[DictionaryAttr] | None:
    """
    Returns the attributes of the arguments with what LLVM may assume added.

    The arguments of an entry do not overlap and its buffers are aligned, which the runtime sees to. That does not hold
    when the program itself calls the entry.
    """
    entry = is_entry(function)
    noalias = NOALIAS in function.attributes or (entry and not is_called)
    result: list[DictionaryAttr] = []
    for attributes, source, target in zip(
        argument_attributes(function), function.function_type.inputs, signature.arguments, strict=True
    ):
        if isinstance(source, MemRefType) and target == PTR:
            layout = state.types.layout(source)
            if noalias and PLACE_OF not in attributes:
                attributes.setdefault("llvm.noalias", _UNIT)
            if entry and not is_called:
                _add_entry_attributes(attributes, layout)
        result.append(DictionaryAttr(attributes))
    return ArrayAttr(result) if any(entry.data for entry in result) else None


def _add_entry_attributes(attributes: dict[str, Attribute], layout: MemRefLayout) -> None:
    role = attributes[ROLE]
    aligned = isinstance(role, StringAttr) and role.data in ALIGNED_ROLES
    alignment = BUFFER_ALIGNMENT if aligned else layout.element_bytes & -layout.element_bytes
    attributes.setdefault("llvm.align", number(alignment))
    if layout.count:
        attributes.setdefault("llvm.nonnull", _UNIT)


def load_time_functions(functions: dict[str, func.FuncOp], calls: dict[str, set[str]]) -> set[str]:
    """
    Returns the names of the prepare functions and of what they alone call, through any number of calls.

    These run once, when weights are loaded. `calls` holds what each function calls.
    """
    preparing = {name for name, function in functions.items() if PREPARE in function.attributes}
    if not preparing:
        return set()
    called = {callee for name in calls for callee in calls[name]}
    others = {name for name, function in functions.items() if is_public(function) or name not in called} - preparing
    return _reached(preparing, calls) - _reached(others, calls)


def _reached(names: set[str], calls: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += calls.get(name, ())
    return found


def mark_rarely_run(ops: Sequence[Operation]) -> None:
    """Marks functions as ones that run once: LLVM takes less time for them, and unrolls no loops in them."""
    for op in ops:
        if not isinstance(op, llvm.FuncOp) or not op.body.blocks or "optimize_none" in op.properties:
            continue
        given = op.properties.get("passthrough")
        words = tuple(given.data) if isinstance(given, ArrayAttr) else ()
        if StringAttr("optnone") not in words:  # LLVM refuses the two together.
            op.properties["passthrough"] = ArrayAttr(dict.fromkeys((*words, *_RARELY_RUN)))


def function_linkage(function: func.FuncOp) -> llvm.LinkageAttr:
    """Returns external for declarations and for public functions without roles, internal for the rest."""
    if function.is_declaration or (is_public(function) and not is_entry(function)):
        return LINKAGE_EXTERNAL
    return LINKAGE_INTERNAL


def new_function(
    state: ModuleState, function: func.FuncOp, signature: Signature, body: Region, is_called: bool
) -> llvm.FuncOp:
    """Returns the `llvm.func` that takes the place of `function`. Discardable attributes are carried over."""
    attributes = dict(function.attributes)
    if SIGNATURE not in attributes and is_entry(function) and (types := signature_of_roles(function)) is not None:
        attributes[SIGNATURE] = types  # Pointers do not say it.
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(signature.symbol),
        "function_type": signature.function_type,
        "CConv": llvm.CallingConventionAttr("ccc"),
        "linkage": function_linkage(function),
        "visibility_": IntegerAttr(0, 64),
    }
    for name in FUNCTION_PROPERTIES:
        if name in attributes:
            properties[name] = attributes.pop(name)
    if not function.is_declaration:
        properties["no_unwind"] = UnitAttr()
    if function.sym_visibility is not None:
        properties["sym_visibility"] = function.sym_visibility
    arguments = lowered_argument_attributes(state, function, signature, is_called)
    if arguments is not None:
        properties["arg_attrs"] = arguments
    if function.res_attrs is not None and len(signature.fields) == len(signature.results) == 1:
        properties["res_attrs"] = function.res_attrs
    return llvm.FuncOp.create(properties=properties, attributes=attributes, regions=[body], location=function.location)


def entry_wrapper(function: func.FuncOp, signature: Signature, builder: LLVMBody) -> llvm.FuncOp:
    """Returns `_stepwell_entry_<name>`: it loads pointers and sizes out of an array and returns the status."""
    name = ENTRY_PREFIX + function.sym_name.data
    builder.source = function
    start = Block(arg_types=[PTR])
    start.args[0].name_hint = "args"
    builder.start(start)
    pointers = [  # sizes and strides are there themselves
        builder.load(builder.gep(start.args[0], index, PTR) if index else start.args[0], type_, 8)
        for index, type_ in enumerate(signature.arguments)
    ]
    status = builder.call(signature.symbol, pointers, signature.return_type)
    if not signature.may_fail:
        status = builder.constant(0, i32)
    assert status is not None
    builder.emit_void(llvm.ReturnOp, (status,))
    return llvm.FuncOp.create(
        properties={
            "sym_name": StringAttr(name),
            "function_type": llvm.LLVMFunctionType([PTR], i32),
            "CConv": llvm.CallingConventionAttr("ccc"),
            "linkage": LINKAGE_EXTERNAL,
            "visibility_": IntegerAttr(0, 64),
            "no_unwind": UnitAttr(),
        },
        attributes={FUNCTION: SymbolRefAttr(signature.symbol)},
        regions=[Region(builder.blocks)],
        location=function.location,
    )


def pack(builder: LLVMBody, signature: Signature, status: SSAValue | None, values: Sequence[SSAValue | None]) -> None:
    """Appends the `llvm.return` of a status (`None` = success) and results (`None` = undefined)."""
    fields: list[SSAValue | None] = list(values)
    if signature.may_fail:
        fields.insert(0, builder.constant(0, i32) if status is None else status)
    if len(fields) <= 1:
        builder.emit_void(llvm.ReturnOp, [value for value in fields if value is not None])
        return
    return_type = signature.return_type
    assert return_type is not None
    packed = builder.emit(llvm.UndefOp, (), return_type)
    for index, value in enumerate(fields):
        if value is not None:
            packed = builder.insert_field(packed, index, value)
    builder.emit_void(llvm.ReturnOp, (packed,))


class FunctionConversions:
    """Calls and returns inside the function with this signature."""

    def __init__(self, signature: Signature):
        self.signature = signature

    def table(self) -> ConversionTable:
        """Returns the conversion of each type of op."""
        return {func.CallOp: convert_call, func.ReturnOp: self.convert_return}

    def convert_return(self, builder: LLVMBody, op: func.ReturnOp) -> None:
        pack(builder, self.signature, None, builder.values_of(op.arguments))


def convert_call(builder: LLVMBody, op: func.CallOp) -> None:
    """Makes the call, then the early return when the callee reports a failure."""
    name = op.callee.string_value()
    signature = builder.state.signatures.get(name)
    if signature is None:
        builder.error(f"callee @{name} is not a function of this module")
        return
    returned = builder.call(signature.symbol, builder.values_of(op.operands), signature.return_type)
    results = unpack(builder, signature, returned)
    for result, value in zip(op.results, results, strict=True):
        builder.bind(result, value)


def unpack(builder: LLVMBody, signature: Signature, returned: SSAValue | None) -> list[SSAValue]:
    """Returns the results of a call. Code before them leaves the function with the status when that is not 0."""
    if returned is None:
        return []
    fields = signature.fields
    if len(fields) == 1:
        values = [returned]
    else:
        values = [builder.extract_field(returned, i, field) for i, field in enumerate(fields)]
    if not signature.may_fail:
        return values
    status, *results = values
    failed = builder.icmp("ne", status, builder.constant(0, i32))
    go_on = Block()
    builder.branch_if(failed, builder.fail(), (status,), go_on, ())
    builder.start(go_on)
    return results


def finish_failing_return(builder: LLVMBody, signature: Signature) -> None:
    """Fills the block that returns a status early, when any check branches to it."""
    if builder.fail_block is None:
        return
    builder.source = None
    builder.start(builder.fail_block)
    free_live_buffers(builder)
    pack(builder, signature, builder.fail_block.args[0], [None] * len(signature.results))


def is_llvm(op: Operation) -> bool:
    """Returns whether an op needs no conversion."""
    return op.dialect_name() in ("llvm", "llvm_ext")
