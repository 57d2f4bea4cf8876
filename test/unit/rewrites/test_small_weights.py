"""Products with weights of 4 and 2 bits by block: from the file to the kernel without being unpacked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from small_integers import RANGES, TYPES, Array
from stepwell import reference
from stepwell.core import packing, write_weights
from stepwell.core.text.parsing import make_context
from stepwell.rewrites import IntegerArithmeticPass
from stepwell.runtime.errors import CompileError

CASES = [
    (dtype, transposed, zeros, sizes, held)
    for dtype in TYPES
    for transposed in (False, True)
    for zeros in ("block", "one", "column")
    for sizes in (((64, 24, 32), (48, 23, 16), (32, 2, 32), (160, 33, 32)) if FULL else ((64, 6, 32),))
    for held in ("file", "text")
    if FULL
    or (
        ((zeros == "block") == (held == "file") and not (held == "text" and transposed))
        and (dtype == "i4" or (held == "file" and transposed == (dtype == "ui4")))
    )
]


def matrix(dtype: str, transposed: bool, zeros: str, sizes: tuple[int, int, int]) -> tuple[dict[str, Array], Any]:
    """The tensors of a product and its result for an x, in `float64`."""
    inputs, outputs, block = sizes
    random = np.random.default_rng([*sizes, *dtype.encode()])
    low, high = RANGES[dtype]
    rows = 1 if zeros == "column" else inputs // block
    w = random.integers(low, high + 1, (inputs, outputs))
    s = random.uniform(-0.2, 1, (rows, outputs)).astype(np.float32)
    z = np.full(s.shape, low + 1) if zeros == "one" else random.integers(low, high + 1, s.shape)
    real = (w - np.repeat(z, inputs // rows, 0)) * np.repeat(s.astype(np.float64), inputs // rows, 0)
    tensors = {"w": w.astype(TYPES[dtype]), "s": s, "z": z.astype(TYPES[dtype])}
    if zeros == "column":
        tensors |= {key: tensors[key].reshape(-1) for key in ("s", "z")}
    if transposed:
        tensors = {key: np.ascontiguousarray(array.T) for key, array in tensors.items()}
    return tensors, lambda x: x.astype(np.float64) @ real


def program(tensors: dict[str, Array], dtype: str, transposed: bool, block: int, held: str, splat: bool) -> str:
    types = {
        key: f"tensor<{'x'.join([*map(str, array.shape), 'f32' if key == 's' else dtype])}>"
        for key, array in tensors.items()
    }
    inputs, outputs = tensors["w"].shape[:: -1 if transposed else 1]
    lines = [f'%{key} = graph.weight "{key}" : {type_}' for key, type_ in types.items()]
    if held == "text":
        module = [f"%{key} = graph.constant dense<{tensors[key].tolist()}> : {types[key]}" for key in ("w", "z")]
        lines = [module[0], lines[1], module[1]]
    if splat:
        lines[2] = f"%z = graph.full {int(tensors['z'].reshape(-1)[0])} : {types['z']}"
    axis = 1 if transposed else 0
    properties = f"axis = {axis}, block_size = {block}" if tensors["s"].ndim == 2 else f"axis = {1 - axis}"
    real = types["w"].replace(dtype, "f32")
    lines.append(
        f"%d = graph.dequantize %w, %s, %z, {properties} : ({types['w']}, {types['s']}, {types['z']}) -> {real}"
    )
    if transposed:
        lines.append(f"%t = graph.permute_dims %d, axes = [1, 0] : ({real}) -> tensor<{inputs}x{outputs}xf32>")
    right = "%t" if transposed else "%d"
    x, y = f"tensor<3x{inputs}xf32>", f"tensor<3x{outputs}xf32>"
    lines.append(f"%y = graph.matmul %x, {right} : ({x}, tensor<{inputs}x{outputs}xf32>) -> {y}")
    body = "\n".join(lines)
    return f"""module attributes {{stepwell.weights = "w.safetensors"}} {{
    func.func @main(%x: {x}) -> {y} {{
    {body}
    func.return %y : {y}
    }} }}"""


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("dtype", "transposed", "zeros", "sizes", "held"), CASES)
def test_weights_stay_packed(
    dtype: str,
    transposed: bool,
    zeros: str,
    sizes: tuple[int, int, int],
    held: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    tensors, product = matrix(dtype, transposed, zeros, sizes)
    write_weights("w.safetensors", tensors)
    text = program(tensors, dtype, transposed, sizes[2], held, splat=zeros == "one")
    x = np.random.default_rng(1).standard_normal((3, sizes[0])).astype(np.float32)
    wanted = product(x)
    module = stepwell.parse(text)
    IntegerArithmeticPass().apply(make_context(), module)
    module.verify()
    ops = [op.name for op in module.walk()]
    assert "graph.matmul_packed" in ops and "graph.matmul" not in ops and "graph.dequantize" not in ops
    whole_rows = dtype in ("i4", "ui4") and sizes[1] % 2 == 0
    assert ('"w#packed"' in str(module)) == (held == "file" and whole_rows)
    asked_for = {key: array for key, array in tensors.items() if f'graph.weight "{key}"' in text}
    found = {
        "rewritten, by the reference": reference.run(module, "main", x, weights=tensors)[0],
        "natively": stepwell.compile(text, cache=False)(x)[0],
        "with arrays": stepwell.compile(text, cache=False, weights=asked_for)(x)[0] if FULL else wanted,
    }
    for how, result in found.items():
        assert np.abs(result - wanted).max() <= 2e-6 * np.abs(wanted).max(), how


def test_weights_of_a_file_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when they are loaded nor before, and a saved program holds them as the side-car does."""
    monkeypatch.chdir(tmp_path)
    tensors, product = matrix("i4", True, "column", (64, 6, 64))
    write_weights("w.safetensors", tensors)
    text = program(tensors, "i4", True, 64, "file", splat=False)
    unpacked: list[Any] = []
    monkeypatch.setattr("stepwell.core.weights.unpack", lambda *given: unpacked.append(given) or packing.unpack(*given))
    executable = stepwell.compile(text, cache=False)
    x = np.ones((3, 64), np.float32)
    assert np.allclose(executable(x)[0], product(x), rtol=1e-5)
    assert {shape for _, _, shape in unpacked} == {(6,)}  # the zero points
    executable.save("program.stepwell")
    assert np.allclose(stepwell.load("program.stepwell")(x)[0], product(x), rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((64, 6), np.int8), r"weight 'w' is given with element type int8, expected one of int2, int4, uint2"),
        (np.zeros((64, 8), TYPES["i4"]), r"weight 'w#packed' is given as 256xuint8, the program expects"),
    ],
)
def test_arrays_that_do_not_fit(given: Array, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tensors, _ = matrix("i4", False, "block", (64, 6, 32))
    text = program(tensors, "i4", False, 32, "file", splat=False)
    with pytest.raises(CompileError, match=message):
        stepwell.compile(text, cache=False, weights=tensors | {"w": given})
