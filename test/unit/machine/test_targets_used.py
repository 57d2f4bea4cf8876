"""Targets in use: tiles that fit named machines, and schedules and machine code for them; docs/targets.md."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stepwell
from named_machines import EVERY, PRODUCT, TO_TILES, runs_here, scheduled_for
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.lowering.math import expand_math
from stepwell.machine.code_target import CodeTarget
from stepwell.machine.families import NAMED
from stepwell.machine.host import host_machine
from stepwell.machine.machine import Machine
from stepwell.machine.named import chosen_machine, machine_named, register_machine
from stepwell.machine.x86_64 import needed_features
from stepwell.runtime import source as reading
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native import targets
from stepwell.runtime.native.emit_assembly import AssemblyTarget
from stepwell.runtime.native.loop_runner import run_loops
from stepwell.runtime.native.targets import code_target
from stepwell.schedule.kernels.register_tiles import RegisterTile, choose_tile, fits, steps_at_once, temporaries

# Tiles


@EVERY
@pytest.mark.parametrize("element_bytes", [4, 8])
def test_tiles_fit_the_registers(name: str, element_bytes: int) -> None:
    target = NAMED[name]
    for rows in (1, 2, 7, 14, 64, 1000):
        for columns in (1, 3, 10, 16, 33, 64, 1000):
            chosen = choose_tile(rows, columns, element_bytes, target)
            assert fits(chosen.rows, -(-chosen.columns // target.lanes(element_bytes)), target)
            assert 1 <= chosen.rows <= rows and 1 <= chosen.columns <= columns


@EVERY
def test_tiles_of_integers_leave_room_for_products(name: str) -> None:
    target = NAMED[name]
    chosen = choose_tile(1000, 1000, 4, target, integers=True)
    vectors = -(-chosen.columns // target.lanes(4))
    assert fits(chosen.rows, vectors, target, integers=True)
    assert chosen.rows * vectors + vectors + temporaries(target, integers=True) < target.registers
    assert steps_at_once(chosen, 4, target, integers=True) == 1


@pytest.mark.parametrize(
    ("name", "rows", "columns", "steps"),
    [
        ("x86-64", 2, 16, 1),  # a product and a sum are two instructions
        ("x86-64-v3", 6, 16, 4),
        ("x86-64-v3", 9, 8, 1),  # tall, and elements of a take registers
        ("x86-64-v4", 28, 16, 4),  # tall, but they do not
        ("aarch64-neon", 6, 16, 4),
        ("aarch64-neon", 13, 8, 1),
    ],
)
def test_steps_of_the_sum_at_once(name: str, rows: int, columns: int, steps: int) -> None:
    assert steps_at_once(RegisterTile(rows, columns), 4, NAMED[name]) == steps


def test_tiles_of_large_products() -> None:
    found = {name: choose_tile(1024, 1024, 4, target) for name, target in NAMED.items()}
    assert {name: (each.rows, each.columns) for name, each in found.items()} == {
        "x86-64": (2, 16),
        "x86-64-v3": (6, 16),
        "x86-64-v4": (6, 64),
        "skylake-avx512": (6, 64),
        "cascade-lake": (6, 64),
        "ice-lake": (6, 64),
        "sapphire-rapids": (6, 64),
        "alder-lake": (6, 16),
        "zen4": (6, 64),
        "zen5": (6, 64),
        "aarch64-neon": (6, 16),
        "neoverse-v2": (6, 16),
    }


@pytest.mark.ci_cases(2)
@EVERY
def test_native_results_do_not_depend_on_the_schedule(name: str) -> None:
    with scheduled_for(name):
        compiled = stepwell.compile(PRODUCT, cache=False)
    tile = choose_tile(30, 90, 4, NAMED[name])
    assert f"vector<{tile.rows}x{tile.columns}xf32>" in compiled.ir("scf")
    check_product(compiled)


def check_product(compiled: stepwell.Executable) -> None:
    """`PRODUCT` on small integers gives what NumPy gives."""
    numbers = np.random.default_rng(4)
    x, w = (numbers.integers(-3, 4, shape).astype(np.float32) for shape in ((30, 70), (70, 90)))
    np.testing.assert_array_equal(compiled(x, w)[0], x @ w)


# One setting for schedules and machine code


@pytest.mark.ci_cases(4)
@EVERY
def test_a_program_runs_or_says_what_the_processor_lacks(name: str) -> None:
    compiled = stepwell.compile(PRODUCT, target=name, cache=False)
    if runs_here(name):
        check_product(compiled)
    else:
        with pytest.raises(CompileError, match=f"the program is compiled for {name}, .*this processor"):
            check_product(compiled)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    ("name", "vector", "register", "too_wide"),
    [("x86-64-v3", "vector<6x16xf32>", "ymm", "zmm"), ("skylake-avx512", "vector<6x64xf32>", "zmm", "none")],
)
def test_the_schedule_and_the_machine_code_are_for_the_target(
    name: str, vector: str, register: str, too_wide: str, tmp_path: Path
) -> None:
    text = PRODUCT.replace("30x", "24x").replace("70", "64").replace("90", "64")
    program = stepwell.compile(text, target=name, cache=False)
    with PassContext(3, config={"target": name}):
        in_context = stepwell.compile(text, cache=False)
    for each in (program, in_context):
        assert vector in each.ir("scf")
        assert register in each.ir("asm") and too_wide not in each.ir("asm")
    exported = program.export(tmp_path / "product.o")
    assert exported.header is not None and ("avx512f" in exported.header.read_text()) == (register == "zmm")
    (tmp_path / "again").mkdir()
    with PassContext(3, config={"target": "x86-64"}):  # The context of the export does not count.
        again = program.export(tmp_path / "again" / "product.o")
    assert again.code.read_bytes() == exported.code.read_bytes()
    other = program.export(tmp_path / "other.o", target="x86-64")
    assert other.header is not None and "avx" not in other.header.read_text()


def test_a_keyword_goes_before_the_context() -> None:
    with PassContext(3, config={"target": "x86-64-v3"}):
        assert "fmla" in stepwell.compile(PRODUCT, target="neoverse-v2", cache=False).ir("asm")


def test_a_target_for_a_program_is_checked_at_once() -> None:
    with pytest.raises(StepwellError, match="unknown target 'm68k'"):
        stepwell.compile(PRODUCT, target="m68k")


@pytest.fixture
def old_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """This processor, as if it had no more than SSE2."""
    here = targets.host_code_target()
    monkeypatch.setattr(targets, "host_code_target", lambda: replace(here, cpu="x86-64", features="+sse2"))


@pytest.mark.skipif(not host_machine().code_target.is_x86_64, reason="names features of x86-64")
@pytest.mark.usefixtures("old_processor")
def test_features_that_are_lacking_are_named() -> None:
    for name, lacking in (
        ("x86-64-v3", "avx, avx2, bmi, bmi2, f16c, fma, lzcnt, movbe, popcnt, sse4.2"),
        ("skylake-avx512", "avx, avx2, avx512bw, avx512cd, avx512dq, avx512f, avx512vl, bmi, .*"),
    ):
        compiled = stepwell.compile(PRODUCT, target=name, cache=False)
        expected = (
            f"the program is compiled for {name}, this processor lacks {lacking}; "
            'compile it with target="host", or export it for a machine that has them'
        )
        with pytest.raises(CompileError, match=expected):
            check_product(compiled)
        assert compiled.signature.startswith("main(x: tensor<30x70xf32>")
        with pytest.raises(CompileError, match="this processor lacks"):
            compiled.profile(*[np.ones(type_.sizes, np.float32) for _, type_ in compiled.input_types])
    assert "avx512f" in compiled.ir("asm") or "zmm" in compiled.ir("asm")
    check_product(stepwell.compile(PRODUCT, target="x86-64", cache=False))


@pytest.mark.usefixtures("old_processor")
def test_a_program_of_unknown_sizes_says_so_too() -> None:
    text = PRODUCT.replace("30x", "?x")
    compiled = stepwell.compile(text, target="neoverse-v2", cache=False)
    with pytest.raises(CompileError, match="the program is compiled for neoverse-v2, and this processor is of x86_64"):
        check_product(compiled)


@pytest.mark.usefixtures("forgotten")
def test_what_a_registered_machine_needs_follows_from_its_registers() -> None:
    register_machine(replace(machine_named("x86-64-v4"), name="mine", cpu="znver4"))
    needed = needed_features(code_target("mine"), False)
    assert {"avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma"} <= set(needed)


def test_the_compile_cache_tells_targets_apart() -> None:
    program = stepwell.compile(PRODUCT, target="x86-64", cache=False)
    keys = {program._source().for_target(name).key(None) for name in ("host", *NAMED)}
    assert len(keys) == 1 + len(NAMED)


def test_the_cache_has_what_llvm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    source = stepwell.compile(PRODUCT, target="x86-64", cache=False)._source()
    before = source.key(None)
    other = CodeTarget("x86_64-unknown-linux-gnu", "x86-64", "+avx")
    monkeypatch.setattr(reading, "code_target", lambda name: other)
    assert source.key(None) != before


def test_checks_of_schedules_run_here_whatever_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Machine] = []
    monkeypatch.setattr(expand_math, "chosen_machine", lambda option: asked.append(chosen_machine(option)) or asked[-1])
    ctx, module = make_context(), parse(PRODUCT)
    with PassContext(3, config={"target": "neoverse-v2"}):
        run_pipeline(ctx, module, TO_TILES)
        (function,) = [op for op in module.ops if op.name == "tensor_loop.func"]
        function.properties.pop("sym_visibility")
        x, w, y = (np.ones(shape, np.float32) for shape in ((30, 70), (70, 90), (30, 90)))
        run_loops(module, "matmul", [x, w, y])
    np.testing.assert_array_equal(y, x @ w)
    assert [machine.name for machine in asked] == ["host"]


@pytest.mark.parametrize(
    ("name", "instruction"),
    [
        ("x86-64", "mulps"),
        ("x86-64-v3", "vfmadd"),
        ("x86-64-v4", "zmm"),
        ("aarch64-neon", "fmla"),
        ("neoverse-v2", "fmla"),
    ],
)
def test_machine_code_for_named_machines(name: str, instruction: str) -> None:
    """Vector instructions of the machine, and nothing of the tile in memory between them."""
    binding = pytest.importorskip("llvmlite.binding")
    binding.initialize_all_targets()
    if NAMED[name].triple.startswith("aarch64"):
        try:
            binding.Target.from_triple(NAMED[name].triple)
        except RuntimeError:
            pytest.skip("this build of LLVM knows no aarch64")
    ctx, module, output = (
        make_context(),
        parse(PRODUCT.replace("30x", "24x").replace("70", "64").replace("90", "64")),
        io.StringIO(),
    )
    pipeline = f'lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu{{target="{name}"}},bufferize,to-llvm'
    run_pipeline(ctx, module, pipeline)
    AssemblyTarget(machine=name).emit(ctx, module, output)
    lines = output.getvalue().splitlines()
    assert any(instruction in line for line in lines)
    assert not any("fmaf" in line for line in lines)
    at = [number for number, line in enumerate(lines) if any(each in line for each in ("mulps", "vfma", "fmla"))]
    stack = re.compile(r"[xyz]mm\d+.*rsp|rsp.*[xyz]mm\d+|\bq\d+.*\[sp")
    assert not [line for line in lines[at[0] : at[-1]] if stack.search(line)]


@pytest.mark.parametrize("cpu", ["znver9", "i386"])
def test_a_cpu_that_llvm_does_not_know_is_a_generic_one(cpu: str) -> None:
    """LLVM ended the process, since it takes such a CPU for one of 32 bits. So this runs in a process of its own."""
    code = f"""
import stepwell
from dataclasses import replace
from stepwell.machine import register_machine
from stepwell.machine.named import machine_named
register_machine(replace(machine_named("x86-64-v3"), name="mine", cpu="{cpu}"))
program = stepwell.compile({PRODUCT!r}, target="mine", cache=False)
print("ymm" in program.ir("asm"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert ("'znver9' is not a recognized processor for this target" in done.stderr) == (cpu == "znver9")
