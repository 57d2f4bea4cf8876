"""
Einsum: sums of products over named dimensions, as permutations, reshapes, and one matrix product per pair of operands.

Each operand is a value with a label per dimension. Labels of one operand alone that the result does not have are summed
first; two operands then become one of the labels that are still wanted:

    bij,bjk->bik        batch b, left i, right k, summed j: one matmul
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value

Labels = tuple[str, ...]

_TERM: Final = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


@dataclass(frozen=True)
class Operand:
    """A tensor and the label of each of its dimensions."""

    value: Value
    labels: Labels

    def extent(self, label: str) -> int | None:
        return self.value.shape[self.labels.index(label)]


@converter("Einsum")
def einsum(b: GraphBuilder, *xs: Value, equation: str) -> Value:
    """Operands are combined from the left to the right."""
    operands, result = _parsed(equation, xs)
    sizes = _sizes(operands, equation)
    operands = [_without_ones(b, _diagonal(b, operand), sizes) for operand in operands]
    missing = [label for label in result if label not in sizes]
    if missing or len(set(result)) != len(result):
        raise ConversionError(f"equation '{equation}': the result has labels that are repeated or in no operand")
    found = operands[0]
    for number, operand in enumerate(operands[1:], 1):
        later = {label for each in operands[number + 1 :] for label in each.labels}
        found = _contracted(b, found, operand, later | set(result))
    found = _summed(b, found, set(result))
    return _in_order(b, found, result, sizes)


# The equation


def _parsed(equation: str, xs: Sequence[Value]) -> tuple[list[Operand], Labels]:
    """
    Returns the operands with their labels, and the labels of the result. Those of an ellipsis are numbers from the
    right.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(xs):
        raise ConversionError(f"equation '{equation}' has {len(terms)} operands, but the node has {len(xs)}")
    for term in (*terms, right):
        if _TERM.fullmatch(term) is None:
            raise ConversionError(f"equation '{equation}': '{term}' is not letters with at most one ellipsis")
    operands = [Operand(x, _labels(term, x, equation)) for term, x in zip(terms, xs, strict=True)]
    hidden = max(sum(label.isdigit() for label in operand.labels) for operand in operands)
    ellipsis = tuple(str(number) for number in reversed(range(hidden)))
    if not arrow:
        letters = "".join(terms).replace(".", "")
        return operands, (*ellipsis, *sorted(each for each in set(letters) if letters.count(each) == 1))
    before, dots, after = right.partition("...")
    return operands, (*before, *(ellipsis if dots else ()), *after)


def _labels(term: str, x: Value, equation: str) -> Labels:
    before, dots, after = term.partition("...")
    hidden = x.rank - len(before) - len(after)
    if hidden < 0 or (hidden and not dots):
        raise ConversionError(f"equation '{equation}': '{term}' does not fit the operand {x.shaped}")
    return (*before, *(str(number) for number in reversed(range(hidden))), *after)


def _sizes(operands: Iterable[Operand], equation: str) -> dict[str, int | None]:
    """Returns the extent of each label. An extent of 1 stretches."""
    sizes: dict[str, int | None] = {}
    for operand in operands:
        for label, extent in zip(operand.labels, operand.value.shape, strict=True):
            known = sizes.get(label, 1)
            if known not in (1, None, extent) and extent not in (1, None):
                raise ConversionError(f"equation '{equation}': '{label}' stands for {known} and {extent}")
            sizes[label] = extent if known in (1, None) and extent != 1 else known
    return sizes


# One operand


def _diagonal(b: GraphBuilder, operand: Operand) -> Operand:
    """Labels that an operand has twice become one dimension: every (n + 1)-th element of the two in a row."""
    value, labels = operand.value, operand.labels
    while repeated := next((label for label in labels if labels.count(label) > 1), None):
        first = labels.index(repeated)
        second = labels.index(repeated, first + 1)
        rest = [number for number in range(len(labels)) if number not in (first, second)]
        shape = b.static_shape(value, "the operand with a repeated label")
        size = shape[first]
        if shape[second] != size:
            raise ConversionError(f"the label '{repeated}' stands for {size} and {shape[second]} in one operand")
        row = b.reshape(
            b.permute_dims(value, axes=(*rest, first, second)), shape=(*(shape[each] for each in rest), size * size)
        )
        value = b.strided_slice(row, axes=(len(rest),), begin=(0,), end=(size * size,), strides=(size + 1,))
        labels = (*(labels[each] for each in rest), repeated)
    return Operand(value, labels)


def _without_ones(b: GraphBuilder, operand: Operand, sizes: dict[str, int | None]) -> Operand:
    """Removes the dimensions of extent 1 that stretch."""
    gone = [
        number for number, label in enumerate(operand.labels) if operand.value.shape[number] == 1 and sizes[label] != 1
    ]
    if not gone:
        return operand
    labels = tuple(label for number, label in enumerate(operand.labels) if number not in gone)
    return Operand(b.squeeze(operand.value, axis=tuple(gone)), labels)


def _summed(b: GraphBuilder, operand: Operand, wanted: set[str]) -> Operand:
    """The sum over the labels that are not wanted."""
    gone = tuple(number for number, label in enumerate(operand.labels) if label not in wanted)
    if not gone:
        return operand
    labels = tuple(label for label in operand.labels if label in wanted)
    return Operand(b.sum(operand.value, axis=gone), labels)


def _in_order(b: GraphBuilder, operand: Operand, labels: Labels, sizes: dict[str, int | None]) -> Value:
    value = operand.value
    order = tuple(operand.labels.index(label) for label in labels if label in operand.labels)
    if order != tuple(range(len(order))):
        value = b.permute_dims(value, axes=order)
    absent = tuple(number for number, label in enumerate(labels) if label not in operand.labels)
    if not absent:
        return value
    shape = tuple(sizes[label] for label in labels)
    if None in shape:
        raise ConversionError(f"the result has the shape {shape}, expected every extent to be known")
    return b.broadcast_to(b.expand_dims(value, axis=absent), shape=tuple(dim or 0 for dim in shape))


# Two operands


def _contracted(b: GraphBuilder, lhs: Operand, rhs: Operand, wanted: set[str]) -> Operand:
    """The product, summed over the labels that both have and nobody wants."""
    lhs = _summed(b, lhs, wanted | set(rhs.labels))
    rhs = _summed(b, rhs, wanted | set(lhs.labels))
    both = [label for label in lhs.labels if label in rhs.labels]
    batch = [label for label in both if label in wanted]
    over = [label for label in both if label not in wanted]
    left = [label for label in lhs.labels if label not in both]
    right = [label for label in rhs.labels if label not in both]
    labels = (*batch, *left, *right)
    one = _grouped(b, lhs, batch, left, over)
    if over:
        product = b.matmul(one, _grouped(b, rhs, batch, over, right))
    else:  # one column times one row
        product = b.multiply(one, _grouped(b, rhs, batch, over, right))
    if len(left) == 1 and len(right) == 1:
        return Operand(product, labels)
    extents = [(lhs if label in lhs.labels else rhs).extent(label) for label in labels]
    if None in extents:
        raise ConversionError(f"the product has the shape {extents}, expected every extent to be known")
    return Operand(b.reshape(product, shape=tuple(dim or 0 for dim in extents)), labels)


def _grouped(b: GraphBuilder, operand: Operand, batch: list[str], first: list[str], second: list[str]) -> Value:
    """The operand with the dimensions of `batch`, then one for all of `first` and one for all of `second`."""
    order = tuple(operand.labels.index(label) for label in (*batch, *first, *second))
    value = operand.value
    if order != tuple(range(len(order))):
        value = b.permute_dims(value, axes=order)
    if len(first) == 1 and len(second) == 1:
        return value
    shape = b.static_shape(value, "an operand")
    middle = len(batch) + len(first)
    groups = (prod(shape[len(batch) : middle]), prod(shape[middle:]))
    return b.reshape(value, shape=(*shape[: len(batch)], *groups))
