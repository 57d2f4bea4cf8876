"""
What saved machine code and the runtime expect of each other stays as it is, or `INTERFACE` grows.

`data/interface_N.txt` holds what number N stands for. `STEPWELL_UPDATE_INTERFACE=1` writes the file of a new number.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.runtime.program.description import Description
from stepwell.runtime.saving.manifest import INTERFACE

DATA = Path(__file__).parent / "data"

PROGRAM = """
func.func @main(%x: tensor<256x512xf32>, %i: tensor<4xi64>) -> (tensor<256x512xf32>, tensor<4x512xf32>) {
  %w = graph.weight "w" : tensor<512x512xf32>
  %0 = graph.matmul %x, %w : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %2 = graph.matmul %1, %w : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  %3 = graph.take %0, %i, axis = 0 : (tensor<256x512xf32>, tensor<4xi64>) -> tensor<4x512xf32>
  func.return %2, %3 : tensor<256x512xf32>, tensor<4x512xf32>
}
"""
"""It has inputs, results, a weight that is prepared, an arena, tasks for threads, and a check that can fail."""


def keys_of(value: Any, path: str = "") -> Iterator[str]:
    """The places of a JSON value, elements of lists being one place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, f"{path}[]")
    else:
        yield f"{path}: {type(value).__name__}"


def interface() -> str:
    """How entries are called, what code takes from the process, and what is said of it."""
    weights = {"w": np.eye(512, dtype=np.float32)}
    program = stepwell.compile(PROGRAM, weights=weights, threads=2, target="x86-64-v3", cache=False)
    text = program.ir("llvm-ir")
    entries = re.findall(r"^define .*@_stepwell_entry_\w+\(.*\)", text, re.MULTILINE)
    taken = [name for name in re.findall(r"^declare .*$", text, re.MULTILINE) if "@llvm." not in name]
    source = program._source()
    description, _ = source.compiled(source.module.clone(), source.pipeline_for(None))
    plain = json.loads(json.dumps(description.to_json()))
    assert Description.from_json(plain) == description
    lines = [*sorted(set(entries)), *sorted(set(taken)), *sorted(set(keys_of(plain)))]
    return "\n".join(lines) + "\n"


def test_the_interface_is_what_its_number_stands_for() -> None:
    path, found = DATA / f"interface_{INTERFACE}.txt", interface()
    if os.environ.get("STEPWELL_UPDATE_INTERFACE") == "1" and not path.exists():
        path.write_text(found)
    assert found == path.read_text(), "saved code would be called in another way: raise INTERFACE in manifest.py"
