"""The acceptance programs of test/programs: their inputs, their weights, and what the reference gives for them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import stepwell
from stepwell import reference
from stepwell.reference.element_types import DTYPES, NAMES
from stepwell.testing.programs.values import arrays_of

Array = np.ndarray[Any, Any]

FOLDER: Final = Path(__file__).parents[1] / "programs"

INPUTS: Final[dict[str, list[tuple[tuple[int, ...], str, str]]]] = {
    "mlp": [((2, 784), "f32", "positive")],
    "conv_block": [
        ((1, 3, 10, 9), "f32", "finite"),
        ((8, 3, 3, 3), "f32", "finite"),
        ((4, 8), "f32", "finite"),
        ((3, 3, 2, 8), "f32", "finite"),
    ],
    "attention": [
        ((6, 8), "f32", "finite"),
        ((8, 24), "f32", "finite"),
        ((8, 8), "f32", "finite"),
        ((6, 6), "i1", "any"),
        ((2, 8), "f32", "finite"),
    ],
    "reductions": [((3, 5, 7), "f32", "finite"), ((3, 5), "i1", "any"), ((4, 6), "i16", "any")],
    "mixed_dtypes": [
        ((4, 6), "f16", "finite"),
        ((4, 6), "bf16", "finite"),
        ((4, 6), "i8", "any"),
        ((6,), "ui8", "any"),
        ((4, 6), "i32", "any"),
        ((2, 3), "f64", "positive"),
    ],
    "two_functions": [((4, 4), "f32", "finite"), ((4, 4), "f32", "finite"), ((), "i64", "positive")],
    "dynamic": [((3, 8), "f32", "finite"), ((8, 5), "f32", "finite"), ((4,), "i64", "index:3")],
    "weights": [((5,), "i32", "index:20"), ((5, 16), "f32", "finite")],
}
"""Shape, element type and values (testing/programs/values.py) of each input, by program."""

WEIGHTS: Final[dict[str, dict[str, tuple[tuple[int, ...], str, str]]]] = {
    "mlp": {
        "w0": ((784, 128), "f32", "finite"),
        "b0": ((128,), "f32", "finite"),
        "w1": ((10, 128), "f32", "finite"),
    },
    "weights": {
        "embedding": ((20, 16), "f16", "finite"),
        "kernel": ((48, 16), "f32", "finite"),
        "bias": ((48,), "bf16", "finite"),
        "codes": ((20,), "i8", "any"),
    },
}
"""The tensors of the side-cars."""

TERMS: Final = {
    "mlp": 900,
    "conv_block": 200,
    "attention": 200,
    "reductions": 120,
    "mixed_dtypes": 20,
    "two_functions": 100,
    "dynamic": 50,
    "weights": 60,
}
"""Rounding errors that add up on the way to a result: `terms` of the row `program` in tolerances.py."""

SHAPES: Final = {"dynamic": "3x8,8x5,4"}
"""Sizes to specialise an entry with `?` to: those of its inputs."""

SAFETENSORS_NAMES: Final = {
    "f8E4M3FN": "F8_E4M3",
    "f8E5M2": "F8_E5M2",
    "f16": "F16",
    "bf16": "BF16",
    "f32": "F32",
    "f64": "F64",
    "i8": "I8",
    "i16": "I16",
    "i32": "I32",
    "i64": "I64",
    "ui8": "U8",
    "ui16": "U16",
    "ui32": "U32",
    "ui64": "U64",
    "i1": "BOOL",
}


def names() -> list[str]:
    """All programs, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.mlir"))


def inputs(name: str) -> list[Array]:
    """The same arrays at every call; scaled so that no sum is ill conditioned and no `exp` overflows."""
    arrays = [arrays_of(11 + k, *spec) for k, spec in enumerate(INPUTS[name])]
    return [_scaled(array) for array in arrays]


@cache
def weights(name: str) -> Mapping[str, Array]:
    """The tensors of the program's side-car by key; empty when it has none."""
    specs = WEIGHTS.get(name, {})
    return {key: _scaled(arrays_of(97 + k, *spec)) for k, (key, spec) in enumerate(specs.items())}


def _scaled(array: Array) -> Array:
    return (
        (array / np.asarray(4, array.dtype)).astype(array.dtype) if array.dtype.kind in "fV" and array.ndim else array
    )


def write_safetensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """
    Writes a safetensors file: the length of the header in 8 bytes, the header in JSON padded with spaces to a
    multiple of 64 bytes in all, the tensors' bytes. Source: the format's specification, "Format".
    """
    header: dict[str, Any] = {}
    offset = 0
    for key, tensor in tensors.items():
        header[key] = {
            "dtype": SAFETENSORS_NAMES[NAMES[tensor.dtype]],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(t.tobytes() for t in tensors.values()))


def install(name: str, folder: Path) -> Path:
    """Copies the program into `folder` and makes its side-car beside it; the path of the copy."""
    copy = folder / f"{name}.mlir"
    shutil.copyfile(FOLDER / f"{name}.mlir", copy)
    if weights(name):
        write_safetensors(folder / f"{name}.safetensors", weights(name))
    return copy


@cache
def expected(name: str) -> tuple[Array, ...]:
    """What the reference gives for the program on its inputs."""
    module = stepwell.parse(FOLDER / f"{name}.mlir")
    return reference.run(module, "main", *inputs(name), weights=weights(name))


# Integers of less than 8 bits are packed in side-cars, which this writer does not do.
assert set(SAFETENSORS_NAMES) == set(DTYPES) - {"i2", "i4", "ui2", "ui4"}
