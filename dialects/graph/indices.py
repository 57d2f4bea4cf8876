"""`x[…]` on a value: which graph ops an index of Python stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from xdsl.ir import SSAValue

from ...lazy_dataclass import dataclass
from .methods import OpMethods
from .places import caller, fail_at

HINT = "an index is a number, a slice, None, ... or one array or value of integers"


@dataclass
class _Plan:
    """What to do along the axes: slices of the operand, axes to drop after that, and axes of size 1 to add."""

    axes: list[int] = field(default_factory=list)
    begin: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    strides: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    """Positions in the result."""
    taken: tuple[int, Any] | None = None
    """The axis of an array of indices, and that array."""
    rank: int = 0
    """The rank of the result, an array of indices counted as one dimension."""


def indexed(builder: OpMethods, value: Any, items: tuple[Any, ...]) -> Any:
    """Returns `value[items]` as NumPy defines it. Raises BuilderError for an index that no graph op stands for."""
    plan = _plan(value.shape, items)
    if plan.axes:
        value = builder.strided_slice(value, axes=plan.axes, begin=plan.begin, end=plan.end, strides=plan.strides)
    if plan.taken is not None:
        axis, indices = plan.taken
        value = builder.take(value, indices, axis=axis)
    if plan.dropped:
        value = builder.squeeze(value, axis=plan.dropped)
    return builder.expand_dims(value, axis=plan.added) if plan.added else value


def _plan(shape: Sequence[int | None], items: tuple[Any, ...]) -> _Plan:
    plan, axis = _Plan(), 0
    for item in _without_ellipsis(shape, items):
        if item is None:
            plan.added.append(plan.rank)
            plan.rank += 1
            continue
        if isinstance(item, slice):
            _add_slice(plan, axis, shape[axis], item)
            plan.rank += 1
        elif _is_number(item):
            _add_number(plan, axis, shape[axis], int(item))
        else:
            _add_array(plan, axis, item)
            plan.rank += 1
        axis += 1
    if plan.taken is not None and (plan.dropped or plan.added):
        fail_at(caller(), "an array of indices stands beside a number or None", "index twice: x[0][:, array]")
    return plan


def _without_ellipsis(shape: Sequence[int | None], items: tuple[Any, ...]) -> list[Any]:
    """Returns one item per dimension besides the `None`s, with full slices where `...` was and at the end."""
    count = sum(1 for item in items if item is not None and item is not Ellipsis)
    if count > len(shape):
        fail_at(caller(), f"{count} indices are given for a tensor of {len(shape)} dimensions")
    places = [number for number, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        fail_at(caller(), "an index has ... twice, expected it once")
    place = places[0] if places else len(items)
    rest = [slice(None)] * (len(shape) - count)
    return [*items[:place], *rest, *items[place + 1 :]]


def _is_number(item: Any) -> bool:
    return not isinstance(item, bool) and hasattr(item, "__index__") and not getattr(item, "shape", ())


def _add_slice(plan: _Plan, axis: int, size: int | None, item: slice) -> None:
    if item == slice(None):
        return
    for bound in (item.start, item.stop, item.step):
        if bound is not None and not _is_number(bound):
            fail_at(caller(), f"a bound of a slice is {bound!r}, expected a number", HINT)
    step = 1 if item.step is None else int(item.step)
    if step == 0:
        fail_at(caller(), "the step of a slice is 0")
    most = 2**63 - 1
    if size is not None:
        begin, end, _ = slice(item.start, item.stop, step).indices(size)
        end = -size - 1 if end < 0 else end  # A stop before the first element, which -1 does not say.
    else:
        begin = int(item.start) if item.start is not None else 0 if step > 0 else most
        end = int(item.stop) if item.stop is not None else most if step > 0 else -most - 1
    _add(plan, axis, begin, end, step)


def _add_number(plan: _Plan, axis: int, size: int | None, number: int) -> None:
    if size is not None and not -size <= number < size:
        fail_at(caller(), f"index {number} is outside of dimension {axis}, which has {size} elements")
    if size is None and number < 0:
        fail_at(caller(), f"index {number} counts from the end of dimension {axis}, whose size is not known")
    begin = number if size is None else number % size
    _add(plan, axis, begin, begin + 1, 1)
    plan.dropped.append(axis)


def _add(plan: _Plan, axis: int, begin: int, end: int, step: int) -> None:
    plan.axes.append(axis)
    plan.begin.append(begin)
    plan.end.append(end)
    plan.strides.append(step)


def _add_array(plan: _Plan, axis: int, item: Any) -> None:
    if plan.taken is not None:
        fail_at(caller(), "there are two arrays of indices", "builder.gather_nd takes indices of several dimensions")
    if not isinstance(item, SSAValue):
        import numpy as np

        found = np.asarray(item)
        if found.dtype.kind not in "iu":
            what = "a mask" if found.dtype.kind == "b" else repr(item)
            fail_at(caller(), f"an index is {what}", HINT)
        item = found
    plan.taken = axis, item
