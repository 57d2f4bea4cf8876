"""
The forms of SSA values, and what conditions say about them.

Loop variables are turns of their loops, axes of blocks are what their bindings say, and arithmetic is followed as far
as it cannot wrap. Everything else, such as what is loaded, is unknown within the range of its type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.traits import IsolatedFromAbove

from ...core.ir.literals import constant_of
from ...dialects.tensor_loop import AllocOp, BlockOp, LoopOp
from .conditions import Condition, comparison
from .integers import RULES, Integers, literal, range_of_type, result_of
from .linear import LIMIT, Atom, Atoms, Facts, Form, number

LOGIC: Final = (arith.AndIOp, arith.OrIOp)


class Values:
    """Finds the forms of values of one function. Each value is looked at once."""

    def __init__(self) -> None:
        self.atoms = Atoms()
        self.integers = Integers(self.atoms, self.facts_at)
        self.origins: dict[int, SSAValue] = {}
        """The value that each atom was made for."""
        self._forms: dict[SSAValue, Form] = {}
        self._sizes: dict[tuple[SSAValue, int], Form] = {}
        self._noted = 0

    def form(self, value: SSAValue) -> Form:
        """Returns the form of an integer or index."""
        found = self._forms.get(value)
        if found is not None:
            return found
        pending, entered = [value], set[SSAValue]()
        while pending:  # A chain of arithmetic may be longer than Python's stack.
            current = pending[-1]
            if current in self._forms:
                pending.pop()
                continue
            missing = [each for each in _needed(current) if each not in self._forms]
            if missing and current not in entered:
                entered.add(current)
                pending += missing
                continue
            self._forms[current] = self._unknown(current) if missing else self._found(current)
            for atom in range(self._noted, len(self.atoms.table)):
                self.origins.setdefault(atom, current)
            self._noted = len(self.atoms.table)
            pending.pop()
        return self._forms[value]

    def _unknown(self, value: SSAValue) -> Form:
        return self.integers.unknown(*range_of_type(value.type), value.name_hint)

    def _found(self, value: SSAValue) -> Form:
        if isinstance(value, BlockArgument):
            return self._argument(value) or self._unknown(value)
        op = cast(Operation, value.owner)
        kind = op.__class__
        if kind in RULES:
            return result_of(self.integers, op, [self._forms[operand] for operand in op.operands])
        if kind is arith.ConstantOp:
            return literal(op) or self._unknown(value)
        if isinstance(op, arith.SelectOp):
            condition = self.condition(op.cond)
            first, second = self._forms[op.lhs], self._forms[op.rhs]
            return self.integers.either(first, second, condition.facts, condition.negated)
        if isinstance(op, memref.DimOp):
            dimension = constant_of(op.index)
            rank = len(op.source.type.get_shape()) if isinstance(op.source.type, MemRefType) else 0
            return (
                self._unknown(value)
                if dimension is None or dimension not in range(rank)
                else self.size(op.source, dimension)
            )
        if isinstance(op, affine.ApplyOp):
            return self.affine(op.map.data.results[0], op.operands, op.map.data.num_dims) or self._unknown(value)
        return self._unknown(value)

    # Variables of loops and blocks

    def _argument(self, value: BlockArgument) -> Form | None:
        parent = value.block.parent_op()
        if isinstance(parent, LoopOp):
            extent = parent.extents[value.index]
            upper = number(extent) if isinstance(extent, int) else self._forms[extent]
            return self._turn(number(0), upper, 1, value.name_hint)
        if isinstance(parent, BlockOp):
            return self.affine(parent.binding_exprs[value.index], parent.binding_operands)
        if isinstance(parent, scf.ForOp) and value.index == 0:
            return self._scf_variable(parent, value)
        if isinstance(parent, scf.ParallelOp) and value.index < len(parent.lowerBound):
            lower, upper = self.form(parent.lowerBound[value.index]), self.form(parent.upperBound[value.index])
            return self._stepped(lower, upper, self.form(parent.step[value.index]), value)
        if isinstance(parent, scf.WhileOp) and value.block is parent.after_region.first_block:
            passed = cast(Operation, parent.before_region.block.last_op)
            if passed.name == "scf.condition" and value.index + 1 < len(passed.operands):
                return self._forms.get(passed.operands[value.index + 1])
        return None

    def _scf_variable(self, loop: scf.ForOp, value: BlockArgument) -> Form | None:
        return self._stepped(self._forms[loop.lb], self._forms[loop.ub], self._forms[loop.step], value)

    def _stepped(self, lower: Form, upper: Form, step: Form, value: BlockArgument) -> Form | None:
        if not step.terms and step.constant > 0:
            return self._turn(lower, upper, step.constant, value.name_hint)
        low, high = self.atoms.bounds(lower)[0], self.atoms.bounds(upper)[1]
        if self.atoms.bounds(step)[0] < 1:
            return None
        result = self.atoms.add(Atom(low, max(low, high - 1), "unknown", value.name_hint))
        (atom,) = result.terms
        self.atoms.table[atom].facts = (result.plus(lower, -1), upper.plus(result, -1).shifted(-1))
        return result

    def _turn(self, lower: Form, upper: Form, step: int, name: str | None) -> Form:
        """Returns `lower + step * t`, where `t` counts the turns of a loop that ends before `upper`."""
        last = upper.plus(lower, -1).shifted(-1)
        high = self.atoms.bounds(last)[1] // step
        turn = self.atoms.add(Atom(0, high, "turn", name))
        if last.terms:
            (atom,) = turn.terms
            self.atoms.table[atom].facts = (last.plus(turn, -step),)
        return lower.plus(turn, step)

    def affine(self, expr: AffineExpr, operands: Sequence[SSAValue], dims: int | None = None) -> Form | None:
        """Returns an affine expression of `operands`, or None where it may leave the range of an index."""
        dims = len(operands) if dims is None else dims
        form = self._affine(expr, operands, dims)
        return form if form is not None and self.integers.in_range(form, IndexType()) else None

    def _affine(self, expr: AffineExpr, operands: Sequence[SSAValue], dims: int) -> Form | None:
        kind = expr.__class__
        if kind is AffineDimExpr:
            return self.form(operands[expr.position])  # pyright: ignore[reportAttributeAccessIssue]
        if kind is AffineConstantExpr:
            return number(expr.value)  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(expr, AffineSymExpr):
            return self.form(operands[dims + expr.position])
        assert isinstance(expr, AffineBinaryOpExpr)
        first, second = self._affine(expr.lhs, operands, dims), self._affine(expr.rhs, operands, dims)
        if first is None or second is None:
            return None
        found = self._combined(expr.kind, first, second)
        return found if found is not None and self.integers.in_range(found, IndexType()) else None

    def _combined(self, kind: AffineBinaryOpKind, first: Form, second: Form) -> Form | None:
        if kind is AffineBinaryOpKind.Add:
            return first.plus(second)
        if kind is AffineBinaryOpKind.Mul:
            first, second = (first, second) if not second.terms else (second, first)
            return None if second.terms else first.scaled(second.constant)
        if second.terms or second.constant <= 0:
            return None
        if kind is AffineBinaryOpKind.FloorDiv:
            return self.integers.quotient(first, second.constant)
        if kind is AffineBinaryOpKind.CeilDiv:
            return self.integers.quotient(first.scaled(-1), second.constant).scaled(-1)
        return self.integers.remainder(first, second.constant)

    # Sizes

    def size(self, buffer: SSAValue, dimension: int) -> Form:
        """Returns the number of elements of a buffer along a dimension."""
        kind = buffer.type
        extent = kind.get_shape()[dimension] if isinstance(kind, MemRefType) else DYNAMIC_INDEX
        if extent != DYNAMIC_INDEX:
            return number(extent)
        known = self._sizes.get((buffer, dimension))
        if known is None:
            given = _given_size(buffer, dimension)
            known = self._open_size(buffer, dimension) if given is None else given
            known = self.form(known) if isinstance(known, SSAValue) else known
            self._sizes[buffer, dimension] = known
        return known

    def _open_size(self, buffer: SSAValue, dimension: int) -> Form:
        owner = buffer.owner
        if isinstance(owner, memref.CastOp) and isinstance(owner.source.type, MemRefType):
            return self.size(owner.source, dimension)
        most = (LIMIT - 1) // element_bytes(buffer.type)
        return self.atoms.add(Atom(0, most, "size", f"dimension {dimension} of %{buffer.name_hint or 'buffer'}"))

    # Conditions

    def condition(self, value: SSAValue) -> Condition:
        """Returns what follows where a boolean is true, and where it is false."""
        whole, pending, parts = True, [value], list[SSAValue]()
        owner = value.owner
        kind = type(owner) if isinstance(owner, LOGIC) else None
        while pending:  # `a and b and c` is a chain as long as the program likes.
            current = pending.pop()
            if kind is not None and type(current.owner) is kind:
                pending += reversed(cast(Operation, current.owner).operands)
            else:
                parts.append(current)
        found = [self._simple_condition(each) for each in parts]
        if kind is arith.OrIOp:
            found = [each.inverse() for each in found]
        whole = all(each.exact for each in found)
        joined = Condition(tuple(fact for each in found for fact in each.facts), (), whole)
        if len(found) == 1:
            joined = found[0]
        return joined.inverse() if kind is arith.OrIOp else joined

    def facts_at(self, op: Operation) -> Facts:
        """Returns what the conditions of the branches around an op say."""
        found: list[Form] = []
        inner, outer = op, op.parent_op()
        while outer is not None and not outer.has_trait(IsolatedFromAbove):
            if isinstance(outer, scf.IfOp):
                condition = self.condition(outer.cond)
                found += condition.facts if inner.parent_region() is outer.true_region else condition.negated
            inner, outer = outer, outer.parent_op()
        return tuple(found)

    def _simple_condition(self, value: SSAValue) -> Condition:
        owner = value.owner
        if isinstance(owner, arith.CmpiOp) and isinstance(owner.lhs.type, IndexType | IntegerType):
            if isinstance(owner.lhs.type, IntegerType) and owner.lhs.type.width.data == 1:
                return Condition((), (), False)
            first, second = self.form(owner.lhs), self.form(owner.rhs)
            return comparison(self.atoms, owner.predicate.value.data, first, second)
        if isinstance(owner, arith.XOrIOp):
            constant = constant_of(owner.rhs)
            if constant in (1, -1):
                return self.condition(owner.lhs).inverse()
        if isinstance(owner, LOGIC):
            return self.condition(value)
        if isinstance(owner, Operation) and (constant := constant_of(value)) is not None:
            return Condition((), (number(-1),), True) if constant else Condition((number(-1),), (), True)
        return Condition((), (), False)

    def facts_of_where(self, block: BlockOp) -> Facts | None:
        """Returns what the `where` of a block says, or None where that cannot be said in forms."""
        found: list[Form] = []
        for expr, bound in block.constraints:
            form = self.affine(expr, block.binding_operands)
            if form is None:
                return None
            found.append(form.scaled(-1).shifted(bound - 1))
        return tuple(found)


def _needed(value: SSAValue) -> Iterator[SSAValue] | Sequence[SSAValue]:
    """Returns the values whose forms are needed before that of `value`."""
    if not isinstance(value, BlockArgument):
        op = cast(Operation, value.owner)
        if op.__class__ in RULES:
            return op.operands
        if isinstance(op, arith.SelectOp) and isinstance(value.type, IndexType | IntegerType):
            return (op.lhs, op.rhs)
        return op.operands if isinstance(op, affine.ApplyOp) else ()
    parent = value.block.parent_op()
    if isinstance(parent, LoopOp):
        extent = parent.extents[value.index] if value.index < len(parent.extents) else 0
        return () if isinstance(extent, int) else (extent,)
    if isinstance(parent, BlockOp):
        return parent.binding_operands
    if isinstance(parent, scf.ForOp) and value.index == 0:
        return (parent.lb, parent.ub, parent.step)
    if isinstance(parent, scf.WhileOp) and value.block is parent.after_region.first_block:
        last = parent.before_region.block.last_op
        position = value.index + 1
        return () if last is None or position >= len(last.operands) else (last.operands[position],)
    return ()


def _given_size(buffer: SSAValue, dimension: int) -> SSAValue | None:
    """Returns the operand of the op that makes a buffer which says how long an open dimension is."""
    owner = buffer.owner
    kind = buffer.type
    assert isinstance(kind, MemRefType)
    position = sum(1 for extent in kind.get_shape()[:dimension] if extent == DYNAMIC_INDEX)
    if isinstance(owner, AllocOp | memref.AllocOp | memref.AllocaOp):
        return owner.dynamic_sizes[position]
    if isinstance(owner, memref.ViewOp):
        return owner.operands[2 + position]
    if isinstance(owner, memref.SubviewOp | memref.ReinterpretCastOp):
        same_rank = len(owner.static_sizes) == len(kind.get_shape())
        return owner.sizes[position] if same_rank else None
    return None


def element_bytes(kind: Attribute) -> int:
    """Returns the bytes of an element of a buffer. Booleans are bytes."""
    width = getattr(kind.element_type, "bitwidth", 64) if isinstance(kind, MemRefType) else 64
    return max(1, -(-width // 8))
