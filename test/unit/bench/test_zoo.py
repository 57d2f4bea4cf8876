"""bench/zoo.py: its arguments, its table and its verdict. Networks are not built here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from stepwell.runtime.looking.profile import Call, Profile

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))

import page  # noqa: E402
import zoo  # noqa: E402
from models import greatest_error, sample  # noqa: E402

KERNELS = [
    {"name": "conv", "calls": 3, "share": 0.5, "roof": 0.8},
    {"name": "copy", "calls": 1, "share": 0.2, "roof": 0.0},
]


def row(name: str, ratio: float, **more: Any) -> dict[str, Any]:
    ms = {"stepwell": 10.0, "onnxruntime": 10.0 * ratio}
    return {"model": name, "ms": ms, "ratio": ratio, "best": "onnxruntime", "error": 1e-6, **more}


def test_a_row_names_the_kernels_that_take_longest() -> None:
    found = zoo.cells(row("net", 1.5, compile=2.0, kernels=KERNELS), 2)
    assert found == ["net", "10.00", "15.00", "-", "1.50", "onnxruntime", "1e-06", "2.0", "conv ×3 50% (80%), copy 20%"]
    assert len(found) == len(zoo.HEADER)
    assert zoo.cells({"model": "lost", "ms": {}}, 3) == ["lost", *"-" * 8]


def test_kernels_are_ranked_by_their_least_times() -> None:
    def profile(conv: float, copy: float) -> Profile:
        calls = Call("conv", "a:1", 2, conv, 1000, 8), Call("copy", "a:2", 1, copy, 0, 8)
        return Profile(calls, conv + copy, 1)

    conv, copy = zoo.least_times([profile(4.0, 9.0), profile(6.0, 1.0)], rate=1.0)
    assert conv == {"name": "conv", "calls": 2, "microseconds": 4.0, "share": 0.8, "roof": 0.5}
    assert (copy["name"], copy["share"], copy["roof"]) == ("copy", 0.2, 0.0)


def test_the_page_has_the_table() -> None:
    result = {"rounds": 5, "machine": {"date": "2026-11-23"}, "networks": [row("net", 1.5)], "notes": ["1 network"]}
    text = page.zoo_text(result)
    assert text.startswith("#### Networks of torchvision\n\nOne thread, 5 rounds, on 2026-11-23.\n\n| network |")
    assert text.endswith("\n| net | 10.00 | 15.00 | - | 1.50 | onnxruntime | 1e-06 | - | - |\n\n* 1 network")


def test_the_page_has_the_single_ops() -> None:
    notes = ["2 cases beside onnxruntime, geometric mean 1.50", "1 cases below 0.85:", "  0.80 5.0 4.0  50%  Sin f64"]
    text = page.ops_text({"rounds": 3, "machine": {"date": "2026-11-23"}, "notes": notes})
    assert text.startswith("#### Single ops\n\nOne thread, 3 rounds, on 2026-11-23. A line has the ratio")
    assert text.endswith("\n* 1 cases below 0.85:\n  * 0.80 5.0 4.0 50% Sin f64")


def test_the_summary_says_what_is_slow_and_wrong() -> None:
    fast = [row("a", 2.0), row("b", 1.0)]
    assert zoo.summary(fast)[0] == "2 of 2 networks, geometric mean 1.414 (floor 1.25): passes"
    wrong = row("d", 3.0)
    wrong["wrong"] = wrong.pop("ratio")
    assert zoo.cells(wrong, 3)[4] == "wrong"
    assert zoo.summary([*fast, row("c", 0.9), row("e", 0.5), wrong]) == [
        "4 of 5 networks, geometric mean 0.974 (floor 1.25): fails",
        "2 below 0.95: e, c",
        "1 without a right result: d",
    ]


def test_outputs_are_compared() -> None:
    assert len(sample([[1.0] * 9000])) <= 4096
    assert greatest_error([[1.0, 2.0]], [[1.0, 4.0]]) == 0.5
    assert greatest_error([[1.0]], [[1.0], [2.0]]) == greatest_error([[float("nan")]], [[1.0]]) == float("inf")


def test_arguments_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        zoo.main(["--only", "("])
    assert "--only takes a regular expression, found '('" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="no network matches 'perceptron'; --list prints the names"):
        zoo.main(["--only", "perceptron", "--list"])
    zoo.main(["--only", "^vgg", "--list"])
    assert capsys.readouterr().out == "vgg11\n"
