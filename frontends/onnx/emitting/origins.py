"""Finds the inputs of the model from which a value is computed that an operator must know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..value import Value
from .sizes import Size, SizesValue
from .values import RuntimeValue


def inputs_of(values: Iterable[Value], entry: Block) -> list[BlockArgument]:
    """
    Returns the arguments of the function whose elements decide those of `values`, in their order.

    An argument of which only the shape matters is left out.
    """
    stack = [each for value in values for each in _tensors(value)]
    seen = set(stack)
    found: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, BlockArgument):
            if value.owner is entry:
                found.add(value.index)
                continue
            op = value.owner.parent_op()  # a value that a loop carries: all that goes into the loop
        else:
            op = value.owner
        if isinstance(op, Operation) and op.name != "graph.shape_of":
            for each in op.walk():
                new = [operand for operand in each.operands if operand not in seen]
                stack.extend(new)
                seen.update(new)
    return [entry.args[number] for number in sorted(found)]


def _tensors(value: Value) -> Iterator[SSAValue]:
    """Yields the tensors of which elements are in a value."""
    if isinstance(value, RuntimeValue):
        yield value.ssa
    elif isinstance(value, SizesValue):
        stack = list(value.elements.reshape(-1))
        while stack:
            each = stack.pop()
            if not isinstance(each, Size):
                continue
            if each.op == "element":
                yield each.args[0]
            elif each.op != "size":
                stack.extend(each.args)
