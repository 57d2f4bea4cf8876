"""Instructions and blocks of one function as LLVM text; one small method per kind of instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType, StringAttr, VectorType
from xdsl.dialects.llvm import LLVMArrayType, LLVMStructType
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import llvm_ext
from .constants import EmitError, bits_text, constant_text, type_text
from .module import ModuleText
from .tables import BINARY, BINARY_PROPERTIES, CAST_PROPERTIES, CASTS, FAST_MATH_ORDER, INTRINSIC_OPS

LOOP = "stepwell.loop"
_OVERFLOW_WORDS = ("", " nsw", " nuw", " nsw nuw")
_FCMP = [str(flag.value).lstrip("_") for flag in llvm.ALL_FCMP_FLAGS]
_ICMP = [str(flag.value) for flag in llvm.ALL_ICMP_FLAGS]
_fast_math: dict[Any, str] = {frozenset(): ""}


def fast_math_words(flags: Any) -> str:
    """The flags of a fast-math attribute, each with a space before it."""
    if flags is None:
        return ""
    data = flags.data
    if (found := _fast_math.get(data)) is None:
        names = {str(flag.value) for flag in data}
        words = ["fast"] if len(names) == len(FAST_MATH_ORDER) else [w for w in FAST_MATH_ORDER if w in names]
        found = _fast_math[data] = "".join(f" {word}" for word in words)
    return found


Emit = Callable[["FunctionText", Any], None]


class FunctionText:
    """Writes the blocks of one function to the lines of a module."""

    def __init__(self, module: ModuleText):
        self.module = module
        self.names: dict[SSAValue, str] = {}
        self.labels: dict[Block, str] = {}
        self.lines: list[str] = []
        self.phis: dict[Block, list[tuple[str, Sequence[SSAValue]]]] = {}
        self.edges: list[str] = []
        """Blocks that only branch on: they tell two edges between the same two blocks apart."""
        self.type = module.type_text

    # Names

    def assign_names(self, blocks: list[Block]) -> None:
        """Names every argument, block and result; constants get their text."""
        names, number = self.names, 0
        for position, block in enumerate(blocks):
            self.labels[block] = f"b{position}"
            for argument in block.args:
                names[argument] = f"%{argument.name_hint or 'v'}.{number}"
                number += 1
            for op in block.ops:
                if not op.results:
                    continue
                if (inline := INLINE.get(type(op))) is not None:
                    self.module.check_op(op, _INLINE_PROPERTIES)
                    names[op.results[0]] = self.module.located(op, inline, self, op)
                    continue
                for result in op.results:
                    names[result] = f"%{result.name_hint or 'v'}.{number}"
                    number += 1

    def typed(self, value: SSAValue) -> str:
        """`type name`."""
        return f"{self.type(value.type)} {self.names[value]}"

    # Blocks

    def emit_blocks(self, blocks: list[Block]) -> None:
        """All blocks in order; the text of phis is filled in once every branch is known."""
        self.assign_names(blocks)
        entry = blocks[0]
        places: list[tuple[int, Block]] = []
        lines = self.lines
        handlers, check = HANDLERS, self.module.check_op
        for block in blocks:
            lines.append(f"{self.labels[block]}:")
            if block is not entry and block.args:
                places.append((len(lines), block))
                lines.append("")
            for op in block.ops:
                handler = handlers.get(type(op))
                if handler is None:
                    if type(op) in INLINE:
                        continue
                    raise EmitError(self.module.describe(op, "has no entry in the LLVM text tables"))
                emit, properties = handler
                if op.attributes or not op.properties.keys() <= properties:
                    check(op, properties)
                try:
                    emit(self, op)
                except EmitError as error:
                    raise EmitError(self.module.describe(op, str(error))) from None
        for index, block in places:
            lines[index] = self._phi_lines(block)
        if entry in self.phis:
            raise EmitError("the entry block of a function is the target of a branch")
        lines += self.edges

    def _phi_lines(self, block: Block) -> str:
        incoming = self.phis.get(block, [])
        names = self.names
        texts: list[str] = []
        for index, argument in enumerate(block.args):
            if not incoming:
                texts.append(f"  {names[argument]} = freeze {self.type(argument.type)} poison")
                continue
            pairs = ", ".join(f"[ {names[values[index]]}, %{label} ]" for label, values in incoming)
            texts.append(f"  {names[argument]} = phi {self.type(argument.type)} {pairs}")
        return "\n".join(texts)

    def target(self, op: Operation, block: Block, values: Sequence[SSAValue]) -> str:
        """Label of `block` for one edge out of `op`; a second edge with other values gets a block of its own."""
        assert op.parent is not None
        label = self.labels[op.parent]
        incoming = self.phis.setdefault(block, [])
        for known, known_values in incoming:
            if known == label and tuple(known_values) != tuple(values):
                between = f"{label}.{len(self.edges)}"
                self.edges += [f"{between}:", f"  br label %{self.labels[block]}"]
                incoming.append((between, values))
                return between
        incoming.append((label, values))
        return self.labels[block]

    def loop(self, op: Operation) -> str:
        """The metadata of the loop that this branch closes."""
        hint = op.attributes.get(LOOP)
        if hint is None:
            return ""
        if not isinstance(hint, StringAttr):
            raise EmitError(f"attribute {LOOP} is {hint}, expected a string")
        return f", !llvm.loop !{self.module.loop_metadata(hint.data)}"

    def put(self, op: Operation, text: str) -> None:
        """An instruction with its result, if any."""
        if op.results:
            self.lines.append(f"  {self.names[op.results[0]]} = {text}")
        else:
            self.lines.append(f"  {text}")

    # Instructions

    def binary(self, op: Operation) -> None:
        lhs, rhs = op._operands
        words = ""
        for name, value in op.properties.items():
            if name == "fastmathFlags":
                words = fast_math_words(value)
            elif name == "overflowFlags":
                words = _OVERFLOW_WORDS[value.value.data]  # type: ignore[attr-defined]
            else:
                words = " exact" if name == "isExact" else " disjoint"
        names = self.names
        text = f"{BINARY[type(op)]}{words} {self.type(lhs.type)} {names[lhs]}, {names[rhs]}"
        self.lines.append(f"  {names[op.results[0]]} = {text}")

    def negate(self, op: llvm.FNegOp) -> None:
        self.put(
            op, f"fneg{fast_math_words(op.properties.get('fastmathFlags'))} {self.typed(op.operands[0])}"
        )

    def cast(self, op: Operation) -> None:
        words = ""
        if "nonNeg" in op.properties:
            words = " nneg"
        elif (flags := op.properties.get("overflowFlags")) is not None:
            words = _OVERFLOW_WORDS[flags.to_int()]  # type: ignore[attr-defined]
        operand = op.operands[0]
        self.put(op, f"{CASTS[type(op)]}{words} {self.typed(operand)} to {self.type(op.results[0].type)}")

    def icmp(self, op: llvm.ICmpOp) -> None:
        lhs, rhs = op.operands
        self.put(op, f"icmp {_ICMP[op.predicate.value.data]} {self.typed(lhs)}, {self.names[rhs]}")

    def fcmp(self, op: llvm.FCmpOp | llvm_ext.FCmpOp) -> None:
        lhs, rhs = op.operands
        words = fast_math_words(op.properties.get("fastmathFlags"))
        self.put(op, f"fcmp{words} {_FCMP[op.predicate.value.data]} {self.typed(lhs)}, {self.names[rhs]}")

    def select(self, op: Operation) -> None:
        condition, lhs, rhs = op.operands
        words = fast_math_words(op.properties.get("fastmathFlags"))
        self.put(op, f"select{words} {self.typed(condition)}, {self.typed(lhs)}, {self.typed(rhs)}")

    def gep(self, op: llvm.GEPOp) -> None:
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
            self.typed(next(values)) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}"
            for index in op.rawConstantIndices.iter_values()
        )
        element = self.type(properties["elem_type"])
        self.put(op, f"getelementptr{words} {element}, {self.typed(pointer)}, {indices}")

    def alloca(self, op: llvm.AllocaOp) -> None:
        element = self.type(op.elem_type)
        self.put(op, f"alloca {element}, {self.typed(op.size)}{self._alignment(op)}")

    def _alignment(self, op: Operation) -> str:
        alignment: Any = op.properties.get("alignment")
        return "" if alignment is None else f", align {alignment.value.data}"

    def _ordering(self, op: Operation) -> str:
        ordering: Any = op.properties.get("ordering")
        return "" if ordering is None else llvm.ATOMIC_ORDERING_KEYWORDS.get(ordering.value.data, "")

    def _memory(self, op: Operation, word: str, access: str) -> None:
        ordering = self._ordering(op)
        hints = word + (" atomic" if ordering else "") + (" volatile" if "volatile_" in op.properties else "")
        text = f"{hints} {access}{' ' + ordering if ordering else ''}{self._alignment(op)}"
        if "nontemporal" in op.properties or "nontemporal" in op.attributes:
            text += f", !nontemporal !{self.module.one_node()}"
        self.put(op, text)

    def load(self, op: llvm.LoadOp) -> None:
        self._memory(op, "load", f"{self.type(op.results[0].type)}, {self.typed(op.operands[0])}")

    def store(self, op: llvm.StoreOp) -> None:
        value, pointer = op.operands
        self._memory(op, "store", f"{self.typed(value)}, {self.typed(pointer)}")

    def atomic(self, op: llvm_ext.AtomicRMWOp) -> None:
        text = f"atomicrmw {op.kind.data} {self.typed(op.ptr)}, {self.typed(op.value)} {op.ordering.data}"
        self.put(op, text + self._alignment(op))

    def extract_value(self, op: llvm.ExtractValueOp) -> None:
        position = ", ".join(str(index) for index in op.position.iter_values())
        self.put(op, f"extractvalue {self.typed(op.container)}, {position}")

    def insert_value(self, op: llvm.InsertValueOp) -> None:
        position = ", ".join(str(index) for index in op.position.iter_values())
        self.put(op, f"insertvalue {self.typed(op.container)}, {self.typed(op.value)}, {position}")

    def operands_after(self, op: Operation, word: str) -> None:
        self.put(op, f"{word} {', '.join(map(self.typed, op.operands))}")

    def shuffle(self, op: llvm.ShuffleVectorOp) -> None:
        lanes = list(op.mask.iter_values())
        if not any(lanes):
            mask = "zeroinitializer"
        else:
            mask = f"<{', '.join('i32 poison' if lane == -1 else f'i32 {lane}' for lane in lanes)}>"
        text = f"{self.typed(op.v1)}, {self.typed(op.v2)}, <{len(lanes)} x i32> {mask}"
        self.put(op, f"shufflevector {text}")

    def masked_load(self, op: llvm_ext.MaskedLoadOp) -> None:
        """The alignment is an attribute of the pointer argument since LLVM 22."""
        pointer, mask, pass_thru = op.operands
        name = self.module.intrinsic("masked.load", op.results[0].type, [v.type for v in op.operands])
        arguments = f"ptr align {op.alignment.value.data} {self.names[pointer]}, "
        arguments += f"{self.typed(mask)}, {self.typed(pass_thru)}"
        self.put(op, f"call {self.type(op.results[0].type)} {name}({arguments})")

    def masked_store(self, op: Operation) -> None:
        value, pointer, mask = op.operands
        name = self.module.intrinsic("masked.store", None, [v.type for v in op.operands])
        alignment: Any = op.properties["alignment"]
        arguments = f"{self.typed(value)}, ptr align {alignment.value.data} {self.names[pointer]}, "
        self.put(op, f"call void {name}({arguments}{self.typed(mask)})")

    def intrinsic_op(self, op: Operation) -> None:
        self._intrinsic(op, INTRINSIC_OPS[type(op)], op.operands)

    def call_intrinsic(self, op: llvm.CallIntrinsicOp) -> None:
        if op.op_bundle_operands:
            raise EmitError("operand bundles have no text form")
        self._intrinsic(op, op.intrin.data.removeprefix("llvm."), op.args)

    def _intrinsic(self, op: Operation, base: str, operands: Sequence[SSAValue]) -> None:
        result = op.results[0].type if op.results else None
        name = self.module.intrinsic(base, result, [v.type for v in operands])
        words = fast_math_words(op.properties.get("fastmathFlags"))
        returned = "void" if result is None else self.type(result)
        self.put(op, f"call{words} {returned} {name}({', '.join(map(self.typed, operands))})")

    def call(self, op: llvm.CallOp) -> None:
        if op.op_bundle_operands:
            raise EmitError("operand bundles have no text form")
        arguments = list(op.args)
        if op.callee is None:
            callee = self.names[arguments.pop(0)]
        else:
            callee = self.module.symbol(op.callee.string_value())
        kind = op.TailCallKind.data.value
        words = f"{'' if kind == 'none' else kind + ' '}call{fast_math_words(op.fastmathFlags)}"
        if (convention := op.CConv.convention.data) != "ccc":
            words += f" {convention}"
        if op.var_callee_type is not None:
            returned = self.type(op.var_callee_type)
        else:
            returned = self.type(op.results[0].type) if op.results else "void"
        self.put(op, f"{words} {returned} {callee}({', '.join(map(self.typed, arguments))})")

    def inline_asm(self, op: llvm.InlineAsmOp) -> None:
        kind = op.tail_call_kind.data.value
        words = f"{'' if kind == 'none' else kind + ' '}call"
        returned = self.type(op.results[0].type) if op.results else "void"
        flags = " sideeffect" if op.has_side_effects is not None else ""
        flags += " alignstack" if op.is_align_stack is not None else ""
        if op.asm_dialect is not None and op.asm_dialect.value.data == 1:
            flags += " inteldialect"
        text = f"{self.module.quoted(op.asm_string.data)}, {self.module.quoted(op.constraints.data)}"
        self.put(op, f"{words} {returned} asm{flags} {text}({', '.join(map(self.typed, op.operands))})")

    # Terminators

    def branch(self, op: llvm.BrOp) -> None:
        self.put(op, f"br label %{self.target(op, op.successors[0], tuple(op.operands))}{self.loop(op)}")

    def branch_if(self, op: llvm.CondBrOp) -> None:
        then_label = self.target(op, op.successors[0], tuple(op.then_arguments))
        else_label = self.target(op, op.successors[1], tuple(op.else_arguments))
        condition = self.names[op.operands[0]]
        self.put(op, f"br i1 {condition}, label %{then_label}, label %{else_label}{self.loop(op)}")

    def switch(self, op: llvm_ext.SwitchOp) -> None:
        value_type = self.type(op.value.type)
        default = self.target(op, op.default_block, tuple(op.default_operands))
        cases = " ".join(
            f"{value_type} {number}, label %{self.target(op, block, operands)}"
            for number, block, operands in op.cases()
        )
        self.put(op, f"switch {self.typed(op.value)}, label %{default} [ {cases} ]{self.loop(op)}")

    def give_back(self, op: llvm.ReturnOp) -> None:
        self.put(op, f"ret {self.typed(op.operands[0])}" if op.operands else "ret void")

    def unreachable(self, op: llvm.UnreachableOp) -> None:
        self.put(op, "unreachable")


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


INLINE: dict[type[Operation], Callable[[FunctionText, Any], str]] = {
    llvm.ConstantOp: _constant,
    llvm.ZeroOp: _zero,
    llvm.UndefOp: lambda _, op: "undef",
    llvm_ext.PoisonOp: lambda _, op: "poison",
    llvm.AddressOfOp: _address,
}
"""Ops that are no instructions: their text stands wherever their result is used."""

_INLINE_PROPERTIES = frozenset({"value", "global_name"})
_FAST = frozenset({"fastmathFlags"})
_EMPTY: frozenset[str] = frozenset()
_ACCESS = frozenset({"alignment", "ordering", "volatile_", "nontemporal"})

HANDLERS: dict[type[Operation], tuple[Emit, frozenset[str]]] = {
    **dict.fromkeys(BINARY, (FunctionText.binary, BINARY_PROPERTIES)),
    **dict.fromkeys(CASTS, (FunctionText.cast, CAST_PROPERTIES)),
    **dict.fromkeys(INTRINSIC_OPS, (FunctionText.intrinsic_op, _FAST)),
    llvm.FNegOp: (FunctionText.negate, _FAST),
    llvm.ICmpOp: (FunctionText.icmp, frozenset({"predicate"})),
    llvm.FCmpOp: (FunctionText.fcmp, frozenset({"predicate", "fastmathFlags"})),
    llvm_ext.FCmpOp: (FunctionText.fcmp, frozenset({"predicate", "fastmathFlags"})),
    llvm.SelectOp: (FunctionText.select, _FAST),
    llvm_ext.SelectOp: (FunctionText.select, _EMPTY),
    llvm.GEPOp: (
        FunctionText.gep,
        frozenset({"elem_type", "noWrapFlags", "rawConstantIndices", "inbounds"}),
    ),
    llvm.AllocaOp: (FunctionText.alloca, frozenset({"alignment", "elem_type"})),
    llvm.LoadOp: (FunctionText.load, _ACCESS),
    llvm.StoreOp: (FunctionText.store, _ACCESS),
    llvm_ext.AtomicRMWOp: (FunctionText.atomic, frozenset({"kind", "ordering", "alignment"})),
    llvm.ExtractValueOp: (FunctionText.extract_value, frozenset({"position"})),
    llvm.InsertValueOp: (FunctionText.insert_value, frozenset({"position"})),
    llvm.InsertElementOp: (lambda f, op: f.operands_after(op, "insertelement"), _EMPTY),
    llvm_ext.ExtractElementOp: (lambda f, op: f.operands_after(op, "extractelement"), _EMPTY),
    llvm_ext.FreezeOp: (lambda f, op: f.operands_after(op, "freeze"), _EMPTY),
    llvm.ShuffleVectorOp: (FunctionText.shuffle, frozenset({"mask"})),
    llvm_ext.MaskedLoadOp: (FunctionText.masked_load, frozenset({"alignment"})),
    llvm_ext.MaskedStoreOp: (FunctionText.masked_store, frozenset({"alignment"})),
    llvm.MaskedStoreOp: (FunctionText.masked_store, frozenset({"alignment"})),
    llvm.CallIntrinsicOp: (
        FunctionText.call_intrinsic,
        frozenset({"fastmathFlags", "intrin", "op_bundle_sizes", "operandSegmentSizes"}),
    ),
    llvm.CallOp: (
        FunctionText.call,
        frozenset(
            {
                *("callee", "var_callee_type", "fastmathFlags", "CConv", "op_bundle_sizes"),
                *("TailCallKind", "operandSegmentSizes"),
            }
        ),
    ),
    llvm.InlineAsmOp: (
        FunctionText.inline_asm,
        frozenset(
            {
                *("asm_dialect", "asm_string", "constraints", "has_side_effects", "is_align_stack"),
                "tail_call_kind",
            }
        ),
    ),
    llvm.BrOp: (FunctionText.branch, _EMPTY),
    llvm.CondBrOp: (FunctionText.branch_if, frozenset({"operandSegmentSizes"})),
    llvm_ext.SwitchOp: (
        FunctionText.switch,
        frozenset({"case_values", "case_operand_segments", "operandSegmentSizes"}),
    ),
    llvm.ReturnOp: (FunctionText.give_back, _EMPTY),
    llvm.UnreachableOp: (FunctionText.unreachable, _EMPTY),
}
"""By op type: what writes it and the properties that it takes into account."""
