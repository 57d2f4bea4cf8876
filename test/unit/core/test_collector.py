"""The cycle collector waits while a program is compiled, and is put back as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Barrier

import pytest
from at_once import at_once
from stepwell.core.messages.collector import FEW, PATIENCE, patient_collector


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before, frozen = gc.get_threshold(), gc.get_freeze_count() > 0
    gc.set_threshold(700, 10, 10)
    gc.unfreeze()  # The tests are frozen, see conftest.py.
    yield
    gc.set_threshold(*before)
    if frozen:
        gc.freeze()


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


def test_many_new_objects_are_old_ones_afterwards() -> None:
    with patient_collector():
        kept = [[number] for number in range(2 * FEW)]
        assert gc.get_count()[0] > FEW
    assert gc.get_count()[0] < FEW
    assert not {id(kept), id(kept[0])} & {id(each) for each in gc.get_objects(generation=0)}
    assert gc.get_freeze_count() == 0


def test_garbage_of_many_blocks_is_collected() -> None:
    collections = gc.get_stats()[2]["collections"]
    for _ in range(PATIENCE // (4 * FEW) + 2):
        with patient_collector():
            garbage = [[] for _ in range(4 * FEW)]
            garbage[0].append(garbage)
            del garbage
            kept = [[] for _ in range(4 * FEW)]
        del kept
    assert gc.get_stats()[2]["collections"] > collections


def test_frozen_objects_stay_frozen() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with patient_collector():
            kept = [[number] for number in range(2 * FEW)]
        assert gc.get_freeze_count() == count and kept
    finally:
        gc.unfreeze()
