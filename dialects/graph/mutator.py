"""
A visitor that rewrites ops, for those who think in visitors rather than in patterns.

```python
class FuseMultiplyAdd(GraphMutator):
    def visit_add(self, op):
        product = self.lookup_binding(op.lhs)
        if isinstance(product, graph.MultiplyOp):
            return graph.EwiseFmaOp(product.lhs, product.rhs, op.rhs)
```
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...core.messages.locations import copy_location
from ...core.plugins import registry

Replacement = Operation | SSAValue | Sequence[SSAValue] | None


class GraphMutator:
    """
    Visits every op of the dialect `graph` below an op once, operands before users.

    It calls `visit_<name>(op)` (`visit_add` for `graph.add`), or else `visit_op(op)`. The method returns what replaces
    the op: a new op, a value, or one value per result. It returns `None` to keep the op.

    A method `visit_<name>` for which the dialect has no op is an error, so a misspelt one is never skipped in silence.

    The new ops that make the replacement are inserted before the old op, at its location. An op that was replaced is
    removed. The ops that it used stay, even if unused.
    """

    dialect = "graph"

    def __repr__(self) -> str:
        visited = ", ".join(name for name in dir(self) if name.startswith("visit_") and name != "visit_op")
        return f"<stepwell.{type(self).__name__} of dialect {self.dialect}: {visited or 'visit_op'}>"

    def mutate(self, root: Operation) -> bool:
        """Visits the ops inside `root`. Returns whether anything was replaced."""
        _check_visitors(type(self), self.dialect)
        changed = False
        for op in [op for op in root.walk() if op.dialect_name() == self.dialect]:
            visit = getattr(self, f"visit_{op.name.partition('.')[2]}", self.visit_op)
            replacement = visit(op)
            if replacement is not None:
                self._replace(op, replacement)
                changed = True
        return changed

    def visit_op(self, op: Operation) -> Replacement:
        """Visits an op that has no method of its own, and keeps it."""
        return None

    def lookup_binding(self, value: SSAValue) -> Operation | None:
        """Returns the op that defines `value`, or `None` for an argument."""
        return value.op if isinstance(value, OpResult) else None

    def _replace(self, op: Operation, replacement: Replacement) -> None:
        values = _values(replacement)
        if len(values) != len(op.results):
            raise ValueError(f"'{op.name}' has {len(op.results)} results but its replacement has {len(values)}")
        block = op.parent
        assert block is not None
        _insert_new(values, block, op)
        for old, new in zip(op.results, values, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()


@cache
def _check_visitors(visitor: type[GraphMutator], dialect: str) -> None:
    """Raises `StepwellError` for a method of `visitor` that visits an op which `dialect` does not have."""
    load = registry().dialects.get(dialect)
    if load is None:
        return
    known = {f"visit_{op.name.partition('.')[2]}" for op in load().operations} | {"visit_op"}
    for name in dir(visitor):
        if name.startswith("visit_") and name not in known:
            message = f"{visitor.__name__}.{name}: there is no op '{dialect}.{name.removeprefix('visit_')}'"
            raise StepwellError(Diagnostic(message, hint=did_you_mean(name, known)))


def _values(replacement: Replacement) -> Sequence[SSAValue]:
    if isinstance(replacement, Operation):
        return replacement.results
    if isinstance(replacement, SSAValue):
        return [replacement]
    return replacement or []


def _insert_new(values: Sequence[SSAValue], block: Block, before: Operation) -> None:
    """Inserts the ops behind `values` that are in no block yet, operands first."""
    stack = [value.op for value in reversed(values) if isinstance(value, OpResult)]
    while stack:
        op = stack[-1]
        missing = (
            []
            if op.parent is not None
            else [v.op for v in op.operands if isinstance(v, OpResult) and v.op.parent is None]
        )
        if missing:
            stack += missing
            continue
        stack.pop()
        if op.parent is None:
            copy_location(before, op)
            block.insert_op_before(op, before)
