"""
Tells whoever listens when `lower-to-llvm-dialect` has converted a kernel, so that LLVM can begin with it.

What is told early is a guess about what will be wanted. Nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from ...core.ir.walk import ops_of
from ...core.roles import LINK_NAME
from .convert_func import LINKAGE_EXTERNAL, functions_of, is_entry, is_public
from .state import ModuleState

Listener = Callable[[str, Sequence[Operation]], bool]
"""
Takes the name of a kernel and all that it reaches, in the order of the module: functions, globals, declarations.
Returns whether the bodies of these functions are needed no more.
"""

_listener: ContextVar[Listener | None] = ContextVar("stepwell_kernel_listener", default=None)

FEWEST: Final = 2
"""The kernels of a program whose kernels are told. One alone is not taken out of its program."""


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Has `listener` told of kernels inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def is_anybody_listening() -> bool:
    """Returns whether kernels are to be told of."""
    return _listener.get() is not None


def tell(kernel: str, ops: Sequence[Operation]) -> bool:
    """Tells of a kernel that is converted. Returns whether the bodies of its functions are needed no more."""
    listener = _listener.get()
    return listener is not None and listener(kernel, ops)


def declaration_of(name: str, symbol: str, function_type: llvm.LLVMFunctionType) -> llvm.FuncOp:
    """Returns the declaration of a function outside of the program, which is called `symbol` here."""
    declaration = llvm.FuncOp(symbol, function_type, LINKAGE_EXTERNAL)
    if symbol != name:
        declaration.attributes[LINK_NAME] = StringAttr(name)
    return declaration


class Kernels:
    """The kernels of a module on their way to the llvm dialect. There are none where nobody listens."""

    def __init__(self, module: ModuleOp):
        self._listener = _listener.get()
        self._missing: dict[str, set[str]] = {}
        """The functions and globals of each kernel that are not converted yet."""
        self._kernel_of: dict[str, str] = {}
        self._made: dict[str, list[Operation]] = {}
        if self._listener is not None:
            self._find(module)

    def _find(self, module: ModuleOp) -> None:
        """Finds the private functions that entries call and that share nothing with each other."""
        functions = functions_of(module)
        known = set(functions) | {op.sym_name.data for op in ops_of(module, memref.GlobalOp)}
        uses = {name: _uses(function) & known for name, function in functions.items()}
        entries = [name for name, function in functions.items() if is_entry(function)]
        heads = [name for name in dict.fromkeys(use for entry in entries for use in uses[entry]) if name in functions]
        owners: dict[str, list[str]] = {}
        for head in heads:
            for name in _reached(head, uses):
                owners.setdefault(name, []).append(head)
        for name in entries:
            owners.update({use: [name, name] for use in uses[name] if use not in functions})
        alone = {head: {name for name, of in owners.items() if head in of} for head in heads}
        for head, names in alone.items():
            own = [functions[name] for name in names if name in functions]
            hidden = all(not is_public(each) and not each.is_declaration for each in own)
            if hidden and all(len(owners[name]) == 1 for name in names) and names.isdisjoint(entries):
                self._missing[head] = set(names)
                self._kernel_of.update(dict.fromkeys(names, head))
        if len(self._missing) < FEWEST:
            self._kernel_of.clear()

    def converted(self, op: Operation, made: Sequence[Operation], state: ModuleState) -> None:
        """Takes note of what `op` has become, and tells of the kernel that it completes."""
        name = op.properties.get("sym_name")
        kernel = self._kernel_of.get(name.data) if isinstance(name, StringAttr) else None
        if kernel is None or not isinstance(name, StringAttr) or self._listener is None:
            return
        self._made.setdefault(kernel, []).extend(made)
        self._missing[kernel].discard(name.data)
        if not self._missing[kernel] and not state.errors:
            ops = self._made.pop(kernel)
            self._listener(kernel, [*ops, *_declarations(ops, state)])


def _declarations(ops: Sequence[Operation], state: ModuleState) -> list[Operation]:
    """Returns the declarations of the functions outside of the program that `ops` call."""
    called = {call.callee.string_value() for op in ops for call in ops_of(op, llvm.CallOp) if call.callee is not None}
    outside = [(name, *found) for name, found in state.externals.items() if found[0] in called]
    return [declaration_of(name, symbol, function_type) for name, symbol, function_type in outside]


def _uses(function: func.FuncOp) -> set[str]:
    named = ops_of(function, func.CallOp, memref.GetGlobalOp)
    return {(op.callee if isinstance(op, func.CallOp) else op.name_).string_value() for op in named}


def _reached(head: str, uses: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    pending = [head]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += uses.get(name, ())
    return found
