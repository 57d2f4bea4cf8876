"""The walk behind `Dominates`. It goes from an op up to the one value that everything in between is computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.ir import Block, Operation, OpResult, SSAValue

NO_WAY_UP = "has no operand that leads to the parent: only arguments, constants, weights and values of other blocks"


def dominating_parents(
    child: Operation,
    on_path: Callable[[SSAValue], str | None],
    failed: Callable[[Operation, str], None] = lambda op, reason: None,
) -> Iterator[tuple[SSAValue, list[SSAValue]]]:
    """
    Yields the values that all operands of `child` are computed from, nearest first.

    Each comes with the values in between. They are one list that grows, users before producers. The walk passes a value
    only when it has seen all its uses, so a use elsewhere ends the walk. A value that is alone in `open_` is on every
    way up. `on_path` returns why a value in between does not fit, or `None` when it fits. `failed` gets the op at which
    the walk ends, and the reason.
    """
    inside = {child}
    open_: dict[Operation, list[SSAValue]] = {}
    between: list[SSAValue] = []
    if not _open_operands(child, child.parent, open_):
        failed(child, NO_WAY_UP)
        return
    while True:
        if len(open_) == 1:
            ((_, values),) = open_.items()
            if len(values) == 1 and _used_inside(values[0], inside):
                yield values[0], between
        ready = next((op for op in open_ if all(_used_inside(each, inside) for each in op.results)), None)
        if ready is None:
            _tell_use_outside(open_, inside, failed)
            return
        values = open_.pop(ready)
        against = next((reason for value in values if (reason := on_path(value)) is not None), None)
        if against is not None:
            failed(ready, against)
            return
        if not _open_operands(ready, child.parent, open_):
            failed(ready, NO_WAY_UP)
            return
        inside.add(ready)
        between += reversed(values)


def _tell_use_outside(
    open_: dict[Operation, list[SSAValue]], inside: set[Operation], failed: Callable[[Operation, str], None]
) -> None:
    for op in open_:
        for result in op.results:
            for use in result.uses:
                if use.operation not in inside and use.operation not in open_:
                    failed(op, f"is used outside, by '{use.operation.name}'")
                    return


def _open_operands(op: Operation, block: Block | None, open_: dict[Operation, list[SSAValue]]) -> bool:
    """Adds the operands of `op` that are no leaves to `open_`. Returns whether there are any."""
    found = False
    for operand in op.operands:
        if is_leaf(operand, block):
            continue
        assert isinstance(operand, OpResult)
        found = True
        values = open_.setdefault(operand.op, [])
        if operand not in values:
            values.append(operand)
    return found


def is_leaf(value: SSAValue, block: Block | None) -> bool:
    """
    Returns whether the walk ends at `value`. It does at an argument, and at a value made by an op without operands or
    in another block.
    """
    return not isinstance(value, OpResult) or not value.op.operands or value.op.parent is not block


def _used_inside(value: SSAValue, inside: set[Operation]) -> bool:
    return all(use.operation in inside for use in value.uses)
