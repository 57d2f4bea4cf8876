"""
The matching part of a `pdl.pattern` in the pattern language.

What PDL and the language understand differently becomes a condition: operands do not commute, attributes are equal to
the bit, a type variable is one type at all its places, and an op has just the results that are written.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import pdl
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.diagnostics import OperationError
from .constraints import HasType, Where
from .match import CONDITIONS, RuleError, check_arguments, plain_parameters, unknown_name
from .patterns import Any_, Capture, Op, Pattern, Require, Rest, Result
from .pdl_import_arity import check_against_definition, op_type_of
from .pdl_import_conditions import ITSELF

Place = tuple[str, int]
"""Where a type is found: the key of a value or attribute and `ITSELF`, or that of an op and the number of a result."""


PATTERN_OPS = (
    pdl.AttributeOp,
    pdl.OperandOp,
    pdl.OperandsOp,
    pdl.OperationOp,
    pdl.ResultOp,
    pdl.ResultsOp,
    pdl.RewriteOp,
    pdl.TypeOp,
    pdl.TypesOp,
)


def owner_of(value: SSAValue) -> Operation:
    """The op that defines a PDL value."""
    assert isinstance(value.owner, Operation)
    return value.owner


def is_range(value: SSAValue) -> bool:
    return isinstance(value.type, pdl.RangeType)


class PatternReader:
    """Reads the matching part of one pattern: after `read`, `lhs` and `conditions` are those of its rule."""

    def __init__(self, op: pdl.PatternOp, ctx: Context):
        last = op.body.block.last_op
        assert isinstance(last, pdl.RewriteOp)
        self.op = op
        self.ctx = ctx
        self.rewrite = last
        self.keys: dict[SSAValue, str] = {}
        self.places: dict[SSAValue, list[Place]] = {}
        """Of each type variable and range of types, in the order in which they are met."""
        self.conditions: list[Require] = []
        self._patterns: dict[SSAValue, Pattern] = {}

    def read(self) -> None:
        """Raises `OperationError` at the op that says what the language cannot."""
        root = self._root()
        self.lhs = self._operation(root)
        self.root = root.op
        for op in self.op.body.block.ops:
            if isinstance(op, pdl.OperationOp) and op.op not in self._patterns:
                message = "the root of the pattern does not depend on this op; an op above the root cannot be matched"
                raise OperationError(op, message)
        self._types_agree()
        for op in self.op.body.block.ops:
            if isinstance(op, pdl.ApplyNativeConstraintOp):
                self._native(op)
            elif not isinstance(op, PATTERN_OPS):
                raise OperationError(op, "this op has no place before 'pdl.rewrite'")

    def key(self, value: SSAValue) -> str:
        """The key of what a PDL value stands for."""
        if value not in self.keys:
            self.keys[value] = f"{value.name_hint or ''}.{len(self.keys)}"
        return self.keys[value]

    def is_matched(self, value: SSAValue) -> bool:
        """Whether the pattern binds the key of `value`."""
        return value in self._patterns

    def _root(self) -> pdl.OperationOp:
        if self.rewrite.root is not None:
            root = owner_of(self.rewrite.root)
            assert isinstance(root, pdl.OperationOp)
            return root
        ops = [op for op in self.op.body.block.ops if isinstance(op, pdl.OperationOp)]
        used = {
            result.parent_
            for op in ops
            for value in op.operand_values
            if isinstance(result := owner_of(value), pdl.ResultOp | pdl.ResultsOp)
        }
        roots = [op for op in ops if op.op not in used]
        if len(roots) != 1:
            message = f"the pattern has {len(roots)} ops that no other one uses, expected one root"
            raise OperationError(self.rewrite, message, hint="name the root: 'pdl.rewrite %root { ... }'")
        return roots[0]

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
        if len(values) > 1:
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
        """Each use has a key of its own, since lists of operands are compared value by value."""
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
        """The number of a result that `parent` can have."""
        index, types = op.index.value.data, parent.type_values
        if not 0 <= index < len(types) and not (index >= 0 and types and is_range(types[-1])):
            raise OperationError(op, f"result {index} is asked for, but {len(types)} are written at the op")
        if index >= len(types):
            parameter = (("at-least", IntegerAttr(index + 1, i64)),)
            self.conditions.append(Require("result-count", (self.key(parent.op),), parameter))
        return index

    def _results(self, op: pdl.OperationOp, key: str) -> None:
        """As many results as types are written, a range being any number of them."""
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
                found.append(
                    (name, attribute.value)
                )  # the exact comparison follows; this one can be explained
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
        """One type at all places of a variable; constant ones are required where they are met."""
        for value, places in self.places.items():
            op = owner_of(value)
            constant = op.constantTypes if isinstance(op, pdl.TypesOp) else self._constant_type(value)
            if constant is None and len(places) > 1:
                numbers = DenseArrayBase.from_list(i64, [number for _, number in places])
                name = "type-lists-agree" if isinstance(op, pdl.TypesOp) else "types-agree"
                keys = tuple(key for key, _ in places)
                self.conditions.append(Require(name, keys, (("places", numbers),)))

    # Native constraints

    def _native(self, op: pdl.ApplyNativeConstraintOp) -> None:
        name, parameters = op.constraint_name.data, dict(op.attributes)
        known = CONDITIONS.get(name)
        if known is None:
            raise OperationError(op, unknown_name("condition", name, CONDITIONS))
        if op.res:
            raise OperationError(op, "a native constraint with results is not supported")
        try:
            check_arguments(
                "condition", name, known.function, len(op.args), plain_parameters(list(parameters.items()))
            )
        except RuleError as error:
            raise OperationError(op, str(error)) from None
        negated = bool(op.is_negated.value.data)
        if not negated and all(self._is_plain(value) for value in op.args):
            keys = tuple(self.key(value) for value in op.args)
            self.conditions.append(Require(name, keys, tuple(parameters.items())))
            return
        keys, described = self.described_arguments(op, op.args)
        self.conditions.append(
            Require(
                "native-constraint",
                keys,
                (
                    ("condition", StringAttr(name)),
                    ("arguments", described),
                    ("negated", IntegerAttr(int(negated), i64)),
                    ("parameters", DictionaryAttr(parameters)),
                ),
            )
        )

    def _is_plain(self, value: SSAValue) -> bool:
        """What a key of the pattern stands for just so."""
        return value in self._patterns and not isinstance(owner_of(value), pdl.ResultsOp)

    def described_arguments(
        self, op: Operation, values: Sequence[SSAValue]
    ) -> tuple[tuple[str, ...], ArrayAttr[DictionaryAttr]]:
        """Arguments as data: the keys that they are made from, and what to take of each."""
        keys: list[str] = []
        described: list[DictionaryAttr] = []
        for value in values:
            argument = self._argument(op, value)
            if isinstance(argument, Attribute):
                described.append(DictionaryAttr({"value": argument}))
                continue
            key, take, place = argument
            of, at = IntegerAttr(len(keys), i64), IntegerAttr(place, i64)
            described.append(DictionaryAttr({"of": of, "take": StringAttr(take), "place": at}))
            keys.append(key)
        return tuple(keys), ArrayAttr(described)

    def _argument(self, op: Operation, value: SSAValue) -> Attribute | tuple[str, str, int]:
        owner = owner_of(value)
        match owner:
            case _ if self._is_plain(value):
                return self.key(value), "itself", ITSELF
            case pdl.AttributeOp() if owner.value is not None:
                return owner.value
            case pdl.TypeOp() if owner.constantType is not None:
                return owner.constantType
            case pdl.TypesOp() if owner.constantTypes is not None:
                return owner.constantTypes
            case pdl.TypeOp() | pdl.TypesOp() if value in self.places:
                key, place = self.places[value][0]
                return key, "type" if isinstance(owner, pdl.TypeOp) else "types", place
            case pdl.ResultOp() if self.is_matched(owner.parent_):
                parent = owner_of(owner.parent_)
                assert isinstance(parent, pdl.OperationOp)
                return self.key(owner.parent_), "result", self.checked_index(owner, parent)
            case pdl.ResultsOp() if self.is_matched(owner.parent_) and owner.index is None:
                return self.key(owner.parent_), "results", ITSELF
            case _:
                raise OperationError(
                    op, f"an argument from '{owner.name}' is not known when the pattern matches"
                )


__all__ = ["PatternReader", "Place", "is_range", "owner_of"]
