"""
The pattern language by brute force: every way in which a pattern stands for a value, written from docs/rewrites.md.

Nothing here is shared with the engine but the descriptions of patterns. It is slow and has no order of evaluation
but that of the page: alternatives and operands from left to right, operands of commutative ops in every order, further
roots among all values. Conditions between values (`Holds` with others) are looked at when everything is bound.
An *assignment* maps the key of a pattern to what it stands for: a value, an op (`Op`, `Function`), the tuple of the
remaining operands (`Rest`), or, under `path(key)`, the set of values that a path covers; `arm(key)` is the number of
the alternative. Two occurrences of a key stand for the same thing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import permutations
from typing import Any, Final

from stepwell.dialects.traits import is_commutative
from stepwell.rewrites.engine import constraints as c
from stepwell.rewrites.engine import structures as s
from stepwell.rewrites.engine.combinators import Expression, Together
from stepwell.rewrites.engine.patterns import (
    Any_,
    Capture,
    Constant,
    Op,
    Or,
    Pattern,
    Require,
    Rest,
    Result,
    Rule,
    Splat,
)
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ContainerType,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation

Assignment = dict[str, object]
CONSTANTS = ("graph.constant", "graph.full", "arith.constant")
LEAVES = (*CONSTANTS, "graph.weight")
CALLEES = {"func.call": "func.func", "graph.call_kernel": "tensor_loop.func"}


def arm(key: str) -> str:
    """Where an assignment keeps the number of the alternative."""
    return f"arm of {key}"


def path(key: str) -> str:
    """Where an assignment keeps the values that a path covers."""
    return f"path of {key}"


def key_of(pattern: Any) -> str:
    return pattern.key


def rule_assignments(rule: Rule, value: SSAValue) -> Iterator[Assignment]:
    """The ways in which the left side stands for `value` and all conditions of the rule hold."""
    for way in assignments(rule.lhs, value, {}):
        if all(required(each, way) for each in (*rule.when, *deferred(way))):
            yield way


DEFERRED: Final = "deferred"


def deferred(way: Assignment) -> tuple[Require, ...]:
    """The conditions between values that took part, as conditions of the rule."""
    return way.get(DEFERRED, ())  # type: ignore[return-value]


def assignments(pattern: Pattern, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which `pattern` stands for `value`, given what is bound already."""
    mine: object = value.owner if isinstance(pattern, Op) else value
    for way in _by_kind(pattern, value, bound):
        yield from bind(way, key_of(pattern), mine)


def bind(way: Assignment, key: str, thing: object) -> Iterator[Assignment]:
    """`way` with `key` standing for `thing`, unless it stands for something else already."""
    if key not in way:
        yield {**way, key: thing}
    elif same(way[key], thing):
        yield way


def same(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
    if isinstance(one, Attribute) and isinstance(other, Attribute):
        return one == other
    return one is other


def _by_kind(pattern: Pattern, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    match pattern:
        case Any_():
            yield bound
        case Constant():
            yield from _when(_op_name(value) in CONSTANTS, bound)
        case Splat(number):
            yield from _when(_is_splat(value, number), bound)
        case c.Literal(wanted):
            yield from _when(_is_literal(value, wanted), bound)
        case c.Argument(index, name):
            fits = not isinstance(value, OpResult) and index in (None, value.index)  # type: ignore[attr-defined]
            yield from _when(fits and name in (None, _argument_name(value)), bound)
        case Or(alternatives):
            for number, each in enumerate(alternatives):
                for way in assignments(each, value, bound):
                    yield {**way, arm(key_of(pattern)): number}
        case c.And(parts):
            yield from _all_of([(part, value) for part in parts], bound)
        case c.Not(inner):
            yield from _when(next(assignments(inner, value, bound), None) is None, bound)
        case c.Where(inner, c.Holds(condition, _, others)) if others:
            for way in assignments(inner, value, bound):
                require = Require(condition, (pattern.key, *others))
                yield {**way, DEFERRED: (*deferred(way), require)}
        case c.Where(inner, test):
            for way in assignments(inner, value, bound):
                yield from _when(holds(test, value), way)
        case Op():
            if isinstance(value, OpResult) and len(value.op.results) == 1:
                yield from op_assignments(pattern, value.op, bound)
        case Result(inner, index):
            if isinstance(value, OpResult) and value.index == index:
                for way in _of_op(inner, value, bound):
                    yield from bind(way, key_of(inner), value.op)
        case s.Call() | s.If():
            several = isinstance(pattern, s.If) and not isinstance(pattern.then, tuple)
            if isinstance(value, OpResult) and (several or len(value.op.results) == 1):
                yield from _of_op(pattern, value, bound)
        case Together(patterns):
            for way in assignments(patterns[0], value, bound):
                yield from _others(patterns[1:], value, [value.owner], way)
        case Expression():
            for way in _expression(pattern, pattern.value, value, {}, bound):
                yield way
        case s.Dominates():
            yield from _dominated(pattern, value, bound)
        case _:
            raise AssertionError(pattern)


def _of_op(pattern: Pattern, value: OpResult, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which a pattern of an op stands for the one that defines `value`, however many results that has."""
    if isinstance(pattern, Op):
        yield from op_assignments(pattern, value.op, bound)
    elif isinstance(pattern, s.Call):
        yield from _call(pattern, value, bound)
    elif isinstance(pattern, s.If):
        yield from _branches(pattern, value, bound)


def _when(holds: bool, bound: Assignment) -> Iterator[Assignment]:
    if holds:
        yield bound


def _all_of(pairs: list[tuple[Pattern, SSAValue]], bound: Assignment) -> Iterator[Assignment]:
    """The ways in which each pattern stands for its value."""
    if not pairs:
        yield bound
        return
    (pattern, value), rest = pairs[0], pairs[1:]
    for way in assignments(pattern, value, bound):
        yield from _all_of(rest, way)


def _op_name(value: SSAValue) -> str | None:
    return value.op.name if isinstance(value, OpResult) else None


# Ops


def op_assignments(pattern: Op, op: Operation, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which `pattern` stands for an op."""
    if (pattern.names and op.name not in pattern.names) or not op.results:
        return
    for way in _attributes(pattern.attributes, op, bound):
        yield from _operands(pattern.operands, op, way)


def _operands(wanted: tuple[Pattern, ...] | None, op: Operation, bound: Assignment) -> Iterator[Assignment]:
    if wanted is None:
        yield bound
        return
    rest = wanted[-1] if wanted and isinstance(wanted[-1], Rest) else None
    single = wanted[:-1] if rest is not None else wanted
    given = tuple(op.operands)
    if len(given) < len(single) or (rest is None and len(given) != len(single)):
        return
    for order in permutations(given) if is_commutative(op) else [given]:
        for way in _all_of(list(zip(single, order, strict=False)), bound):
            if rest is None:
                yield way
            else:
                yield from bind(way, rest.key, order[len(single) :])


def _attributes(
    wanted: tuple[tuple[str, Any], ...], op: Operation, bound: Assignment
) -> Iterator[Assignment]:
    ways = [bound]
    for name, value in wanted:
        found = _attribute(op, name)
        if isinstance(value, Capture):
            ways = [] if found is None else [new for way in ways for new in bind(way, value.key, found)]
        elif not _says(found, value):
            return
    yield from ways


def _attribute(op: Operation, name: str) -> Attribute | None:
    """A property, an attribute, or the default of a property that is absent."""
    if name in op.properties:
        return op.properties[name]
    if name in op.attributes:
        return op.attributes[name]
    definition = (
        op.get_irdl_definition().properties.get(name, None) if isinstance(op, IRDLOperation) else None
    )
    return None if definition is None else definition.default_value


def _says(found: Attribute | None, wanted: Any) -> bool:
    """Whether an attribute says what is wanted: numbers and lists by what they say, whatever their width."""
    if found is None or wanted is None:
        return found is None and wanted is None
    return _meaning(found) == _meaning(wanted) or (
        isinstance(wanted, str) and not isinstance(found, StringAttr) and str(found) == wanted
    )


def _meaning(value: Any) -> object:
    match value:
        case IntegerAttr():
            one_bit = isinstance(value.type, IntegerType) and value.type.width.data == 1
            return "integer", value.value.data % 2 if one_bit else value.value.data
        case bool() | int():
            return "integer", int(value)
        case FloatAttr():
            return "float", struct.pack(">d", value.value.data)
        case float():
            return "float", struct.pack(">d", value)
        case StringAttr():
            return "text", value.data
        case str():
            return "text", value
        case ArrayAttr():
            return [_meaning(each) for each in value.data]
        case DenseArrayBase():
            return [_meaning(each) for each in value.get_values()]
        case list() | tuple():
            return [_meaning(each) for each in value]
        case _:
            return value


# Constants and arguments


def _elements(value: SSAValue) -> tuple[str, list[Any]] | None:
    """The element type and the elements (one for all of `graph.full`) of a constant."""
    import numpy as np
    from stepwell import reference
    from xdsl.dialects import func
    from xdsl.dialects.builtin import ModuleOp

    if _op_name(value) not in CONSTANTS:
        return None
    assert isinstance(value, OpResult)
    copy = value.op.clone()
    if copy.name == "arith.constant":
        number = copy.properties["value"]
        assert isinstance(number, IntegerAttr | FloatAttr)
        data = number.value.data
        one_bit = number.type == IntegerType(1)
        return ("float" if isinstance(number, FloatAttr) else "int"), [abs(data) if one_bit else data]
    main = func.FuncOp("main", ((), (value.type,)))
    main.body.block.add_ops([copy, func.ReturnOp(copy.results[0])])
    (array,) = reference.run(ModuleOp([main]), "main")
    floating = array.dtype.kind not in "iub"
    wide = array.astype(np.float64).ravel().tolist() if floating else [int(x) for x in array.ravel()]
    return ("float" if floating else "int"), wide


def _is_splat(value: SSAValue, number: float) -> bool:
    found = _elements(value)
    if found is None or not found[1]:
        return False
    if found[0] == "int":  # compared as numbers, but none is -0.0
        return all(element == number for element in found[1]) and str(number) != "-0.0"
    return all(struct.pack(">d", element) == struct.pack(">d", number) for element in found[1])


def _is_literal(value: SSAValue, wanted: Attribute) -> bool:
    from stepwell.dialects.graph.constants import ConstantOp

    type_ = getattr(wanted, "type")  # noqa: B009
    if value.type != type_:
        return False
    found, same = _elements(value), _elements(ConstantOp.create(properties={"value": wanted}, result_types=[type_]).results[0])  # fmt: skip
    if found is None or same is None:
        return False
    bits = [[struct.pack(">d", each) for each in elements] for _, elements in (found, same)]
    return bits[0] == bits[1]


def _argument_name(value: SSAValue) -> str | None:
    block: Any = value.owner
    holder = block.parent_op()
    given = None if holder is None else holder.properties.get("arg_attrs")
    if isinstance(given, ArrayAttr):
        dictionary: Any = given.data[value.index]  # type: ignore[attr-defined]
        if "stepwell.name" in dictionary.data:
            return dictionary.data["stepwell.name"].data
    return value.name_hint


# Tests and conditions


def holds(test: c.Test, value: SSAValue) -> bool:
    """Whether a test of one value holds."""
    match test:
        case c.HasDtype(dtype):
            element = value.type.get_element_type() if isinstance(value.type, ContainerType) else value.type
            return element == dtype or str(element) == dtype
        case c.HasShape(sizes):
            if not isinstance(value.type, ShapedType) or len(value.type.get_shape()) != len(sizes):
                return False
            pairs = zip(sizes, value.type.get_shape(), strict=True)
            return all(
                wanted is None or (wanted == found and found != DYNAMIC_INDEX) for wanted, found in pairs
            )
        case c.HasType(type_):
            return value.type == type_
        case c.HasAttr(wanted):
            op = value.op if isinstance(value, OpResult) else None
            return all(op is not None and _says(_attribute(op, name), each) for name, each in wanted)
        case c.HasKind(kinds):
            return isinstance(value, OpResult) and _kind(value.op) in kinds
        case c.Holds(condition):
            return condition_holds(condition, [value])
        case _:
            raise AssertionError(test)


def _kind(op: Operation) -> str:
    from stepwell.analysis.op_kind import kind_of_op

    return kind_of_op(op).name.lower().replace("_", "-")


def required(require: Require, way: Assignment) -> bool:
    """Whether a condition of a rule holds; one that names what took no part does not."""
    things = [way.get(key) for key in require.keys]
    values = [each.results[0] if isinstance(each, Operation) else each for each in things]
    return all(isinstance(each, SSAValue) for each in values) and condition_holds(require.name, values)  # type: ignore[arg-type]


def condition_holds(name: str, values: list[SSAValue]) -> bool:
    """The conditions of docs/rewrites.md that the fuzzer uses."""
    first, others = values[0], values[1:]
    element = str(first.type.get_element_type()) if isinstance(first.type, ContainerType) else str(first.type)
    match name:
        case "single-use":
            return first.uses.get_length() == 1
        case "only-used-by":
            return all(any(use.operation is each.owner for each in others) for use in first.uses)
        case "same-shape":
            both = [each.type for each in (first, others[0])]
            if not all(
                isinstance(each, ShapedType) and DYNAMIC_INDEX not in each.get_shape() for each in both
            ):
                return False
            return both[0].get_shape() == both[1].get_shape()  # type: ignore[attr-defined]
        case "not-same":
            return first is not others[0]
        case "same-type":
            static = not isinstance(first.type, ShapedType) or DYNAMIC_INDEX not in first.type.get_shape()
            return first.type == others[0].type and static
        case "block-argument":
            return not isinstance(first, OpResult)
        case "float":
            return element in ("f16", "bf16", "f32", "f64")
        case "integer":
            return element.lstrip("su")[0] == "i"
        case "boolean":
            return element == "i1"
        case "static":
            return not isinstance(first.type, ShapedType) or DYNAMIC_INDEX not in first.type.get_shape()
        case _:
            raise AssertionError(name)


# Calls, functions, branches


def _call(pattern: s.Call, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    if not isinstance(value, OpResult) or value.op.name not in CALLEES:
        return
    symbol: Any = value.op.properties["callee"]
    assert isinstance(symbol, SymbolRefAttr)
    if isinstance(pattern.callee, str) and pattern.callee != symbol.root_reference.data:
        return
    ways: Iterator[Assignment] = iter([bound])
    if isinstance(pattern.callee, s.Function):
        callee = _function_named(symbol.root_reference.data, value.op)
        ways = iter([]) if callee is None else function_assignments(pattern.callee, callee, bound)
    for way in ways:
        yield from _operands(pattern.operands, value.op, way)


def _function_named(name: str, user: Operation) -> Operation | None:
    """The function of the module around `user` that is called `name`."""
    module = user
    while module.name != "builtin.module":
        above = module.parent_op()
        assert above is not None
        module = above
    named = [op for op in module.regions[0].block.ops if op.properties.get("sym_name") == StringAttr(name)]
    return named[0] if named and named[0].name == "func.func" else None


def function_assignments(pattern: s.Function, function: Operation, bound: Assignment) -> Iterator[Assignment]:
    """The ways in which `pattern` stands for a function of one block that returns as many values as its body."""
    if function.name != "func.func" or len(function.regions[0].blocks) != 1:
        return
    block = function.regions[0].block
    last, body = block.last_op, _several(pattern.body)
    if last is None or last.name != "func.return" or len(last.operands) != len(body):
        return
    if pattern.parameters is not None and len(pattern.parameters) != len(block.args):
        return
    for way in _attributes(pattern.attributes, function, bound):
        pairs = [
            *zip(pattern.parameters or (), block.args, strict=False),
            *zip(body, last.operands, strict=True),
        ]
        for inner in _all_of(pairs, way):
            yield from bind(inner, pattern.key, function)


def _several(patterns: Pattern | tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    return patterns if isinstance(patterns, tuple) else (patterns,)


def _branches(pattern: s.If, value: OpResult, bound: Assignment) -> Iterator[Assignment]:
    op = value.op
    if op.name != "scf.if" or not op.results:
        return
    ends = [tuple(region.block.last_op.operands) for region in op.regions]  # type: ignore[union-attr]
    if not isinstance(pattern.then, tuple):
        ends = [(each[value.index],) for each in ends]
    wanted = (_several(pattern.then), _several(pattern.otherwise))
    if len(wanted[0]) != len(ends[0]):
        return
    pairs = [
        pair for parts, found in zip(wanted, ends, strict=True) for pair in zip(parts, found, strict=True)
    ]
    yield from _all_of([(pattern.condition, op.operands[0]), *pairs], bound)


# Several roots, whole expressions


def _others(
    patterns: tuple[Pattern, ...], value: SSAValue, taken: list[Any], bound: Assignment
) -> Iterator[Assignment]:
    """The ways in which each pattern stands for a result of another op, of any in the module."""
    if not patterns:
        yield bound
        return
    module: Any = value.owner
    while (above := module.parent) is not None:
        module = above
    for op in module.walk():
        for result in op.results[:1] if op not in taken else ():
            for way in _root(patterns[0], result, bound):
                yield from _others(patterns[1:], value, [*taken, op], way)


def _root(pattern: Pattern, value: OpResult, bound: Assignment) -> Iterator[Assignment]:
    """As a root, an op may have several results."""
    if isinstance(pattern, Op):
        for way in op_assignments(pattern, value.op, bound):
            yield from bind(way, pattern.key, value.op)
    else:
        yield from assignments(pattern, value, bound)


def _expression(
    pattern: Expression, wanted: SSAValue, value: SSAValue, known: dict[SSAValue, SSAValue], bound: Assignment
) -> Iterator[Assignment]:
    """The ways in which `value` is computed as `wanted` is; `known` are the values met so far."""
    pairs = list[tuple[Pattern, SSAValue]]()
    if _computed_as(pattern, wanted, value, dict(known), pairs):
        yield from _all_of(pairs, bound)


def _computed_as(
    pattern: Expression,
    wanted: SSAValue,
    value: SSAValue,
    known: dict[SSAValue, SSAValue],
    pairs: list[tuple[Pattern, SSAValue]],
) -> bool:
    if wanted in known:
        return known[wanted] is value
    known[wanted] = value
    for hole, each in pattern.holes:
        if hole is wanted:
            pairs.append((each, value))
            return True
    if not isinstance(wanted, OpResult) or not isinstance(value, OpResult):
        return wanted is value
    if value.type != wanted.type or value.index != wanted.index:
        return False
    if wanted.op.name in CONSTANTS and value.op.name in CONSTANTS and "graph" in wanted.op.name:
        return _elements_match(wanted, value)
    one, other = wanted.op, value.op
    names = {*one.properties, *other.properties}
    same = one.name == other.name and len(one.operands) == len(other.operands) and not one.regions
    same = same and all(_attribute(one, name) == _attribute(other, name) for name in names)
    same = same and all(other.attributes.get(name) == each for name, each in one.attributes.items())
    operands = zip(one.operands, other.operands, strict=True) if same else ()
    return same and all(_computed_as(pattern, a, b, known, pairs) for a, b in operands)


def _elements_match(one: SSAValue, other: SSAValue) -> bool:
    found = [_elements(each) for each in (one, other)]
    if found[0] is None or found[1] is None:
        return False
    bits = [[struct.pack(">d", number) for number in each[1]] for each in found if each is not None]
    length = max(map(len, bits))
    return all(len(each) in (1, length) for each in bits) and all(each * (length // len(each)) == bits[0] * (length // len(bits[0])) for each in bits)  # fmt: skip


# Dominators


def _dominated(pattern: s.Dominates, value: SSAValue, bound: Assignment) -> Iterator[Assignment]:
    """For each value above the child, the nearest first: whether everything leads to it, and to it alone."""
    if not isinstance(value, OpResult) or value.op.parent is None:
        return
    for way in assignments(pattern.child, value, bound):
        for op in reversed(list(value.op.parent.ops)):
            for parent in op.results:
                between = values_between(value.op, parent)
                if between is None or not all(_fits(pattern.path, each, way) for each in between):
                    continue
                for found in assignments(pattern.parent, parent, way):
                    yield {**found, path(pattern.key): frozenset(between)}


def _fits(pattern: Pattern, value: SSAValue, bound: Assignment) -> bool:
    """Whether the path covers a value; its names stand for something else at each."""
    return next(assignments(pattern, value, bound), None) is not None


def values_between(child: Operation, parent: SSAValue) -> list[SSAValue] | None:
    """The values on the ways up from `child` to `parent`; `None` when one does not lead there or leaves them."""
    reached, found, ops = False, list[SSAValue](), [child]
    for op in ops:
        inner = [v for v in op.operands if v.owner.parent is child.parent and _op_name(v) not in (None, *LEAVES)]  # type: ignore[union-attr]  # fmt: skip
        if not inner:
            return None
        for each in inner:
            if each is parent:
                reached = True
            elif each not in found:
                found.append(each)
                if each.owner not in ops:
                    ops.append(each.owner)  # type: ignore[arg-type]
    kept = all(use.operation in ops for each in (parent, *found) for use in each.uses)
    return found if reached and kept and parent.owner not in ops else None


__all__ = ["assignments", "function_assignments", "rule_assignments"]
