"""The pipelines as data. docs/passes.md holds their texts, and a test of that page compares them."""

from collections.abc import Callable

import pytest
from stepwell.lowering.pipelines import Passes, with_options, without

PASSES: Passes = ("one", "two", "one")


def test_a_pass_goes_wherever_it_stands() -> None:
    assert without(PASSES, "one") == ("two",)


def test_options_stand_in_braces() -> None:
    assert with_options(PASSES, {"two": "a=1 b=2"}) == ("one", "two{a=1 b=2}", "one")


@pytest.mark.parametrize("change", [lambda: without(PASSES, "three"), lambda: with_options(PASSES, {"three": "a=1"})])
def test_a_pass_that_is_not_there_is_refused(change: Callable[[], Passes]) -> None:
    with pytest.raises(AssertionError, match="three"):
        change()
