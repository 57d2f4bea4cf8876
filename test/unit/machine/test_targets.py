"""Targets: what is known of the host, names, and machines of a user; docs/targets.md."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from named_machines import EVERY, PRODUCT, TO_TILES, V2_FLAGS
from stepwell.core import codegens
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.machine import aarch64, named
from stepwell.machine.families import NAMED, base_of_host
from stepwell.machine.fields import EXPECTED, check_machine
from stepwell.machine.host import cache_sizes, cpu_flags, cpu_model, features_of, host_machine
from stepwell.machine.machine import Machine
from stepwell.machine.named import chosen_machine, machine_named, register_machine
from stepwell.schedule.kernels.register_tiles import choose_tile
from stepwell.tools.pages.targets import page


def test_the_page_is_up_to_date() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "targets.md").read_text()
    assert text == page(), "run python -m stepwell.tools.pages.targets > docs/targets.md"


def test_the_page_tells_every_field() -> None:
    _, told = page().split("What the fields of a `Machine` mean")
    assert re.findall(r"^\| `(\w+)` \| ", told, re.MULTILINE) == [field.name for field in fields(Machine)]


@pytest.mark.usefixtures("forgotten")
def test_the_examples_of_the_page_run() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", page(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "targets.md", "exec"), names)
    assert "neoverse-n1" in named._registered


# The host


def test_host_is_a_named_machine_with_its_own_caches() -> None:
    host = host_machine()
    assert host.name == "host" and host.cores >= 1
    assert any(each.registers == host.registers and each.cpu == host.cpu for each in NAMED.values())
    assert 0 < host.l1_bytes <= host.l2_bytes


@pytest.mark.parametrize(
    ("machine", "flags", "expected"),
    [
        ("x86_64", {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma"}, "x86-64-v4"),
        ("x86_64", {"avx512f", "avx2", "fma"}, "x86-64-v3"),
        ("x86_64", {"avx2"}, "x86-64"),
        ("x86_64", set(), "x86-64"),
        ("amd64", None, "x86-64-v3"),
        ("aarch64", {"asimd"}, "aarch64-neon"),
        ("aarch64", V2_FLAGS, "aarch64-neon"),
        ("arm64", None, "aarch64-neon"),
        ("riscv64", None, "x86-64"),
    ],
)
def test_registers_follow_from_flags(machine: str, flags: set[str] | None, expected: str) -> None:
    found = base_of_host(machine, None if flags is None else frozenset(flags))
    assert found.name == expected


def test_the_model_of_a_host_decides_where_its_registers_do() -> None:
    wide = frozenset({"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma"})
    assert base_of_host("x86_64", wide, ("AuthenticAMD", 25)).name == "zen4"
    assert base_of_host("x86_64", wide, ("AuthenticAMD", 26)).name == "zen5"
    assert base_of_host("x86_64", wide - {"avx512f"}, ("AuthenticAMD", 25)).name == "x86-64-v3"  # Zen 3
    assert base_of_host("x86_64", wide, ("GenuineIntel", 6)).name == "x86-64-v4"


def test_the_model_is_read(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n")
    assert cpu_model(info) == ("AuthenticAMD", 25)
    info.write_text("processor\t: 0\nFeatures\t: fp asimd\n")
    assert cpu_model(info) is None and cpu_model(tmp_path / "nothing") is None


def test_flags_are_read(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nvendor_id\t: x\nflags\t\t: sse2 avx2 fma\n\nprocessor\t: 1\nflags\t\t: none\n")
    assert cpu_flags(info) == {"sse2", "avx2", "fma"}
    info.write_text("processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd i8mm\n")
    assert cpu_flags(info) == {"fp", "asimd", "i8mm"}
    info.write_text("processor : 0\n")
    assert cpu_flags(info) is None
    assert cpu_flags(tmp_path / "nothing") is None


def test_caches_are_read(tmp_path: Path) -> None:
    described = [
        ("1", "Data", "48K"),
        ("1", "Instruction", "64K"),
        ("2", "Unified", "2M"),
        ("3", "Unified", "0K"),
        ("4", "Unified", "many"),
        ("5", "Unified", ""),
    ]
    for number, words in enumerate(described):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, word in zip(("level", "type", "size"), words, strict=True):
            (folder / name).write_text(f"{word}\n")
    (tmp_path / "index9").mkdir()
    assert cache_sizes(tmp_path) == {1: 48 * 1024, 2: 2 * 1024**2}
    assert cache_sizes(tmp_path / "nothing") == {}


def test_flags_of_arm_show_features() -> None:
    assert features_of(frozenset(V2_FLAGS)) == machine_named("neoverse-v2").features
    assert features_of(frozenset({"asimd", "fphp"})) == frozenset()  # only half of what fp16 takes


@pytest.mark.skipif(not host_machine().code_target.is_x86_64, reason="of hosts that are no Arm")
def test_a_host_of_x86_has_no_features_of_arm() -> None:
    assert not host_machine().features & aarch64.FEATURES.keys()
    assert "neoverse" not in host_machine().cpu and host_machine() != machine_named("neoverse-v2")


def test_facts_of_neoverse_v2() -> None:
    found = machine_named("neoverse-v2")
    assert (found.register_bytes, found.registers, found.fma, found.lanes(4)) == (16, 32, True, 4)
    assert [size // 1024 for size in (found.l1_bytes, found.l2_bytes, found.l3_bytes)] == [64, 2048, 36864]
    assert found.has_byte_dots and found.has_mixed_byte_dots and found.has_half_dots
    assert not (found.has_wide_registers or found.has_byte_tiles or found.broadcasts)
    target = found.code_target
    assert (target.triple, target.cpu) == (NAMED["aarch64-neon"].triple, "neoverse-v2")
    assert target.features == "+bf16,+dotprod,+fullfp16,+i8mm,+sve2"


@EVERY
def test_llvm_knows_the_processor_and_its_features(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    binding = pytest.importorskip("llvmlite.binding")
    binding.initialize_all_targets()
    target = NAMED[name].code_target
    try:
        found = binding.Target.from_triple(target.triple)
    except RuntimeError:
        pytest.skip(f"this build of LLVM makes no code for {target.triple}")
    found.create_target_machine(cpu=target.cpu, features=target.features)
    assert capfd.readouterr().err == ""  # there LLVM names what it ignores


def test_unknown_targets_are_explained() -> None:
    with pytest.raises(StepwellError, match="unknown target 'x86-64-v5'") as error:
        machine_named("x86-64-v5")
    assert "did you mean 'x86-64-v" in str(error.value.diagnostic)
    with pytest.raises(StepwellError, match="unknown target 'neoverse-v3'") as error:
        machine_named("neoverse-v3")
    assert error.value.diagnostic.hint == "did you mean 'neoverse-v2'?"
    with pytest.raises(StepwellError) as error:
        machine_named("m68k")
    assert error.value.diagnostic.hint == (
        "the targets are host, x86-64, x86-64-v3, x86-64-v4, skylake-avx512, cascade-lake, ice-lake, "
        "sapphire-rapids, alder-lake, zen4, zen5, aarch64-neon, neoverse-v2"
    )


def test_the_option_goes_before_the_context() -> None:
    assert chosen_machine(None) == host_machine()
    with PassContext(config={"target": "neoverse-v2"}):
        assert chosen_machine(None) is NAMED["neoverse-v2"]
        assert chosen_machine("x86-64").name == "x86-64"


# Machines of a user


@pytest.mark.usefixtures("forgotten")
def test_schedules_are_made_for_a_registered_machine() -> None:
    register_machine(replace(machine_named("aarch64-neon"), name="few", registers=8))
    ctx, module = make_context(), parse(PRODUCT)
    with PassContext(config={"target": "few"}):
        run_pipeline(ctx, module, TO_TILES)
    tile = choose_tile(30, 90, 4, machine_named("few"))
    assert tile != choose_tile(30, 90, 4, machine_named("aarch64-neon"))
    assert f"vector<{tile.rows}x{tile.columns}xf32>" in str(module)


@pytest.mark.usefixtures("forgotten")
def test_the_compile_cache_tells_descriptions_apart() -> None:
    first = replace(machine_named("x86-64-v3"), name="mine")
    before = codegens.registrations_fingerprint()
    register_machine(first)
    between = codegens.registrations_fingerprint()
    register_machine(replace(first, l2_bytes=first.l2_bytes * 2))
    assert machine_named("mine").l2_bytes == first.l2_bytes * 2
    assert len({before, between, codegens.registrations_fingerprint()}) == 3


@pytest.mark.usefixtures("forgotten")
def test_names_of_registered_machines_are_explained() -> None:
    for name in ("host", "x86-64-v3"):
        with pytest.raises(StepwellError, match=f"cannot register the target '{name}': the name is taken"):
            register_machine(replace(machine_named("x86-64"), name=name))
    register_machine(replace(machine_named("x86-64"), name="mine"))
    with pytest.raises(StepwellError) as error:
        machine_named("nothing-like-it")
    assert error.value.diagnostic.hint == f"the targets are host, {', '.join(NAMED)}, mine"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("name", "", "text that is not empty"),
        ("triple", "x86_64", "a triple, such as 'x86_64-unknown-linux-gnu'"),
        ("cpu", None, "text that is not empty"),
        ("register_bytes", -16, "a power of two of at least 8"),
        ("register_bytes", 7, "a power of two of at least 8"),
        ("registers", 0, "a whole number of at least 8"),
        ("registers", "x", "a whole number of at least 8"),
        ("fma", 1, "True or False"),
        ("features", ("avx512vnni",), "a frozenset of names, such as frozenset({'avx512vnni'})"),
        ("features", "avx512vnni", "a frozenset of names, such as frozenset({'avx512vnni'})"),
        ("multiply_adds", 0, "a whole number of at least 1"),
        ("loads", 0, "a whole number of at least 1"),
        ("latency", 1.5, "a whole number of at least 1"),
        ("l1_bytes", 0, "a whole number of bytes of at least 64"),
        ("l1_way_bytes", 0, "a whole number of bytes of at least 64"),
        ("l2_bytes", -1, "a whole number of bytes of at least 64"),
        ("l3_bytes", -1, "a whole number of bytes of at least 0"),
        ("l3_is_near", None, "True or False"),
        ("sweeps_in_place", -1, "a whole number of at least 0"),
        ("permutes_apart", 0, "True or False"),
        ("line_cycles", float("nan"), "a number of at least 0"),
        ("cores", 0, "a whole number of at least 1"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(field: str, value: object, expected: str) -> None:
    machine = replace(machine_named("x86-64-v3"), **{"name": "odd", field: value})  # pyright: ignore
    with pytest.raises(StepwellError) as caught:
        register_machine(machine)
    message = f"cannot register the target {machine.name!r}: {field} is {value!r}, expected {expected}"
    assert caught.value.diagnostic.message == message


def test_every_machine_that_is_named_could_be_registered() -> None:
    assert {each.name for each in fields(Machine)} == set(EXPECTED)
    for machine in (*NAMED.values(), host_machine()):
        check_machine(machine)
