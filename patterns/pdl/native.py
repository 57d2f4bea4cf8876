"""`pdl.apply_native_constraint` as a named condition."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import pdl
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import OperationError
from ..language.registry import RuleError, known_condition
from ..language.rules import Require
from .conditions import ITSELF
from .pattern import PatternReader, owner_of

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


def read_native_constraints(reader: PatternReader) -> None:
    """
    Adds the native constraints of a pattern that has been read to its conditions.

    Raises `OperationError` for an op that has no place in a pattern.
    """
    for op in reader.op.body.block.ops:
        if isinstance(op, pdl.ApplyNativeConstraintOp):
            reader.conditions.append(_native_constraint(reader, op))
        elif not isinstance(op, PATTERN_OPS):
            raise OperationError(op, "this op has no place before 'pdl.rewrite'")


def _native_constraint(reader: PatternReader, op: pdl.ApplyNativeConstraintOp) -> Require:
    """
    Returns the condition of the constraint's name, whose parameters are the discardable attributes of the op.

    Raises `OperationError` at `op` for an unknown name and for arguments that do not fit.
    """
    name, parameters = op.constraint_name.data, dict(op.attributes)
    try:
        known_condition(name, len(op.args), tuple(parameters.items()))
    except RuleError as error:
        raise OperationError(op, error.message, hint=error.hint) from None
    if op.res:
        raise OperationError(op, "a native constraint with results is not supported")
    negated = bool(op.is_negated.value.data)
    if not negated and all(_is_plain(reader, value) for value in op.args):
        return Require(name, tuple(reader.key(value) for value in op.args), tuple(parameters.items()))
    keys, described = _described(reader, op, op.args)
    return Require(
        "native-constraint",
        keys,
        (
            ("condition", StringAttr(name)),
            ("arguments", described),
            ("negated", IntegerAttr(int(negated), i64)),
            ("parameters", DictionaryAttr(parameters)),
        ),
    )


def _is_plain(reader: PatternReader, value: SSAValue) -> bool:
    """Returns whether the key of `value` is bound to exactly the thing that the constraint gets."""
    return reader.is_matched(value) and not isinstance(owner_of(value), pdl.ResultsOp)


def _described(
    reader: PatternReader, op: Operation, values: Sequence[SSAValue]
) -> tuple[tuple[str, ...], ArrayAttr[DictionaryAttr]]:
    """Returns arguments as data: the keys that they are made from, and which part of each to take."""
    keys: list[str] = []
    described: list[DictionaryAttr] = []
    for value in values:
        argument = _argument(reader, op, value)
        if isinstance(argument, Attribute):
            described.append(DictionaryAttr({"value": argument}))
            continue
        key, take, place = argument
        of, at = IntegerAttr(len(keys), i64), IntegerAttr(place, i64)
        described.append(DictionaryAttr({"of": of, "take": StringAttr(take), "place": at}))
        keys.append(key)
    return tuple(keys), ArrayAttr(described)


def _argument(reader: PatternReader, op: Operation, value: SSAValue) -> Attribute | tuple[str, str, int]:
    owner = owner_of(value)
    match owner:
        case _ if _is_plain(reader, value):
            return reader.key(value), "itself", ITSELF
        case pdl.AttributeOp() if owner.value is not None:
            return owner.value
        case pdl.TypeOp() if owner.constantType is not None:
            return owner.constantType
        case pdl.TypesOp() if owner.constantTypes is not None:
            return owner.constantTypes
        case pdl.TypeOp() | pdl.TypesOp() if value in reader.places:
            key, place = reader.places[value][0]
            return key, "type" if isinstance(owner, pdl.TypeOp) else "types", place
        case pdl.ResultOp() if reader.is_matched(owner.parent_):
            parent = owner_of(owner.parent_)
            assert isinstance(parent, pdl.OperationOp)
            return reader.key(owner.parent_), "result", reader.checked_index(owner, parent)
        case pdl.ResultsOp() if reader.is_matched(owner.parent_) and owner.index is None:
            return reader.key(owner.parent_), "results", ITSELF
        case _:
            raise OperationError(op, f"an argument from '{owner.name}' is not known when the pattern matches")


__all__ = ["read_native_constraints"]
