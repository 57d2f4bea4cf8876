"""Verification: dominance against a slow definition of it, the op that is blamed, and long or deep programs."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from counts import FULL
from stepwell.core.ir.dominance import DominatorTree
from stepwell.core.ir.verification import VerificationError, verify_module
from stepwell.core.text.parsing import make_context, parse, parse_text
from xdsl.dialects import arith, builtin, cf, func, test
from xdsl.dialects.builtin import ModuleOp, i1, i32
from xdsl.ir import Block, Region

CHAIN = 20_000 if FULL else 2_500


def graph_region(edges: dict[int, list[int]], count: int) -> tuple[Region, list[Block]]:
    """A region whose block i ends in a terminator with the given successors."""
    blocks = [Block() for _ in range(count)]
    for number, block in enumerate(blocks):
        block.add_op(test.TestTermOp(successors=[blocks[other] for other in edges.get(number, [])]))
    return Region(blocks), blocks


def reachable(edges: dict[int, list[int]], without: int | None) -> set[int]:
    """The blocks that a path from block 0 reaches that does not pass `without`."""
    if without == 0:
        return set()
    seen, stack = {0}, [0]
    while stack:
        for other in edges.get(stack.pop(), []):
            if other != without and other not in seen:
                seen.add(other)
                stack.append(other)
    return seen


def random_edges(source: random.Random, count: int) -> dict[int, list[int]]:
    # Block 0 is the entry, which nothing branches to.
    return {
        number: [source.randrange(1, count) for _ in range(source.choice((0, 1, 1, 2, 2, 3)))]
        for number in range(count)
    }


@pytest.mark.parametrize("seed", range(60))
def test_dominators_are_those_of_the_definition(seed: int):
    source = random.Random(seed)
    count = source.randrange(2, 12)
    edges = random_edges(source, count)
    region, blocks = graph_region(edges, count)
    tree = DominatorTree(region)
    alive = reachable(edges, None)
    assert [blocks.index(block) for block in tree.unreachable] == sorted(set(range(count)) - alive)
    for above in alive:
        cut_off = alive - reachable(edges, above)
        for below in alive:
            assert tree.dominates(blocks[above], blocks[below]) == (below in cut_off)


def test_dominator_tree_of_a_diamond():
    region, blocks = graph_region({0: [1, 2], 1: [3], 2: [3]}, 4)
    tree = DominatorTree(region)
    assert tree.children(blocks[0]) == blocks[1:]
    assert tree.immediate_dominator(blocks[0]) is None
    assert tree.immediate_dominator(blocks[3]) is blocks[0]


@pytest.mark.parametrize("seed", range(40))
def test_verifier_accepts_exactly_the_dominated_uses(seed: int):
    """One value is defined in a random block and used in another, of a random control flow graph."""
    source = random.Random(1000 + seed)
    count = source.randrange(2, 9)
    edges = {number: others[:2] for number, others in random_edges(source, count).items()}
    defining, using = source.randrange(count), source.randrange(count)
    module = branching_module(edges, count, defining, using)
    alive = reachable(edges, None)
    valid = using not in alive or (
        defining in alive and using in alive - reachable(edges, defining) and defining != using
    )
    if valid:
        verify_module(module)
    else:
        with pytest.raises(VerificationError, match="operand 0"):
            verify_module(module)


def branching_module(edges: dict[int, list[int]], count: int, defining: int, using: int) -> ModuleOp:
    function = func.FuncOp("main", ((i1,), ()), Region([Block(arg_types=[i1]), *[Block() for _ in range(count - 1)]]))
    blocks = list(function.body.blocks)
    definition = test.TestOp(result_types=[i32])
    blocks[using].add_op(test.TestOp(operands=[definition.results[0]]))
    blocks[defining].add_op(definition)
    for number, block in enumerate(blocks):
        others = [blocks[other] for other in edges.get(number, [])]
        if not others:
            block.add_op(func.ReturnOp())
        elif len(others) == 1:
            block.add_op(cf.BranchOp(others[0]))
        else:
            block.add_op(cf.ConditionalBranchOp(blocks[0].args[0], others[0], [], others[1], []))
    return ModuleOp([function])


def test_the_failing_op_is_blamed_and_not_its_parents():
    with pytest.raises(VerificationError) as caught:
        parse("func.func @f(%x: i32) -> i64 {\n  func.return %x : i32\n}\n")
    assert caught.value.op.name == "func.return"
    assert str(caught.value).startswith("<text>:2:3: error: 'func.return': ")
    assert "builtin.module" not in str(caught.value)


def test_the_first_error_in_program_order_is_reported():
    program = "func.func @f(%x: i32) {\n  %a = arith.addi %b, %x : i32\n  %b = arith.addi %c, %x : i32\n"
    program += "  %c = arith.addi %x, %x : i32\n  func.return\n}\n"
    with pytest.raises(VerificationError, match=r"operand 0 \(%b\) is used before its definition at line 3"):
        parse(program)


def test_regions_of_one_op_do_not_see_each_others_values():
    first, second = Block(arg_types=[i32]), Block()
    first.add_op(test.TestTermOp())
    second.add_op(test.TestTermOp(operands=[first.args[0]]))
    op = test.TestOp(regions=[Region(first), Region(second)])
    with pytest.raises(VerificationError, match="in a region that this op is not in"):
        verify_module(ModuleOp([op]))


def test_an_erased_value_is_reported():
    defining = arith.ConstantOp.from_int_and_width(1, 32)
    using = test.TestOp(operands=[defining.result])
    module = ModuleOp([defining, using])
    defining.detach()
    defining.erase(safe_erase=False)
    with pytest.raises(VerificationError, match="has been erased"):
        verify_module(module)


def test_a_value_defined_inside_the_op_that_reads_it_is_reported():
    text = """
        func.func @main(%n: index) {
          %c0 = arith.constant 0 : index
          scf.for %i = %c0 to %i step %n {
          }
          func.return
        }"""
    with pytest.raises(VerificationError, match="'scf.for': operand 1 is not defined before the op"):
        verify_module(parse_text(make_context(), text))


def test_a_value_of_a_detached_op_is_reported():
    defining = arith.ConstantOp.from_int_and_width(1, 32)
    with pytest.raises(VerificationError, match="outside of the program"):
        verify_module(ModuleOp([test.TestOp(operands=[defining.result])]))


def test_a_property_among_the_attributes_is_reported():
    function = func.FuncOp("main", ((), ()), Region([Block([func.ReturnOp()])]))
    function.attributes["sym_visibility"] = builtin.StringAttr("private")
    with pytest.raises(VerificationError, match="'sym_visibility' is a property of this op"):
        verify_module(ModuleOp([function]))


def test_a_bare_exception_of_a_verifier_becomes_a_verification_error(monkeypatch: pytest.MonkeyPatch):
    def broken(self: arith.AddiOp) -> None:
        raise KeyError("value")

    module = parse("func.func @f(%x: i32) {\n  %a = arith.addi %x, %x : i32\n  func.return\n}\n")
    monkeypatch.setattr(arith.AddiOp, "verify_", broken)
    with pytest.raises(VerificationError, match="value"):
        verify_module(module)


def chain(count: int) -> Iterator[str]:
    yield "func.func @main(%v0: i32) -> i32 {\n"
    for number in range(count):
        yield f"  %v{number + 1} = arith.addi %v{number}, %v{number} : i32\n"
    yield f"  func.return %v{count} : i32\n}}\n"


def test_a_long_chain_goes_through_parse_verify_and_print():
    module = parse("".join(chain(CHAIN)))
    verify_module(module)
    text = str(module)
    assert text.count("arith.addi") == CHAIN
    assert str(parse(text, verify=False)) == text


def test_a_late_use_in_a_long_chain_is_found():
    lines = list(chain(CHAIN))
    lines[10], lines[-2] = lines[-2], lines[10]
    module = parse_text(make_context(), "".join(lines))
    with pytest.raises(VerificationError, match="used before its definition"):
        verify_module(module)


def test_verification_does_not_recurse_into_depth():
    block = Block([test.TestTermOp()])
    for _ in range(5000):
        outer = Block()
        outer.add_op(test.TestTermOp(regions=[Region(block)]))
        block = outer
    verify_module(ModuleOp(Region(block)))
