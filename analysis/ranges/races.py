"""
Races of parallel loops: two iterations touch one element, and one of them stores there.

For a pair of accesses there are two copies of everything that is computed inside the loop, one per iteration. The pair
is free of races where no values of these make the elements the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from ...core.messages.locations import nearest_source_point
from ...core.roles import PARALLEL, UNCHECKED
from ...dialects.tensor_loop import LoopOp
from ...lazy_dataclass import dataclass
from .accesses import Access, Accesses
from .linear import Atom, Form, Source
from .rules import contradicts
from .spans import Span


@dataclass(frozen=True)
class Race:
    """Two accesses of a parallel loop that may meet."""

    loop: Operation
    first: Access
    second: Access
    buffer: SSAValue


def parallel_variables(op: Operation) -> Sequence[SSAValue]:
    """Returns the variables of a loop whose iterations may run at the same time. It is empty for any other op."""
    if isinstance(op, LoopOp):
        return [each for each, kind in zip(op.variables, op.kinds, strict=True) if kind == "parallel"]
    if isinstance(op, scf.ForOp) and PARALLEL in op.attributes:
        return op.body.block.args[:1]
    return ()


def races(accesses: Accesses, found: Sequence[Access]) -> Iterator[Race]:
    """Yields pairs among `found`, the accesses of one function, that are not proven to be free of races."""
    inside: dict[Operation, list[Access]] = {}
    for access in found:
        if access.touch is None or not isinstance(access.touch.buffer.type, MemRefType):
            continue
        for loop in _parallel_loops(access.touch.op):
            inside.setdefault(loop, []).append(access)
    for loop, members in inside.items():
        for variable in parallel_variables(loop):
            yield from _Loop(accesses, loop, variable).races(members)


def _parallel_loops(op: Operation) -> Iterator[Operation]:
    """Yields the parallel loops around an op, up to one that is `unchecked`."""
    current = op.parent_op()
    while current is not None:
        if parallel_variables(current):
            if UNCHECKED in current.attributes:
                return
            yield current
        current = current.parent_op()


class _Loop:
    """Compares the accesses of one parallel loop."""

    def __init__(self, accesses: Accesses, loop: Operation, variable: SSAValue):
        self.accesses, self.loop = accesses, loop
        self.atoms = accesses.values.atoms
        (self.turn,) = accesses.values.form(variable).terms or (-1,)
        self._copies: dict[int, int] = {}
        self._inner: dict[int, bool] = {}

    def races(self, members: list[Access]) -> Iterator[Race]:
        if self.turn < 0 or self.atoms.table[self.turn].high <= 0:
            return  # No two iterations.
        by_root: dict[SSAValue, list[Access]] = {}
        for access in members:
            assert access.touch is not None
            root = root_of(access.touch.buffer)
            if not self._holds(root.owner) and not self._is_private(root):
                by_root.setdefault(root, []).append(access)
        for root, group in by_root.items():
            stores = [each for each in group if each.touch is not None and each.touch.is_store]
            known = set[object]()
            for store in stores:
                for other in group:
                    key = (self._key(store), self._key(other))
                    if key in known or not self._may_meet(store, other):
                        known.add(key)
                    else:
                        yield Race(self.loop, store, other, root)
                        return

    def _is_private(self, root: SSAValue) -> bool:
        """Returns whether a buffer on the stack serves this loop alone. Each thread gets one of its own."""
        return isinstance(root.owner, memref.AllocaOp) and all(self._holds(use.operation) for use in root.uses)

    def _key(self, access: Access) -> object:
        assert access.touch is not None
        spans = tuple((self.accesses.form(s.first).key(), self.accesses.length(s).key()) for s in access.touch.spans)
        return _uncast(access.touch.buffer), spans, tuple(fact.key() for fact in access.path.facts)

    def _may_meet(self, store: Access, other: Access) -> bool:
        """Returns whether two iterations are not proven to keep apart."""
        assert store.touch is not None and other.touch is not None
        if _uncast(store.touch.buffer) is not _uncast(other.touch.buffer) or not store.touch.spans:
            return True
        pairs = list(zip(store.touch.spans, other.touch.spans, strict=True))
        if any(self._apart(first, second) for first, second in pairs):
            return False
        facts = [*store.path.facts, *(self._copy(fact) for fact in other.path.facts)]
        for first, second in pairs:
            here, there = self.accesses.form(first.first), self._copy(self.accesses.form(second.first))
            facts.append(here.plus(self.accesses.length(first)).plus(there, -1).shifted(-1))
            facts.append(there.plus(self._copy(self.accesses.length(second))).plus(here, -1).shifted(-1))
        later = Form({self._twin(self.turn): 1, self.turn: -1}, -1)
        orders = [later] if store is other else [later, Form({self.turn: 1, self._twin(self.turn): -1}, -1)]
        start = (self.turn, self._twin(self.turn))
        return not all(contradicts(self.atoms, [*facts, order], start) for order in orders)

    def _apart(self, first: Span, second: Span) -> bool:
        """Returns whether a dimension alone keeps iterations apart: a turn moves farther than all else reaches."""
        here, there = self.accesses.form(first.first), self.accesses.form(second.first)
        step = here.terms.get(self.turn, 0)
        if step == 0 or there.terms.get(self.turn, 0) != step:
            return False
        moving = Form({self.turn: step}, 0)
        rest = here.plus(moving, -1).plus(self._copy(there.plus(moving, -1)), -1)
        low, high = self.atoms.bounds(rest)
        behind = self.atoms.bounds(self.accesses.length(first))[1]
        ahead = self.atoms.bounds(self.accesses.length(second))[1]
        return low + abs(step) >= ahead and abs(step) - high >= behind

    # The copy for the other iteration

    def _copy(self, form: Form) -> Form:
        """Returns a form for the other iteration: what is computed inside the loop has another value there."""
        terms: dict[int, int] = {}
        for atom, factor in form.terms.items():
            twin = self._twin(atom)
            terms[twin] = terms.get(twin, 0) + factor
        return Form(terms, form.constant)

    def _twin(self, atom: int) -> int:
        if not self._is_inner(atom):
            return atom
        known = self._copies.get(atom)
        if known is None:
            given = self.atoms.table[atom]
            new = self.atoms.add(Atom(given.low, given.high, given.kind, given.name))
            (known,) = new.terms
            self._copies[atom] = known
            twin = self.atoms.table[known]
            twin.facts = tuple(self._copy(fact) for fact in given.facts)
            twin.choice = tuple(tuple(self._copy(fact) for fact in facts) for facts in given.choice)
            if (source := given.source) is not None:
                second = None if source.second is None else self._copy(source.second)
                twin.source = Source(self._copy(source.first), second, source.divisor)
        return known

    def _is_inner(self, atom: int) -> bool:
        """Returns whether an atom depends on what happens inside the loop."""
        known = self._inner.get(atom)
        if known is None:
            source = self.atoms.table[atom].source
            if source is None:
                origin = self.accesses.values.origins.get(atom)
                known = origin is None or self._holds(origin.owner)
            else:
                parts = [source.first] if source.second is None else [source.first, source.second]
                known = any(self._is_inner(each) for part in parts for each in part.terms)
            self._inner[atom] = known
        return known

    def _holds(self, owner: Operation | Block) -> bool:
        block = owner.parent_block() if isinstance(owner, Operation) else owner
        while block is not None:
            parent = block.parent_op()
            if parent is self.loop:
                return True
            block = None if parent is None else parent.parent_block()
        return False


def _uncast(buffer: SSAValue) -> SSAValue:
    """Returns the buffer that has the same elements at the same indices."""
    while isinstance(buffer.owner, memref.CastOp | memref.MemorySpaceCastOp | memref.AssumeAlignmentOp):
        buffer = buffer.owner.operands[0]
    return buffer


def root_of(buffer: SSAValue) -> SSAValue:
    """Returns the buffer that `buffer` is a view of. It is `buffer` itself where it is no view."""
    while isinstance(buffer.owner, Operation):
        sources = [operand for operand in buffer.owner.operands if isinstance(operand.type, MemRefType)]
        if len(sources) != 1:
            break
        buffer = sources[0]
    return buffer


def line_of(op: Operation) -> str:
    """Returns ` at line N`, or nothing where the place of an op is not known."""
    point = nearest_source_point(op)
    return "" if point is None else f" at line {point.line}"
