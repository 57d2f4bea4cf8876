"""Random patterns on random graphs: nothing crashes, and matches are those of a slow matcher written on its own."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from stepwell.core.parsing import make_context, parse_text
from stepwell.core.verification import verify_module
from stepwell.dialects.traits import is_commutative
from stepwell.rewrites.engine.constraints import And, Argument, Not, Where
from stepwell.rewrites.engine.explain import explain
from stepwell.rewrites.engine.matching import match
from stepwell.rewrites.engine.partition import partition
from stepwell.rewrites.engine.patterns import Any_, Constant, Op, Or, Pattern
from stepwell.rewrites.engine.structures import Dominates, Function, If, call
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

CTX = make_context()
F = "tensor<4xf32>"
UNARY = ("exp", "relu", "tanh")
BINARY = ("add", "subtract", "multiply")


def random_program(choose: random.Random, window: int = 4) -> ModuleOp:
    """A function with ops, constants, branches and calls, mostly of the last `window` values; it may return several."""
    values, lines = ["%x", "%y"], []
    for number in range(choose.randrange(3, 12)):
        name, pick = f"%v{number}", choose.random()
        if pick < 0.4:
            lines.append(
                f"{name} = graph.{choose.choice(UNARY)} {choose.choice(values[-window:])} : ({F}) -> {F}"
            )
        elif pick < 0.8:
            left, right = choose.choice(values[-window:]), choose.choice(values[-window:])
            lines.append(f"{name} = graph.{choose.choice(BINARY)} {left}, {right} : ({F}, {F}) -> {F}")
        elif pick < 0.87:
            lines.append(f"{name} = graph.full {choose.choice(('0.0', '1.0'))} : {F}")
        elif pick < 0.94:
            lines.append(f"{name} = func.call @f({choose.choice(values)}) : ({F}) -> {F}")
        else:
            arms = [f"{{\n%t = graph.{choose.choice(UNARY)} {choose.choice(values)} : ({F}) -> {F}\nscf.yield %t : {F}\n}}" for _ in range(2)]  # fmt: skip
            lines.append(f"{name} = scf.if %b -> ({F}) {arms[0]} else {arms[1]}")
        values.append(name)
    returned = [values[-1], *choose.sample(values, choose.randrange(0, 2))]
    types = ", ".join([F] * len(returned))
    body = "\n".join(lines)
    helper = (
        f"func.func private @f(%u: {F}) -> {F} {{\n%r = graph.exp %u : ({F}) -> {F}\nfunc.return %r : {F}\n}}"
    )
    main = f"func.func @main(%x: {F}, %y: {F}, %b: i1) -> ({types}) {{\n{body}\nfunc.return {', '.join(returned)} : {types}\n}}"
    return parse_text(CTX, f"{main}\n{helper}", "t.mlir")


def random_pattern(choose: random.Random, depth: int, shared: list[Pattern], plain: bool = False) -> Pattern:
    """A pattern; `plain` ones are those that the slow matcher knows."""
    if depth == 0 or choose.random() < 0.1:
        leaf = choose.choice(
            (Any_(), Any_(), Constant(), Argument(), Argument(choose.randrange(3)), *shared[:2])
        )
        if isinstance(leaf, Any_):
            shared.append(leaf)
        return leaf

    def below() -> Pattern:
        return random_pattern(choose, depth - 1, shared, plain)

    pick = choose.random()
    if pick < 0.3:
        return Op((f"graph.{choose.choice(UNARY)}",), (below(),))
    if pick < 0.6:
        return Op((f"graph.{choose.choice(BINARY)}",), (below(), below()))
    if pick < 0.7:
        return Or((below(), below()))
    if pick < 0.75:
        return And((below(), below()))
    if pick < 0.8:
        return Not(below())
    if pick < 0.85:
        inner = below()
        return inner.single_use() if choose.random() < 0.5 else inner.has_shape(choose.choice((4, 5, None)))
    if plain:
        return Op(())
    if pick < 0.93:
        return Dominates(below(), below(), below())
    if pick < 0.97:
        return call(Function(None, below()), below())
    return If(below(), below(), below())


def values_of(module: ModuleOp) -> list[SSAValue]:
    found: list[SSAValue] = []
    for op in module.walk():
        found += op.results
        found += [arg for region in op.regions for block in region.blocks for arg in block.args]
    return found


@pytest.mark.parametrize("seed", range(150))
def test_no_crash(seed: int) -> None:
    choose = random.Random(seed)
    module = random_program(choose)
    pattern = random_pattern(choose, choose.randrange(1, 4), [])
    for value in values_of(module):
        assert explain(pattern, value).matched is (match(pattern, value) is not None)
    function = module.body.ops.first
    assert isinstance(function, func.FuncOp)
    partition(pattern, function, ctx=CTX)
    verify_module(module)


# A slow matcher: all ways to match, as a list of sets of bindings


Binding = dict[str, object]


def ways(pattern: Pattern, value: SSAValue, bound: Binding) -> list[Binding]:
    key: str = getattr(pattern, "key")  # noqa: B009
    mine: object = value.owner if isinstance(pattern, Op) else value
    if key in bound and bound[key] is not mine:
        return []
    return [{**way, key: mine} for way in _ways(pattern, value, bound)]


def _ways(pattern: Pattern, value: SSAValue, bound: Binding) -> list[Binding]:
    match pattern:
        case Any_():
            return [bound]
        case Constant():
            return [bound] if isinstance(value, OpResult) and value.op.name == "graph.full" else []
        case Argument(index):
            fits = not isinstance(value, OpResult) and index in (None, value.index)  # type: ignore[attr-defined]
            return [bound] if fits else []
        case Or(arms):
            return [way for arm in arms for way in ways(arm, value, bound)]
        case And(parts):
            found = [bound]
            for part in parts:
                found = [way for each in found for way in ways(part, value, each)]
            return found
        case Not(inner):
            return [] if ways(inner, value, bound) else [bound]
        case Where(inner, test):
            return ways(inner, value, bound) if test.why_not(value, None) is None else []  # type: ignore[arg-type]
        case Op(names, operands):
            return _op_ways(names, operands, value, bound)
        case _:
            raise AssertionError(pattern)


def _op_ways(
    names: tuple[str, ...], operands: tuple[Pattern, ...] | None, value: SSAValue, bound: Binding
) -> list[Binding]:
    if (
        not isinstance(value, OpResult)
        or len(value.op.results) != 1
        or (names and value.op.name not in names)
    ):
        return []
    if operands is None:
        return [bound]
    given = list(value.op.operands)
    found: list[Binding] = []
    for order in permutations(given) if is_commutative(value.op) else [tuple(given)]:
        step = [bound] if len(order) == len(operands) else []
        for part, operand in zip(operands, order, strict=False):
            step = [way for each in step for way in ways(part, operand, each)]
        found += step
    return found


@pytest.mark.parametrize("seed", range(200))
def test_as_the_slow_matcher(seed: int) -> None:
    choose = random.Random(1000 + seed)
    module = random_program(choose)
    patterns = [random_pattern(choose, choose.randrange(1, 4), [], plain=True) for _ in range(5)]
    for pattern in patterns:
        for value in values_of(module):
            assert (match(pattern, value) is not None) is bool(ways(pattern, value, {})), (
                f"{pattern}\n{module}"
            )


# Dominators by their definition


def parents_by_definition(child: Operation, path: set[str], parent: str) -> list[SSAValue]:
    """Every value that `parent` names, such that all is as `Dominates` says; by trying each."""
    block = child.parent
    assert block is not None
    return [op.results[0] for op in block.ops if op.name == parent and _is_parent(op, child, path)]


def _is_parent(parent: Operation, child: Operation, path: set[str]) -> bool:
    if parent is child:
        return False
    between, stack, reached = set[Operation](), [child], False
    while stack:
        op = stack.pop()
        inner = [
            v.owner
            for v in op.operands
            if isinstance(v, OpResult) and v.op.operands and v.op.parent is child.parent
        ]
        if not inner:
            return False
        for each in inner:
            assert isinstance(each, Operation)
            if each is parent:
                reached = True
            elif each.name not in path:
                return False
            elif each not in between:
                between.add(each)
                stack.append(each)
    inside = between | {child}
    return reached and all(use.operation in inside for op in (parent, *between) for use in op.results[0].uses)


@pytest.mark.parametrize("seed", range(300))
def test_dominators_by_definition(seed: int) -> None:
    choose = random.Random(5000 + seed)
    module = random_program(choose, window=2)
    path = {f"graph.{name}" for name in choose.sample(UNARY + BINARY, choose.randrange(3, 7))}
    parent = f"graph.{choose.choice(UNARY + BINARY)}"
    pattern = Dominates(top := Op((parent,)), Op(tuple(sorted(path))), Op(()))
    for value in values_of(module):
        found = match(pattern, value)
        wanted = (
            parents_by_definition(value.op, path, parent)
            if isinstance(value, OpResult) and len(value.op.results) == 1
            else []
        )
        assert (found is not None) is bool(wanted), module
        if found is not None:
            assert any(found[top] is each for each in wanted)
