"""Checks a `pdl.operation` against the definition of the op. A pattern that can never match is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import pdl
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, VariadicDef

from ...core.messages.diagnostics import OperationError
from ...core.text.unknown import unknown_op


def op_type_of(ctx: Context, at: Operation, name: str) -> type[Operation]:
    """Returns the class of the op called `name`. Raises `OperationError` at `at` when no dialect defines it."""
    found = ctx.get_optional_op(name)
    if found is None or issubclass(found, UnregisteredOp):
        message, hint = unknown_op(ctx, name)
        raise OperationError(at, message, hint=hint)
    return found


def check_against_definition(op: pdl.OperationOp, op_type: type[Operation]) -> bool:
    """
    Returns whether every op of the name has as many results as are written.

    Raises `OperationError` for a number of operands or results that the op never has.
    """
    if not issubclass(op_type, IRDLOperation):
        return False
    definition = op_type.get_irdl_definition()
    operands, results = counts(definition.operands), counts(definition.results)
    _check(op, "operand", op.operand_values, operands, "(%value : !pdl.value)")
    _check(op, "result", op.type_values, results, "-> (%type : !pdl.type)")
    return not results[1]


def counts(definitions: Sequence[tuple[str, Any]]) -> tuple[int, bool]:
    """Returns the least number of operands or results, and whether there may be more."""
    least = sum(not isinstance(definition, VariadicDef) for _, definition in definitions)
    return least, least < len(definitions)


def allowed_number(allowed: tuple[int, bool], what: str) -> str:
    """Returns text such as `1 operand` or `at least 2 results`."""
    least, more = allowed
    return f"{'at least ' if more else ''}{least} {what}{'' if least == 1 else 's'}"


def _check(
    op: pdl.OperationOp, what: str, written: Sequence[SSAValue], allowed: tuple[int, bool], example: str
) -> None:
    least, more = allowed
    ranges = sum(isinstance(value.type, pdl.RangeType) for value in written)
    found = len(written) - ranges
    too_few = found < least and not ranges
    if not too_few and (found <= least or more):
        return
    assert op.opName is not None
    message = f"'{op.opName.data}' has {allowed_number(allowed, what)}, {found} written: nothing would match"
    raise OperationError(op, message, hint=f"write each as in {example}" if too_few else None)


__all__ = ["allowed_number", "check_against_definition", "counts", "op_type_of"]
