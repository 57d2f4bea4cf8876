"""
The lowering of kernels to the llvm dialect one after the other, so that LLVM has the first ones early.

What the passes from `prepack-weights` on make of a kernel depends on the kernel and on its calls, and `bufferize` looks
at all of the program only where calls could let a result take the place of an operand. So what they make of a kernel is
the same whether they run over the whole module, one after the other, or over the kernel alone, all in a row. In the
second order LLVM can compile the first kernel while the next one is lowered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from xdsl.context import Context
from xdsl.dialects import cf, func, llvm, memref
from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.passes import ModulePass

from ..analysis.in_place import may_overwrite
from ..core.ir.cloning import clone_op
from ..core.ir.symbols import fresh_name
from ..core.ir.walk import ops_of, walk
from ..core.passes.stepwise import Steps, StepwisePass
from ..core.roles import LINK_NAME, NOALIAS, PREPARE, SIGNATURE
from ..dialects.graph.calls import CallKernelOp
from ..dialects.tensor_loop import CallOp, FuncOp
from .buffers.bufferize import BufferizePass
from .buffers.copies import Places, become_copy, declare_copy, names_of
from .buffers.kernels import hoist
from .buffers.sharing import places_of_calls
from .llvm.listening import FEWEST, tell
from .llvm.stubs import make_stub
from .loops_to_scf.lower_loops_to_scf import NO_INLINE
from .pipelines import TO_LLVM
from .scf.guard_divisions import SIGNED, UNSIGNED

Work = Callable[[Context, ModuleOp], Any]


class Run(Protocol):
    """
    Runs a pass, which has this number among those given, on a module. With `work` it runs that part of the pass. With
    `done` it tells whoever shows how far all has come that it is as if so many passes were done.
    """

    def __call__(
        self, pass_: ModulePass, number: int, module: ModuleOp, work: Work | None = None, done: float | None = None
    ) -> Any: ...


CHECKED = (cf.AssertOp, memref.AllocOp, *SIGNED, *UNSIGNED)
"""The ops of functions that may fail. `guard-divisions` adds checks to divisions."""

BEFORE_LLVM = ("prepack-weights", "apply-schedule-plan", "merge-prepare-functions", "bufferize")
"""The passes before `TO_LLVM` that most kernels can go through one after the other."""


def first_of_lowering(passes: Sequence[ModulePass]) -> int | None:
    """
    Returns the place from which `passes` are those that kernels can go through one after the other, or `None` where
    they do not end in these.
    """
    names = tuple(each.name for each in passes)
    for ending in ((*BEFORE_LLVM, *TO_LLVM), TO_LLVM):
        if names[-len(ending) :] == ending:
            return len(names) - len(ending)
    return None


def lower_kernels_first(module: ModuleOp, passes: Sequence[ModulePass], run: Run) -> int:
    """
    Runs `passes`, which are `TO_LLVM` or these after `BEFORE_LLVM`. Returns how many kernels have gone through them
    alone. Each of these is told of. The module is the same as if each pass had run on all of it, but for kernels whose
    bodies are needed no more, which are stubs.

    Kernels with checks are lowered with the rest, since checks are numbered over the module. Where there are fewer than
    two kernels, none goes alone.
    """
    order = _Order(passes, run)
    alone = _Alone(order)
    if order.to_scf:
        _lower_before_buffers(module, order, alone)
    kernels = _kernels(module, CallOp)
    if len(kernels) + len(alone.lowered) >= FEWEST:
        calls = Counter(_callees(module, CallOp))
        for kernel in kernels:
            alone.lower(_take_out(kernel), kernel, calls[kernel.sym_name.data])
    order.run(order.to_scf, module)
    alone.put_checked()
    for number in range(order.to_scf + 1, len(passes)):
        order.run(number, module)
    _put_back(module, alone.lowered)
    return len(alone.lowered)


class _Order:
    """Passes by their number."""

    def __init__(self, passes: Sequence[ModulePass], run: Run):
        self.passes = passes
        self._run = run
        self.to_scf = len(passes) - len(TO_LLVM)
        """The number of `lower-loops-to-scf`."""
        self.share: float | None = None
        """The share of the kernels that are done, while they go alone."""

    def run(self, number: int, module: ModuleOp, work: Work | None = None) -> Any:
        done = None if self.share is None else self.share * len(self.passes)
        return self._run(self.passes[number], number, module, work, done)


def _lower_before_buffers(module: ModuleOp, order: _Order, alone: _Alone) -> None:
    """
    Runs the passes up to `bufferize`, and lowers kernels on the way.

    That pass gives kernels arguments for their temporaries, and makes copies whose results take the place of operands.
    Declarations tell it what has been done. A kernel of which its calls may want several copies waits for it.
    """
    packing, buffers = order.passes[0], order.passes[order.to_scf - 1]
    assert isinstance(packing, StepwisePass) and isinstance(buffers, BufferizePass)
    calls = places_of_calls(module, _entries(module))
    kernels = {kernel.sym_name.data for kernel in _kernels(module, CallKernelOp)} & calls.keys()
    if len(kernels) < FEWEST:
        kernels.clear()
    shares = buffers.reuse and buffers.in_place
    waiting: list[tuple[func.FuncOp, FuncOp]] = []
    steps: Steps = order.run(0, module, packing.begin)
    functions = steps.functions
    for position, kernel in enumerate(functions):
        assert isinstance(kernel, FuncOp)
        order.share = position / len(functions)
        order.run(0, module, lambda *_, kernel=kernel: steps.take(kernel))
        name = kernel.sym_name.data
        if name not in kernels:
            continue
        declaration = _take_out(kernel)
        order.run(1, ModuleOp([kernel]))
        kernel.detach()
        wishes = _wishes(kernel, calls[name]) if shares else [None] * len(calls[name])
        copies = len({*wishes} - {None})
        if copies > 1 or (copies and len(kernel.outputs) > 1):
            waiting.append((declaration, kernel))
        else:
            _lower_with_copy(module, declaration, kernel, wishes, alone)
    order.share = None
    order.run(0, module, lambda *_: steps.finish())
    order.run(1, module)
    for declaration, kernel in waiting:
        _put(declaration, [kernel])
    for number in range(2, order.to_scf):
        order.run(number, module)


def _wishes(kernel: FuncOp, calls: Sequence[Sequence[Places]]) -> list[Places | None]:
    """Returns for each call the inputs that its result may take the place of."""
    legal = {each: may_overwrite(kernel, *each) for each in {each for call in calls for each in call}}
    return [next((each for each in call if legal[each]), None) for call in calls]


def _lower_with_copy(
    module: ModuleOp, declaration: func.FuncOp, kernel: FuncOp, wishes: Sequence[Places | None], alone: _Alone
) -> None:
    """Lowers a kernel, as far as calls want it, and its copy, as far as they wish one."""
    kernel.attributes.pop(SIGNATURE, None)
    hoist(kernel)
    _declare(declaration, kernel)
    usual = wishes.count(None)
    places = next((each for each in wishes if each is not None), None)
    copy = None
    if places is not None:
        copy = clone_op(kernel) if usual else kernel
        copy.location = kernel.location
        become_copy(copy, places, names_of(module))
        declare_copy(declaration, places, copy.sym_name.data)
    if usual:
        alone.lower(declaration, kernel, usual)
    if copy is not None:
        alone.lower(_declaration_after(declaration, copy), copy, len(wishes) - usual)


class _Alone:
    """Kernels that go through the passes of `TO_LLVM` one after the other, outside of their module."""

    def __init__(self, order: _Order):
        self._order = order
        self._checked: list[tuple[func.FuncOp, list[Operation]]] = []
        self.lowered: dict[str, Lowered] = {}

    def lower(self, declaration: func.FuncOp, kernel: FuncOp, calls: int) -> None:
        """Lowers a kernel, which `declaration` stands for and which is called in so many places, and tells of it."""
        name, own, order = kernel.sym_name.data, ModuleOp([kernel]), self._order
        order.run(order.to_scf, own)
        if calls > 1:
            (function,) = own.ops
            function.attributes[NO_INLINE] = UnitAttr()
        if ops_of(own, *CHECKED):
            self._checked.append((declaration, _taken(own)))
            return
        for number in range(order.to_scf + 1, len(order.passes)):
            order.run(number, own)
        lowered = self.lowered[name] = Lowered.of(name, _taken(own))
        if tell(name, [*lowered.ops, *lowered.outside]):
            lowered.drop_bodies()

    def put_checked(self) -> None:
        """Puts kernels with checks back, once the rest of the module is in scf as they are."""
        for declaration, ops in self._checked:
            _put(declaration, ops)


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


def _entries(module: ModuleOp) -> list[func.FuncOp]:
    """Returns the functions that call kernels each time that the program runs."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and PREPARE not in op.attributes]


def _kernels(module: ModuleOp, call: type[CallOp | CallKernelOp]) -> list[FuncOp]:
    """
    Returns the private loop functions that entries call by this op, and that depend on nothing else in the module.

    Functions made of them are called after them. So no other name may begin with theirs and an underscore. On tensors,
    prepare functions must not call them, since these may merge.
    """
    names = [op.properties.get("sym_name") for op in module.body.block.ops]
    longer = {prefix for name in names if isinstance(name, StringAttr) for prefix in _prefixes(name.data)}
    called = {each for entry in _entries(module) for each in _callees(entry, call)}
    if call is CallKernelOp:
        others = [op for op in module.ops if not isinstance(op, func.FuncOp) or PREPARE in op.attributes]
        called -= {each for op in others for each in _callees(op, CallOp, CallKernelOp)}
    found = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data in called]
    return [op for op in found if op.sym_name.data not in longer and _is_alone(op)]


def _callees(op: Operation, *calls: type[CallOp | CallKernelOp]) -> list[str]:
    """Returns the loop functions that `op` calls by these ops."""
    found: list[str] = []
    for each in ops_of(op, *calls):
        symbol = each.properties["callee"]
        assert isinstance(symbol, SymbolRefAttr)
        found.append(symbol.string_value())
    return found


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
    declaration = _declaration_after(kernel, kernel)
    kernel.detach()
    return declaration


def _declaration_after(place: Operation, kernel: FuncOp) -> func.FuncOp:
    """Puts the declaration of what a kernel becomes behind another op, and returns it."""
    declaration = func.FuncOp(kernel.sym_name.data, ((), ()), Region(), kernel.sym_visibility)
    declaration.attributes[NOALIAS] = kernel.attributes.get(NOALIAS) or StringAttr("")
    declaration.location = kernel.location
    block = place.parent_block()
    assert block is not None
    block.insert_op_after(declaration, place)
    _declare(declaration, kernel)
    return declaration


def _declare(declaration: func.FuncOp, kernel: FuncOp) -> None:
    """Gives the declaration of a kernel its types, and says which arguments are temporaries."""
    declaration.properties["function_type"] = FunctionType.from_lists(kernel.body.block.arg_types, ())
    if kernel.arg_attrs is not None:
        declaration.properties["arg_attrs"] = kernel.arg_attrs


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
