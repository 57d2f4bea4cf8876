"""Moves that leave ops out: functions, parts of functions, single ops, results and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ....core.ir.walk import ops_in, walk
from ....reference.loops.state import symbol_of
from ..move import Move
from ..subject import Program
from . import functions
from .zeros import zero_like

Replacement = Callable[[Operation, OpResult], SSAValue | None]


def is_in(op: Operation, module: Operation | None) -> bool:
    """Returns whether an op is part of a module and not of what has been taken out of it."""
    around: Operation | None = op
    while around is not None and around is not module:
        around = around.parent_op()
    return around is not None


def by_operand(op: Operation, result: OpResult) -> SSAValue | None:
    """Returns an operand of the type of a result."""
    return next((each for each in op.operands if each.type == result.type), None)


def by_argument(op: Operation, result: OpResult) -> SSAValue | None:
    """Returns a new argument of the function."""
    function = functions.function_around(op)
    return None if function is None else functions.add_argument(function, result.type)


def by_zero(op: Operation, result: OpResult) -> SSAValue | None:
    """Returns a constant of zeros before the op."""
    if not op.operands and not op.regions:  # It is as small as a constant.
        return None
    return zero_like(op, result.type)


def by_other(op: Operation, result: OpResult) -> SSAValue | None:
    """Returns an earlier value of the same type: an argument of a block around the op, or a result before it."""
    block = op.parent
    while block is not None:
        values: list[SSAValue] = list(block.args)
        for other in ops_in(block):
            if other is op or other.is_ancestor(op):
                break
            values += other.results
        found = next((each for each in values if each.type == result.type), None)
        if found is not None:
            return found
        around = block.parent_op()
        block = None if around is None or "function_type" in around.properties else around.parent
    return None


def erase(op: Operation, replacement: Replacement = by_operand) -> None:
    """Takes an op out. Raises `ValueError` where a result is used and has no replacement."""
    for result in op.results:
        if result.first_use is None:
            continue
        other = replacement(op, result)
        if other is None:
            raise ValueError(f"nothing replaces a result of {op.name}")
        result.replace_all_uses_with(other)
    op.detach()
    op.erase()


class DropFunctions(Move):
    """Leaves out ops at the top of the module, and the ops that refer to them."""

    name = "drop functions"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        found = ops_in(subject.module.body.block)
        return found if len(found) > 1 else []

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        assert subject.module is not None
        gone = [op for op in edits if is_in(op, subject.module)]
        names = {symbol_of(op) for op in gone}
        for op in gone:
            op.detach()
        for op in walk(subject.module):
            if (
                op is not subject.module
                and is_in(op, subject.module)
                and not names.isdisjoint(functions.symbols_of(op))
            ):
                erase(op, by_argument)
        for op in gone:
            op.erase(safe_erase=False)


class KeepPart(Move):
    """Cuts ops out of functions: what they make becomes an argument, what they take becomes a result."""

    name = "keep a part of a function"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        called = functions.used_symbols(subject.module)
        found: list[Operation] = []
        for function in functions.functions(subject.module):
            last = functions.return_of(function)
            if last is not None and last.operands and symbol_of(function) not in called:
                found += ops_in(function.regions[0].blocks[0])[:-1]
        return found

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        gone: dict[Operation, list[Operation]] = {}
        for op in edits:
            function = op.parent_op()
            if is_in(op, subject.module) and function is not None:
                gone.setdefault(function, []).append(op)
        for function, ops in gone.items():
            self._cut(function, set(ops), ops)

    def _cut(self, function: Operation, gone: set[Operation], ops: list[Operation]) -> None:
        last = functions.return_of(function)
        assert last is not None
        wanted: dict[SSAValue, None] = dict.fromkeys(
            each for each in last.operands if isinstance(each, OpResult) and each.op not in gone
        )
        for op in ops:
            for inner in walk(op):
                for each in inner.operands:
                    if isinstance(each, OpResult) and each.op.parent is op.parent and each.op not in gone:
                        if not isinstance(each.type, MemRefType):
                            wanted[each] = None
        functions.set_results(function, list(wanted) or list(function.regions[0].blocks[0].args[:1]))
        for op in reversed(ops):
            for result in op.results:
                users = {use.operation for use in result.uses}
                if any(not _is_inside(user, gone) for user in users):
                    result.replace_all_uses_with(functions.add_argument(function, result.type))
            op.detach()
            op.erase(safe_erase=False)
        drop_unused_arguments(function)


def _is_inside(op: Operation, gone: set[Operation]) -> bool:
    around: Operation | None = op
    while around is not None:
        if around in gone:
            return True
        around = around.parent_op()
    return False


def drop_unused_arguments(function: Operation) -> None:
    """Removes arguments without uses, but not the first, if it is the only one."""
    block = function.regions[0].blocks[0]
    for number in range(len(block.args) - functions.outs_of(function) - 1, -1, -1):
        if block.args[number].first_use is None:
            functions.drop_argument(function, number)


class DropResults(Move):
    """Leaves out results of functions that nothing calls."""

    name = "drop results"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        called = functions.used_symbols(subject.module)
        found: list[tuple[Operation, SSAValue]] = []
        for function in functions.functions(subject.module):
            last = functions.return_of(function)
            if last is not None and symbol_of(function) not in called:
                found += [(function, each) for each in dict.fromkeys(last.operands)]
        return found

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for function in dict.fromkeys(function for function, _ in edits):
            if not is_in(function, subject.module):
                continue
            gone = {value for other, value in edits if other is function}
            last = functions.return_of(function)
            assert last is not None
            functions.set_results(function, [each for each in last.operands if each not in gone])


class DropOps(Move):
    """Leaves out ops on every level, and puts something else in place of their results."""

    def __init__(self, name: str, replacement: Replacement):
        self.name, self._replacement = f"drop ops, {name}", replacement

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        found = [op for op in walk(subject.module)[1:] if not op.has_trait(IsTerminator, value_if_unregistered=False)]
        return [op for op in reversed(found) if "sym_name" not in op.properties]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for op in edits:
            if is_in(op, subject.module):
                erase(op, self._replacement)


class DropArguments(Move):
    """Leaves out arguments of functions that nothing calls, where another one of the same type takes their place."""

    name = "drop arguments"

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        called = functions.used_symbols(subject.module)
        found: list[tuple[Operation, BlockArgument]] = []
        for function in functions.functions(subject.module):
            if symbol_of(function) not in called:
                found += [(function, each) for each in reversed(function.regions[0].blocks[0].args)]
        return found

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for function, argument in edits:
            block = function.regions[0].blocks[0]
            if not is_in(function, subject.module) or argument not in block.args:
                continue
            if argument.first_use is not None:
                others = [each for each in block.args if each is not argument and each.type == argument.type]
                if not others:
                    raise ValueError("no other argument has this type")
                argument.replace_all_uses_with(others[0])
            functions.drop_argument(function, argument.index)


PARTS: Final = (DropFunctions(), KeepPart(), DropResults())
OPS: Final = (
    DropOps("an operand for a result", by_operand),
    DropOps("an argument for a result", by_argument),
    DropOps("another value for a result", by_other),
    DropOps("zeros for a result", by_zero),
)
