"""
Tile registers: used where the system lets the process, refused where it does not, and each thread and child has its
own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import stepwell
from named_machines import scheduled_for
from stepwell.machine import amx, host
from stepwell.machine.host import features_of
from stepwell.machine.x86_64 import FEATURES, SAPPHIRE_RAPIDS
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native import jit

PRODUCT = """func.func @main(%x: tensor<64x128xi8>, %y: tensor<128x64xi8>) -> tensor<64x64xi32> {
  %r = graph.matmul %x, %y, out_dtype = i32 : (tensor<64x128xi8>, tensor<128x64xi8>) -> tensor<64x64xi32>
  func.return %r : tensor<64x64xi32>
}"""
ALL = frozenset(flag for flags in FEATURES.values() for flag in flags)


def operands(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two matrices and their product."""
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((64, 128), (128, 64)))
    return x, y, x.astype(np.int32) @ y.astype(np.int32)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system that does not let us use tile registers."""
    for module in (host, jit):
        monkeypatch.setattr(module, "amx_permitted", lambda: False)
    for found in (host.host_machine, jit.host_code_target):
        found.cache_clear()
    yield
    monkeypatch.undo()
    for found in (host.host_machine, jit.host_code_target):
        found.cache_clear()


def test_other_systems_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amx.sys, "platform", "darwin")
    amx.amx_permitted.cache_clear()
    assert not amx.amx_permitted()
    monkeypatch.undo()
    monkeypatch.setattr(amx.platform, "machine", lambda: "aarch64")
    amx.amx_permitted.cache_clear()
    assert not amx.amx_permitted()
    monkeypatch.undo()
    amx.amx_permitted.cache_clear()


def test_features_follow_from_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "amx_permitted", lambda: True)
    assert features_of(ALL) == SAPPHIRE_RAPIDS.features
    assert features_of(frozenset({"avx512vl", "avx512_vnni"})) == {"avx512vnni"}
    assert features_of(frozenset({"avx512vl", "avx512_bf16"})) == {"avx512bf16"}
    assert features_of(frozenset({"avx512_vnni", "amx_int8"})) == frozenset()
    monkeypatch.setattr(host, "amx_permitted", lambda: False)
    assert features_of(ALL) == {"avx512vbmi", "avx512vnni", "avxvnni", "avx512bf16"}


def test_where_they_are_refused_nothing_knows_of_them(refused: None) -> None:
    assert not [each for each in host.host_machine().features if each.startswith("amx")]
    assert "+amx" not in jit.host_code_target().features
    x, y, expected = operands()
    program = stepwell.compile(PRODUCT, cache=False)
    assert "amx" not in program.ir("scf") and "llvm.x86.t" not in program.ir("llvm-ir")
    np.testing.assert_array_equal(program(x, y)[0], expected)


def test_a_program_that_needs_them_is_refused(refused: None) -> None:
    x, y, _ = operands()
    program = stepwell.compile(PRODUCT, target="sapphire-rapids", cache=False)
    lacks = "(amx-int8 or the permission of the system to use tile|avx)"  # An AMD processor lacks more than the tiles.
    message = f"compiled for sapphire-rapids, this processor lacks .*{lacks}"
    with pytest.raises(CompileError, match=message):
        program(x, y)
    with (
        scheduled_for("sapphire-rapids"),
        pytest.raises(CompileError, match="the program multiplies by amx, which .* schedule it for another"),
    ):
        stepwell.compile(PRODUCT, cache=False)


def test_the_cache_tells_them_apart() -> None:
    allowed, described = amx.amx_permitted(), jit.describe_host()
    assert ("+amx-tile" in described) <= allowed


def test_threads_and_children_have_their_own() -> None:
    """Threads of Python that call at the same time, and a process forked after the first call."""
    program = stepwell.compile(PRODUCT, cache=False)
    cases = [operands(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for found, case in zip(pool.map(lambda case: program(*case[:2])[0], cases), cases, strict=True):
            np.testing.assert_array_equal(found, case[2])
    child = os.fork()
    if child == 0:
        x, y, expected = cases[3]
        os._exit(0 if np.array_equal(program(x, y)[0], expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
