"""Exported programs under memcheck of valgrind (`make test-memcheck`): what it finds, and a few programs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import memcheck_driver
import numpy as np
import pytest
import stepwell
from counts import FULL
from memcheck_cases import Allocations, Case, compiled_for_memcheck, node_cases, random_cases, with_weights
from memcheck_driver import Missing, Outcome, Prepared, Report, check_tools, memcheck, prepare, run_all


def tools_are_here() -> bool:
    try:
        check_tools()
    except Missing:
        return False
    return True


needs_valgrind = pytest.mark.skipif(not tools_are_here(), reason="there is no valgrind with its header, or no cc")

FAULTS = {
    "nothing": ("out[0] = in[0]; out[1] = in[1];", 0, ""),
    "reads beyond an input": ("out[0] = in[0]; out[1] = in[1]; if (in[2] == 7.0f) out[1] = 1.0f;", 0, "Invalid read"),
    "reads a vector across the end": (
        "v4 four = *(const v4 *)in; out[0] = four[0]; out[1] = 1;",
        0,
        "Invalid read",
    ),
    "writes beyond an output": ("out[0] = in[0]; out[1] = in[1]; out[2] = 1.0f;", 0, "Invalid write"),
    "leaves an output undefined": ("out[0] = in[0];", 0, "Uninitialised byte"),
    "decides by what is undefined": (
        "float *t = malloc(8); out[0] = 0; out[1] = *(volatile float *)t > 1 ? 1 : 2; free(t);",
        0,
        "Conditional jump",
    ),
    "changes an input": ("out[0] = out[1] = 0; ((float *)in)[0] = 5;", 0, "the program changes its inputs"),
    "loses memory": ("out[0] = out[1] = 0; lose(malloc(12));", 0, "12 bytes are never freed"),
    "another result": ("out[0] = 3; out[1] = in[1];", 0, "result 0 of the exported program differs"),
    "another status": ("out[0] = out[1] = 0;", 4, "status 4, 'wrong', expected ''"),
}
"""What the function of a program does with two floats, the status that it returns, and what is said of it."""

HEADER = """
typedef struct NAME_context NAME_context;
int NAME_load(const char *weights, NAME_context **context);
int NAME_run(NAME_context *context, const void *const *inputs, void *const *outputs);
const char *NAME_error(const NAME_context *context);
void NAME_free(NAME_context *context);
"""

PROGRAM = """
#include <stdlib.h>
#include "NAME.h"
typedef float v4 __attribute__((vector_size(16), aligned(4), may_alias));
static void lose(void *block) { *(char *)block = 1; }
int NAME_load(const char *weights, NAME_context **context) { *context = NULL; return 0; }
int NAME_run(NAME_context *context, const void *const *inputs, void *const *outputs) {
  const float *in = inputs[0];
  float *out = outputs[0];
  BODY
  return STATUS;
}
const char *NAME_error(const NAME_context *context) { return STATUS ? "wrong" : ""; }
void NAME_free(NAME_context *context) {}
"""


def by_hand(folder: Path, faults: Mapping[str, tuple[str, int, str]] = FAULTS) -> Iterator[Prepared]:
    """Programs with faults, written in C where an exported program would be."""
    numbers = np.array([1, 2], np.float32)
    for index, (name, (body, status, _)) in enumerate(faults.items()):
        prefix = f"m{index}"
        text = PROGRAM.replace("NAME", prefix).replace("BODY", body).replace("STATUS", str(status))
        (folder / f"{prefix}.h").write_text(HEADER.replace("NAME", prefix))
        (folder / f"{prefix}.c").write_text(text)
        (folder / f"{prefix}.in").write_bytes(numbers.tobytes())
        expected = [np.zeros(2, np.float32)] if "= out[1] = 0" in body else [numbers]
        if name == "reads a vector across the end":
            expected = [np.array([1, 1], np.float32)]
        yield Prepared(Case(name, None, [numbers]), prefix, False, expected, "", [(8, 4), (8, 4)], None)
    sources = sorted(each.name for each in folder.glob("*.c"))
    subprocess.run(["cc", "-O0", "-g", "-w", "-c", *sources], cwd=folder, check=True)


@needs_valgrind
def test_every_kind_of_fault_is_found(tmp_path: Path) -> None:
    found = {each.name: each.message for each in run_all(list(by_hand(tmp_path)), tmp_path, [1])}
    assert found.pop("nothing") == ""
    for name, message in found.items():
        assert FAULTS[name][2] in message, f"{name}: {message}"


@needs_valgrind
def test_a_driver_that_ends_early_is_a_fault_of_the_rest(tmp_path: Path) -> None:
    faults = {"nothing": FAULTS["nothing"], "aborts": ("abort();", 0, ""), "after": FAULTS["nothing"]}
    first, *others = run_all(list(by_hand(tmp_path, faults)), tmp_path, [2])
    assert first == Outcome("nothing", 2)
    for each in others:
        assert "the driver ended with code -6 and says nothing of this program" in each.message


def test_tools_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Missing, match="memcheck needs 'valgrind', which is not installed: install valgrind"):
        check_tools()
    for tool, expected in (
        ("valgrind", "memcheck needs 'cc', which is not installed: install a C compiler such as gcc"),
        ("cc", "memcheck needs the header <valgrind/memcheck.h>: install the development files of valgrind"),
    ):
        (tmp_path / tool).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
        with pytest.raises(Missing, match=expected):
            check_tools()


def test_arguments_become_weights() -> None:
    text = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<f32>) -> (tensor<4xf32>) {
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %0, %z : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
"""
    arrays = [np.full(shape, 2, np.float32) for shape in ((4,), (4,), ())]
    changed, inputs, weights = with_weights(text, arrays)
    assert changed.startswith('func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>) {\n  %y = graph.weight "y"')
    assert len(inputs) == 1 and list(weights) == ["y", "z"]
    (found,) = stepwell.compile(changed, weights=weights, cache=False)(*inputs)
    np.testing.assert_array_equal(found, np.full(4, 6, np.float32))


def test_temporaries_are_blocks_and_small_loops_are_shared() -> None:
    text = """func.func @main(%x: tensor<40x24xf32>) -> (tensor<40x24xf32>) {
  %0 = graph.softmax %x, axis = -1 : (tensor<40x24xf32>) -> tensor<40x24xf32>
  func.return %0 : tensor<40x24xf32>
}
"""
    counter = Allocations()
    with compiled_for_memcheck(True, counter):
        shared = stepwell.compile(text, target="x86-64-v3", cache=False).ir("scf")
    assert counter.count == shared.count("memref.alloc()") > 0 and "stepwell.chunk" in shared
    assert "arena" not in shared
    with compiled_for_memcheck(False, counter):
        alone = stepwell.compile(text, target="x86-64-v3", cache=False).ir("scf")
    assert "stepwell.chunk" not in alone


def test_a_program_that_cannot_be_compiled_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memcheck_driver, "run_all", lambda *_: iter(()))
    (found,) = memcheck([Case("wrong", "func.func @other() { func.return }", [])], tmp_path)
    assert "cannot be compiled: CompileError: the module has no function @main" in found.message
    assert str(found).startswith("failed: wrong on 0 threads: cannot")


@pytest.mark.skipif(shutil.which("cc") is None or not FULL, reason="three programs, with the large counts")
@needs_valgrind
def test_a_few_programs(tmp_path: Path) -> None:
    report = Report("a few")
    cases = [*random_cases(6, 2), *node_cases(6, 1)]
    assert [str(each) for each in memcheck(cases, tmp_path, report) if each.message] == []
    assert report.programs == 3 and report.summary.startswith("a few: 3 programs (")


def test_what_a_program_is_expected_to_fail_with(tmp_path: Path) -> None:
    text = """func.func @main(%x: tensor<4xf32>, %i: tensor<1xi64>) -> (tensor<1xf32>) {
  %0 = graph.take %x, %i, axis = 0 : (tensor<4xf32>, tensor<1xi64>) -> tensor<1xf32>
  func.return %0 : tensor<1xf32>
}
"""
    found = prepare(Case("take", text, [np.zeros(4, np.float32), np.array([9])]), "m0", tmp_path)
    assert "graph.take: index out of range" in found.error and found.outputs == []
    assert found.sizes == [(16, 4), (8, 8), (4, 4)]
