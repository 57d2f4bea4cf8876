"""The lowering of scf, memref, arith, math, vector, func and cf in one walk: pass `lower-to-llvm-dialect`."""

from __future__ import annotations

from functools import cache

from xdsl.context import Context
from xdsl.dialects import arith, func, llvm, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrealizedConversionCastOp,
    VectorType,
    i8,
)
from xdsl.ir import Attribute, Block, Operation, Region

from ...core.ir.literals import i64_attribute
from ...core.ir.teardown import take_apart
from ...core.ir.walk import ops_of
from ...core.messages.origins import inherit
from ...core.passes.base import StepwellPass
from ...core.roles import BUFFER_ALIGNMENT, CHECKS, ENTRY_PREFIX, TASK
from ...dialects import tile
from ...lazy_dataclass import dataclass
from ...machine.named import chosen_machine
from ...te.dtypes import STORED_FLOATS
from . import convert_arith, convert_math, convert_memref, convert_vector, parallel
from .attributes import IN_MAIN_MEMORY, INTERNAL, UNIT, array_type
from .convert_control import ControlConversions, region_blocks
from .convert_func import (
    FunctionConversions,
    entry_wrapper,
    failing_functions,
    finish_failing_return,
    functions_of,
    is_entry,
    is_llvm,
    load_time_functions,
    mark_rarely_run,
    new_function,
    signature_of,
)
from .heap import heap_slots
from .listening import Kernels, declaration_of
from .llvm_body import ConversionTable, LLVMBody
from .small_floats import carry_as_bits
from .state import ModuleState, Signature
from .tile_bases import hide_tile_bases
from .tiles import convert_tile, convert_tile_elements, convert_tile_transpose, convert_translate
from .tiles.registers import configure_tile_registers
from .types import UnsupportedTypeError

_BOOLEAN_BYTES = bytes([0, *[1] * 255])


def convert_unrealized_cast(builder: LLVMBody, op: UnrealizedConversionCastOp) -> None:
    """Removes a cast between types that are one type here, such as a memref and its pointer."""
    for operand, result in zip(op.inputs, op.outputs, strict=True):
        value, target = builder.value(operand), builder.types.convert(result.type)
        if value.type != target:
            builder.error(f"{operand.type} to {result.type} is not one type in the llvm dialect")
            return
        builder.bind(result, value)


CONVERSIONS: ConversionTable = {
    **convert_arith.CONVERSIONS,
    **convert_math.CONVERSIONS,
    **convert_memref.CONVERSIONS,
    **convert_tile.CONVERSIONS,
    **convert_tile_elements.CONVERSIONS,
    **convert_tile_transpose.CONVERSIONS,
    **convert_translate.CONVERSIONS,
    **convert_vector.CONVERSIONS,
    UnrealizedConversionCastOp: convert_unrealized_cast,
}


_TAKE_TILES = frozenset(
    {
        *convert_tile.CONVERSIONS,
        *convert_tile_elements.CONVERSIONS,
        *convert_tile_transpose.CONVERSIONS,
        *convert_translate.CONVERSIONS,
        tile.MapOp,
        scf.ForOp,
        scf.IfOp,
        scf.WhileOp,
        scf.YieldOp,
    }
)
"""The ops whose conversions know of tiles, values that several registers stand for."""


class FunctionConverter:
    """Converts the body of one function."""

    def __init__(self, state: ModuleState, signature: Signature):
        self.state = state
        self.signature = signature
        self.table: ConversionTable = {
            **CONVERSIONS,
            arith.ConstantOp: convert_tile.convert_constant,
            tile.MapOp: self.convert_map,
            **ControlConversions(self.convert).table(),
            **FunctionConversions(signature).table(),
            func.CallOp: parallel.convert_any_call,
        }

    def convert(self, builder: LLVMBody, op: Operation) -> None:
        """Emits what stands for `op`."""
        builder.source = op
        if builder.pieces and type(op) not in _TAKE_TILES:
            for each in op._operands:  # The hash of a value takes longer than a look at its type.
                if type(each._type) is VectorType and each in builder.pieces:
                    builder.error(
                        f"the op takes a tile, {each.type}; expected an op of the tile dialect, scf.for or scf.if "
                        "(arithmetic on tiles is the body of a tile.map)"
                    )
                    return
        if (unknown := _computed_on(op)) is not None:
            builder.error(f"has no native {unknown} form; run expand-math first")
            return
        conversion = self.table.get(type(op))
        if conversion is None:
            conversion = self._keep if is_llvm(op) else _refuse
        try:
            conversion(builder, op)
        except UnsupportedTypeError as error:
            builder.error(str(error))

    def convert_map(self, builder: LLVMBody, op: tile.MapOp) -> None:
        """Converts the body of a `tile.map`, once per piece of the tile, on vectors."""
        convert_tile.convert_map(builder, op, self.convert)

    def _keep(self, builder: LLVMBody, op: Operation) -> None:
        """Copies an op that is of the llvm dialect already. Its types must be so too, since its operands become so."""
        for value in (*op.operands, *op.results):
            if self.state.types.convert(value.type) != value.type:
                builder.error(f"the op is on {value.type}, expected types of the llvm dialect")
                return
        kept = op.clone(dict(builder.values), {**builder.block_map})
        kept.location = op.location
        builder.block.add_op(kept)
        for old, new in zip(op.results, kept.results, strict=True):
            builder.values[old] = new

    def body(self, function: func.FuncOp, lowered: llvm.FuncOp) -> Region:
        """Returns the blocks of `lowered`, the `llvm.func` in place of `function`."""
        builder = LLVMBody(self.state)
        if self.signature.may_fail:
            builder.heap = heap_slots(function)
        entry = Block(arg_types=self.signature.arguments)
        builder.start(entry)
        source_entry = function.body.blocks.first
        assert source_entry is not None
        for argument, new in zip(source_entry.args, entry.args, strict=True):
            builder.bind(argument, new)
        self._known_alignment(builder, lowered, entry)
        region_blocks(builder, function.body, self.convert)
        finish_failing_return(builder, self.signature)
        configure_tile_registers(builder)
        if builder.prologue:
            first = entry.first_op
            assert first is not None
            entry.insert_ops_before(builder.prologue, first)
        carry_as_bits(builder.blocks)
        hide_tile_bases(builder.blocks)
        return Region(builder.blocks)

    def _known_alignment(self, builder: LLVMBody, function: llvm.FuncOp, entry: Block) -> None:
        if function.arg_attrs is None:
            return
        for attributes, argument in zip(function.arg_attrs, entry.args, strict=True):
            if isinstance(alignment := attributes.data.get("llvm.align"), IntegerAttr):
                builder.alignment[argument] = alignment.value.data


def _refuse(builder: LLVMBody, op: Operation) -> None:
    builder.error("no lowering to the llvm dialect")


def _computed_on(op: Operation) -> str | None:
    """Returns the float type that LLVM does not know and `op` computes on, None where it only moves such values."""
    if not _computes(op.__class__):
        return None
    for value in (*op._operands, *op.results):
        kind = value._type
        if (name := (kind.element_type if type(kind) is VectorType else kind).name) in STORED_FLOATS:
            return name
    return None


@cache
def _computes(kind: type[Operation]) -> bool:
    return kind not in (arith.BitcastOp, arith.SelectOp) and kind.dialect_name() in ("arith", "math")


def convert_global(state: ModuleState, op: memref.GlobalOp) -> llvm.GlobalOp | None:
    """Makes an aligned internal global of raw elements. Booleans are bytes 0 or 1."""
    try:
        layout = state.types.layout(op.type)  # type: ignore[arg-type]
    except UnsupportedTypeError as error:
        state.error(op, str(error))
        return None
    if not layout.is_contiguous:
        state.error(op, f"type {op.type} is not contiguous")
        return None
    array = array_type(max(layout.count, 1), layout.memory_type)
    alignment = max(BUFFER_ALIGNMENT, 0 if op.alignment is None else op.alignment.value.data)
    properties: dict[str, Attribute] = {
        "global_type": array,
        "sym_name": op.sym_name,
        "linkage": INTERNAL,
        "addr_space": IN_MAIN_MEMORY,
        **({} if op.constant is None else {"constant": UNIT}),
    }
    body = Region()
    if isinstance(op.initial_value, DenseIntOrFPElementsAttr) and layout.count:
        properties["value"] = _raw_elements(op.initial_value, layout.is_boolean)
    else:
        zero = llvm.ZeroOp.create(result_types=(array,))
        body = Region(Block([zero, llvm.ReturnOp(zero.results[0])]))
    properties["alignment"] = i64_attribute(alignment)
    result = llvm.GlobalOp.create(properties=properties, regions=(body,))
    result.location = op.location
    result.attributes.update(op.attributes)
    return result


def _raw_elements(value: DenseIntOrFPElementsAttr, boolean: bool) -> Attribute:
    if not boolean:
        return value
    data = value.data.data.translate(_BOOLEAN_BYTES)
    return DenseIntOrFPElementsAttr(TensorType(i8, value.get_shape()), BytesAttr(data))


@dataclass(frozen=True)
class LowerToLLVMDialectPass(StepwellPass):
    """Lower functions on memrefs, vectors and scalars to the llvm dialect.

    Before: `func.func`, `func.call`, `scf`, `cf`, `memref` (static shapes), `arith`, `math`, `vector` (1-D).
    After: `llvm` and `llvm_ext` ops only, an entry point per function with roles, and `stepwell.checks`.
    Raises one error that names every op or type without a lowering, with its location.

    With `wide`, there are vector registers of 64 bytes, and tiles of bf16 are extended and rounded by instructions of
    AVX-512. The target decides if `wide` is left out.
    """

    name = "lower-to-llvm-dialect"

    target: str | None = None
    wide: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = list(op.body.block.ops)
        if all(is_llvm(inner) for inner in ops):
            return
        machine = chosen_machine(self.target)
        wide = machine.has_wide_registers if self.wide is None else self.wide
        state = ModuleState(
            wide=wide, permutes_bytes=wide and machine.permutes_bytes, spreads_words=wide or machine.spreads_words
        )
        self._read_checks(state, op)
        functions = functions_of(op)
        self._plan(state, ops, functions)
        calls = {name: _callees(function) for name, function in functions.items()}
        called = {callee for callees in calls.values() for callee in callees}
        once = load_time_functions(functions, calls)
        lowered: list[Operation] = []
        kernels = Kernels(op)
        for inner in ops:
            made = self._convert(state, inner, called)
            if isinstance(inner, func.FuncOp) and inner.sym_name.data in once:
                mark_rarely_run(made)
            lowered += made
            kernels.converted(inner, made, state)
        state.raise_errors()
        self._replace(state, op, ops, lowered)
        inherit(op)

    @staticmethod
    def _read_checks(state: ModuleState, module: ModuleOp) -> None:
        found = module.attributes.get(CHECKS)
        if isinstance(found, ArrayAttr):
            state.checks += [text.data for text in found if isinstance(text, StringAttr)]

    @staticmethod
    def _plan(state: ModuleState, ops: list[Operation], functions: dict[str, func.FuncOp]) -> None:
        """Fixes symbol and signature of every function before any body is converted."""
        for inner in ops:
            declares = isinstance(inner, func.FuncOp | llvm.FuncOp) and not inner.body.blocks
            if isinstance(name := inner.properties.get("sym_name"), StringAttr) and not declares:
                state.symbols.add(name.data)
        failing = failing_functions(functions)
        for name, function in functions.items():
            state.signatures[name] = signature_of(state, function, name, name in failing)

    def _convert(self, state: ModuleState, op: Operation, called: set[str]) -> list[Operation]:
        """Returns what takes the place of one op of the module."""
        if is_llvm(op):
            return [op]
        if isinstance(op, memref.GlobalOp):
            converted = convert_global(state, op)
            return [] if converted is None else [converted]
        if not isinstance(op, func.FuncOp):
            state.error(op, "no lowering to the llvm dialect")
            return []
        return self._convert_function(state, op, op.sym_name.data in called)

    @staticmethod
    def _convert_function(state: ModuleState, function: func.FuncOp, is_called: bool) -> list[Operation]:
        signature = state.signatures[function.sym_name.data]
        errors = len(state.errors)
        if is_entry(function) and signature.results:
            state.error(function, f"an entry returns nothing, found {len(signature.results)} results")
        if is_entry(function) and (taken := ENTRY_PREFIX + function.sym_name.data) in state.symbols:
            state.error(function, f"@{taken} exists, which is the name of its entry for C")
        if not function.is_declaration and (reason := _refused_name(function.sym_name.data)) is not None:
            state.error(function, reason)
        if any(op is function for op, _ in state.errors):
            return []
        shell = new_function(state, function, signature, Region(), is_called)
        if not function.is_declaration:
            body = FunctionConverter(state, signature).body(function, shell)
            body.move_blocks(shell.body)
        result: list[Operation] = [shell]
        if is_entry(function) and len(state.errors) == errors:
            result.append(entry_wrapper(function, signature, LLVMBody(state)))
        if TASK in function.attributes:
            result.append(parallel.task_function(function, signature, LLVMBody(state)))
        return result

    @staticmethod
    def _replace(state: ModuleState, module: ModuleOp, old: list[Operation], new: list[Operation]) -> None:
        block = module.body.block
        declared = {name.data for op in new if isinstance(name := op.properties.get("sym_name"), StringAttr)}
        for name, (symbol, function_type) in state.externals.items():
            if symbol not in declared:
                new.append(declaration_of(name, symbol, function_type))
        for op in old:
            op.detach()
        for op in old:
            if not is_llvm(op):
                take_apart(op)
        block.add_ops(new)
        if state.checks:
            module.attributes[CHECKS] = ArrayAttr([StringAttr(text) for text in state.checks])


def _callees(function: func.FuncOp) -> set[str]:
    return {call.callee.string_value() for call in ops_of(function, func.CallOp)}


def _refused_name(name: str) -> str | None:
    """Returns why LLVM takes no function of this name, or `None`."""
    if name.startswith("llvm."):
        return f"the name @{name} is LLVM's own, expected one that does not begin with 'llvm.'"
    return "the name has a NUL, which LLVM does not take" if "\0" in name else None
