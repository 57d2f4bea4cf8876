"""
The LLVM text of a program in pieces: one for each large kernel, one for what runs once, and one for the rest.

LLVM compiles the pieces independently of each other, hence at the same time. A kernel takes its name from a hash of its
text, in which nothing else depends on the program around it. So equal kernels, of one program or of two, are one piece.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException

from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...lazy_dataclass import dataclass
from ..llvm.listening import FEWEST
from ..llvm.stubs import STUB, named_symbols
from .constants import EmitError
from .emit_llvm_text import LLVMText, emit_llvm_text

LEAST_OPS: Final = 100
"""The ops of a kernel that is worth a piece. A piece costs 3 ms, in which LLVM compiles about 50 ops."""

LONG_OPS: Final = 300
"""The ops of entries that are a piece of their own, without small kernels, as most of them call kernels."""

BATCH_OPS: Final = 600
"""The ops of small kernels that are a piece together, so that threads share them. LLVM compiles them in some 30 ms."""

PLACEHOLDER: Final = "stepwell.piece."
"""What the functions of a piece are called until the hash of its text is known."""

HASH_DIGITS: Final = 32


class EarlyPieces:
    """
    Writes kernels as `lower-to-llvm-dialect` converts them, and gives their texts to `start`, to begin with them.

    Most of them are the pieces of the program later on. `emit_llvm_pieces` does not write these again. With `drops`,
    their bodies may become stubs, so nobody else may look at the program.
    """

    def __init__(self, start: Callable[[str], object], *, drops: bool = False):
        self._start = start
        self._drops = drops
        self._waiting: list[str] = []
        self._told = 0
        self.texts: dict[tuple[int, ...], str] = {}

    def __call__(self, kernel: str, ops: Sequence[Operation]) -> bool:
        """
        Takes a converted kernel, the first of `ops` of its name. One that cannot be written is left for later.

        Returns whether the bodies of its functions are needed no more. The first kernels keep theirs, since a program
        with too few of them is one text.
        """
        group = Group([kernel], ops)
        if not group.is_large:
            return False
        try:
            text = self.texts[group.key] = _piece(ops, group)
        except EmitError:
            return False
        self._waiting.append(_named(text, _digest(text)))
        self._told += 1
        if self._told < FEWEST:
            return False
        for waiting in self._waiting:
            self._start(waiting)
        self._waiting.clear()
        return self._drops


def emit_llvm_pieces(
    module: ModuleOp, early: EarlyPieces | None = None, names: dict[str, str] | None = None
) -> Iterator[str]:
    """
    Yields the texts that `module` is cut into, the one with the entries last. They are to be linked with each other.
    What the program calls the functions of the pieces goes into `names`, by the names that these have in the texts.

    A module with fewer than two large kernels is one text, that of `emit_llvm_text`, unless `early` has the text of
    one. A kernel that nobody calls is in no text, whoever has written it.

    Raises a `DiagnosticException` that names what has no text form.
    """
    written = {} if early is None else early.texts
    symbols = _Symbols.of(module)
    groups = [] if symbols is None else _kernel_groups(symbols, written)
    is_stubbed = symbols is not None and any(STUB in op.attributes for op in symbols.ops.values())
    if symbols is None or (len(groups) < FEWEST and not is_stubbed):
        yield emit_llvm_text(module)
        return
    try:
        yield from _texts(symbols, groups, written, {} if names is None else names)
    except EmitError as error:
        raise DiagnosticException(f"emit-llvm-text: {error}") from None


def emit_llvm_function(module: ModuleOp, name: str, *, lines: bool = False) -> str:
    """
    Returns the text of one function with all that it names, as a kernel that is a piece is compiled. With `lines`, each
    instruction names the line of the source that it comes from.

    Raises `StepwellError` where no function with a body has that name.
    """
    ops = {_symbol(op): op for op in module.body.block.ops if isinstance(op, llvm.FuncOp | llvm.GlobalOp)}
    functions = [each for each, op in ops.items() if isinstance(op, llvm.FuncOp) and _has_body(op)]
    if name not in functions:
        known = f"it has {', '.join(functions)}" if functions else "it has none of the llvm dialect; -p O3 goes there"
        hint = did_you_mean(name, functions) or known
        raise StepwellError(Diagnostic(f"the program has no function @{name} to make machine code of", hint=hint))
    reached = _reached([name], {each: _uses(op) for each, op in ops.items()})
    text = LLVMText(lines=lines)
    text.module.name_symbols(module.body.block.ops)
    text.visible = [name]
    try:
        return text.definitions(op for each, op in ops.items() if each in reached)
    except EmitError as error:
        raise DiagnosticException(f"emit-llvm-text: {error}") from None


@dataclass(frozen=True)
class _Symbols:
    """The functions and globals of a module by name, and what each of them names."""

    ops: dict[str, Operation]
    uses: dict[str, set[str]]

    @staticmethod
    def of(module: ModuleOp) -> _Symbols | None:
        """Returns those of a module that has nothing else."""
        if not all(isinstance(op, llvm.FuncOp | llvm.GlobalOp) for op in module.body.block.ops):
            return None
        ops = {_symbol(op): op for op in module.body.block.ops}
        return _Symbols(ops, {name: _uses(op) for name, op in ops.items()})

    def needed(self) -> set[str]:
        """
        Returns what may be named from outside, with all that it reaches. Others may name what is hidden in a piece,
        since nobody asked them which functions its kernels are.
        """
        return _reached((name for name, op in self.ops.items() if not _is_internal(op)), self.uses)


def _texts(
    symbols: _Symbols, groups: Sequence[Group], written: Mapping[tuple[int, ...], str], called: dict[str, str]
) -> Iterator[str]:
    names: dict[str, str] = {}
    inside: dict[str, Group] = {}
    given: set[str] = set()
    for group in groups:
        text = written.get(group.key) or _piece(symbols.ops.values(), group)
        digest = _digest(text)
        inside.update(dict.fromkeys(group.symbols, group))
        for index, symbol in enumerate(group.own):
            called.setdefault(f"stepwell.{digest}.{index}", symbol)
        names.update({head: f"stepwell.{digest}.{index}" for index, head in enumerate(group.heads)})
        if digest not in given:
            given.add(digest)
            yield _named(text, digest)
    yield from _rest(symbols, names, inside)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


def _named(text: str, digest: str) -> str:
    """Returns the text of a piece under its own name."""
    return text.replace(f"@{PLACEHOLDER}", f"@stepwell.{digest}.")


def _piece(module: Iterable[Operation], group: Group) -> str:
    """Returns the text of a kernel of `module` with its parts, under names that do not depend on the program."""
    text = LLVMText()
    text.module.name_symbols(module)
    text.module.rename({name: f"{PLACEHOLDER}{index}" for index, name in enumerate(group.own)})
    text.visible = group.heads
    return text.definitions(group.ops)


def _rest(symbols: _Symbols, names: dict[str, str], inside: dict[str, Group]) -> Iterator[str]:
    """
    Yields the texts of all that is needed and in no piece: what runs once, where it is much and nothing else needs it,
    then what has the entries. So two threads share what nobody could begin with earlier.
    """
    ops: dict[str, Operation] = {}
    kernels: dict[str, llvm.FuncOp] = {}
    needed = symbols.needed()
    for symbol, op in symbols.ops.items():
        if symbol not in needed:
            continue
        if symbol in names and isinstance(op, llvm.FuncOp):
            kernels[symbol] = op
        elif symbol not in inside or not _has_body(op):
            ops[symbol] = op
    uses = {symbol: symbols.uses[symbol] for symbol in ops}
    once = _running_once(ops, uses)
    others = {symbol for symbol, op in ops.items() if _has_body(op)} - once
    for members in filter(None, (once, others)):
        used = members.union(*(uses[symbol] for symbol in members))
        declared = {names[symbol]: op for symbol, op in kernels.items() if symbol in used or not once}
        text = LLVMText()
        text.module.name_symbols(symbols.ops.values())
        text.module.rename(names)
        text.visible = names
        lines = {name: text.declaration(op) for name, op in declared.items()}
        own = [op for symbol, op in ops.items() if symbol in used or not (once or _has_body(op))]
        yield text.definitions(own) + "\n".join(lines.values()) + "\n"


def _running_once(ops: dict[str, Operation], uses: dict[str, set[str]]) -> set[str]:
    """
    Returns what is `cold`, with all that it names, where that is worth a piece and nothing else names any of it.
    Constants may be in both pieces.
    """
    bodies = {symbol for symbol, op in ops.items() if _has_body(op)}
    cold = {symbol for symbol in bodies if _is_cold(ops[symbol])}
    members = _reached(cold, uses) & bodies
    others = {symbol for symbol in bodies if isinstance(ops[symbol], llvm.FuncOp)} - members
    size = sum(len(walk(ops[symbol])) for symbol in members)
    shared = members & _reached(others, uses)
    if not others or size < LEAST_OPS or not all(_is_own_constant(ops[symbol]) for symbol in shared):
        return set()
    return members - shared


def _is_own_constant(op: Operation) -> bool:
    """Returns whether nobody can tell a global from a copy of it."""
    return isinstance(op, llvm.GlobalOp) and op.constant is not None and _is_internal(op)


def _is_cold(op: Operation) -> bool:
    words = op.get_attr_or_prop("passthrough")  # The syntax of `llvm.func` parses it as an attribute.
    return isinstance(words, ArrayAttr) and _COLD in words.data


_COLD: Final = StringAttr("cold")


# Which functions are a piece


class Group:
    """Kernels that share functions, and all that these name. The heads are called from outside."""

    def __init__(self, heads: Sequence[str], ops: Sequence[Operation]):
        self.heads = tuple(heads)
        self.ops = ops
        self.symbols = tuple(_symbol(op) for op in ops)
        self.declared = frozenset(_symbol(op) for op in ops if not _has_body(op))
        self.key = tuple(id(op) for op in ops if _has_body(op))
        """What tells it from other groups of the program."""

    @property
    def own(self) -> list[str]:
        """The symbols that it defines, the heads first."""
        others = (name for name in self.symbols if name not in self.heads and name not in self.declared)
        return [*self.heads, *others]

    @cached_property
    def size(self) -> int:
        """The number of its ops."""
        return sum(len(walk(op)) for op in self.ops)

    @property
    def is_large(self) -> bool:
        """Returns whether it is worth a piece."""
        return self.size >= LEAST_OPS

    @property
    def runs_once(self) -> bool:
        """Returns whether it only prepares weights, so that LLVM has less to do with it."""
        return all(_is_cold(op) for op in self.ops if isinstance(op, llvm.FuncOp) and _has_body(op))


def _kernel_groups(symbols: _Symbols, written: Collection[tuple[int, ...]]) -> list[Group]:
    """
    Returns the large kernels of a module, in its order, then the small ones, several together where they are many.
    Kernels that have been `written` were large then.

    A kernel is an internal function that an entry calls, or what an entry calls in turn, and that names nothing which
    these name too. What is not internal is no kernel: others may know it by its name.
    """
    ops, uses = symbols.ops, symbols.uses
    frame = [name for name, op in ops.items() if isinstance(op, llvm.FuncOp) and _has_body(op) and not _is_internal(op)]
    frame = list(dict.fromkeys((*frame, *(callee for name in frame for callee in _called(ops[name]) if callee in ops))))
    called = dict.fromkeys(callee for name in frame for callee in _called(ops[name]) if callee in ops)
    heads = [name for name in called if name not in frame and _has_body(ops[name]) and _is_internal(ops[name])]
    outside = _reached(frame, uses, stop=frozenset(heads))
    found: list[Group] = []
    for own, members in _joined(heads, ops, uses):
        if members & outside or not all(_is_internal(ops[name]) for name in members):
            outside |= members
            continue
        found.append(_group(own, members, ops, uses))
    large: list[Group] = []
    small: list[Group] = []
    for group in found:
        (large if group.key in written or group.is_large else small).append(group)
    once = [group for group in small if group.runs_once]
    is_long = sum(len(walk(ops[name])) for name in frame) >= LONG_OPS
    return [*large, *_batches([group for group in small if group not in once], is_long), *_batches(once, is_long)]


def _batches(small: Sequence[Group], whole: bool) -> list[Group]:
    """
    Returns small kernels in groups of `BATCH_OPS`. Those that are left at the end are in one if `whole`, else in none.
    """
    found: list[Group] = []
    waiting: list[Group] = []
    for group in small:
        waiting.append(group)
        last = whole and group is small[-1]
        if last or sum(each.size for each in waiting) >= BATCH_OPS:
            ops = dict.fromkeys(op for each in waiting for op in each.ops)  # They may name the same declarations.
            found.append(Group([head for each in waiting for head in each.heads], list(ops)))
            waiting.clear()
    return found


def _group(heads: list[str], members: set[str], ops: dict[str, Operation], uses: dict[str, set[str]]) -> Group:
    declared = {use for name in members for use in uses[name] if use in ops and not _has_body(ops[use])}
    return Group(heads, [op for name, op in ops.items() if name in members or name in declared])


def _joined(
    heads: Sequence[str], ops: dict[str, Operation], uses: dict[str, set[str]]
) -> list[tuple[list[str], set[str]]]:
    """Returns the kernels with all that they reach. Kernels that reach the same function or global are together."""
    joined: list[tuple[list[str], set[str]]] = []
    owner: dict[str, tuple[list[str], set[str]]] = {}
    for head in heads:
        own: tuple[list[str], set[str]] = ([head], {name for name in _reached([head], uses) if _has_body(ops[name])})
        for other in {id(owner[name]): owner[name] for name in own[1] if name in owner}.values():
            joined.remove(other)
            own = ([*other[0], *own[0]], other[1] | own[1])
        joined.append(own)
        owner.update(dict.fromkeys(own[1], own))
    return joined


def _reached(names: Iterable[str], uses: dict[str, set[str]], stop: frozenset[str] = frozenset()) -> set[str]:
    """Returns the symbols of the module that these name, directly or not, with themselves. None is beyond `stop`."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in uses and name not in found and name not in stop:
            found.add(name)
            pending += uses[name]
    return found


def _uses(op: Operation) -> set[str]:
    """Returns the symbols that a function or global names."""
    return set(named_symbols(op))


def _called(op: Operation) -> dict[str, None]:
    """Returns the functions that `op` calls, in order."""
    return {call.callee.string_value(): None for call in ops_of(op, llvm.CallOp) if call.callee is not None}


def _symbol(op: Operation) -> str:
    assert isinstance(op, llvm.FuncOp | llvm.GlobalOp)
    return op.sym_name.data


def _is_internal(op: Operation) -> bool:
    return isinstance(op, llvm.FuncOp | llvm.GlobalOp) and op.linkage.linkage.data in ("internal", "private")


def _has_body(op: Operation) -> bool:
    """Returns whether `op` is a definition. A global always is one here, since those outside are not internal."""
    return not isinstance(op, llvm.FuncOp) or bool(op.body.blocks)
