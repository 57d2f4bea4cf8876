"""Turns of threads while a program is compiled."""

import sys

import pytest
from stepwell.runtime.native.taking_turns import TURN, short_turns


def test_blocks_that_overlap_set_the_interval_back_once():
    usual = sys.getswitchinterval()
    first, second = short_turns(), short_turns()
    with first:
        assert sys.getswitchinterval() == pytest.approx(TURN, abs=1e-6)
        second.__enter__()
    assert sys.getswitchinterval() == pytest.approx(TURN, abs=1e-6)
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_turns_that_are_shorter_already_stay():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(TURN / 2)
    shorter = sys.getswitchinterval()  # Python keeps whole microseconds.
    try:
        with pytest.raises(ValueError), short_turns():
            assert sys.getswitchinterval() == pytest.approx(shorter, abs=1e-6)
            raise ValueError
        assert sys.getswitchinterval() == pytest.approx(shorter, abs=1e-6)
    finally:
        sys.setswitchinterval(usual)
