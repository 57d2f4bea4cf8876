"""Faults in ops: one that is mistaken for another, swapped operands, another property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...patterns.language.match import Match

_PAIRS: Final = (
    ("add", "subtract"),
    ("maximum", "minimum"),
    ("equal", "not_equal"),
    ("less", "less_equal"),
    ("greater", "greater_equal"),
    ("logical_and", "logical_or"),
    ("bitwise_and", "bitwise_or"),
    ("left_shift", "right_shift"),
    ("negative", "abs"),
    ("floor", "ceil"),
    ("sqrt", "rsqrt"),
    ("exp", "exp2"),
    ("log", "log2"),
    ("max_pool2d", "avg_pool2d"),
    ("sum", "mean"),
    ("max", "min"),
    ("argmax", "argmin"),
    ("any", "all"),
    ("sin", "cos"),
    ("tanh", "sigmoid"),
    ("softmax", "log_softmax"),
    ("isnan", "isinf"),
)

SIBLINGS: Final[dict[str, str]] = {
    **{f"graph.{a}": f"graph.{b}" for a, b in _PAIRS},
    **{f"graph.{b}": f"graph.{a}" for a, b in _PAIRS},
    "graph.multiply": "graph.add",
    "graph.divide": "graph.multiply",
    "graph.power": "graph.multiply",
    "graph.floor_divide": "graph.divide",
    "graph.mod": "graph.floor_divide",
    "graph.logical_xor": "graph.logical_or",
    "graph.bitwise_xor": "graph.bitwise_or",
    "graph.relu": "graph.abs",
    "graph.sign": "graph.relu",
    "graph.trunc": "graph.floor",
    "graph.round": "graph.floor",
    "graph.square": "graph.abs",
}
"""What an op is mistaken for: another one with the same operands and result."""

Edit = Callable[[Match, Operation], bool]
"""Changes an op that a builder made, in `new_ops` of the match. It returns whether there was something to change."""


def as_sibling(match: Match, op: Operation) -> bool:
    op_type: Any = match.session.op_type(SIBLINGS[op.name])
    wanted = op_type.get_irdl_definition().properties
    new = op_type.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        properties={name: value for name, value in op.properties.items() if name in wanted},
    )
    match.new_ops[match.new_ops.index(op)] = new
    for old_result, new_result in zip(op.results, new.results, strict=True):
        old_result.replace_all_uses_with(new_result)
    op.drop_all_references()
    return True


def with_operands_swapped(match: Match, op: Operation) -> bool:
    """Swaps the first two operands, or a factor and the summand of a sum of a product, whose factors commute."""
    first = int(op.name == "graph.ewise_fma")
    one, other = op.operands[first : first + 2]
    op.operands = [*op.operands[:first], other, one, *op.operands[first + 2 :]]
    return one is not other


SETS_OF_AXES: Final = frozenset({"expand_dims", "squeeze", "sum", "mean", "max", "min", "prod", "any", "all"})
"""Ops whose list of axes has no order."""


def with_another_property(match: Match, op: Operation) -> bool:
    """
    Changes the first property that can be changed without a change of the result types, else the first that can be
    changed at all.
    """
    ordered = op.name.partition(".")[2] not in SETS_OF_AXES
    changes = [
        (name, value, changed)
        for name, value in op.properties.items()
        for changed in changed_attributes(value)
        if ordered or not _same_set(value, changed)
    ]
    for name, value, changed in changes:
        op.properties[name] = changed
        try:
            op.verify(verify_nested_ops=False)
        except Exception:  # whatever a verifier raises: this change is none that could pass
            op.properties[name] = value
            continue
        return True
    if changes:
        op.properties[changes[0][0]] = changes[0][2]
    return bool(changes)


def _same_set(one: Attribute, other: Attribute) -> bool:
    return all(isinstance(each, ArrayAttr | DenseArrayBase) for each in (one, other)) and sorted(
        str(one).split(",")
    ) == sorted(str(other).split(","))


def changed_attribute(value: Attribute) -> Attribute | None:
    """Another attribute of the same kind, `None` when there is none."""
    return next(iter(changed_attributes(value)), None)


def changed_attributes(value: Attribute) -> list[Attribute]:
    """Other attributes of the same kind: a number one larger, a list rotated or with its first number changed."""
    match value:
        case IntegerAttr():
            number = value.value.data
            width = getattr(getattr(value.type, "width", None), "data", 64)
            return [IntegerAttr(number ^ 1 if width == 1 or number in (0, 1) else number + 1, value.type)]
        case FloatAttr():
            return [FloatAttr(value.value.data * 2 + 1, value.type)]
        case ArrayAttr() if value.data:
            items = list(value.data)
            rotated = [[*items[1:], items[0]]]
            first = [[other, *items[1:]] for other in changed_attributes(items[0])]
            return [ArrayAttr(each) for each in rotated + first if each != items]
        case DenseArrayBase() if len(value):
            numbers: list[Any] = list(value.get_values())  # pyright: ignore[reportAttributeAccessIssue]
            lists = [[*numbers[1:], numbers[0]], [numbers[0] + 1, *numbers[1:]]]
            return [DenseArrayBase.from_list(value.elt_type, each) for each in lists if each != numbers]
        case _:
            return []
