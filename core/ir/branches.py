"""The operands of a branch that become arguments of the block it goes to. xDSL has no interface for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from xdsl.ir import Operation, SSAValue

Forwarded = tuple[Sequence[SSAValue], ...]

_FORWARDED: Final[dict[str, Callable[[Any], Forwarded]]] = {
    "cf.br": lambda op: (op.arguments,),
    "cf.cond_br": lambda op: (op.then_arguments, op.else_arguments),
    "cf.switch": lambda op: (op.default_operands, *op.case_operand),
    "llvm.br": lambda op: (op.arguments,),
    "llvm.cond_br": lambda op: (op.then_arguments, op.else_arguments),
}


def forwarded_operands(op: Operation) -> Forwarded | None:
    """
    Returns, for each successor of `op` in order, the operands that become its block arguments, or `None` when not
    known.

    Ops of other dialects say so by a method `forwarded_operands()` of the same result.
    """
    known = _FORWARDED.get(op.name)
    if known is not None:
        return known(op)
    method = getattr(op, "forwarded_operands", None)
    return None if method is None else method()


def branch_mismatch(op: Operation) -> str | None:
    """What is wrong with the operands that `op` passes to its successors, `None` when they fit."""
    forwarded = forwarded_operands(op)
    if forwarded is None:
        return None
    if len(forwarded) != len(op.successors):
        return f"the op has {len(op.successors)} successors but passes operands to {len(forwarded)}"
    for index, (operands, block) in enumerate(zip(forwarded, op.successors, strict=True)):
        if len(operands) != len(block.args):
            return f"the op passes {len(operands)} values to successor {index}, which takes {len(block.args)}"
        for position, (operand, argument) in enumerate(zip(operands, block.args, strict=True)):
            if operand.type != argument.type:
                return (
                    f"the op passes {operand.type} to argument {position} of successor {index}, "
                    f"which is {argument.type}"
                )
    return None


def wrong_cases(switch: Any) -> str | None:
    """What is wrong with a `cf.switch`: a case that stands twice, or what it passes on."""
    seen = set[int]()
    for case in () if switch.case_values is None else switch.case_values.get_values():
        if int(case) in seen:
            return f"case {int(case)} stands twice"
        seen.add(int(case))
    return branch_mismatch(switch)
