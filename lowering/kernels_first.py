"""
The lowering from loops to the llvm dialect one kernel after the other, so that LLVM has the first ones early.

The passes of `TO_LLVM` look at one function at a time. So what they make of a kernel is the same whether they run over
the whole module, one after the other, or over the kernel alone, all in a row. In the second order LLVM can compile the
first kernel while the next one is lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects import cf, func, llvm, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.passes import ModulePass

from ..core.ir.symbols import fresh_name
from ..core.ir.walk import ops_of, walk
from ..core.roles import LINK_NAME, NOALIAS, PREPARE
from ..dialects.tensor_loop import CallOp, FuncOp
from .llvm.listening import FEWEST, tell
from .llvm.stubs import make_stub
from .pipelines import TO_LLVM
from .scf.guard_divisions import SIGNED, UNSIGNED

Run = Callable[[ModulePass, int, ModuleOp], None]
"""Runs one pass, which has this number among those of the pipeline, on a module."""

CHECKED = (cf.AssertOp, memref.AllocOp, *SIGNED, *UNSIGNED)
"""The ops of functions that may fail. `guard-divisions` adds checks to divisions."""


def first_of_lowering(passes: Sequence[ModulePass]) -> int | None:
    """Returns the place from which `passes` are those of `TO_LLVM`, or `None` where they do not end in them."""
    start = len(passes) - len(TO_LLVM)
    return start if start >= 0 and tuple(each.name for each in passes[start:]) == TO_LLVM else None


def lower_kernels_first(module: ModuleOp, passes: Sequence[ModulePass], run: Run) -> bool:
    """
    Runs the `passes` of `TO_LLVM` on each large kernel of `module`, tells of it, and then runs them on the rest.

    The module is the same as if `passes` had run on all of it, but for kernels whose bodies are needed no more, which
    are stubs. Returns False, and does nothing, where there are fewer than two such kernels. Kernels with checks are
    lowered with the rest, since checks are numbered over the module.
    """
    kernels = _kernels(module)
    if len(kernels) < FEWEST:
        return False
    places = {kernel.sym_name.data: _take_out(kernel) for kernel in kernels}
    run(passes[0], 0, module)
    lowered: dict[str, Lowered] = {}
    for kernel in kernels:
        name = kernel.sym_name.data
        own = ModuleOp([kernel])
        run(passes[0], 0, own)
        _carry_over(places[name], own)
        if ops_of(own, *CHECKED):
            _put(places[name], _taken(own))
            continue
        for number, each in enumerate(passes[1:], 1):
            run(each, number, own)
        lowered[name] = Lowered.of(name, _taken(own))
        if tell(name, [*lowered[name].ops, *lowered[name].outside]):
            lowered[name].drop_bodies()
    for number, each in enumerate(passes[1:], 1):
        run(each, number, module)
    _put_back(module, lowered)
    return True


class Lowered(NamedTuple):
    """The functions and globals that a kernel has become, and the declarations of what is outside of the program."""

    ops: list[Operation]
    outside: list[llvm.FuncOp]

    @staticmethod
    def of(name: str, ops: Sequence[Operation]) -> Lowered:
        outside = [op for op in ops if isinstance(op, llvm.FuncOp) and not op.body.blocks]
        return Lowered([op for op in ops if op not in outside], outside)

    def drop_bodies(self) -> None:
        for op in self.ops:
            if isinstance(op, llvm.FuncOp):
                make_stub(op)


def _kernels(module: ModuleOp) -> list[FuncOp]:
    """
    Returns the private loop functions that entries call, and that depend on nothing else in the module.

    Functions made of them are called after them. So no other name may begin with theirs and an underscore.
    """
    names = [op.properties.get("sym_name") for op in module.body.block.ops]
    longer = {prefix for name in names if isinstance(name, StringAttr) for prefix in _prefixes(name.data)}
    entries = [op for op in module.ops if isinstance(op, func.FuncOp) and PREPARE not in op.attributes]
    called = {call.callee.string_value() for entry in entries for call in ops_of(entry, CallOp)}
    found = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data in called]
    return [op for op in found if op.sym_name.data not in longer and _is_alone(op)]


def _prefixes(name: str) -> list[str]:
    return [name[:place] for place, letter in enumerate(name) if letter in "_."]


def _is_alone(kernel: FuncOp) -> bool:
    """Returns whether a kernel names no other symbol, and its buffers have known sizes and strides."""
    if kernel.sym_visibility is None or kernel.sym_visibility.data != "private":
        return False
    known = all(isinstance(type_, MemRefType) and "?" not in str(type_) for type_ in kernel.body.block.arg_types)
    return known and not ops_of(kernel.body, CallOp, func.CallOp, memref.GetGlobalOp)


def _take_out(kernel: FuncOp) -> func.FuncOp:
    """Puts the declaration of what a kernel becomes in its place, and returns it."""
    types = (kernel.body.block.arg_types, ())
    declaration = func.FuncOp(kernel.sym_name.data, types, Region(), kernel.sym_visibility)
    declaration.attributes[NOALIAS] = kernel.attributes.get(NOALIAS) or StringAttr("")
    declaration.location = kernel.location
    block = kernel.parent_block()
    assert block is not None
    block.insert_op_before(declaration, kernel)
    kernel.detach()
    return declaration


def _carry_over(declaration: func.FuncOp, own: ModuleOp) -> None:
    """Gives the kernel what `lower-loops-to-scf` has found out from the calls of its declaration."""
    (kernel,) = own.ops
    for name, value in declaration.attributes.items():
        if name != NOALIAS:
            kernel.attributes[name] = value


def _taken(own: ModuleOp) -> list[Operation]:
    """Returns the ops of a module, which is empty then."""
    ops = list(own.body.block.ops)
    for op in ops:
        op.detach()
    return ops


def _put(place: Operation, ops: Sequence[Operation]) -> None:
    """Puts `ops` in the place of an op, which is erased."""
    block = place.parent_block()
    assert block is not None
    block.insert_ops_before(ops, place)
    block.erase_op(place, safe_erase=False)


def _put_back(module: ModuleOp, lowered: dict[str, Lowered]) -> None:
    """Puts what kernels have become in the places of their declarations, under names that nothing else has."""
    ops = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, llvm.FuncOp | llvm.GlobalOp)}
    taken = set(ops)
    declared = {
        _link_name(op): op
        for op in ops.values()
        if isinstance(op, llvm.FuncOp) and not op.body.blocks and op.sym_name.data not in lowered
    }
    for kernel, (own, outside) in lowered.items():
        names = {_symbol(op): fresh_name(_symbol(op), taken) for op in own if _symbol(op) != kernel}
        for op in outside:
            link = _link_name(op)
            known = declared.get(link)
            if known is None or known.function_type != op.function_type:
                name = names[_symbol(op)] = fresh_name(_symbol(op), taken)
                if name != link:
                    op.attributes[LINK_NAME] = StringAttr(link)
                module.body.block.add_op(op)
                declared.setdefault(link, op)
            else:
                names[_symbol(op)] = _symbol(known)
        _rename([*own, *outside], {old: new for old, new in names.items() if old != new})
        _put(ops[kernel], own)


def _link_name(declaration: llvm.FuncOp) -> str:
    """Returns the name that a function outside of the program has for the linker."""
    name = declaration.attributes.get(LINK_NAME)
    return name.data if isinstance(name, StringAttr) else declaration.sym_name.data


def _symbol(op: Operation) -> str:
    assert isinstance(op, llvm.FuncOp | llvm.GlobalOp)
    return op.sym_name.data


def _rename(ops: Sequence[Operation], names: dict[str, str]) -> None:
    """Gives symbols other names, where they are defined and where they are named."""
    if not names:
        return
    for op in ops:
        op.properties["sym_name"] = StringAttr(names.get(_symbol(op), _symbol(op)))
        for inner in walk(op):
            for key in ("callee", "global_name"):
                symbol: Attribute | None = inner.properties.get(key)
                if isinstance(symbol, SymbolRefAttr) and symbol.string_value() in names:
                    inner.properties[key] = SymbolRefAttr(names[symbol.string_value()])
