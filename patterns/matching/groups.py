"""The ops that a match covers, in post-order, and the values that they take from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation, OpResult, SSAValue

from ..language.chains import Chain
from ..language.combinators import Expression, Together
from ..language.constants import is_constant_op
from ..language.constraints import Literal, Not
from ..language.functions import captured_values
from ..language.match import Match
from ..language.patterns import Any_, Constant, Op, Or, Pattern, Rest, Splat, all_below
from ..language.structures import Call, Dominates, Function, If
from .compile_combinators import ops_key
from .each import all_key
from .several_roots import anchor as anchor


def active_parts(pattern: Pattern, match: Match) -> tuple[Pattern, ...]:
    """
    Returns the patterns directly below `pattern` that took part. Of alternatives only the one that matched took part.
    """
    match pattern:
        case Or():
            arm = match.arm(pattern)
            return () if arm is None else (pattern.alternatives[arm],)
        case Not() | Function():
            return ()
        case Dominates():
            return (pattern.parent, pattern.child)
        case Together():
            roots = match.rule.also and pattern is match.rule.lhs
            return pattern.patterns if roots else pattern.patterns[:1]
        case Chain():
            return (pattern.start,)
        case If():
            return (pattern.condition,)
        case Call():
            return pattern.operands or ()
        case Rest():
            return ()
        case _:
            return pattern.parts()


def _active(pattern: Pattern, match: Match) -> Iterator[Pattern]:
    """Yields the patterns that took part from left to right, those below before those above."""
    done: set[int] = set()
    stack = [(pattern, False)]
    while stack:
        current, expanded = stack.pop()
        if expanded:
            yield current
        elif id(current) not in done:
            done.add(id(current))
            stack.append((current, True))
            stack.extend((part, False) for part in reversed(active_parts(current, match)))


def covered_ops(pattern: Pattern, match: Match) -> list[Operation]:
    """Returns the ops that the pattern names, operands before their users, from left to right."""
    named: dict[Operation, None] = {match.root: None}
    for part in _active(pattern, match):
        if isinstance(part, Op | Call | If | Constant | Splat | Literal) and part in match:
            named[match.op(part)] = None
        if isinstance(part, Dominates):
            named.update((value.op, None) for value in match.all(part.path) if isinstance(value, OpResult))
        if isinstance(part, Rest) and part.each is not None:
            named.update(_ops_of_many(part.each, match))
        if isinstance(part, Chain):
            named.update(_ops_of_many(part.step, match))
        if isinstance(part, Expression) and part in match:
            named.update(dict.fromkeys(match.bound[ops_key(part.key)]))
    return _post_order(match.roots, named)


def _ops_of_many(pattern: Pattern, match: Match) -> dict[Operation, None]:
    """Returns the ops that the names below `pattern` stand for, which are many for each."""
    parts = [part for part in all_below(pattern) if isinstance(part, Op | Call | If | Constant | Splat | Literal)]
    things = [thing for part in parts for thing in match.bound.get(all_key(part.key), ())]
    owners = [thing if isinstance(thing, Operation) else thing.owner for thing in things]
    return dict.fromkeys(owner for owner in owners if isinstance(owner, Operation))


def _post_order(roots: list[Operation], named: Iterable[Operation]) -> list[Operation]:
    wanted, done, order = set(named), set[Operation](), list[Operation]()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        op, expanded = stack.pop()
        if expanded:
            order.append(op)
        elif op not in done:
            done.add(op)
            stack.append((op, True))
            owners = [value.owner for each in op.walk() for value in each.operands]
            stack.extend((each, False) for each in reversed(owners) if isinstance(each, Operation) and each in wanted)
    return order


def input_values(pattern: Pattern, match: Match, ops: list[Operation]) -> list[SSAValue]:
    """Returns the values that `ops` take from outside, each once, in the order of the pattern and then of use."""
    captured = dict.fromkeys(captured_values(ops))
    leaves: list[SSAValue] = []
    for part in _active(pattern, match):
        if isinstance(part, Any_ | Rest) and part in match:
            leaves += match.all(part)
        elif part in match and not isinstance(part, Function):
            leaves.append(match[part])
    return list(dict.fromkeys([*(value for value in leaves if value in captured), *captured]))


class Outside:
    """Uses of a group by ops that do not belong to it."""

    def __init__(self, ops: list[Operation], roots: list[Operation] | None = None):
        """Takes the ops of a group. `roots`, by default the last of `ops`, are those whose results it gives back."""
        roots = ops[-1:] if roots is None else roots
        self._inside = set(ops)
        self._block = roots[0].parent
        self._known: dict[Operation, bool] = {}
        self.shared: list[Operation] = []
        """The ops of the group that ops outside use too, where all these uses lead back into the group."""
        for op in ops:
            if op not in roots and not is_constant_op(op) and self._users_outside(op):
                self.shared.append(op)

    def _users_outside(self, op: Operation) -> list[Operation | None]:
        users = (anchor(use.operation, self._block) for result in op.results for use in result.uses)
        return [user for user in users if user not in self._inside]

    def escape(self) -> Operation | None:
        """Returns an op of the group that has a use which does not end in the group."""
        return next((op for op in self.shared if not self._all_return(self._users_outside(op))), None)

    def _all_return(self, users: list[Operation | None]) -> bool:
        """Returns whether everything that is computed from `users` is used in the group in the end."""
        stack = list(users)
        while stack:
            user = stack.pop()
            if user in self._inside:
                continue
            if user is None or not any(result.first_use for result in user.results):
                return False
            if user not in self._known:
                self._known[user] = True
                stack.extend(anchor(use.operation, self._block) for each in user.results for use in each.uses)
        return True
