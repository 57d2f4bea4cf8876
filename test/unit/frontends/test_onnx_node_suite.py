"""
The node tests of the `onnx` package: every case that counts is imported and run natively, or refused at import. CI runs
a twelfth of a fixed sample that has one case of each operator. `STEPWELL_FULL=1` runs all, and compares
docs/onnx_coverage.md (`STEPWELL_UPDATE_DOCS=1` writes it).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from counts import FULL
from onnx_node_report import PAGE, page
from onnx_node_runner import CRASHES, DIFFERS, FAILS, HANGS, PASSES, REFUSED, Outcome, Worker, outcomes
from onnx_node_suite import counted_cases

PARTS = 12
"""The sample is in parts, of which CI runs one."""

STRIDE = 120
"""One of so many cases is in the sample beside those of the operators."""

WORKERS = int(os.environ.get("WORKERS", "2"))


@cache
def sample() -> list[str]:
    """The first case of each operator, and one of `STRIDE` of all."""
    first: dict[tuple[str, bool], str] = {}
    names = []
    for number, case in enumerate(counted_cases()):
        fresh = first.setdefault((case.family, case.expanded), case.name) == case.name
        if number % STRIDE == 0 or (fresh and not case.expanded):
            names.append(case.name)
    return names


def refused_by_the_page() -> set[str]:
    """The cases that docs/onnx_coverage.md lists as refused."""
    lines = [item for item in re.split(r"\n(?=- |\n)", PAGE.read_text()) if item.startswith("- refused")]
    return {name for line in lines for name in re.findall(r"`(test_\w+)`", line)}


def unsound(found: list[Outcome]) -> list[str]:
    return [f"{each.name} {each.state}: {each.message}" for each in found if each.state not in (PASSES, REFUSED)]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("part", ["all"] if FULL else range(PARTS))
def test_cases_pass_or_are_refused(part: int | str) -> None:
    if part == "all":
        check_page(list(outcomes([case.name for case in counted_cases()], WORKERS)))
    else:
        found = list(outcomes(sample()[int(part) :: PARTS]))
        assert not unsound(found)
        refused = {each.name for each in found if each.state == REFUSED}
        assert refused <= refused_by_the_page()


def check_page(found: list[Outcome]) -> None:
    """All cases are sound, nine in ten pass, and the page says so."""
    text = page(found)
    if os.environ.get("STEPWELL_UPDATE_DOCS") == "1":
        PAGE.write_text(text)
    assert not unsound(found)
    passing = {each.name for each in found if each.state == PASSES}
    for expanded in (False, True):
        chosen = [case.name for case in counted_cases() if case.expanded == expanded]
        assert len(passing.intersection(chosen)) >= 0.9 * len(chosen), f"expanded: {expanded}"
    assert PAGE.read_text() == text


def test_the_page_counts_what_counts() -> None:
    text = PAGE.read_text()
    for title, expanded in (("operators", False), ("expanded", True)):
        count = sum(case.expanded == expanded for case in counted_cases())
        (row,) = re.findall(rf"^\| {title} \| (\d+) \| (\d+) \| [\d.]+ % \|$", text, re.MULTILINE)
        assert int(row[0]) == count
        assert int(row[1]) >= 0.9 * count


# The runner


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A process that dies of the case `dies`, sleeps at `sleeps` and answers the others."""
    script = tmp_path / "worker.py"
    script.write_text(
        "import sys, os, json, time\n"
        "for line in sys.stdin:\n"
        "    name = line.strip()\n"
        "    if name == 'dies': os.abort()\n"
        "    if name == 'sleeps': time.sleep(1000)\n"
        "    print(json.dumps([name, 'passes', '']), flush=True)\n"
    )
    module = sys.modules[Worker.__module__]
    monkeypatch.setattr(module, "HERE", script)
    monkeypatch.setattr(module, "SECONDS", 1)
    yield


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crash_is_one_of_its_case(worker: None, workers: int) -> None:
    names = ["a", "dies", "b", "sleeps", "c"]
    found = {each.name: each.state for each in outcomes(names, workers)}
    assert found == {"a": PASSES, "dies": CRASHES, "b": PASSES, "sleeps": HANGS, "c": PASSES}


def test_what_comes_of_a_case_that_is_not_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnx_node_suite
    from onnx_node_runner import outcome_of
    from stepwell.frontends.onnx.errors import OnnxError, fail

    def ending(error: Exception | None) -> Outcome:
        def run(case: object) -> None:
            if error is not None:
                raise error

        monkeypatch.setattr(onnx_node_suite, "run_case", run)
        return outcome_of("test_abs")

    assert ending(None) == Outcome("test_abs", PASSES)
    assert ending(AssertionError("shape (1,)")) == Outcome("test_abs", DIFFERS, "shape (1,)")
    assert ending(RuntimeError("pass")) == Outcome("test_abs", FAILS, "RuntimeError: pass")
    with pytest.raises(OnnxError) as caught:
        fail("m", "broken")
    assert ending(caught.value) == Outcome("test_abs", REFUSED, "error: model 'm': broken")
