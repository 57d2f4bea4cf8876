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
)
from .patterns import Pattern, all_below
from .structures import CALLS, Call, Dominates, Function, If


def compile_structure(pattern: Dominates | Call | If, following: Next) -> ValueMatcher:
    """The matcher of a pattern that stands where a value is used."""
    match pattern:
        case Dominates():
            return _compile_dominates(pattern, following)
        case Call():
            return _compile_call(pattern, following)
        case If():
            return _compile_if(pattern, following)


# Dominators


def all_key(key: str) -> str:
    """The key under which all values that a name inside a path stands for are bound."""
    return f"{key}|all"


def _compile_dominates(pattern: Dominates, following: Next) -> ValueMatcher:
    key = pattern.key
    match_parent = compile_value(pattern.parent, following)
    walk = _compile_walk(pattern, match_parent, compile_value(pattern.parent, lambda bound: True))
    match_child = compile_value(pattern.child, walk)
    return lambda value, bound: (
        isinstance(value, OpResult) and bind(key, value, bound, lambda deeper: match_child(value, deeper))
    )


def _compile_walk(pattern: Dominates, match_parent: ValueMatcher, may_be_parent: ValueMatcher) -> Next:
    """`may_be_parent` tells cheaply, for values far up, that they are no parent."""
    key = pattern.key
    own = {getattr(part, "key") for part in all_below(pattern.path)}  # noqa: B009
    found: list[Bindings] = []
    match_path = compile_value(pattern.path, lambda bound: found.append(dict(bound)) is None)

    def walk(bound: Bindings) -> bool:
        outside = {name: thing for name, thing in bound.items() if name not in own}
        between: dict[SSAValue, Bindings] = {}

        def on_path(value: SSAValue) -> bool:
            found.clear()
            if not match_path(value, dict(outside)):
                return False
            between[value] = found[-1]
            return True

        for parent, values in dominating_parents(bound[key].op, on_path):
            if not may_be_parent(parent, dict(bound)):
                continue
            _bind_path(own, list(reversed(values)), between, bound)
            if match_parent(parent, bound):
                return True
        for name in own:
            bound.pop(all_key(name), None)
        return False

    return walk


def _bind_path(
    own: set[str], values: list[SSAValue], between: dict[SSAValue, Bindings], bound: Bindings
) -> None:
    for name in own:
        bound[all_key(name)] = tuple(between[value][name] for value in values if name in between[value])


# Functions and calls


def compile_function(pattern: Function, following: Next) -> OpMatcher:
    """The matcher of a `func.func`."""
    key, slot = pattern.key, f"{pattern.key}.returned"
    match_body = compile_value(pattern.body, following)

    step: Next = lambda bound: match_body(bound[slot], bound)  # noqa: E731
    for number, parameter in reversed(list(enumerate(pattern.parameters or ()))):
        step = _compile_parameter(parameter, key, number, step)
    arity = None if pattern.parameters is None else len(pattern.parameters)
    after_binding = compile_attributes(key, pattern.attributes, step)

    def match_function(op: Operation, bound: Bindings) -> bool:
        returned = returned_value(op)
        if returned is None:
            return False
        if arity is not None and arity != len(op.regions[0].block.args):
            return False
        bound[slot] = returned
        if bind(key, op, bound, after_binding):
            return True
        del bound[slot]
        return False

    return match_function


def returned_value(op: Operation) -> SSAValue | None:
    """The one value that a function of one block returns."""
    if not isinstance(op, func.FuncOp):
        return None
    block = op.body.first_block
    if block is None or block is not op.body.last_block:
        return None
    last = block.last_op
    return last.operands[0] if isinstance(last, func.ReturnOp) and len(last.operands) == 1 else None


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


def _compile_call(pattern: Call, following: Next) -> ValueMatcher:
    key, callee = pattern.key, pattern.callee
    step = compile_operands(pattern, following)
    match_callee = compile_function(callee, step) if isinstance(callee, Function) else None

    def match_function(bound: Bindings) -> bool:
        assert match_callee is not None
        function = called_function(bound[key], bound[MATCH])
        return function is not None and match_callee(function, bound)

    after_binding = step if match_callee is None else match_function

    def match_call(value: SSAValue, bound: Bindings) -> bool:
        if not isinstance(value, OpResult) or value.op.name not in CALLS or len(value.op.results) != 1:
            return False
        if isinstance(callee, str) and called_name(value.op) != callee:
            return False
        return bind(key, value.op, bound, after_binding)

    return match_call


# Branches


def _compile_if(pattern: If, following: Next) -> ValueMatcher:
    key, slot = pattern.key, f"{pattern.key}.result"
    match_otherwise = compile_value(pattern.otherwise, following)

    def second(bound: Bindings) -> bool:
        value = yielded(bound[key].regions[1], bound[slot])
        return value is not None and match_otherwise(value, bound)

    match_then = compile_value(pattern.then, second)

    def first(bound: Bindings) -> bool:
        value = yielded(bound[key].regions[0], bound[slot])
        return value is not None and match_then(value, bound)

    match_condition = compile_value(pattern.condition, first)

    def match_if(value: SSAValue, bound: Bindings) -> bool:
        if not isinstance(value, OpResult) or not isinstance(value.op, scf.IfOp):
            return False
        known = bound.get(slot)
        if known is not None and known != value.index:
            return False
        bound[slot] = value.index
        op = value.op
        if bind(key, op, bound, lambda deeper: match_condition(op.cond, deeper)):
            return True
        if known is None:
            del bound[slot]
        return False

    return match_if


def yielded(region: object, index: int) -> SSAValue | None:
    """What a branch of an `scf.if` yields as result `index`."""
    block = getattr(region, "last_block", None)
    last = None if block is None else block.last_op
    if not isinstance(last, scf.YieldOp) or index >= len(last.operands):
        return None
    return last.operands[index]


__all__ = ["all_key", "called_function", "called_name", "compile_function", "compile_structure"]
