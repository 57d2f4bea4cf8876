"""Patterns of larger things compiled to closures: dominators, functions, calls, branches."""

from __future__ import annotations

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, OpResult, SSAValue

from ..language.dominators import dominating_parents
from ..language.functions import module_around, symbol_name
from ..language.match import Index, Match, Session
from ..language.patterns import Pattern, all_below
from ..language.structures import CALLS, Call, Dominates, Function, If
from .compile_ops import compile_attributes, compile_operands
from .each import all_key as all_key
from .each import untraced
from .early_conditions import conditions_at_the_end
from .matcher import (
    MEANINGS,
    Meaning,
    OpMatcher,
    bind,
    by_result,
    compile_root_value,
    compile_value,
    root_names,
    with_late_tests,
)
from .tracing import MATCH, TRACER, Bindings, Next, ValueMatcher, value_name

# Dominators


def compile_dominates(pattern: Dominates, following: Next) -> ValueMatcher:
    """Returns the matcher of a value that is computed from one parent."""
    key = pattern.key
    match_parent = compile_value(pattern.parent, following)
    may_be_parent = untraced(lambda: compile_value(pattern.parent, lambda bound: True))
    walk = _compile_walk(pattern, match_parent, may_be_parent)
    match_child = compile_value(pattern.child, walk)
    return lambda value, bound: (
        isinstance(value, OpResult) and bind(key, value, bound, lambda deeper: match_child(value, deeper))
    )


def _compile_walk(pattern: Dominates, match_parent: ValueMatcher, may_be_parent: ValueMatcher) -> Next:
    """Returns the walk up. `may_be_parent` rules out values far up at low cost."""
    key = pattern.key
    own = {part.key for part in all_below(pattern.path)}
    found: list[Bindings] = []
    at_end: Next = lambda bound: found.append(dict(bound)) is None  # noqa: E731
    with conditions_at_the_end():
        match_path = compile_value(pattern.path, with_late_tests(pattern.path, at_end))
    tracer = TRACER.get()

    def walk(bound: Bindings) -> bool:
        outside = {name: thing for name, thing in bound.items() if name not in own}
        between: dict[SSAValue, Bindings] = {}

        def on_path(value: SSAValue) -> str | None:
            found.clear()
            if tracer is None:
                if not match_path(value, dict(outside)):
                    return "does not match the path"
            elif (reason := tracer.inside(lambda: match_path(value, dict(outside)))) is not None:
                return f"is not the parent and does not match the path ({reason})"
            between[value] = found[-1]
            return None

        def failed(at: Operation, reason: str) -> None:
            if tracer is not None:
                tracer.structure(bound, reason, at=at, further=1 + len(between))

        for parent, values in dominating_parents(bound[key].op, on_path, failed):
            if not may_be_parent(parent, dict(bound)):
                continue
            _bind_path(own, list(reversed(values)), between, bound)
            if match_parent(parent, bound):
                return True
        for name in own:
            bound.pop(all_key(name), None)
        return False

    return walk


def _bind_path(own: set[str], values: list[SSAValue], between: dict[SSAValue, Bindings], bound: Bindings) -> None:
    for name in own:
        bound[all_key(name)] = tuple(between[value][name] for value in values if name in between[value])


# Functions and calls


def compile_function(pattern: Function, following: Next) -> OpMatcher:
    """Returns the matcher of a `func.func`."""
    key, slot = pattern.key, f"{pattern.key}.returned"
    step = following
    for number, part in reversed(list(enumerate(pattern.returned))):
        step = _compile_slot(part, slot, number, step)
    for number, parameter in reversed(list(enumerate(pattern.parameters or ()))):
        step = _compile_parameter(parameter, key, number, step)
    arity = None if pattern.parameters is None else len(pattern.parameters)
    after_binding = compile_attributes(key, pattern.attributes, step)
    tracer = TRACER.get()

    def match_function(op: Operation, bound: Bindings) -> bool:
        reason = why_not_function(pattern, arity, op)
        if reason is not None:
            if tracer is not None:
                tracer.structure(bound, reason)
            return False
        before = bound.get(slot)
        bound[slot] = returned_values(op)
        if bind(key, op, bound, after_binding):
            return True
        restore(bound, slot, before)
        return False

    return match_function


def why_not_function(pattern: Function, arity: int | None, op: Operation) -> str | None:
    """Returns why the blocks of a function, or its numbers of parameters and results, do not fit a pattern."""
    returned = returned_values(op)
    if returned is None:
        return f"expected a function of one block, found '{op.name}'"
    name = f"@{symbol_name(op)}"
    parameters = len(op.regions[0].block.args)
    if arity is not None and arity != parameters:
        return f"expected a function of {arity} parameters, found {name} of {parameters}"
    if len(returned) != len(pattern.returned):
        return f"expected a function of {len(pattern.returned)} results, found {name} of {len(returned)}"
    return None


def restore(bound: Bindings, slot: str, before: object) -> None:
    """Gives `slot` the value that it had before a try."""
    if before is None:
        bound.pop(slot, None)
    else:
        bound[slot] = before


def _compile_slot(pattern: Pattern, slot: str, number: int, following: Next) -> Next:
    match_value = compile_value(pattern, following)
    return lambda bound: match_value(bound[slot][number], bound)


def returned_values(op: Operation) -> tuple[SSAValue, ...] | None:
    """Returns the values that a function of one block returns, or `None` for another op."""
    if not isinstance(op, func.FuncOp):
        return None
    block = op.body.first_block
    if block is None or block is not op.body.last_block:
        return None
    last = block.last_op
    return tuple(last.operands) if isinstance(last, func.ReturnOp) else None


def _compile_parameter(pattern: Pattern, key: str, number: int, following: Next) -> Next:
    match_value = compile_value(pattern, following)
    return lambda bound: match_value(bound[key].regions[0].block.args[number], bound)


def called_name(op: Operation) -> str | None:
    """Returns the name of the function that `op` calls, or `None` for another op."""
    callee = op.properties.get("callee") if op.name in CALLS else None
    return callee.string_value() if isinstance(callee, SymbolRefAttr) else None


def called_function(op: Operation, match: Match) -> Operation | None:
    """Returns the function that `op` calls, in the module around it."""
    name, module = called_name(op), module_around(op)
    return None if module is None or name is None else match.session.index(Symbols).find(module, name)


class Symbols(Index):
    """The ops of modules by name. A walk over all functions for each call would take the square of their number."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._tables: dict[ModuleOp, dict[str | None, Operation]] = {}

    def find(self, module: ModuleOp, name: str) -> Operation | None:
        """Returns the op called `name` in `module`. The table is made again where it does not have it any more."""
        found = self._tables.get(module, {}).get(name)
        if found is None or found.parent is not module.body.block or symbol_name(found) != name:
            table = self._tables[module] = {}
            for each in module.body.ops:
                table.setdefault(symbol_name(each), each)
            found = table.get(name)
        return found


def compile_call(pattern: Call, following: Next) -> OpMatcher:
    """Returns the matcher of a call."""
    key, callee = pattern.key, pattern.callee
    step = compile_operands(pattern, following)
    match_callee = compile_function(callee, step) if isinstance(callee, Function) else None

    def match_function(bound: Bindings) -> bool:
        assert match_callee is not None
        function = called_function(bound[key], bound[MATCH])
        return function is not None and match_callee(function, bound)

    after_binding = step if match_callee is None else match_function

    def match_call(op: Operation, bound: Bindings) -> bool:
        if op.name not in CALLS or not op.results:
            return False
        if isinstance(callee, str) and called_name(op) != callee:
            return False
        return bind(key, op, bound, after_binding, following)

    return match_call


# Branches


def compile_if(pattern: If, following: Next) -> OpMatcher:
    """Returns the matcher of an `scf.if` with a pattern for each result."""
    key, slot = pattern.key, f"{pattern.key}.yielded"
    then, otherwise = pattern.branches
    count = len(then)
    step = following
    for number, part in reversed(list(enumerate((*then, *otherwise)))):
        step = _compile_slot(part, slot, number, step)
    match_condition = compile_value(pattern.condition, step)

    def match_if(op: Operation, bound: Bindings) -> bool:
        if not isinstance(op, scf.IfOp) or len(op.results) != count:
            return False
        known = bound.get(key)
        if known is not None:
            return known is op and following(bound)
        values = [yielded(region, index) for region in op.regions for index in range(count)]
        if any(value is None for value in values):
            return False
        bound[slot] = tuple(values)
        if bind(key, op, bound, lambda deeper: match_condition(op.cond, deeper)):
            return True
        bound.pop(slot, None)
        return False

    return match_if


def compile_if_result(pattern: If, wanted: int | None, following: Next) -> ValueMatcher:
    """Returns the matcher of one result of an `scf.if`, which is the one that is used or the one that is wanted."""
    key, slot = pattern.key, f"{pattern.key}.result"
    then, otherwise = pattern.branches
    match_otherwise = compile_value(otherwise[0], following)

    def second(bound: Bindings) -> bool:
        value = yielded(bound[key].regions[1], bound[slot])
        return value is not None and match_otherwise(value, bound)

    match_then = compile_value(then[0], second)

    def first(bound: Bindings) -> bool:
        value = yielded(bound[key].regions[0], bound[slot])
        return value is not None and match_then(value, bound)

    match_condition = compile_value(pattern.condition, first)

    def match_if(value: SSAValue, bound: Bindings) -> bool:
        if not isinstance(value, OpResult) or not isinstance(value.op, scf.IfOp):
            return False
        if wanted is not None and value.index != wanted:
            return False
        known = bound.get(slot)
        if known is not None and known != value.index:
            return False
        bound[slot] = value.index
        op = value.op
        if bind(key, op, bound, lambda deeper: match_condition(op.cond, deeper)):
            return True
        restore(bound, slot, known)
        return False

    return match_if


def yielded(region: object, index: int) -> SSAValue | None:
    """Returns the value that a branch of an `scf.if` yields as result `index`."""
    block = getattr(region, "last_block", None)
    last = None if block is None else block.last_op
    if not isinstance(last, scf.YieldOp) or index >= len(last.operands):
        return None
    return last.operands[index]


def _compile_if_result(pattern: If, index: int | None, following: Next) -> ValueMatcher:
    if pattern.has_all_results:
        return by_result(compile_if(pattern, following), index)
    return compile_if_result(pattern, index, following)


def _compile_if_root(pattern: If, following: Next) -> OpMatcher:
    return (compile_if if pattern.has_all_results else compile_root_value)(pattern, following)


# Why not


def _why_not_dominates(pattern: Dominates, value: SSAValue, bound: Bindings) -> str | None:
    return None if isinstance(value, OpResult) else f"expected an op, found {value_name(value)}"


def _why_not_call(pattern: Call, value: SSAValue, bound: Bindings) -> str | None:
    callee = pattern.callee
    if not isinstance(value, OpResult) or value.op.name not in CALLS:
        return f"expected a call{'' if not isinstance(callee, str) else f' of @{callee}'}, found {value_name(value)}"
    if isinstance(callee, str) and called_name(value.op) != callee:
        return f"expected a call of @{callee}, found one of @{called_name(value.op)}"
    return None


def _why_not_if(pattern: If, value: SSAValue, bound: Bindings) -> str | None:
    if not isinstance(value, OpResult) or value.op.name != "scf.if":
        return f"expected 'scf.if', found {value_name(value)}"
    count = len(pattern.branches[0])
    if pattern.has_all_results and len(value.op.results) != count:
        return f"expected 'scf.if' of {count} results, found another number"
    return None


MEANINGS.update(
    {
        Dominates: Meaning(
            compile_dominates, names=lambda pattern: root_names(pattern.child), why_not=_why_not_dominates
        ),
        Function: Meaning(root=compile_function, names=lambda pattern: frozenset({"func.func"})),
        Call: Meaning(
            lambda pattern, following: by_result(compile_call(pattern, following), None),
            lambda pattern, index, following: by_result(compile_call(pattern, following), index),
            compile_call,
            lambda pattern: frozenset(CALLS),
            _why_not_call,
        ),
        If: Meaning(
            lambda pattern, following: _compile_if_result(pattern, None, following),
            _compile_if_result,
            _compile_if_root,
            lambda pattern: frozenset({"scf.if"}),
            _why_not_if,
        ),
    }
)

__all__ = ["all_key", "called_function", "called_name"]
