"""Memory that is given back after a compilation: code of LLVM, and weights that have been packed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.core.weights import write_weights
from stepwell.runtime.native import memory
from stepwell.runtime.program import preparing
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.description import Argument, Entry
from stepwell.runtime.program.preparing import preparation_order, run_all

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems tell no sizes of mappings")

MLP = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<1x256xf32>) -> tensor<1x256xf32> {
    %w = graph.weight "w" : tensor<256x256xf32>
    %y = graph.matmul %x, %w : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
    func.return %y : tensor<1x256xf32>
  }
}
"""


def resident(name: str, permissions: str = "") -> int:
    """Returns the bytes that the process has in memory of files whose path ends so."""
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        fields = line.split()
        if not fields[0].endswith(":"):
            inside = name in fields[-1] and permissions in fields[1]
        elif inside and fields[0] == "Rss:":
            found += int(fields[1]) * 1024
    return found


@linux
def test_pages_of_llvm_go_and_come_back() -> None:
    text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
    stepwell.compile(text, cache=False)
    before, constants = resident("libllvmlite", "r-xp"), resident("libllvmlite", "r--p")
    memory.give_back()
    assert resident("libllvmlite", "r-xp") < before // 2
    assert resident("libllvmlite", "r--p") < constants // 2
    x = np.ones(4, np.float32)
    assert np.array_equal(stepwell.compile(text, cache=False)(x)[0], x)


@linux
@pytest.mark.parametrize("least", [1, 1 << 40])
def test_packed_weights_leave_the_memory_of_the_process(
    least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "WORTH_IT", least)
    given_back: list[None] = []
    monkeypatch.setattr(preparing, "give_back", lambda: given_back.append(None))
    matrix = np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32)
    write_weights(tmp_path / "w.safetensors", {"w": matrix})
    (tmp_path / "p.mlir").write_text(MLP)
    exe = stepwell.compile(tmp_path / "p.mlir", cache=False)
    assert exe.programs()[None].prepared
    assert resident(str(tmp_path / "w.safetensors")) <= 8192  # the page with the header, and that with the end
    assert bool(given_back) == (least == 1)
    x = np.ones((1, 256), np.float32)
    assert np.allclose(exe(x)[0], x @ matrix, rtol=1e-4, atol=1e-4)


def entry(name: str, key: str, weight: int, arena: int = 0) -> Entry:
    arguments = [Argument("weight", key, ArrayType("f32", (weight,)), key)]
    arguments += [Argument("arena", "arena", ArrayType("i8", (arena,)), "")] if arena else []
    return Entry(name, tuple(arguments))


def test_what_needs_most_is_packed_first() -> None:
    entries = [entry("a", "w0", 4), entry("b", "w1", 4, arena=8), entry("c", "w2", 5), entry("d", "w3", 4)]
    assert [each.name for each in preparation_order(entries)] == ["b", "c", "a", "d"]
    reading = [entry("a", "w0", 4), entry("b", "@a#0", 50)]
    assert preparation_order(reading) == reading


@pytest.mark.parametrize("threads", [1, 2])
def test_all_are_packed_once_and_the_first_error_is_raised(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "WORTH_THREADS", 0)
    entries = [entry(name, f"w{name}", 4) for name in "abcdef"]
    done: list[str] = []
    run_all(entries, threads, lambda each: done.append(each.name))
    assert sorted(done) == list("abcdef")

    def fail(each: Entry) -> None:
        if each.name in "bd":
            raise ValueError(each.name)

    with pytest.raises(ValueError, match="b"):
        run_all(entries, threads, fail)


def test_those_that_read_each_other_are_packed_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "WORTH_THREADS", 0)
    entries = [entry("a", "w0", 4), *(entry(name, "@a#0", 50) for name in "bcd")]
    done: list[str] = []
    run_all(entries, 4, lambda each: done.append(each.name))
    assert done == list("abcd")


@linux
def test_pages_that_the_linker_has_written_stay() -> None:
    """They are the mappings of which `smaps` tells no anonymous pages."""
    stepwell.compile("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")
    wanted: list[int] = []
    start = None
    for line in Path("/proc/self/smaps").read_text().splitlines():
        fields = line.split()
        if not fields[0].endswith(":"):
            ours = "libllvmlite" in fields[-1] and fields[1] in ("r-xp", "r--p")
            start = int(fields[0].partition("-")[0], 16) if ours else None
        elif start is not None and fields[:2] == ["Anonymous:", "0"]:
            wanted.append(start)
    assert [first for first, _ in memory._pages_of_llvm()] == wanted
    assert len(wanted) > 1
