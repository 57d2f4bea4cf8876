"""Arena planning: buffers alive at one time never overlap, and the plan is close to the lower bound."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.roles import BUFFER_ALIGNMENT, aligned
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.buffers import arena
from stepwell.lowering.buffers.arena import Lifetime, plan_arena
from stepwell.lowering.buffers.times import Clock
from xdsl.dialects import func

lifetimes = st.lists(
    st.builds(
        lambda size, start, length: Lifetime(size, start, start + length),
        st.integers(0, 5000),
        st.integers(0, 20),
        st.integers(0, 8),
    ),
    max_size=25,
)


def test_a_chain_needs_two_buffers() -> None:
    plan = plan_arena([Lifetime(64, i, i + 1) for i in range(10)])
    assert plan.size == plan.peak == 128


def test_without_reuse_every_buffer_has_its_own_bytes() -> None:
    plan = plan_arena([Lifetime(10, i, i) for i in range(3)], reuse=False)
    assert plan.offsets == (0, 64, 128)
    assert plan.size == 192
    assert plan.peak == 64


@pytest.mark.parametrize("seed", range(300 if FULL else 25))
def test_random_graphs_come_close_to_their_bound(seed: int) -> None:
    """Few sizes, short lives and now and then a long one, as in nets."""
    choose = random.Random(seed)
    count = choose.randint(5, 200)
    sizes = [choose.choice((1, 2, 4, 4, 8, 16)) * choose.choice((1000, 1024, 4096, 3136)) for _ in range(6)]
    buffers = [
        Lifetime(choose.choice(sizes), i, min(i + 1 + int(choose.expovariate(0.5)), count)) for i in range(count)
    ]
    plan = plan_arena(buffers)
    assert plan.size <= 1.1 * plan.peak
    assert plan == plan_arena(buffers)


def test_branches_share_bytes_and_loops_keep_what_they_read() -> None:
    text = """
    func.func @f(%x: tensor<4xf32>, %c: i1, %lo: index) -> tensor<4xf32> {
      %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %b = scf.if %c -> (tensor<4xf32>) {
        %t = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
        scf.yield %t : tensor<4xf32>
      } else {
        %u = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
        scf.yield %u : tensor<4xf32>
      }
      %r = scf.for %i = %lo to %lo step %lo iter_args(%acc = %b) -> (tensor<4xf32>) {
        %v = graph.add %acc, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        scf.yield %v : tensor<4xf32>
      }
      func.return %r : tensor<4xf32>
    }"""
    module = parse_text(make_context(), text)
    block = next(op for op in module.ops if isinstance(op, func.FuncOp)).body.block
    clock = Clock(block)
    named = {r.name_hint: r for op in block.walk() for r in op.results}
    branches = [named[name].owner.parent_block() for name in ("t", "u")]
    assert branches[0] is not None and branches[1] is not None
    ends = [clock.last_use(named["t"], branches[0]), clock.last_use(named["u"], branches[1])]
    starts = [clock.start[named[name].owner] for name in ("t", "u")]
    assert starts[0] <= ends[0] < starts[1] <= ends[1]
    assert clock.last_use(named["a"], block) == clock.end[named["r"].owner]
    assert clock.last_use(named["b"], block) == clock.start[named["r"].owner]
    assert clock.last_use(block.args[0], block) == starts[1]


def test_nothing_needs_nothing() -> None:
    assert plan_arena([]).size == 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(lifetimes, st.booleans(), st.booleans())
def test_no_two_live_buffers_overlap(buffers: list[Lifetime], reuse: bool, many: bool) -> None:
    with patch.object(arena, "MOST_BY_SIZE", -1 if many else 2000):
        plan = plan_arena(buffers, reuse)
    for i, one in enumerate(buffers):
        assert plan.offsets[i] % BUFFER_ALIGNMENT == 0
        assert plan.offsets[i] + one.size <= plan.size
        for j, other in enumerate(buffers[:i]):
            if one.overlaps(other) and one.size and other.size:
                apart = plan.offsets[i] + one.size <= plan.offsets[j] or plan.offsets[j] + other.size <= plan.offsets[i]
                assert apart
    assert plan.peak <= plan.size <= sum(aligned(b.size) for b in buffers)
