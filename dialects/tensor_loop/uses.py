"""What the body of a block may use: its axes, and what is the same for all iterations of the loops around it."""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from .loops import LoopOp
from .syntax import value_name


def verify_uses(subject: str, op: Operation) -> None:
    """Verifies that the body of a block uses nothing that is defined inside a loop around it."""
    checked: set[SSAValue] = set()
    for nested in op.regions[0].block.walk():
        for operand in nested.operands:
            if operand in checked:
                continue
            checked.add(operand)
            if _varies_outside(operand, op):
                raise VerifyException(f"{subject}: '{nested.name}' uses {_what(operand)}; use a block axis")


def _what(value: SSAValue) -> str:
    if isinstance(value, BlockArgument):
        return f"the loop variable {value_name(value)}"
    return f"{value_name(value)}, which is computed inside a loop"


def _varies_outside(value: SSAValue, op: Operation) -> bool:
    """Returns whether `value` is defined inside a loop that is around `op`."""
    block: Block | None = value.block if isinstance(value, BlockArgument) else _block_of(value)
    parent = None if block is None else block.parent_op()
    return isinstance(parent, LoopOp) and parent.is_ancestor(op)


def _block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner.parent_block() if isinstance(owner, Operation) else owner


__all__ = ["verify_uses"]
