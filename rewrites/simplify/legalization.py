"""
Legalization tables: functions from an op to ops that compute the same, by the name of a table.

```python
@legalization("graph.square", table="cpu")
def square(op: Operation) -> Legalized:
    return graph.MultiplyOp(op.operands[0], op.operands[0])
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from ...core.messages.diagnostics import did_you_mean, fail
from ...patterns.language.match import Match
from ...patterns.language.patterns import Op
from ...patterns.language.registry import builder
from ...patterns.language.rules import Build, Rule

Legalized = Operation | SSAValue | Sequence[SSAValue] | None
"""A new op, a value, or a value for each result. `None` keeps the op."""

Legalization = Callable[[Operation], Legalized]

TABLES: dict[str, dict[str, list[Legalization]]] = {}
"""The functions of each table by op name, tried in order of registration until one does not return `None`."""


def legalization(op_name: str, *, table: str) -> Callable[[Legalization], Legalization]:
    """
    Registers a function for `op_name` in `table`.

    It gets the op with its current operands, and returns new ops that are in no block. The ops that these use are
    inserted too, at the location of the op. The results must have the types of those of the op.
    """

    def register(function: Legalization) -> Legalization:
        TABLES.setdefault(table, {}).setdefault(op_name, []).append(function)
        return function

    return register


def rules_of_table(table: str) -> list[Rule]:
    """Returns a rule for each op of a table, none for a table that does not exist."""
    name = (("table", StringAttr(table)),)
    return [
        Rule(f"{table}/{op_name}", Op((op_name,), key="root"), (Build("legalized", ("root",), name),), effects=True)
        for op_name in TABLES.get(table, {})
    ]


@builder("legalized")
def legalized(match: Match, op: Operation, *, table: StringAttr) -> Sequence[SSAValue] | None:
    """The ops that the first function of the legalization table that knows the op makes of it."""
    if table.data not in TABLES:
        message = f"rule '{match.rule.name}': there is no legalization table '{table.data}'"
        fail(op, message, hint=did_you_mean(table.data, TABLES))
    for function in TABLES[table.data].get(op.name, ()):
        made = function(op)
        if made is not None:
            values = _values(made)
            _check(op, table.data, values)
            for new_op in _new_ops(values):
                match.add(new_op)
            return values
    return None


def _values(made: Operation | SSAValue | Sequence[SSAValue]) -> Sequence[SSAValue]:
    if isinstance(made, Operation):
        return made.results
    return [made] if isinstance(made, SSAValue) else made


def _check(op: Operation, table: str, values: Sequence[SSAValue]) -> None:
    subject = f"legalization table '{table}'"
    if len(values) != len(op.results):
        fail(op, f"{subject} gives {len(values)} results, expected {len(op.results)}")
    for value, result in zip(values, op.results, strict=True):
        if value.type != result.type:
            fail(op, f"{subject} gives a result of type {value.type}, expected {result.type}")


def _new_ops(values: Sequence[SSAValue]) -> Iterator[Operation]:
    """Returns the ops behind `values` that are in no block yet, operands first."""
    done: set[Operation] = set()
    stack = [value.op for value in reversed(values) if isinstance(value, OpResult)]
    while stack:
        op = stack[-1]
        if op.parent is not None or op in done:
            stack.pop()
            continue
        missing = [
            operand.op
            for operand in op.operands
            if isinstance(operand, OpResult) and operand.op.parent is None and operand.op not in done
        ]
        if missing:
            stack += missing
        else:
            done.add(stack.pop())
            yield op
