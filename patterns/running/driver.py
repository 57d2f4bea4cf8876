"""
The worklist that runs rules to a fixed point over every op of a module, nested and multi-block regions included.

Producers come before users, and inner regions before the op that holds them. At one op, rules come in their given
order. After a rewrite, the driver looks again at the new ops and at everything whose match may have changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Final

from xdsl.context import Context
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...core.ir.dominance import DominatorTree
from ...core.ir.replacing import erase_op
from ...core.ir.verification import VerifiedOps
from ...core.ir.walk import op_and_inside, ops_in
from ...core.messages.collector import patient_collector
from ...core.messages.diagnostics import OperationError, emit_remark
from ...core.messages.origins import fuse
from ...core.passes.applications import allowed
from ...core.passes.base import count
from ...lazy_dataclass import dataclass
from ..language.functions import Purity, enclosing_module, is_open
from ..language.match import Match, Session, users_of
from ..language.numbers import counts_users
from ..language.patterns import depth, picks_result
from ..language.registry import RuleError
from ..language.rules import Rule
from ..matching.compiled_rule import compiled_once
from ..matching.dispatch import Dispatch
from ..matching.effects import effect_of_replacement
from ..matching.several_roots import place_of_replacement
from .statistics import RuleStatistics, add_statistics, statistics_wanted

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and a net has a thousand rewrites.

GROWS: Final = "the right side of a rule must be smaller than the left one"

REWRITES_OF_ONE_OP: Final = 1000
"""
The number of rewrites in one chain (of an op, of its replacement, and so on) after which the rules count as
alternating.
"""

HISTORY: Final = 8
"""The number of last rules of a chain that the error message names."""


@dataclass(frozen=True)
class _Lineage:
    """The rewrites that led to an op: their number and the last rules."""

    rewrites: int = 0
    rules: tuple[str, ...] = ()

    def after(self, rule: str) -> _Lineage:
        return _Lineage(self.rewrites + 1, (*self.rules, rule)[-HISTORY:])


ORIGINAL: Final = _Lineage()


class Driver:
    """
    Runs `rules` over a module. `enter` returns for each op with regions whether to look into it. Where it is not given,
    that is any but a function that partitioning made, a composite, or one for another compiler.

    With `erase_dead`, producers that are pure and lose their last use by a rewrite are erased. `options` are settings
    that conditions may ask for.
    """

    def __init__(
        self,
        ctx: Context,
        rules: Iterable[Rule],
        *,
        enter: Callable[[Operation], bool] = is_open,
        erase_dead: bool = True,
        options: Mapping[str, Any] | None = None,
        limit: int = REWRITES_OF_ONE_OP,
    ):
        self._ctx = ctx
        rules = list(rules)
        if decider := next((rule for rule in rules if rule.decisions), None):
            raise RuleError(f"rule '{decider.name}' decides about loops, and replaces nothing")
        with patient_collector():
            self._rules = [compiled_once(rule, ctx) for rule in rules]
        self._dispatch = Dispatch(self._rules)
        self._levels = max((depth(compiled.rule.lhs) for compiled in self._rules), default=1)
        far = [compiled for compiled in self._rules if compiled.far]
        self._far_names = frozenset().union(*(c.names for c in far)) if all(c.names for c in far) else None
        """The names of the ops that may be roots of rules that look far. `None` stands for any op."""
        self._counts_users = any(counts_users(compiled.rule) for compiled in self._rules)
        self._enter = enter
        self._erase_dead = erase_dead
        self._options = dict(options or {})
        self._limit = limit
        self.statistics = {compiled.rule.name: RuleStatistics() for compiled in self._rules}

    def __repr__(self) -> str:
        return f"<stepwell.Driver with {len(self._rules)} rules>"

    def _start(self, scope: Operation) -> None:
        self._session = Session(self._ctx, scope, options=self._options)
        self._work: deque[Operation] = deque(program_order(scope, self._enter))
        # Ops by identity, since xDSL hashes them in Python code. The dead are kept, lest another op gets their place.
        self._queued = set(map(id, self._work))
        self._dead: dict[int, Operation] = {}
        self._lineage: dict[Operation, _Lineage] = {}
        self._remarked: set[tuple[str, Operation]] = set()
        self._timed = statistics_wanted()
        self._verified = VerifiedOps()

    def run(self, scope: Operation) -> bool:
        """Rewrites everything inside `scope` to a fixed point. Returns whether anything changed."""
        self._start(scope)
        changed = False
        while self._empty_worklist():
            changed = True
            if self._far_names == frozenset():
                break
            # The dominators, the functions and the sharing users of a value may have changed anywhere. So all roots of
            # rules that ask for these are looked at again. The last round changes nothing, so the fixed point is one of
            # all rules.
            for op in program_order(scope, self._enter):
                if self._far_names is None or op.name in self._far_names:
                    self._enqueue(op)
        self._finish()
        return changed

    def _empty_worklist(self) -> bool:
        """Visits the ops of the worklist until it is empty. Returns whether anything changed."""
        changed = False
        while self._work:
            op = self._work.popleft()
            self._queued.discard(id(op))
            if id(op) not in self._dead and self._visit(op):
                changed = True
        return changed

    def _finish(self) -> None:
        for name, statistics in self.statistics.items():
            if statistics.hits:
                count(name, statistics.hits)
        add_statistics(self.statistics)

    # One op

    def _accepts(self, match: Match) -> bool:
        """Returns whether a match is to be used now."""
        return True

    def _visit(self, op: Operation) -> bool:
        for compiled in self._dispatch.candidates(op):
            statistics = self.statistics[compiled.rule.name]
            statistics.tries += 1
            if self._timed:
                started = perf_counter()
                match = compiled.match(op, self._session)
                statistics.milliseconds += (perf_counter() - started) * 1000
            else:
                match = compiled.match(op, self._session)
            if not match.matched:
                self._remark(match)
                continue
            if not self._accepts(match):
                continue
            values = compiled.make(match)
            if values is None:
                continue
            try:
                self._check(match, values)
            except OperationError:
                match.discard()
                raise
            place = place_of_replacement(match, values, compiled.far)
            if place is None:
                emit_remark(op, f"rule '{match.rule.name}' needs something that cannot be used here")
                match.discard()
                continue
            if (effect := effect_of_replacement(match, place)) is not None:
                match.remarks.append((f"not applied: rule '{match.rule.name}' {effect}", ()))
                self._remark(match)
                match.discard()
                continue
            if not allowed("rule", match.rule.name, op, match.rule.numerics, match.shown_bindings):
                match.discard()
                continue
            statistics.hits += 1
            self._apply(match, values, place)
            return True
        for index in self._session.indexes.values():
            index.visited(op)
        if self._session.revisit:
            for other in self._session.revisit:
                self._enqueue(other)
            self._session.revisit.clear()
        return False

    def _remark(self, match: Match) -> None:
        for remark, about in match.remarks:
            if (remark, match.root) not in self._remarked:
                self._remarked.add((remark, match.root))
                emit_remark(match.root, remark_text(remark, about))

    def _check(self, match: Match, values: Sequence[SSAValue]) -> None:
        root, replaced = match.root, match.replaced
        if len(values) != len(replaced):
            found, wanted = len(values), len(replaced)
            raise OperationError(root, f"rule '{match.rule.name}' replaces {wanted} results by {found} values")
        used = {operand for op in match.new_ops for each in op_and_inside(op) for operand in each._operands}
        for value, result in zip(values, replaced, strict=True):
            if any(each in used for root in match.roots for each in root.results) or value in replaced:
                raise OperationError(root, f"rule '{match.rule.name}' replaces a result by something that needs it")
            if value.type != result.type:
                message = f"rule '{match.rule.name}' changes the type from {result.type} to {value.type}"
                raise OperationError(root, message)

    # Changing the program

    def _apply(self, match: Match, values: Sequence[SSAValue], place: Operation) -> None:
        roots, replaced = match.roots, match.replaced
        block = place.parent
        assert block is not None
        users = users_of(replaced)
        changed = (*roots, *users)
        for op in changed:
            self._forget(op)
        for holder in dict.fromkeys(op.parent for op in changed):
            self._touch_around(holder)
        lineages = [self._lineage.pop(root, ORIGINAL) for root in roots]
        lineage = max(lineages, key=lambda each: each.rewrites).after(match.rule.name)
        if match.new_ops:
            self._check_limit(match.root, lineage)
            block.insert_ops_before(match.new_ops, place)
        if match.new_functions:
            enclosing_module(match.root).body.block.add_ops(match.new_functions)
        self._verify(match)
        _locate(match, values)
        for new_op in match.new_ops:
            self._lineage[new_op] = lineage
            self._session.inserted(new_op)
        for result, value in zip(replaced, values, strict=True):
            if value.name_hint is None and result.name_hint is not None:
                value.name_hint = result.name_hint
        self._session.replace_uses(replaced, values)
        rule = match.rule
        picked = map(picks_result, rule.root_patterns) if rule.picks_results else (False,) * len(roots)
        for root, is_picked in zip(roots, picked, strict=True):
            if is_picked and not is_dead(root, self._session.purity):
                self._enqueue(root)  # Its other results are used.
            else:
                self._erase(root)
        self._touch(users)
        for new_op in reversed(match.new_ops):
            self._enqueue(new_op, first=True)

    def _verify(self, match: Match) -> None:
        """
        Verifies the new ops in their place, which the verifiers of symbols need. Nothing uses them yet: where one is
        invalid, all are taken out again before the error.
        """
        for new_op in match.new_ops:
            if new_op in self._verified:
                continue
            try:
                new_op.verify(verify_nested_ops=False)
            except Exception as error:
                message = f"rule '{match.rule.name}' makes an invalid '{new_op.name}': {_reason(error)}"
                for each in (*match.new_ops, *match.new_functions):
                    each.detach()
                match.discard()
                raise OperationError(match.root, message) from error
            self._verified.add(new_op)

    def _check_limit(self, root: Operation, lineage: _Lineage) -> None:
        if lineage.rewrites > self._limit:
            names = " and ".join(f"'{name}'" for name in dict.fromkeys(lineage.rules))
            message = f"no fixed point after {self._limit} rewrites of one op; the last ones were by {names}"
            raise OperationError(root, message, hint=GROWS)

    def _erase(self, root: Operation) -> None:
        """Erases `root`, and then the producers that lost their last use by that."""
        stack = [root]
        while stack:
            op = stack.pop()
            if id(op) in self._dead:  # Two of its results were operands of one erased op.
                continue
            gone = op_and_inside(op)
            read = dict.fromkeys(value for each in gone for value in each._operands)
            for each in gone:
                self._forget(each)
                self._session.unlinked(each)
                self._dead[id(each)] = each
                self._lineage.pop(each, None)
            erase_op(op)
            for value in read:
                producer = value.owner
                if not isinstance(producer, Operation) or id(producer) in self._dead:
                    continue
                if self._erase_dead and producer.parent is not None and is_dead(producer, self._session.purity):
                    stack.append(producer)
                elif self._counts_users or _has_one_user(value):  # A condition on the number of users may hold now.
                    self._touch(users_of((value,)))

    def _forget(self, op: Operation) -> None:
        for index in self._session.indexes.values():
            index.forget(op)

    def _touch_around(self, block: Block | None) -> None:
        """Looks again at the ops around a block that has changed, since conditions may look at their regions."""
        parent = None if block is None else block.parent_op()
        while parent is not None and not parent.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            self._forget(parent)
            self._enqueue(parent)
            parent = parent.parent_op()

    def _touch(self, ops: Iterable[Operation]) -> None:
        """Looks again at `ops` and at their users, as far as patterns reach down."""
        level = list(ops)
        for _ in range(self._levels):
            following: list[Operation] = []
            for op in level:
                self._enqueue(op)
                following += users_of(op.results)
            if not following:
                break
            level = list(dict.fromkeys(following))

    def _enqueue(self, op: Operation, *, first: bool = False) -> None:
        if id(op) not in self._queued and id(op) not in self._dead:
            self._queued.add(id(op))
            if first:
                self._work.appendleft(op)
            else:
                self._work.append(op)


def _locate(match: Match, values: Sequence[SSAValue]) -> None:
    """
    Gives the new ops the location of all ops that the left side matched. An equal op that takes the place of a root
    stands for both.
    """
    matched = dict.fromkeys((*match.roots, *(each for each in match.bound.values() if isinstance(each, Operation))))
    location = fuse((op.location for op in matched), match.rule.name)
    known = match.root.location
    for new_op in (*match.new_ops, *match.new_functions):
        for op in op_and_inside(new_op):
            if op.location is known or isinstance(op.location, UnknownLoc):
                op.location = location
    made = set(match.new_ops)
    for value in values:
        owner = value.owner
        if isinstance(owner, Operation) and owner not in made and owner.name == match.root.name:
            owner.location = fuse((owner.location, match.root.location), match.rule.name)


def remark_text(remark: str, about: Sequence[Any]) -> str:
    """Returns `remark` with `{name}` and `{users}` filled in from the first of the things that it is about."""
    thing = about[0] if about else None
    value = thing.results[0] if isinstance(thing, Operation) and thing.results else thing
    if not isinstance(value, SSAValue):
        return remark
    name = f"%{value.name_hint}" if value.name_hint is not None else f"the result of '{_owner_name(value)}'"
    return remark.replace("{name}", name).replace("{users}", str(value.uses.get_length()))


def _has_one_user(value: SSAValue) -> bool:
    first = use = value.first_use
    while first is not None and use is not None:
        if use._operation is not first._operation:
            return False
        use = use._next_use
    return first is not None


def _owner_name(value: SSAValue) -> str:
    return value.op.name if isinstance(value, OpResult) else "block argument"


def _reason(error: Exception) -> str:
    """Returns the line of an xDSL verification message that says what is wrong."""
    lines = [line.strip(" |") for line in str(error).splitlines() if line.strip()]
    marked = [line for line in lines if "does not verify:" in line]
    return (marked[0].partition("does not verify:")[2].strip() if marked else lines[-1]) if lines else str(error)


def is_dead(op: Operation, purity: Purity) -> bool:
    """Returns whether `op` can be erased, because nothing uses it and it has no effect. It may be able to fail."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return bool(op.results) and purity.is_pure(op)


def program_order(scope: Operation, enter: Callable[[Operation], bool] = lambda op: True) -> list[Operation]:
    """
    Returns the ops inside `scope`, as they are now: producers before users, and the ops of a region before the op that
    holds it.

    Blocks come in reverse postorder, unreachable ones last. The walk does not recurse.
    """
    found: list[Operation] = []
    stack: list[tuple[Operation | None, Iterator[Operation]]] = [(None, iter(_ops_of(scope)))]
    while stack:
        holder, ops = stack[-1]
        for op in ops:
            if op.regions and enter(op):
                stack.append((op, iter(_ops_of(op))))
                break
            found.append(op)
        else:
            stack.pop()
            if holder is not None:
                found.append(holder)
    return found


def _ops_of(op: Operation) -> list[Operation]:
    return [each for region in op.regions for block in ordered_blocks(region) for each in ops_in(block)]


def ordered_blocks(region: Region) -> list[Block]:
    """Returns the blocks of a region, each after those that dominate it."""
    first = region.first_block
    if first is None or first is region.last_block:
        return [] if first is None else [first]
    tree = DominatorTree(region)
    order: list[Block] = []
    stack = [first]
    while stack:
        block = stack.pop()
        order.append(block)
        stack.extend(reversed(tree.children(block)))
    return order + tree.unreachable


__all__ = ["Driver", "RuleStatistics", "is_dead", "program_order", "remark_text"]
