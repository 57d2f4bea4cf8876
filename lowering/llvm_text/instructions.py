"""The instructions of LLVM, one small function per kind, and the table of which op is which."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, VectorType
from xdsl.dialects.llvm import LLVMArrayType, LLVMStructType
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext
from .constants import EmitError, bits_text, constant_text, type_text
from .function import FunctionText, Handlers, Inline
from .saturation import saturate
from .tables import BINARY, BINARY_PROPERTIES, CAST_PROPERTIES, CASTS, FAST_MATH_ORDER, INTRINSIC_OPS

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and there are some 30 000 ops.

_OVERFLOW_WORDS = ("", " nsw", " nuw", " nsw nuw")
_FCMP = [str(flag.value).lstrip("_") for flag in llvm.ALL_FCMP_FLAGS]
_ICMP = [str(flag.value) for flag in llvm.ALL_ICMP_FLAGS]
_fast_math: dict[Any, str] = {frozenset(): ""}


def fast_math_words(flags: Any) -> str:
    """Returns the flags of a fast-math attribute, each with a space before it."""
    if flags is None:
        return ""
    data = flags.data
    if (found := _fast_math.get(data)) is None:
        names = {str(flag.value) for flag in data}
        words = ["fast"] if len(names) == len(FAST_MATH_ORDER) else [w for w in FAST_MATH_ORDER if w in names]
        found = _fast_math[data] = "".join(f" {word}" for word in words)
    return found


def binary(text: FunctionText, op: Operation) -> None:
    lhs, rhs = op._operands
    words = ""
    for name, value in op.properties.items():
        if name == "fastmathFlags":
            words = fast_math_words(value)
        elif name == "overflowFlags":
            words = _OVERFLOW_WORDS[value.value.data]  # type: ignore[attr-defined]
        else:
            words = " exact" if name == "isExact" else " disjoint"
    text.put(op, f"{BINARY[type(op)]}{words} {text.typed(lhs)}, {text.name(rhs)}")


def negate(text: FunctionText, op: llvm.FNegOp) -> None:
    text.put(op, f"fneg{fast_math_words(op.properties.get('fastmathFlags'))} {text.typed(op.operands[0])}")


def cast(text: FunctionText, op: Operation) -> None:
    words = ""
    if "nonNeg" in op.properties:
        words = " nneg"
    elif (flags := op.properties.get("overflowFlags")) is not None:
        words = _OVERFLOW_WORDS[flags.to_int()]  # type: ignore[attr-defined]
    operand = op.operands[0]
    text.put(op, f"{CASTS[type(op)]}{words} {text.typed(operand)} to {text.type(op.results[0].type)}")


def icmp(text: FunctionText, op: llvm.ICmpOp) -> None:
    lhs, rhs = op.operands
    text.put(op, f"icmp {_ICMP[op.predicate.value.data]} {text.typed(lhs)}, {text.name(rhs)}")


def fcmp(text: FunctionText, op: llvm.FCmpOp | llvm_ext.FCmpOp) -> None:
    lhs, rhs = op.operands
    words = fast_math_words(op.properties.get("fastmathFlags"))
    text.put(op, f"fcmp{words} {_FCMP[op.predicate.value.data]} {text.typed(lhs)}, {text.name(rhs)}")


def select(text: FunctionText, op: Operation) -> None:
    condition, lhs, rhs = op.operands
    words = fast_math_words(op.properties.get("fastmathFlags"))
    text.put(op, f"select{words} {text.typed(condition)}, {text.typed(lhs)}, {text.typed(rhs)}")


def gep(text: FunctionText, op: llvm.GEPOp) -> None:
    properties = op.properties
    flags = properties["noWrapFlags"].value.data  # type: ignore[attr-defined]
    words = ""
    if "inbounds" in properties or flags & 1:
        words = " inbounds"
    elif flags & 2:
        words = " nusw"
    if flags & 4:
        words += " nuw"
    pointer, *dynamic = op._operands
    values = iter(dynamic)
    indices = ", ".join(
        text.typed(next(values)) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}"
        for index in _numbers(properties["rawConstantIndices"])
    )
    element = text.type(properties["elem_type"])
    text.put(op, f"getelementptr{words} {element}, {text.typed(pointer)}, {indices}")


def alloca(text: FunctionText, op: llvm.AllocaOp) -> None:
    element = text.type(op.elem_type)
    text.put(op, f"alloca {element}, {text.typed(op.size)}{_alignment(text, op)}")


def _alignment(text: FunctionText, op: Operation) -> str:
    alignment: Any = op.properties.get("alignment")
    return "" if alignment is None else f", align {alignment.value.data}"


def _ordering(text: FunctionText, op: Operation) -> str:
    ordering: Any = op.properties.get("ordering")
    return "" if ordering is None else llvm.ATOMIC_ORDERING_KEYWORDS.get(ordering.value.data, "")


def _memory(text: FunctionText, op: Operation, word: str, access: str) -> None:
    ordering = _ordering(text, op)
    hints = word + (" atomic" if ordering else "") + (" volatile" if "volatile_" in op.properties else "")
    line = f"{hints} {access}{' ' + ordering if ordering else ''}{_alignment(text, op)}"
    if "nontemporal" in op.properties or "nontemporal" in op.attributes:
        line += f", !nontemporal !{text.module.one_node()}"
    text.put(op, line)


def load(text: FunctionText, op: llvm.LoadOp) -> None:
    _memory(text, op, "load", f"{text.type(op.results[0]._type)}, {text.typed(op._operands[0])}")


def store(text: FunctionText, op: llvm.StoreOp) -> None:
    value, pointer = op._operands
    _memory(text, op, "store", f"{text.typed(value)}, {text.typed(pointer)}")


def atomic(text: FunctionText, op: llvm_ext.AtomicRMWOp) -> None:
    line = f"atomicrmw {op.kind.data} {text.typed(op.ptr)}, {text.typed(op.value)} {op.ordering.data}"
    text.put(op, line + _alignment(text, op))


def extract_value(text: FunctionText, op: llvm.ExtractValueOp) -> None:
    position = ", ".join(str(index) for index in op.position.iter_values())
    text.put(op, f"extractvalue {text.typed(op.container)}, {position}")


def insert_value(text: FunctionText, op: llvm.InsertValueOp) -> None:
    position = ", ".join(str(index) for index in op.position.iter_values())
    text.put(op, f"insertvalue {text.typed(op.container)}, {text.typed(op.value)}, {position}")


def operands_after(text: FunctionText, op: Operation, word: str) -> None:
    text.put(op, f"{word} {', '.join(map(text.typed, op._operands))}")


def shuffle(text: FunctionText, op: llvm.ShuffleVectorOp) -> None:
    first, second = op._operands
    text.put(op, f"shufflevector {text.typed(first)}, {text.typed(second)}, {_mask(_numbers(op.properties['mask']))}")


@cache
def _mask(lanes: tuple[int, ...]) -> str:
    """Returns the third operand of a shuffle."""
    mask = "zeroinitializer"
    if any(lanes):
        mask = f"<{', '.join('i32 poison' if lane == -1 else f'i32 {lane}' for lane in lanes)}>"
    return f"<{len(lanes)} x i32> {mask}"


def _numbers(array: Any) -> tuple[int, ...]:
    """Returns the integers of an array of i32, ten times as fast as `get_values`."""
    data = array.data.data
    return struct.unpack(f"<{len(data) // 4}i", data)


def masked_load(text: FunctionText, op: llvm_ext.MaskedLoadOp) -> None:
    """Writes a masked load, whose alignment is an attribute of the pointer argument since LLVM 22."""
    pointer, mask, pass_thru = op.operands
    name = text.module.intrinsic("masked.load", op.results[0].type, [v.type for v in op.operands])
    arguments = f"ptr align {op.alignment.value.data} {text.name(pointer)}, "
    arguments += f"{text.typed(mask)}, {text.typed(pass_thru)}"
    text.put(op, f"call {text.type(op.results[0].type)} {name}({arguments})")


def masked_store(text: FunctionText, op: Operation) -> None:
    value, pointer, mask = op.operands
    name = text.module.intrinsic("masked.store", None, [v.type for v in op.operands])
    alignment: Any = op.properties["alignment"]
    arguments = f"{text.typed(value)}, ptr align {alignment.value.data} {text.name(pointer)}, "
    text.put(op, f"call void {name}({arguments}{text.typed(mask)})")


def intrinsic_op(text: FunctionText, op: Operation) -> None:
    _intrinsic(text, op, INTRINSIC_OPS[type(op)], op._operands)


def _arguments(op: llvm.CallIntrinsicOp | llvm.CallOp) -> Sequence[SSAValue]:
    """Returns the operands. There must be none in bundles, whose number is the last of the sizes of segments."""
    sizes = op.properties.get("operandSegmentSizes")
    bundled = sizes.data.data[-4:] != bytes(4) if isinstance(sizes, DenseArrayBase) else op.op_bundle_operands
    if bundled:
        raise EmitError("operand bundles have no text form")
    return op._operands


def call_intrinsic(text: FunctionText, op: llvm.CallIntrinsicOp) -> None:
    name: Any = op.properties["intrin"]
    _intrinsic(text, op, name.data.removeprefix("llvm."), _arguments(op))


def _intrinsic(text: FunctionText, op: Operation, base: str, operands: Sequence[SSAValue]) -> None:
    result = op.results[0]._type if op.results else None
    callee = text.module.callee(base, result, [value._type for value in operands])
    words = fast_math_words(op.properties.get("fastmathFlags"))
    text.put(op, f"call{words} {callee}({', '.join(map(text.typed, operands))})")


def call(text: FunctionText, op: llvm.CallOp) -> None:
    arguments = list(_arguments(op))
    if op.callee is None:
        callee = text.name(arguments.pop(0))
    else:
        callee = text.module.symbol(op.callee.string_value())
    kind = op.TailCallKind.data.value
    words = f"{'' if kind == 'none' else kind + ' '}call{fast_math_words(op.fastmathFlags)}"
    if (convention := op.CConv.convention.data) != "ccc":
        words += f" {convention}"
    if op.var_callee_type is not None:
        returned = text.type(op.var_callee_type)
    else:
        returned = text.type(op.results[0].type) if op.results else "void"
    text.put(op, f"{words} {returned} {callee}({', '.join(map(text.typed, arguments))})")


def inline_asm(text: FunctionText, op: llvm.InlineAsmOp) -> None:
    kind = op.tail_call_kind.data.value
    words = f"{'' if kind == 'none' else kind + ' '}call"
    returned = text.type(op.results[0].type) if op.results else "void"
    flags = " sideeffect" if op.has_side_effects is not None else ""
    flags += " alignstack" if op.is_align_stack is not None else ""
    if op.asm_dialect is not None and op.asm_dialect.value.data == 1:
        flags += " inteldialect"
    line = f"{text.module.quoted(op.asm_string.data)}, {text.module.quoted(op.constraints.data)}"
    text.put(op, f"{words} {returned} asm{flags} {line}({', '.join(map(text.typed, op._operands))})")


def branch(text: FunctionText, op: llvm.BrOp) -> None:
    text.put(op, f"br label %{text.target(op, op.successors[0], tuple(op.operands))}{text.loop(op)}")


def branch_if(text: FunctionText, op: llvm.CondBrOp) -> None:
    then_label = text.target(op, op.successors[0], tuple(op.then_arguments))
    else_label = text.target(op, op.successors[1], tuple(op.else_arguments))
    condition = text.name(op.operands[0])
    text.put(op, f"br i1 {condition}, label %{then_label}, label %{else_label}{text.loop(op)}")


def switch(text: FunctionText, op: llvm_ext.SwitchOp) -> None:
    value_type = text.type(op.value.type)
    default = text.target(op, op.default_block, tuple(op.default_operands))
    cases = " ".join(
        f"{value_type} {number}, label %{text.target(op, block, operands)}" for number, block, operands in op.cases()
    )
    text.put(op, f"switch {text.typed(op.value)}, label %{default} [ {cases} ]{text.loop(op)}")


def give_back(text: FunctionText, op: llvm.ReturnOp) -> None:
    text.put(op, f"ret {text.typed(op.operands[0])}" if op.operands else "ret void")


def unreachable(text: FunctionText, op: llvm.UnreachableOp) -> None:
    text.put(op, "unreachable")


def _zero(_: FunctionText, op: Operation) -> str:
    value_type = op.results[0].type
    if isinstance(value_type, LLVMStructType | LLVMArrayType | VectorType):
        return "zeroinitializer"
    if isinstance(value_type, IntegerType):
        return "0"
    return "null" if type_text(value_type).startswith("ptr") else bits_text(0, value_type)


def _constant(_: FunctionText, op: llvm.ConstantOp) -> str:
    return constant_text(op.value, op.results[0].type)


def _address(function: FunctionText, op: llvm.AddressOfOp) -> str:
    return function.module.symbol(op.global_name.string_value())


INLINE: Inline = {
    llvm.ConstantOp: _constant,
    llvm.ZeroOp: _zero,
    llvm.UndefOp: lambda _, op: "undef",
    llvm_ext.PoisonOp: lambda _, op: "poison",
    llvm.AddressOfOp: _address,
}

_FAST = frozenset({"fastmathFlags"})
_EMPTY: frozenset[str] = frozenset()
_ACCESS = frozenset({"alignment", "ordering", "volatile_", "nontemporal"})

HANDLERS: Handlers = {
    **dict.fromkeys(BINARY, (binary, BINARY_PROPERTIES)),
    **dict.fromkeys(CASTS, (cast, CAST_PROPERTIES)),
    **dict.fromkeys(INTRINSIC_OPS, (intrinsic_op, _FAST)),
    llvm.FNegOp: (negate, _FAST),
    llvm.ICmpOp: (icmp, frozenset({"predicate"})),
    llvm.FCmpOp: (fcmp, frozenset({"predicate", "fastmathFlags"})),
    llvm_ext.FCmpOp: (fcmp, frozenset({"predicate", "fastmathFlags"})),
    llvm.SelectOp: (select, _FAST),
    llvm_ext.SelectOp: (select, _EMPTY),
    llvm_ext.SaturateOp: (saturate, frozenset({"is_unsigned"})),
    llvm.GEPOp: (
        gep,
        frozenset({"elem_type", "noWrapFlags", "rawConstantIndices", "inbounds"}),
    ),
    llvm.AllocaOp: (alloca, frozenset({"alignment", "elem_type"})),
    llvm.LoadOp: (load, _ACCESS),
    llvm.StoreOp: (store, _ACCESS),
    llvm_ext.AtomicRMWOp: (atomic, frozenset({"kind", "ordering", "alignment"})),
    llvm.ExtractValueOp: (extract_value, frozenset({"position"})),
    llvm.InsertValueOp: (insert_value, frozenset({"position"})),
    llvm.InsertElementOp: (lambda text, op: operands_after(text, op, "insertelement"), _EMPTY),
    llvm_ext.ExtractElementOp: (lambda text, op: operands_after(text, op, "extractelement"), _EMPTY),
    llvm_ext.FreezeOp: (lambda text, op: operands_after(text, op, "freeze"), _EMPTY),
    llvm.ShuffleVectorOp: (shuffle, frozenset({"mask"})),
    llvm_ext.MaskedLoadOp: (masked_load, frozenset({"alignment"})),
    llvm_ext.MaskedStoreOp: (masked_store, frozenset({"alignment"})),
    llvm.MaskedStoreOp: (masked_store, frozenset({"alignment"})),
    llvm.CallIntrinsicOp: (
        call_intrinsic,
        frozenset({"fastmathFlags", "intrin", "op_bundle_sizes", "operandSegmentSizes"}),
    ),
    llvm.CallOp: (
        call,
        frozenset(
            {
                *("callee", "var_callee_type", "fastmathFlags", "CConv", "op_bundle_sizes"),
                *("TailCallKind", "operandSegmentSizes"),
            }
        ),
    ),
    llvm.InlineAsmOp: (
        inline_asm,
        frozenset(
            {
                *("asm_dialect", "asm_string", "constraints", "has_side_effects", "is_align_stack"),
                "tail_call_kind",
            }
        ),
    ),
    llvm.BrOp: (branch, _EMPTY),
    llvm.CondBrOp: (branch_if, frozenset({"operandSegmentSizes"})),
    llvm_ext.SwitchOp: (
        switch,
        frozenset({"case_values", "case_operand_segments", "operandSegmentSizes"}),
    ),
    llvm.ReturnOp: (give_back, _EMPTY),
    llvm.UnreachableOp: (unreachable, _EMPTY),
}
