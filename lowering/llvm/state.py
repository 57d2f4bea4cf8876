"""The state that the conversion of a whole module shares: checks, external functions, errors."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i32
from xdsl.dialects.llvm import LLVMFunctionType
from xdsl.ir import Attribute, Operation

from ...core.messages.diagnostics import Diagnostic, OperationError, op_name, printable
from ...core.messages.locations import location_string, nearest_source_point
from ...core.messages.origins import node_of
from ...lazy_dataclass import dataclass
from .types import TypeConverter

_LOWERED_BY: Final = {"affine": "lower-affine", "linalg": "convert-linalg-to-loops"}
"""The passes of xDSL that lower a dialect to ops with a lowering. No pipeline runs them."""


@dataclass
class Signature:
    """The signature of a function of the module once it is an `llvm.func`."""

    symbol: str
    arguments: list[Attribute]
    results: list[Attribute]
    may_fail: bool

    @property
    def fields(self) -> list[Attribute]:
        """Returns the types returned, the status first when the function may fail."""
        return [i32, *self.results] if self.may_fail else self.results

    @property
    def return_type(self) -> Attribute | None:
        """Returns the one type returned: none, the only field, or a struct of all."""
        fields = self.fields
        if len(fields) <= 1:
            return fields[0] if fields else None
        return llvm.LLVMStructType.from_type_list(fields)

    @property
    def function_type(self) -> LLVMFunctionType:
        return LLVMFunctionType(self.arguments, self.return_type)


@dataclass
class ModuleState:
    """The state shared by the conversions of all functions of one module."""

    types: TypeConverter = field(default_factory=TypeConverter)
    wide: bool = False
    """True where the machine has AVX-512."""
    permutes_bytes: bool = False
    """True where it has AVX-512 VBMI too."""
    spreads_words: bool = False
    """True where an instruction takes 16 bits from memory into all lanes of a register, as those of AVX2 do."""
    signatures: dict[str, Signature] = field(default_factory=dict)
    """The signatures, by the symbol used in the source module."""
    checks: list[str] = field(default_factory=list)
    """Each check as `message|location`. The status of a failure is 1 + the index here."""
    externals: dict[str, tuple[str, LLVMFunctionType]] = field(default_factory=dict)
    """The functions of the C library that were called: the symbol to declare and the type, by the name in C."""
    symbols: set[str] = field(default_factory=set)
    """The symbols of the module that are taken: all but those of declarations that may stand for C functions."""
    errors: list[tuple[Operation, str]] = field(default_factory=list)

    def check_number(self, message: str, op: Operation) -> int:
        """
        Returns the status that reports `message` at the location of `op`, and its node of a model. Equal checks share
        one number.
        """
        node = printable(node_of(op)).replace("|", r"\x7c").replace("\n", r"\n")
        place = location_string(op).replace("|", r"\x7c")
        text = f"{message}{' in ' if node else ''}{node}|{place}"
        if text not in self.checks:
            self.checks.append(text)
        return self.checks.index(text) + 1

    def error(self, op: Operation, reason: str) -> None:
        """Notes that `op` cannot be lowered. `raise_errors` raises all notes together."""
        self.errors.append((op, reason))

    def raise_errors(self) -> None:
        """Raises one error that names every op noted by `error`, the first as the error and the rest as notes."""
        if not self.errors:
            return
        (first, reason), *others = self.errors
        error = OperationError(first, reason)
        notes = tuple(Diagnostic(f"'{op_name(op)}': {text}", "error", nearest_source_point(op)) for op, text in others)
        lines = [f"{location_string(op)}: '{op_name(op)}': {text}" for op, text in self.errors]
        pass_ = _LOWERED_BY.get(op_name(first).partition(".")[0])
        hint = None if pass_ is None else f"run {pass_} first, for instance -p {pass_},O3"
        if hint is not None:
            lines.append(f"hint: {hint}")
        error.diagnostic = replace(error.diagnostic, notes=notes, hint=hint)
        error.args = ("\n".join(lines),)
        raise error

    def external(self, name: str, arguments: list[Attribute], result: Attribute | None) -> str:
        """Declares the C function `name` and returns its symbol: `name.c` when the program took the name."""
        if (known := self.externals.get(name)) is None:
            symbol = name
            while symbol in self.symbols:
                symbol += ".c"
            known = self.externals[name] = (symbol, LLVMFunctionType(arguments, result))
        return known[0]
