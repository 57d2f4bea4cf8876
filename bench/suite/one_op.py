"""
Programs of one ONNX op, from the lines of ops.txt: what they take, their model, and what they give.

`MaxPool T[1x64x56x56] kernel_shape=[2,2] | f32 f16 | NCHW NHWC` stands for four cases. In a case `NHWC` images come and
go with channels last in our program; the peer has them as ONNX does. So each engine reads what it is best at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np

from .vocabulary import Value

TABLE = Path(__file__).resolve().parent.parent / "ops.txt"

OPSET = 21

NEWEST = {"RMSNormalization": 23, "Attention": 23}
"""Ops that came later than `OPSET`."""

DTYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "bool": "bool",
    **{f"{sign[0]}{bits}": f"{sign}{bits}" for sign in ("int", "uint") for bits in (8, 16, 32, 64)},
}

SCALARS = {"CumSum", "DFT", "HannWindow", "OneHot"}
"""Ops whose sizes and axes are scalars, those of the others vectors."""

TOLERANCES = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-3, "float64": 1e-3}
"""Of the greatest element of a result. Bytes may differ by one, where a rounding falls on the other side."""

TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)

OPERAND = re.compile(r"(!?)(\w+)(?:\[([\dx]*)\]|\{([^}]*)\})(>[01]|<\d+)?")


def load_cases(table: Path = TABLE) -> list[dict[str, Any]]:
    """The cases of the table, one for each element type and layout of a line. Their class is the heading above."""
    cases: list[dict[str, Any]] = []
    theme = ""
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            theme = line[3:].strip()
        if not line.strip() or line.startswith("#"):
            continue
        program, dtypes, layouts = [*(part.split() for part in line.split("|")), [""]][:3]
        for dtype, layout in product(dtypes, layouts):
            cases.append(
                {
                    "name": " ".join([*program, dtype, layout]).strip(),
                    "class": theme,
                    "kind": "onnx",
                    "dtype": dtype,
                    "layout": layout,
                    "words": program,
                }
            )
    return cases


def load_reasons(table: Path = TABLE) -> list[tuple[str, str]]:
    """Why cases are below the least ratio: patterns of names, and reasons, from the lines `#- PATTERN: reason`."""
    lines = [line[3:] for line in table.read_text(encoding="utf-8").splitlines() if line.startswith("#- ")]
    return [(pattern.strip(), why.strip()) for pattern, _, why in (line.partition(": ") for line in lines)]


@dataclass(frozen=True)
class Operand:
    """An operand of the op: `dtype`, and a shape or the elements. The range says which numbers are drawn."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    constant: bool
    elements: tuple[float, ...] | None = None
    range: str = ""

    @property
    def value(self) -> Value:
        return Value(self.name, self.shape, self.dtype)

    def array(self, random: np.random.Generator) -> Any:
        """Elements as they are given, else random ones."""
        dtype = np.dtype(ml_dtypes.bfloat16 if self.dtype == "bfloat16" else self.dtype)
        if self.elements is not None:
            return np.array(self.elements, dtype).reshape(self.shape)
        if self.range.startswith("<") and dtype.kind in "iu":
            return random.integers(0, int(self.range[1:]), self.shape).astype(dtype)
        if dtype.kind in "iub":
            low, high = {"i": (-100, 100), "u": (0, 200), "b": (0, 2)}[dtype.kind]
            return random.integers(1 if self.range == ">0" else low, high, self.shape).astype(dtype)
        drawn = random.standard_normal(self.shape, np.float32)
        if self.range.startswith(">"):
            drawn = abs(drawn) + np.float32(float(self.range[1:]) + 0.1)
        elif self.range:
            drawn = np.tanh(drawn)
        return (drawn * self.scale).astype(dtype)

    @property
    def scale(self) -> np.float32:
        """Keeps sums of products near 1, so that half floats can hold them."""
        matrix = self.constant and len(self.shape) > 1
        return np.float32(max(prod(self.shape[1:]), 1) ** -0.5 if matrix else 1)


class NoReference(Exception):
    """Raised where onnxruntime lacks the op, so that there is nothing to compare with."""


class OneOp:
    """The program of a case, as far as the harness looks at it: `inputs`, `weights`, `outputs`, `bytes`, `flops`."""

    flops = 0
    is_image = False

    def __init__(self, case: dict[str, Any]):
        words = case["words"]
        self.domain, _, self.op = words[0].rpartition(":")
        self.name, self.channels_last = case["name"], case["layout"] == "NHWC"
        self.attributes: dict[str, Any] = {}
        self.operands: list[Operand | None] = []
        self.results = 1
        for word in words[1:]:
            if word.startswith("->"):
                self.results = int(word[2:])
            elif word == "-":
                self.operands.append(None)
            elif found := OPERAND.fullmatch(word):
                self.operands.append(self._operand(case["dtype"], *found.groups()))
            else:
                name, _, text = word.partition("=")
                self.attributes[name] = json.loads(text)
        given = [operand for operand in self.operands if operand is not None]
        self.inputs = [operand.value for operand in given if not operand.constant]
        self.weights = [operand.value for operand in given if operand.constant]
        self.outputs: list[Value] = []

    def _operand(self, type_: str, bang: str, kind: str, shape: str | None, elements: str | None, range_: str | None):
        name, dtype = f"x{len(self.operands)}", DTYPES[type_ if kind == "T" else kind]
        if elements is not None:
            numbers = tuple(float(number) for number in elements.split(","))
            # sizes and axes are vectors, bounds and scales are scalars
            scalar = len(numbers) == 1 and (dtype != "int64" or kind == "T" or self.op in SCALARS)
            return Operand(name, dtype, () if scalar else (len(numbers),), True, numbers)
        extents = tuple(int(extent) for extent in (shape or "").split("x") if extent)
        return Operand(name, dtype, extents, bool(bang), None, range_ or "")

    @property
    def bytes(self) -> int:
        """Counts the bytes that must move at the least, as `Program.bytes` does."""
        return sum(value.bytes for value in (*self.inputs, *self.weights, *self.outputs))

    def arrays(self) -> dict[str, Any]:
        """All operands by name, the same for every engine and every day."""
        random = np.random.default_rng(crc32(self.name.encode()))
        return {operand.name: operand.array(random) for operand in self.operands if operand is not None}

    def evaluate(self) -> list[Any]:
        """What onnxruntime gives without any optimisation. Fills `outputs`. Raises NoReference."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        arrays = self.arrays()
        try:
            session = onnxruntime.InferenceSession(self.model(), options, providers=["CPUExecutionProvider"])
            found = session.run(None, {value.name: arrays[value.name] for value in self.inputs})
        except Exception as error:  # onnxruntime's own classes have no common base
            raise NoReference(f"unsupported: {error}".splitlines()[0][:200]) from error
        self.outputs = [Value(f"y{index}", each.shape, str(each.dtype)) for index, each in enumerate(found)]
        return [each.astype(np.float64 if each.dtype.kind not in "iub" else each.dtype) for each in found]

    def model(self, channels_last: bool = False) -> bytes:
        """The serialised model. With `channels_last` transposes around the op make NCHW of what comes."""
        from onnx import helper, numpy_helper

        arrays = self.arrays()
        types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in arrays.items()}
        names = ["" if operand is None else operand.name for operand in self.operands]
        results = [f"y{index}" for index in range(self.results)]
        nodes, inputs, ends = [], [], results
        if channels_last:
            turned = {value.name for value in self.inputs if len(value.shape) == 4}
            nodes = [helper.make_node("Transpose", [f"{x}_last"], [x], perm=TO_NCHW) for x in sorted(turned)]
            for value in self.inputs:
                shape = [value.shape[axis] for axis in TO_NHWC] if value.name in turned else value.shape
                name = f"{value.name}_last" if value.name in turned else value.name
                inputs.append(helper.make_tensor_value_info(name, types[value.name], shape))
            ends = [f"{result}_last" for result in results]
        else:
            inputs = [helper.make_tensor_value_info(each.name, types[each.name], each.shape) for each in self.inputs]
        nodes.append(helper.make_node(self.op, names, results, domain=self.domain, **self.attributes))
        if channels_last:
            nodes += [helper.make_node("Transpose", [x], [f"{x}_last"], perm=TO_NHWC) for x in results]
        outputs = [helper.make_empty_tensor_value_info(name) for name in ends]
        constants = [numpy_helper.from_array(arrays[value.name], value.name) for value in self.weights]
        graph = helper.make_graph(nodes, "op", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", NEWEST.get(self.op, OPSET))]
        if self.domain:
            opsets.append(helper.make_opsetid(self.domain, 3 if self.domain == "ai.onnx.ml" else 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def what_is_wrong(found: Any, expected: Any) -> str:
    """Returns what is wrong with a result, "" for nothing."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if found.dtype.kind in "iub":
        error = np.max(np.abs(found.astype(np.float64) - expected.astype(np.float64)), initial=0)
        return f"greatest error {error:g} of whole numbers" if error > (found.dtype.itemsize == 1) else ""
    limit = TOLERANCES[str(found.dtype)]
    found = found.astype(np.float64)
    known = np.isfinite(expected)
    if not np.array_equal(np.isfinite(found), known):
        return "other elements are finite"
    scale = max(float(np.max(np.abs(expected[known]), initial=0.0)), 1e-30)
    error = float(np.max(np.abs(found[known] - expected[known]), initial=0.0)) / scale
    return f"greatest error {error:.2g} of the scale" if error > limit else ""
