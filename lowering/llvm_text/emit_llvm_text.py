"""
The last level: a module of `llvm` and `llvm_ext` ops as LLVM 22 text.

Tables say what becomes of each op (`llvm_text/tables.py`, `llvm_text/function.py`). Nothing is dropped: an op, property
or attribute without an entry is an error that names it. Only attributes of other dialects stay behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import IO, Any

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from ...lazy_dataclass import dataclass
from ..llvm.stubs import STUB
from .constants import EmitError, constant_text, metadata_string
from .function import FunctionText
from .instructions import HANDLERS, INLINE
from .lines import DebugLines
from .module import ModuleText, is_foreign
from .names import byte_string
from .tables import ARGUMENT_ATTRIBUTES, ARGUMENT_NUMBERS, ARGUMENT_TYPES, FUNCTION_KEYWORDS, FUNCTION_NUMBERS

_VISIBILITY = ("", "hidden ", "protected ")
_UNNAMED = ("", "local_unnamed_addr ", "unnamed_addr ")
_SIGNATURE = frozenset(
    {
        *("sym_name", "function_type", "CConv", "linkage", "sym_visibility", "visibility_", "arg_attrs"),
        *("res_attrs", "unnamed_addr"),
    }
)
_BODY_ATTRIBUTES = {"no_unwind": "nounwind", "no_inline": "noinline", "optimize_none": "optnone"}
_STRING_ATTRIBUTES = {"target_cpu": "target-cpu", "tune_cpu": "tune-cpu", "frame_pointer": "frame-pointer"}
_GLOBAL = frozenset(
    {
        *(
            "global_type",
            "sym_name",
            "linkage",
            "constant",
            "dso_local",
            "thread_local_",
            "visibility_",
            "value",
        ),
        *("alignment", "addr_space", "unnamed_addr", "section"),
    }
)


def emit_llvm_text(
    module: ModuleOp,
    *,
    target_cpu: str | None = None,
    target_features: str | None = None,
    triple: str | None = None,
    data_layout: str | None = None,
    lines: bool = False,
) -> str:
    """
    Returns the LLVM text of `module`.

    `target_cpu` and `target_features` (as LLVM writes them: `+avx2,+fma`) go on every function with a body that names
    none of its own. With `lines`, each instruction names the line of the source that it comes from. Raises a
    `DiagnosticException` that names what has no text form.
    """
    try:
        return LLVMText(target_cpu, target_features, lines).emit(module, triple, data_layout)
    except EmitError as error:
        raise DiagnosticException(f"emit-llvm-text: {error}") from None


class LLVMText:
    """The text of one module."""

    def __init__(self, target_cpu: str | None = None, target_features: str | None = None, lines: bool = False):
        self.module = ModuleText()
        self.lines = DebugLines(self.module) if lines else None
        self.defaults = {"target-cpu": target_cpu, "target-features": target_features}
        self.visible: Collection[str] = ()
        """Internal functions that other modules are to see, by symbol."""

    def emit(self, module: ModuleOp, triple: str | None, data_layout: str | None) -> str:
        self.module.name_symbols(module.body.block.ops)
        for name in module.attributes:
            if not is_foreign(name) and not name.startswith("llvm."):
                raise EmitError(self.module.describe(module, f"attribute '{name}' has no text form"))
        triple = triple or _string(module.attributes.get("llvm.target_triple"))
        data_layout = data_layout or _string(module.attributes.get("llvm.data_layout"))
        header = [f'target datalayout = "{data_layout}"'] if data_layout else []
        header += [f'target triple = "{triple}"'] if triple else []
        return "\n".join([*header, self.definitions(module.body.block.ops)])

    def definitions(self, ops: Iterable[Operation]) -> str:
        """Returns the text of these functions and globals, with the intrinsics and the metadata that they name."""
        globals_text: list[str] = []
        functions: list[str] = []
        for op in ops:
            if isinstance(op, llvm.FuncOp):
                functions.append(self.function(op))
            elif isinstance(op, llvm.GlobalOp):
                globals_text.append(self.global_variable(op))
            else:
                raise EmitError(self.module.describe(op, "has no entry in the LLVM text tables"))
        flags = [] if self.lines is None else self.lines.flags()
        parts = [*globals_text, *functions, *self.module.declarations.values(), *self.module.metadata, *flags]
        return "\n".join(parts) + "\n"

    # Functions

    def function(self, op: llvm.FuncOp) -> str:
        if STUB in op.attributes:
            raise EmitError(self.module.describe(op, "is a stub, whose text was made before"))
        text = FunctionText(self.module, HANDLERS, INLINE)
        if self.lines is not None and op.body.blocks:
            text.source = self.lines.function(op, self.module.symbol(op.sym_name.data)[1:].strip('"'))
        try:
            head = self.head(op, text)
        except EmitError as error:
            raise EmitError(self.module.describe(op, str(error))) from None
        if not op.body.blocks:
            return head
        # `text.lines` was filled by `head`, which needs the names of the arguments.
        place = "" if text.source is None else f" !dbg !{text.source.scope}"
        return "\n".join([f"{head}{place} {{", *text.lines, "}"])

    def declaration(self, op: llvm.FuncOp) -> str:
        """Returns the line that stands for a function whose body is in another module."""
        return self.head(op, FunctionText(self.module, HANDLERS, INLINE), [])

    def head(self, op: llvm.FuncOp, text: FunctionText, blocks: list[Block] | None = None) -> str:
        """Returns the line of a function up to its brace, and emits the blocks on the way."""
        function_type = op.function_type
        blocks = list(op.body.blocks) if blocks is None else blocks
        names = [""] * len(function_type.inputs)
        if blocks:
            text.emit_blocks(blocks)
            names = [f" {text.name(argument)}" for argument in blocks[0].args]
        attributes: list[dict[str, Attribute]] = [{} for _ in names]
        if op.arg_attrs is not None:
            attributes = [dict(entry.data) for entry in op.arg_attrs]
        arguments = [
            f"{self.module.type_text(argument_type)}{self.argument_words(found)}{name}"
            for argument_type, found, name in zip(function_type.inputs, attributes, names, strict=True)
        ]
        arguments += ["..."] * function_type.is_variadic
        returned = self.result_words(op) + self.module.type_text(function_type.output)
        linkage = op.linkage.linkage.data
        words = "" if linkage == "external" or op.sym_name.data in self.visible else f"{linkage} "
        words += _VISIBILITY[op.visibility_.value.data]
        if (convention := op.CConv.convention.data) != "ccc":
            words += f"{convention} "
        unnamed = "" if op.unnamed_addr is None else _UNNAMED[op.unnamed_addr.value.data].rstrip()
        tail = " ".join(filter(None, (unnamed, *self.function_words(op, bool(blocks)))))
        name = self.module.symbol(op.sym_name.data)
        keyword = "define" if blocks else "declare"
        return f"{keyword} {words}{returned} {name}({', '.join(arguments)}){' ' if tail else ''}{tail}"

    def result_words(self, op: llvm.FuncOp) -> str:
        if op.res_attrs is None or not op.res_attrs.data:
            return ""
        words = self.argument_words(dict(op.res_attrs.data[0].data)).strip()
        return f"{words} " if words else ""

    def argument_words(self, attributes: dict[str, Attribute]) -> str:
        """Returns the attributes of an argument or result, each with a space before it."""
        words: list[str] = []
        for name, value in attributes.items():
            if is_foreign(name):
                continue
            if name in ARGUMENT_ATTRIBUTES:
                words.append(ARGUMENT_ATTRIBUTES[name])
            elif name in ARGUMENT_NUMBERS:
                words.append(ARGUMENT_NUMBERS[name].format(_number(value)))
            elif name in ARGUMENT_TYPES:
                words.append(ARGUMENT_TYPES[name].format(self.module.type_text(value)))
            else:
                raise EmitError(f"argument attribute '{name}' has no text form")
        return "".join(f" {word}" for word in words)

    def function_words(self, op: llvm.FuncOp, defined: bool) -> list[str]:
        """Returns the attributes after the parameters. The syntax of `llvm.func` parses properties as attributes."""
        words: list[str] = []
        strings: dict[str, str] = {}
        for name, value in (op.properties | op.attributes).items():
            if name in _SIGNATURE or is_foreign(name):
                continue
            if name in _BODY_ATTRIBUTES:
                words.append(_BODY_ATTRIBUTES[name])
            elif name in _STRING_ATTRIBUTES:
                data: Any = value
                strings[_STRING_ATTRIBUTES[name]] = str(getattr(data.data, "value", data.data))
            elif isinstance(value, llvm.TargetFeaturesAttr):
                strings["target-features"] = ",".join(feature.data for feature in value.features)
            elif name == "passthrough" and isinstance(value, ArrayAttr):
                words += (_passthrough(entry) for entry in value)
            else:
                raise EmitError(f"attribute '{name}' has no text form")
        if defined:
            for name, text in self.defaults.items():
                if text is not None:
                    strings.setdefault(name, text)
        words += (f"{metadata_string(name)}={metadata_string(text)}" for name, text in strings.items())
        return words

    # Globals

    def global_variable(self, op: llvm.GlobalOp) -> str:
        self.module.check_op(op, _GLOBAL)
        try:
            return self._global_variable(op)
        except EmitError as error:
            raise EmitError(self.module.describe(op, str(error))) from None

    def _global_variable(self, op: llvm.GlobalOp) -> str:
        linkage = op.linkage.linkage.data
        initial = self.initial_value(op)
        words = [] if linkage == "external" and initial else [linkage]
        if op.visibility_ is not None:
            words.append(_VISIBILITY[op.visibility_.value.data].strip())
        if op.dso_local is not None:
            words.insert(1, "dso_local")
        if op.thread_local_ is not None:
            words.append("thread_local")
        if op.unnamed_addr is not None:
            words.append(_UNNAMED[op.unnamed_addr.value.data].strip())
        if op.addr_space.value.data:
            words.append(f"addrspace({op.addr_space.value.data})")
        words.append("global" if op.constant is None else "constant")
        words.append(initial if initial else self.module.type_text(op.global_type))
        text = f"{self.module.symbol(op.sym_name.data)} = {' '.join(filter(None, words))}"
        if op.section is not None:
            text += f", section {metadata_string(op.section.data)}"
        if op.alignment is not None:
            text += f", align {op.alignment.value.data}"
        return text

    def initial_value(self, op: llvm.GlobalOp) -> str:
        """Returns `type value` of a global, "" for a declaration. Arrays are byte strings, whatever their elements."""
        if op.body.blocks:
            return self._initial_region(op)
        value, global_type = op.value, op.global_type
        if value is None:
            if op.linkage.linkage.data in ("external", "extern_weak"):
                return ""
            return f"{self.module.type_text(global_type)} undef"
        if isinstance(value, StringAttr):
            data = value.data.encode()
            return f'[{len(data)} x i8] c"{byte_string(data)}"'
        if isinstance(value, DenseIntOrFPElementsAttr) and isinstance(global_type, llvm.LLVMArrayType):
            return _bytes_of(value)
        return f"{self.module.type_text(global_type)} {constant_text(value, global_type)}"

    def _initial_region(self, op: llvm.GlobalOp) -> str:
        """Returns the value of a region that returns one constant."""
        text = FunctionText(self.module, HANDLERS, INLINE)
        blocks = list(op.body.blocks)
        text.assign_names(blocks)
        last: Operation | None = blocks[0].last_op
        if len(blocks) != 1 or not isinstance(last, llvm.ReturnOp) or not last.operands:
            raise EmitError("initializer is not one block that returns a value")
        name = text.name(last.operands[0])
        if name.startswith("%"):
            raise EmitError("initializer returns the result of an instruction, expected a constant")
        return f"{self.module.type_text(last.operands[0].type)} {name}"


def _bytes_of(value: DenseIntOrFPElementsAttr) -> str:
    data = value.data.data
    if not any(data):
        return f"[{len(data)} x i8] zeroinitializer"
    return f'[{len(data)} x i8] c"{byte_string(data)}"'


def _string(value: Attribute | None) -> str | None:
    return value.data if isinstance(value, StringAttr) else None


def _number(value: Attribute) -> int:
    number: Any = value
    return number.value.data


def _passthrough(entry: Attribute) -> str:
    """Returns a word of LLVM, or a string attribute with or without a value."""
    if isinstance(entry, StringAttr):
        return entry.data if entry.data in FUNCTION_KEYWORDS else metadata_string(entry.data)
    if isinstance(entry, ArrayAttr) and len(entry.data) == 2:
        key, value = (_string(part) for part in entry)
        if key is not None and value is not None:
            if key in FUNCTION_NUMBERS:
                return FUNCTION_NUMBERS[key].format(value)
            return f"{metadata_string(key)}={metadata_string(value)}"
    raise EmitError(f"passthrough entry {entry} is neither a string nor a pair of strings")


@dataclass(frozen=True)
class LLVMTextTarget(Target):
    """`-t llvm-ir`: a module of the llvm dialect as LLVM text."""

    name = "llvm-ir"

    target_cpu: str | None = None
    target_features: str | None = None

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        text = emit_llvm_text(module, target_cpu=self.target_cpu, target_features=self.target_features)
        output.write(text)
