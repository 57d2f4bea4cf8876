"""Patterns of larger things compiled to closures: dominators, functions, calls, branches."""

from __future__ import annotations

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, OpResult, SSAValue

from .dominators import dominating_parents
from .functions import symbol_name
from .match import Match
from .matcher import (
    MATCH,
    Bindings,
    Next,
    OpMatcher,
    ValueMatcher,
    bind,
    compile_attributes,
    compile_operands,
    compile_value,
    with_late_tests,
)
from .patterns import Pattern, all_below
from .structures import CALLS, Call, Dominates, Function, If
from .tracing import TRACER

# Dominators


def all_key(key: str) -> str:
    """The key under which all values that a name inside a path stands for are bound."""
    return f"{key}|all"


def compile_dominates(pattern: Dominates, following: Next) -> ValueMatcher:
    key = pattern.key
    match_parent = compile_value(pattern.parent, following)
    may_be_parent = _untraced(pattern.parent)
    walk = _compile_walk(pattern, match_parent, may_be_parent)
    match_child = compile_value(pattern.child, walk)
    return lambda value, bound: (
        isinstance(value, OpResult) and bind(key, value, bound, lambda deeper: match_child(value, deeper))
    )


def _untraced(pattern: Pattern) -> ValueMatcher:
    """The matcher of `pattern` alone, of whose failures `explain` does not hear."""
    token = TRACER.set(None)
    try:
        return compile_value(pattern, lambda bound: True)
    finally:
        TRACER.reset(token)


def _compile_walk(pattern: Dominates, match_parent: ValueMatcher, may_be_parent: ValueMatcher) -> Next:
    """`may_be_parent` tells cheaply, for values far up, that they are no parent."""
    key = pattern.key
    own = {getattr(part, "key") for part in all_below(pattern.path)}  # noqa: B009
    found: list[Bindings] = []
    at_end: Next = lambda bound: found.append(dict(bound)) is None  # noqa: E731
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
    """The matcher of a `func.func`."""
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
    """What the form of a function has against a pattern: one block, so many parameters and results."""
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
    """What a function of one block returns; `None` for another op."""
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
    """The name of the function that `op` calls; `None` for another op."""
    callee = op.properties.get("callee") if op.name in CALLS else None
    return callee.string_value() if isinstance(callee, SymbolRefAttr) else None


def called_function(op: Operation, match: Match) -> Operation | None:
    """The function that `op` calls, in the module around it."""
    name = called_name(op)
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    if parent is None or name is None:
        return None
    return next((each for each in parent.body.ops if symbol_name(each) == name), None)


def compile_call(pattern: Call, following: Next) -> OpMatcher:
    """The matcher of a call."""
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
        known = bound.get(key)
        if known is not None:  # matched before: only its identity matters
            return known is op and following(bound)
        return bind(key, op, bound, after_binding)

    return match_call


# Branches


def compile_if(pattern: If, following: Next) -> OpMatcher:
    """The matcher of an `scf.if` with a pattern for each result."""
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
    """The matcher of one result of an `scf.if`: that which is used, or the one that is wanted."""
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
    """What a branch of an `scf.if` yields as result `index`."""
    block = getattr(region, "last_block", None)
    last = None if block is None else block.last_op
    if not isinstance(last, scf.YieldOp) or index >= len(last.operands):
        return None
    return last.operands[index]


__all__ = [
    "all_key",
    "called_function",
    "called_name",
    "compile_call",
    "compile_dominates",
    "compile_function",
    "compile_if",
    "compile_if_result",
    "restore",
]
