"""What stands for a defined pattern in a rule: a copy of its ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....core.messages.locations import copy_location
from .scope import Scope, defined_patterns


def expand(scope: Scope, name: str, arguments: Sequence[SSAValue], at: int) -> SSAValue:
    """Returns the value of the pattern `name` on `arguments`, of which the ops are copied into the rule."""
    known = defined_patterns(scope.tokens.parser)
    if name not in known:
        names = ", ".join(f"@{each}" for each in known) or "none"
        scope.tokens.fail(f"the file defines no pattern '{name}' above this; it defines {names}", at)
    body = known[name]
    if len(arguments) != len(body.args):
        word = "argument" if len(body.args) == 1 else "arguments"
        scope.tokens.fail(f"the pattern '{name}' takes {len(body.args)} {word}, found {len(arguments)}", at)
    copies: dict[SSAValue, SSAValue] = dict(zip(body.args, arguments, strict=True))
    *ops, gives = body.ops
    for op in ops:
        copy = op.clone(copies)
        copy_location(op, copy)
        scope.block.add_op(copy)
    return copies.get(gives.operands[0], gives.operands[0])
