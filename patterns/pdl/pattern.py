"""
Reads the matching part of a `pdl.pattern` into the pattern language.

Where PDL differs from the language, a condition says so. Operands do not commute, and attributes are equal to the bit.
A type variable is one type at all its places. An op has exactly the results that are written.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import pdl
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import OperationError
from ..language.combinators import Together
from ..language.constraints import HasType, Where
from ..language.patterns import Any_, Capture, Op, Pattern, Rest, Result
from ..language.rules import Require
from .arity import check_against_definition, op_type_of
from .conditions import ITSELF

Place = tuple[str, int]
"""
The place of a type. It is the key of a value or attribute with `ITSELF`, or the key of an op with the number of a
result.
"""


def owner_of(value: SSAValue) -> Operation:
    """Returns the op that defines a PDL value."""
    assert isinstance(value.owner, Operation)
    return value.owner


def _below(op: pdl.OperationOp) -> set[SSAValue]:
    """Returns the values and ops below `op`, by which other ops of a pattern are found. Ranges do not help."""
    found: set[SSAValue] = set()
    stack = list(op.operand_values)
    while stack:
        owner = owner_of(stack.pop())
        if isinstance(owner, pdl.OperandOp):
            found.add(owner.value)
        elif isinstance(owner, pdl.ResultOp | pdl.ResultsOp) and owner.parent_ not in found:
            found.add(owner.parent_)
            parent = owner_of(owner.parent_)
            assert isinstance(parent, pdl.OperationOp)
            stack += parent.operand_values
    return found


def is_range(value: SSAValue) -> bool:
    """Returns whether a PDL value stands for a range."""
    return isinstance(value.type, pdl.RangeType)


class PatternReader:
    """Reads the matching part of one pattern. After `read`, `lhs` and `conditions` are those of its rule."""

    def __init__(self, op: pdl.PatternOp, ctx: Context):
        last = op.body.block.last_op
        assert isinstance(last, pdl.RewriteOp)
        self.op = op
        self.ctx = ctx
        self.rewrite = last
        self.keys: dict[SSAValue, str] = {}
        self.places: dict[SSAValue, list[Place]] = {}
        """The places of each type variable and range of types, in the order in which they are met."""
        self.conditions: list[Require] = []
        self._patterns: dict[SSAValue, Pattern] = {}

    def read(self) -> None:
        """Reads the pattern. Raises `OperationError` at an op that means something that the language cannot express."""
        root = self._root()
        self.root = root.op
        self.lhs: Pattern = self._operation(root)
        others = self._others()
        if others:
            self.lhs = Together((self.lhs, *others))
        self._types_agree()

    def key(self, value: SSAValue) -> str:
        """Returns the key of what a PDL value stands for."""
        if value not in self.keys:
            self.keys[value] = f"{value.name_hint or ''}.{len(self.keys)}"
        return self.keys[value]

    def is_matched(self, value: SSAValue) -> bool:
        """Returns whether the pattern binds the key of `value`."""
        return value in self._patterns

    def _root(self) -> pdl.OperationOp:
        """
        Returns the root that is named. Without a name it is the first replaced or erased op that no other such op uses.
        """
        if self.rewrite.root is not None:
            root = owner_of(self.rewrite.root)
            assert isinstance(root, pdl.OperationOp)
            return root
        tops = self._tops([op for op in self.op.body.block.ops if isinstance(op, pdl.OperationOp)])
        changed = {op.op_value for op in self.rewrite.walk() if isinstance(op, pdl.ReplaceOp | pdl.EraseOp)}
        return next((op for op in tops if op.op in changed), tops[0])

    def _tops(self, ops: Sequence[pdl.OperationOp]) -> list[pdl.OperationOp]:
        """Returns those of `ops` that none of the others uses."""
        used = {
            result.parent_
            for op in ops
            for value in op.operand_values
            if isinstance(result := owner_of(value), pdl.ResultOp | pdl.ResultsOp)
        }
        return [op for op in ops if op.op not in used]

    def _others(self) -> list[Op]:
        """Returns the further roots, each after one with which it shares a value."""
        ops = [op for op in self.op.body.block.ops if isinstance(op, pdl.OperationOp)]
        left = self._tops([op for op in ops if op.op not in self._patterns])
        others: list[Op] = []
        while left:
            known = set(self._patterns)
            found = next((op for op in left if not known.isdisjoint(_below(op))), None)
            if found is None:
                raise OperationError(left[0], "this op shares no value with the root of the pattern")
            left.remove(found)
            others.append(self._operation(found))
        return others

    # Ops

    def _operation(self, op: pdl.OperationOp) -> Op:
        known = self._patterns.get(op.op)
        if isinstance(known, Op):
            return known
        name = None if op.opName is None else op.opName.data
        if name is None or not check_against_definition(op, op_type_of(self.ctx, op, name)):
            self._count_results(op)
        key = self.key(op.op)
        operands = self._operands(op)
        found = Op(() if name is None else (name,), operands, self._attributes(op), key)
        self._patterns[op.op] = found
        self._results(op, key)
        return found

    def _operands(self, op: pdl.OperationOp) -> tuple[Pattern, ...]:
        values = op.operand_values
        patterns = tuple(self._operand(op, number, value) for number, value in enumerate(values))
        if len(values) > 1 or any(is_range(value) for value in values):
            keys = tuple(pattern.key for pattern in patterns)  # pyright: ignore
            self.conditions.append(Require("operands-in-order", (self.key(op.op), *keys)))
        return patterns

    def _operand(self, op: pdl.OperationOp, number: int, value: SSAValue) -> Pattern:
        owner = owner_of(value)
        match owner:
            case pdl.OperandsOp():
                if number + 1 != len(op.operand_values):
                    raise OperationError(op, "a range of operands must be the last operand of an op")
                return self._rest(owner)
            case pdl.OperandOp():
                return self._any(owner)
            case pdl.ResultOp():
                return self._result(owner)
            case pdl.ResultsOp():
                message = "the results of an op as a range cannot be operands in the matching part"
                raise OperationError(owner, message, hint="write 'pdl.result I of %op' for each of them")
            case _:
                raise OperationError(owner, f"'{owner.name}' cannot make an operand")

    def _any(self, op: pdl.OperandOp) -> Pattern:
        known = self._patterns.get(op.value)
        if known is not None:
            return known
        key = self.key(op.value)
        pattern: Pattern = Any_(key)
        if op.value_type is not None:
            constant = self._constant_type(op.value_type)
            if constant is not None:
                pattern = Where(Any_(f"#{key}"), HasType(constant), key)
            self._meet_type(op.value_type, (key, ITSELF))
        self._patterns[op.value] = pattern
        return pattern

    def _rest(self, op: pdl.OperandsOp) -> Pattern:
        """Returns the rest of the operands. Each use has a key of its own, since lists are compared value by value."""
        first = op.value not in self._patterns
        key = self.key(op.value) if first else f"{self.key(op.value)}.{len(self.conditions)}"
        if first:
            self._patterns[op.value] = Rest(key)
            if op.value_type is not None:
                self._meet_types(op.value_type, (key, ITSELF))
            return self._patterns[op.value]
        self.conditions.append(Require("same-values", (self.key(op.value), key)))
        return Rest(key)

    def _result(self, op: pdl.ResultOp) -> Pattern:
        parent = owner_of(op.parent_)
        assert isinstance(parent, pdl.OperationOp)
        known = self._patterns.get(op.val)
        if known is not None:
            return known
        found = Result(self._operation(parent), self.checked_index(op, parent), self.key(op.val))
        self._patterns[op.val] = found
        return found

    def checked_index(self, op: pdl.ResultOp, parent: pdl.OperationOp) -> int:
        """Returns the number of a result that `parent` can have."""
        index, types = op.index.value.data, parent.type_values
        if not 0 <= index < len(types) and not (index >= 0 and types and is_range(types[-1])):
            raise OperationError(op, f"result {index} is asked for, but {len(types)} are written at the op")
        if index >= len(types):
            parameter = (("at-least", IntegerAttr(index + 1, i64)),)
            self.conditions.append(Require("result-count", (self.key(parent.op),), parameter))
        return index

    def _results(self, op: pdl.OperationOp, key: str) -> None:
        """Requires as many results as types are written. A range stands for any number of them."""
        count = len(op.type_values)
        for number, value in enumerate(op.type_values):
            if not is_range(value):
                constant = self._constant_type(value)
                if constant is not None:
                    self._require_types((key, number), "types-agree", "type", constant)
                self._meet_type(value, (key, number))
                continue
            if number + 1 != count:
                raise OperationError(op, "a range of types must be the last result type of an op")
            self._meet_types(value, (key, number))

    def _count_results(self, op: pdl.OperationOp) -> None:
        ranged = bool(op.type_values) and is_range(op.type_values[-1])
        count = IntegerAttr(len(op.type_values) - ranged, i64)
        parameter = ("at-least" if ranged else "exactly", count)
        self.conditions.append(Require("result-count", (self.key(op.op),), (parameter,)))

    # Attributes

    def _attributes(self, op: pdl.OperationOp) -> tuple[tuple[str, Attribute | Capture], ...]:
        found: list[tuple[str, Attribute | Capture]] = []
        names = [name.data for name in op.attributeValueNames]
        for name, value in zip(names, op.attribute_values, strict=True):
            if names.count(name) > 1:
                raise OperationError(op, f"attribute '{name}' is written twice")
            attribute = owner_of(value)
            if not isinstance(attribute, pdl.AttributeOp):
                raise OperationError(attribute, f"'{attribute.name}' cannot make an attribute to match")
            if attribute.value is not None:
                found.append((name, attribute.value))  # The exact comparison follows. This one can be explained.
            found.append((name, self._capture(attribute)))
        return tuple(found)

    def _capture(self, op: pdl.AttributeOp) -> Capture:
        key = self.key(op.output)
        if op.output not in self._patterns:
            self._patterns[op.output] = Any_(key)
            if op.value is not None:
                self.conditions.append(Require("attribute-is", (key,), (("value", op.value),)))
            if op.value_type is not None:
                constant = self._constant_type(op.value_type)
                if constant is not None:
                    self._require_types((key, ITSELF), "types-agree", "type", constant)
                self._meet_type(op.value_type, (key, ITSELF))
        return Capture(key)

    # Types

    def _constant_type(self, value: SSAValue) -> Attribute | None:
        op = owner_of(value)
        if not isinstance(op, pdl.TypeOp):
            raise OperationError(op, f"'{op.name}' cannot make a type to match")
        return op.constantType

    def _meet_type(self, value: SSAValue, place: Place) -> None:
        self.places.setdefault(value, []).append(place)

    def _meet_types(self, value: SSAValue, place: Place) -> None:
        op = owner_of(value)
        if not isinstance(op, pdl.TypesOp):
            raise OperationError(op, f"'{op.name}' cannot make a range of types to match")
        if op.constantTypes is not None:
            self._require_types(place, "type-lists-agree", "types", op.constantTypes)
        self._meet_type(value, place)

    def _require_types(self, place: Place, condition: str, name: str, wanted: Attribute) -> None:
        key, number = place
        places = DenseArrayBase.from_list(i64, [number])
        self.conditions.append(Require(condition, (key,), (("places", places), (name, wanted))))

    def _types_agree(self) -> None:
        """Requires one type at all places of a variable. Constant types are required where they are met."""
        for value, places in self.places.items():
            op = owner_of(value)
            constant = op.constantTypes if isinstance(op, pdl.TypesOp) else self._constant_type(value)
            if constant is None and len(places) > 1:
                numbers = DenseArrayBase.from_list(i64, [number for _, number in places])
                name = "type-lists-agree" if isinstance(op, pdl.TypesOp) else "types-agree"
                keys = tuple(key for key, _ in places)
                self.conditions.append(Require(name, keys, (("places", numbers),)))


__all__ = ["PatternReader", "Place", "is_range", "owner_of"]
