"""Arena planning: buffers alive at one time never overlap, and the plan is close to the lower bound."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.lowering import arena
from stepwell.lowering.arena import ALIGNMENT, Lifetime, aligned, plan_arena

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


def test_nothing_needs_nothing() -> None:
    assert plan_arena([]).size == 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(lifetimes, st.booleans(), st.booleans())
def test_no_two_live_buffers_overlap(buffers: list[Lifetime], reuse: bool, many: bool) -> None:
    with patch.object(arena, "MOST_BY_SIZE", -1 if many else 2000):
        plan = plan_arena(buffers, reuse)
    for i, one in enumerate(buffers):
        assert plan.offsets[i] % ALIGNMENT == 0
        assert plan.offsets[i] + one.size <= plan.size
        for j, other in enumerate(buffers[:i]):
            if one.overlaps(other) and one.size and other.size:
                apart = (
                    plan.offsets[i] + one.size <= plan.offsets[j]
                    or plan.offsets[j] + other.size <= plan.offsets[i]
                )
                assert apart
    assert plan.peak <= plan.size <= sum(aligned(b.size) for b in buffers)
