"""The plans in a program as tables: which ops become one function, and what was decided about each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation

from ...core.roles import GROUP, GROUP_REASON, REASON
from ...dialects.tensor_loop.block import BlockOp
from ...dialects.tensor_loop.function import FuncOp
from .html import folded, table

MOST_ROWS = 200
"""The most rows of a table."""


def plans_html(root: Operation) -> list[str]:
    """Returns a table for each plan that is in a program: that of fusion and that of schedules."""
    found = (("fusion plan", _groups(root)), ("schedule plan", _decisions(root)))
    return [folded(title, table(_cut(rows)), is_open=True) for title, rows in found if len(rows) > 1]


def group_of(op: Operation) -> int | None:
    """Returns the number of the group that a fusion plan gives an op, `None` where it gives none."""
    number = op.attributes.get(GROUP)
    return number.value.data if isinstance(number, IntegerAttr) else None


def _groups(root: Operation) -> list[tuple[str, ...]]:
    """Returns a row per group: its ops, and the rules that merged them."""
    groups: dict[tuple[Operation | None, int], list[Operation]] = {}
    for op in root.walk():
        if (number := group_of(op)) is not None:
            groups.setdefault((op.parent_op(), number), []).append(op)
    rows = [("group", "ops", "merged by")]
    for (_, number), ops in groups.items():
        names = " ".join(op.name.removeprefix("graph.") for op in ops)
        rows.append((str(number), names, " ".join(dict.fromkeys(_reasons(ops)))))
    return rows


def _reasons(ops: Sequence[Operation]) -> Iterator[str]:
    for op in ops:
        if isinstance(reason := op.attributes.get(GROUP_REASON), StringAttr):
            yield reason.data


def _decisions(root: Operation) -> list[tuple[str, ...]]:
    """Returns a row per decision about a block: the kernel, the block, what was decided, and why."""
    rows = [("kernel", "block", "decision", "why")]
    for function in [each for each in root.walk() if isinstance(each, FuncOp)]:
        for block in [each for each in function.walk() if isinstance(each, BlockOp)]:
            reasons = block.attributes.get(REASON)
            if isinstance(reasons, DictionaryAttr):
                rows += [
                    (f"@{function.sym_name.data}", block.block_name.data, *_decision(block, key, why))
                    for key, why in reasons.data.items()
                ]
    return rows


def _decision(block: BlockOp, key: str, why: Attribute) -> tuple[str, str]:
    name = key.removeprefix("stepwell.")
    return f"{name} = {block.attributes.get(key, 'none')}", why.data if isinstance(why, StringAttr) else str(why)


def _cut(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    more = len(rows) - 1 - MOST_ROWS
    return rows if more <= 0 else [*rows[: MOST_ROWS + 1], (f"{more} more", *[""] * (len(rows[0]) - 1))]
