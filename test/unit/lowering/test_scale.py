"""Long programs reach native code (A4); two processes with different hash seeds write the same bytes (A6)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.loops.inline_blocks import MOST_ADDED
from stepwell.testing.programs.program_generators import random_program

ROOT = Path(__file__).resolve().parents[3]

T = "tensor<3x4xi32>"


def chain(length: int) -> str:
    """`x`, then in turn an addition of `x`, a negation and a transposition there and back; exact in integers."""
    lines, value = [], "%x"
    for k in range(length):
        match k % 3:
            case 0:
                lines.append(f"%v{k} = graph.add {value}, %x : ({T}, {T}) -> {T}")
            case 1:
                lines.append(f"%v{k} = graph.negative {value} : ({T}) -> {T}")
            case _:
                lines.append(f"%v{k} = graph.multiply {value}, %x : ({T}, {T}) -> {T}")
        value = f"%v{k}"
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @main(%x: {T}) -> {T} {{\n{body}  func.return {value} : {T}\n}}\n"


def expected(length: int, x: np.ndarray) -> np.ndarray:
    value = x
    with np.errstate(over="ignore"):
        for k in range(length):
            value = (value + x, -value, value * x)[k % 3]
    return value


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("level", range(4))
def test_a_chain_of_300_ops_runs(level: int) -> None:
    x = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)
    (found,) = stepwell.compile(chain(300), opt_level=level, cache=False)(x)
    np.testing.assert_array_equal(found, expected(300, x))


def test_a_group_of_300_ops_becomes_one_block() -> None:
    text = (
        chain(300)
        .replace("@main", "private @group")
        .replace(f"-> {T} {{", f"-> {T} attributes {{graph.primitive}} {{", 1)
    )
    text += (
        f"func.func @main(%x: {T}) -> {T} {{\n  %0 = func.call @group(%x) : ({T}) -> {T}\n  func.return %0 : {T}\n}}\n"
    )
    x = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)
    program = stepwell.compile(text, pipeline="to-loops", cache=False)
    np.testing.assert_array_equal(program(x)[0], expected(300, x))
    assert program.ir("tensor_loop").count("tensor_loop.block") == 1


def test_a_long_chain_goes_through_the_middle_without_recursion() -> None:
    length = 20_000 if FULL else 2_000
    context = make_context()
    module = parse_text(context, chain(length), "chain.mlir")
    for name in ("lower-graph-to-loops", "fuse-loops", "inline-loops", "bufferize"):
        run_pipeline(context, module, parse_pipeline(name))
    text = str(module)
    assert text.count("tensor_loop.call") == length and text.count("tensor_loop.func") == 4
    # However long a chain is, it needs no buffer: after the first op (a kernel of its own) all work in the place of the
    # result.
    assert "stepwell.bytes" not in text


def outputs(folder: Path, *arguments: str) -> list[bytes]:
    """The standard output of `stepwell-opt` under two hash seeds, each in a process of its own."""
    found: list[bytes] = []
    for seed in ("1", "4242"):
        finished = subprocess.run(
            [sys.executable, str(ROOT / "tools" / "opt.py"), *arguments],
            capture_output=True,
            check=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        found.append(finished.stdout)
    return found


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("arguments", [("-p", "O2"), ("-p", "O3", "-t", "llvm-ir")])
def test_output_does_not_depend_on_the_hash_seed(arguments: tuple[str, ...], tmp_path: Path) -> None:
    seeds = range(6) if FULL else (3,)
    for seed in seeds:
        (tmp_path / "p.mlir").write_text(random_program(seed, 14 if FULL else 6, smooth=True).text)
        first, second = outputs(tmp_path, "p.mlir", *arguments)
        assert first == second and len(first) > 500


def doubled(levels: int) -> str:
    """Each value is the one before twice."""
    lines = [f"func.func @main(%v0: tensor<3xf32>) -> tensor<{3 << levels}xf32> {{"]
    for k in range(levels):
        one, two = f"tensor<{3 << k}xf32>", f"tensor<{6 << k}xf32>"
        lines.append(f"  %v{k + 1} = graph.concat %v{k}, %v{k} : ({one}, {one}) -> {two}")
    return "\n".join([*lines, f"  func.return %v{levels} : tensor<{3 << levels}xf32>", "}"])


def swapped(levels: int) -> str:
    """Each value is the one before with its halves swapped."""
    lines, four, eight = ["func.func @main(%v0: tensor<8xf32>) -> tensor<8xf32> {"], "tensor<4xf32>", "tensor<8xf32>"
    for k in range(levels):
        for name, begin in (("a", 0), ("b", 4)):
            where = f"axes = [0], begin = [{begin}], end = [{begin + 4}]"
            lines.append(f"  %{name}{k} = graph.strided_slice %v{k}, {where} : ({eight}) -> {four}")
        lines.append(f"  %v{k + 1} = graph.concat %b{k}, %a{k} : ({four}, {four}) -> {eight}")
    return "\n".join([*lines, f"  func.return %v{levels} : {eight}", "}"])


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("make", [doubled, swapped])
def test_g4_moves_that_double_with_each_level_grow_by_a_bounded_number_of_ops(
    make: Callable[[int], str], level: int
) -> None:
    x = np.arange(3 if make is doubled else 8, dtype=np.float32)
    compiled = stepwell.compile(make(14), opt_level=level, cache=False, threads=1)
    assert compiled.ir("scf").count("\n") < 14 * 2 * MOST_ADDED
    np.testing.assert_array_equal(compiled(x)[0], np.tile(x, 1 << 14) if make is doubled else x)
