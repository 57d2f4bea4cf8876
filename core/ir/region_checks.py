"""What the regions of structured control flow give to each other and to their op: xDSL leaves most of it unchecked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, Region

Types = Sequence[Attribute]


def _listed(types: Types) -> str:
    return f"({', '.join(map(str, types))})"


def _mismatch(what: str, found: Types, expected: Types) -> str | None:
    """Says that `what` has other types than expected, `None` where it has these."""
    if tuple(found) == tuple(expected):
        return None
    return f"{what} {_listed(found)}, expected {_listed(expected)}"


def _wrong_end(region: Region, name: str, terminator: str, expected: Types, skipped: int = 0) -> str | None:
    """
    What is wrong with the last op of a block. It is to be `terminator`, and to pass on values of the expected types
    after `skipped` other operands.
    """
    last = None if region.last_block is None else region.last_block.last_op
    if last is None or last.name != terminator:
        found = "is empty" if last is None else f"ends in '{last.name}'"
        return f"the {name} region {found}, expected '{terminator}' at its end"
    return _mismatch(f"the {name} region yields", [each.type for each in last.operands[skipped:]], expected)


def _if_mismatch(op: Any) -> str | None:
    results, missing = op.result_types, not op.false_region.blocks
    if missing and results:
        return f"an op with results {_listed(results)} needs an else region that yields them"
    wrong = _wrong_end(op.true_region, "then", "scf.yield", results)
    return wrong if wrong is not None or missing else _wrong_end(op.false_region, "else", "scf.yield", results)


def _for_mismatch(op: Any) -> str | None:
    carried = [each.type for each in op.iter_args]
    step = op.step.owner
    value = step.properties.get("value") if isinstance(step, Operation) and step.name == "arith.constant" else None
    if isinstance(value, IntegerAttr) and value.value.data <= 0:
        return f"the step is {value.value.data}, expected a positive one: the loop would not end"
    return _mismatch("the op has results", op.result_types, carried) or _wrong_end(
        op.body, "loop", "scf.yield", carried
    )


def _while_mismatch(op: Any) -> str | None:
    before, after = ([each.type for each in region.block.args] for region in (op.before_region, op.after_region))
    arguments, results = [each.type for each in op.arguments], op.result_types
    return (
        _mismatch("the before region takes", before, arguments)
        or _mismatch("the after region takes", after, results)
        or _wrong_end(op.before_region, "before", "scf.condition", results, skipped=1)
        or _wrong_end(op.after_region, "after", "scf.yield", arguments)
    )


def _execute_region_mismatch(op: Any) -> str | None:
    for block in op.region.blocks:
        last = block.last_op
        if last is not None and last.name == "scf.yield":
            wrong = _mismatch("the region yields", [each.type for each in last.operands], op.result_types)
            if wrong is not None:
                return wrong
    return None


REGION_CHECKS: Final[dict[str, Callable[[Any], str | None]]] = {
    "scf.if": _if_mismatch,
    "scf.for": _for_mismatch,
    "scf.while": _while_mismatch,
    "scf.execute_region": _execute_region_mismatch,
}
"""The checks by name of the op. Each returns what is wrong with the regions, or `None`."""
