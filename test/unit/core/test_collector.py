"""The cycle collector waits while a program is compiled, and is put back as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Barrier

import pytest
from at_once import at_once
from stepwell.core.messages.collector import PATIENCE, patient_collector


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_waits_inside_and_not_after() -> None:
    with patient_collector():
        assert gc.get_threshold() == (PATIENCE, 10, 10)
        with patient_collector():
            assert gc.get_threshold()[0] == PATIENCE
        assert gc.get_threshold()[0] == PATIENCE
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_puts_it_back() -> None:
    with pytest.raises(ValueError), patient_collector():
        raise ValueError
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("first", [0, PATIENCE + 1])
def test_what_waits_for_longer_stays(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with patient_collector():
        assert gc.get_threshold()[0] == first
    assert gc.get_threshold()[0] == first


def test_what_is_set_inside_stays() -> None:
    with patient_collector():
        gc.set_threshold(5, 6, 7)
    assert gc.get_threshold() == (5, 6, 7)


def test_the_last_of_several_threads_puts_it_back() -> None:
    meet = Barrier(4)

    def use(_: int) -> None:
        with patient_collector():
            meet.wait()
            assert gc.get_threshold()[0] == PATIENCE
            meet.wait()

    at_once(4, use)
    assert gc.get_threshold() == (700, 10, 10)
