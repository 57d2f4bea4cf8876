"""
Random patterns on random programs: the engine finds what the slow matcher finds (`slow_matcher.py`), binds what that
binds first, and neither explaining, nor partitioning, nor rewriting ever crashes or leaves an invalid program.

Half of the patterns are generalised from a part of the program, so that they match often; a share is asserted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import slow_matcher
from counts import FULL
from random_constructs import CONSTRUCTS, rule_with
from random_patterns import random_rule, sure_keys
from random_programs import CTX, random_program, values_of
from slow_matcher import arm, rule_assignments
from stepwell import reference
from stepwell.core.ir.verification import verify_module
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.parsing import parse_text
from stepwell.patterns.language import conditions as conditions
from stepwell.patterns.language.chains import Chain
from stepwell.patterns.language.combinators import Together
from stepwell.patterns.language.constraints import And, Not, Where
from stepwell.patterns.language.match import Match
from stepwell.patterns.language.patterns import Any_, Op, Or, Pattern, Rest, all_below
from stepwell.patterns.language.registry import RuleError
from stepwell.patterns.language.rules import Bound, Create, Rule
from stepwell.patterns.language.structures import Dominates
from stepwell.patterns.matching.compiled_rule import compile_rule
from stepwell.patterns.matching.dispatch import Dispatch
from stepwell.patterns.running.driver import Driver
from stepwell.patterns.running.explain import explain
from stepwell.patterns.running.matching import match_compiled
from stepwell.patterns.running.partition import partition
from stepwell.patterns.running.sweeps import rewrite
from tolerances import check_same
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

PROGRAMS = 4200 if FULL else 120
PAIRS = 5
"""Rules per program; the pairs of the acceptance list are `PROGRAMS * PAIRS`."""
CHUNKS = 6
TAKEN = 1000
"""Assignments of the slow matcher in which those of the engine must be, where the order is free."""
REWRITTEN = 3000 if FULL else 60
"""Programs that are partitioned, and as many that are rewritten."""


@dataclass
class Figures:
    """What a run of the comparison met."""

    pairs: int = 0
    matching: int = 0
    values: int = 0
    matches: int = 0
    refused: int = 0


def inside_of(part: Pattern) -> list[Pattern]:
    """What is below a part and stands for many values."""
    found = getattr(part, "path", None), getattr(part, "step", None), getattr(part, "each", None)
    return [each for each in found if each is not None]


def keys_of(rule: Rule) -> list[str]:
    """Keys of everything that stands for one thing: not of what is inside a path."""
    inside = {
        each.key  # type: ignore[attr-defined]
        for part in all_below(rule.lhs)
        for inner in inside_of(part)
        for each in all_below(inner)
    }
    return [each.key for each in all_below(rule.lhs) if each.key not in inside]  # type: ignore[attr-defined]


def same(one: object, other: object) -> bool:
    """Equal but for an op in the place of its value."""
    if isinstance(one, Operation) and isinstance(other, SSAValue):
        return one is other.owner
    if isinstance(other, Operation) and isinstance(one, SSAValue):
        return other is one.owner
    return slow_matcher.same(one, other)


def differences(rule: Rule, found: Match, way: dict[str, object]) -> list[str]:
    """Keys that the engine and an assignment bind to different things, and alternatives that differ."""
    wrong = [
        key
        for key in keys_of(rule)
        if (key in found.bound) is not (key in way) or (key in way and not same(found.bound[key], way[key]))
    ]
    alternatives = [each for each in all_below(rule.lhs) if isinstance(each, Or) and each.key in keys_of(rule)]
    wrong += [each.key for each in alternatives if found.arm(each) != way.get(arm(each.key))]
    paths = [each for each in all_below(rule.lhs) if isinstance(each, Dominates) and each.key in way]
    for each in paths:
        covered = way.get(slow_matcher.path(each.key))
        if covered and frozenset(found.all(each.path)) != covered:
            wrong.append(slow_matcher.path(each.key))
    chains = [each for each in all_below(rule.lhs) if isinstance(each, Chain) and each.key in way]
    for each in chains:
        covered = way.get(slow_matcher.path(each.key))
        if covered and each.key in keys_of(rule) and found.all(each.step) != covered:
            wrong.append(slow_matcher.path(each.key))
    return wrong


def has_a_choice(pattern: Pattern) -> bool:
    """Whether a rule that has this part may match although the part, or one alternative of it, never does."""
    return (
        isinstance(pattern, Or | Not | Dominates | Chain)
        or (isinstance(pattern, Rest) and pattern.each is not None)
        or (isinstance(pattern, Op) and len(pattern.names) > 1)
    )


def compare(module: ModuleOp, rule: Rule, figures: Figures) -> None:
    """The engine against the slow matcher at every value of a program. What is refused matches nothing."""
    before = figures.matches
    figures.pairs += 1
    try:
        compiled = compile_rule(rule, CTX)
    except RuleError as error:
        if not any(has_a_choice(each) for each in all_below(rule.lhs)):
            ways = (way for value in values_of(module) for way in rule_assignments(rule, value))
            assert next(ways, None) is None, f"{error}\n{rule.lhs} {rule.when}\n{module}"
            figures.refused += 1
        return
    dispatch = Dispatch([compiled])
    has_several = any(isinstance(each, Together) for each in all_below(rule.lhs))
    for value in values_of(module):
        found = match_compiled(compiled, value)
        way = next(rule_assignments(rule, value), None)
        assert found.matched is (way is not None), f"at {value}\n{rule.lhs} {rule.when}\n{module}"
        figures.values += 1
        if way is not None:
            figures.matches += 1
            if isinstance(value, OpResult):
                assert compiled in dispatch.candidates(value.op), f"not tried at {value}\n{rule.lhs}\n{module}"
            wrong = differences(rule, found, way)
            if wrong and has_several:  # which of several users is found first is not in the order of this matcher
                others = islice(rule_assignments(rule, value), TAKEN)
                wrong = [] if any(not differences(rule, found, each) for each in others) else wrong
            assert not wrong, f"{wrong} at {value}\n{rule.lhs} {rule.when}\n{module}"
    figures.matching += figures.matches > before


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_as_the_slow_matcher(chunk: int) -> None:
    figures = Figures()
    for seed in range(chunk, PROGRAMS, CHUNKS):
        choose = random.Random(seed)
        module = random_program(choose)
        for number in range(PAIRS):
            compare(module, random_rule(choose, module, derived=(seed + number) % 2 == 0), figures)
    assert figures.pairs == PROGRAMS // CHUNKS * PAIRS
    assert figures.matching >= figures.pairs / 4, figures


PAIRS_OF_EACH = 20_000 if FULL else 20
PAIRS_OF_ONE_PROGRAM = 10


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_each_construct_as_the_slow_matcher(construct: str) -> None:
    """Every rule has the construct. Some say nothing that can hold, so fewer of them match."""
    figures, choose = Figures(), random.Random(500_000 + CONSTRUCTS.index(construct))
    while figures.pairs < PAIRS_OF_EACH:
        module = random_program(choose)
        for _ in range(PAIRS_OF_ONE_PROGRAM):
            rule = rule_with(construct, choose, module, random_rule)
            if rule is not None:
                compare(module, rule, figures)
    assert figures.matching >= figures.pairs / 8, figures


@pytest.mark.parametrize(("seed", "pair"), [(761, 1)])
def test_what_once_differed(seed: int, pair: int) -> None:
    """An injective rule has names for a branch and for another result of it (761)."""
    choose = random.Random(seed)
    module = random_program(choose)
    rules = [random_rule(choose, module, derived=(seed + number) % 2 == 0) for number in range(pair + 1)]
    figures = Figures()
    compare(module, rules[pair], figures)
    assert figures.matches


def forget_functions(choose: random.Random, module: ModuleOp) -> None:
    """Leaves of some private functions no more than their types, so that calls of them may do anything."""
    for function in [op for op in module.ops if isinstance(op, func.FuncOp)]:
        if function.sym_visibility is not None and choose.random() < 0.7:
            types = function.function_type
            declared = func.FuncOp.external(function.sym_name.data, types.inputs.data, types.outputs.data)
            declared.properties["sym_visibility"] = function.sym_visibility
            module.body.block.insert_op_before(declared, function)
            function.detach()


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_effects_as_the_slow_matcher(chunk: int) -> None:
    """Rules that replace their root leave it alone where it has an effect, unless they are told."""
    left = taken = 0
    for seed in range(chunk, REWRITTEN, CHUNKS):
        choose = random.Random(400_000 + seed)
        module = random_program(choose)
        rules = [with_effects(choose, random_rule(choose, module, derived=choose.random() < 0.7)) for _ in range(PAIRS)]
        forget_functions(choose, module)
        ops = list(dict.fromkeys(value.op for value in values_of(module) if isinstance(value, OpResult)))
        for rule in rules:
            if is_refused(rule):
                continue
            compiled = compile_rule(rule, CTX)
            picks = slow_matcher.is_one_result(rule.lhs)
            for value in [op.results[0] for op in ops if picks or len(op.results) == 1]:
                ways = (way for each in value.op.results for way in rule_assignments(rule, each))
                found, way = match_compiled(compiled, value), next(ways, None)
                assert found.matched is (way is not None), f"at {value}\n{rule.lhs} {rule.when}\n{module}"
                taken += way is not None and slow_matcher.has_effect(value.op)
                left += way is None and next(rule_assignments(replace(rule, effects=True), value), None) is not None
    assert left >= REWRITTEN // CHUNKS / 3 and taken, (left, taken)


def with_effects(choose: random.Random, rule: Rule) -> Rule:
    """`rule` with a new op in the place of its root, and at times with the word that effects do not matter."""
    lhs = Op(("func.call", "scf.if", "scf.for")) if choose.random() < 0.5 else rule.lhs
    made = Create("graph.negative", (Bound(slow_matcher.key_of(lhs)),))
    return replace(rule, name="effects", lhs=lhs, rhs=(made,), when=(), effects=choose.random() < 0.3)


# Nothing crashes, and what was valid stays so


def inputs(function: func.FuncOp) -> list[Any]:
    """Arrays for the arguments of `main`; sizes `?` are 3."""
    made: list[Any] = []
    random_ = np.random.default_rng(7)
    for type_ in function.function_type.inputs.data:
        if str(type_) == "i1":
            made.append(np.array(True))
            continue
        shape = [3 if size < 0 else size for size in type_.get_shape()]  # type: ignore[attr-defined]
        kind = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i1": np.bool_}[str(type_.element_type)]  # type: ignore[attr-defined]
        made.append((random_.standard_normal(shape) * 2).astype(kind))
    return made


def results(module: ModuleOp) -> tuple[Any, ...] | None:
    """What `main` gives; `None` for a program with ops that the reference does not run."""
    if any(op.name in ("graph.call_kernel", "cf.br") for op in module.walk()):
        return None
    (main,) = [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main"]
    weights = {"w": np.ones(4, np.float32)}
    kept = [op for op in module.ops if op.name != "tensor_loop.func"]
    copy = ModuleOp([op.clone() for op in kept])
    return reference.run(copy, "main", *inputs(main), weights=weights)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_explain_agrees_with_match(chunk: int) -> None:
    for seed in range(chunk, REWRITTEN, CHUNKS):
        choose = random.Random(300_000 + seed)
        module = random_program(choose)
        # Explanations are of patterns, which know nothing of the other names of an injective rule.
        rule = replace(random_rule(choose, module, derived=seed % 3 > 0), when=(), injective=False)
        if is_refused(rule):
            continue
        compiled = compile_rule(rule)
        for value in values_of(module):
            assert explain(rule.lhs, value).matched is match_compiled(compiled, value).matched


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_partition_keeps_the_results(chunk: int) -> None:
    made = 0
    for seed in range(chunk, REWRITTEN, CHUNKS):
        choose = random.Random(100_000 + seed)
        module = random_program(choose)
        expected = results(module)
        for derived in (True, True, False):
            rule = random_rule(choose, module, derived=derived)
            if is_refused(rule):
                continue
            for function in [op for op in module.ops if isinstance(op, func.FuncOp)]:
                made += len(partition(rule, function, ctx=CTX, duplicate=choose.random() < 0.5))
            verify_module(module)
            found = results(module)
            if expected is not None and found is not None:
                check_same(found, expected)
    assert made >= REWRITTEN // CHUNKS


def is_refused(rule: Rule) -> bool:
    """Whether a rule can never mean what it says."""
    try:
        compile_rule(rule, CTX)
    except RuleError:
        return True
    return False


REPLACEMENTS = ("graph.negative", "graph.abs", "graph.square", "graph.logical_not")
EXPECTED_ERRORS = ("no fixed point", "still changes", "something that needs it", "makes an invalid")
"""What docs/rewrites.md lets go wrong, by an error that names the rule: no end, a cycle, an op that is not valid."""


def keys_at_root(pattern: Pattern) -> set[str]:
    """Keys that stand for the root itself."""
    below = (pattern.child,) if isinstance(pattern, Dominates) else pattern.parts()
    deeper = below if isinstance(pattern, And | Or | Where | Dominates) else ()
    return {slow_matcher.key_of(pattern), *(key for part in deeper for key in keys_at_root(part))}


def with_replacement(choose: random.Random, rule: Rule) -> Rule | None:
    """`rule` with something in the place of the root: a part of the match, or a new op on one."""
    keys = [key for key in sure_keys(rule.lhs) if key not in keys_at_root(rule.lhs)]
    if not keys:
        return None
    part = Bound(choose.choice(keys))
    made = part if choose.random() < 0.6 else Create(choose.choice(REPLACEMENTS), (part,))
    return replace(rule, name=f"r{part.key}", rhs=(made,))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_rewriting_leaves_a_valid_program(chunk: int) -> None:
    changed = 0
    for seed in range(chunk, REWRITTEN, CHUNKS):
        choose = random.Random(200_000 + seed)
        module = random_program(choose)
        made = [with_replacement(choose, random_rule(choose, module, derived=True)) for _ in range(3)]
        rules = [rule for rule in made if rule is not None and not is_refused(rule)]
        for by_worklist in (True, False):
            copy = module.clone()
            try:
                changed += bool(
                    Driver(CTX, rules, limit=20).run(copy) if by_worklist else rewrite(rules, copy, ctx=CTX, limit=10)
                )
            except OperationError as error:
                assert any(word in str(error) for word in EXPECTED_ERRORS), f"{rules}\n{module}"
                assert any(rule.name in str(error) for rule in rules)
            else:
                verify_module(copy)
    assert changed >= REWRITTEN // CHUNKS / 3


# Found by the tests above, and mended


NESTED_LOOP = """
func.func @main(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> {
  %lo = arith.constant 0 : index
  %hi = arith.constant 1 : index
  %r = scf.if %b -> (tensor<4xf32>) {
    %s = scf.for %k = %lo to %hi step %hi iter_args(%c = %x) -> (tensor<4xf32>) {
      %e = graph.exp %c : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}"""


def test_arguments_of_nested_blocks_are_no_parameters() -> None:
    module = parse_text(CTX, NESTED_LOOP, "t.mlir")
    main = module.body.block.first_op
    assert isinstance(main, func.FuncOp)
    (made,) = partition(Op(("scf.if",)), main, ctx=CTX)
    verify_module(module)
    assert [arg.name_hint for arg in made.body.block.args] == ["b", "lo", "hi", "x"]


@pytest.mark.parametrize("first", [False, True])
def test_a_value_of_the_block_outside_must_come_before_the_branch(first: bool) -> None:
    type_ = "tensor<4xf32>"
    tanh = f"%t = graph.tanh %x : ({type_}) -> {type_}"
    module = parse_text(
        CTX,
        f"""func.func @main(%x: {type_}, %b: i1) -> ({type_}, {type_}) {{
  {tanh if first else ""}
  %a = scf.if %b -> ({type_}) {{
    %e = graph.exp %x : ({type_}) -> {type_}
    scf.yield %e : {type_}
  }} else {{
    scf.yield %x : {type_}
  }}
  {"" if first else tanh}
  func.return %a, %t : {type_}, {type_}
}}""",
        "t.mlir",
    )
    x = Any_("x")
    both = Together((Op(("graph.exp",), (x,), key="e"), Op(("graph.tanh",), (x,), key="t")))
    Driver(CTX, [Rule("exp-is-tanh", both, (Bound("t"),))]).run(module)
    verify_module(module)
    assert any(op.name == "graph.exp" for op in module.walk()) != first
