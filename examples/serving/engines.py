"""What runs a model: a program of Stepwell, or onnxruntime for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import stepwell
from stepwell.runtime import ArrayType, Executable

Array = np.ndarray[Any, Any]

ORT_TYPES = {"float": "float32", "double": "float64"}
"""The element types of onnxruntime that NumPy calls by other names."""


@dataclass(frozen=True)
class Tensor:
    """An input or output of a model. A size of None stands for any size, a shape of None for any rank."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None
    text: str
    """The type as the engine writes it."""

    def __str__(self) -> str:
        return self.text


class Engine(Protocol):
    """A model that is loaded. `run` may be called from several threads at once."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def run(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Returns the outputs for inputs in the order of `inputs`."""
        ...

    def keep(self, programs: int) -> None:
        """Says how many tuples of shapes the server will use."""
        ...


class StepwellEngine:
    """A saved program, a model in ONNX, or a program as text."""

    def __init__(self, path: Path, threads: int | None, trust_code: bool):
        if path.suffix == ".stepwell":
            self.exe: Executable = stepwell.load(path, trust_code=trust_code, threads=threads)
        else:
            self.exe = stepwell.compile(path, threads=threads)
        self.inputs = tuple(_tensor(name, type_) for name, type_ in self.exe.input_types)
        self.outputs = tuple(_tensor(name, type_) for name, type_ in self.exe.output_types)

    def run(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Returns the outputs for inputs in the order of `inputs`."""
        return self.exe(*arrays)

    def keep(self, programs: int) -> None:
        """Keeps that many programs at least, so that none is dropped and compiled again."""
        self.exe.specialisations.limit = max(self.exe.specialisations.limit, programs)


class OnnxruntimeEngine:
    """The same model on onnxruntime, to measure beside."""

    def __init__(self, path: Path, threads: int | None):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or 0
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = tuple(_ort_tensor(each) for each in self.session.get_inputs())
        self.outputs = tuple(_ort_tensor(each) for each in self.session.get_outputs())

    def run(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Returns the outputs for inputs in the order of `inputs`."""
        given = {each.name: array for each, array in zip(self.inputs, arrays, strict=True)}
        return self.session.run(None, given)

    def keep(self, programs: int) -> None:
        """Does nothing: onnxruntime has one program for all shapes."""


def open_engine(path: Path, engine: str = "stepwell", threads: int | None = None, trust_code: bool = False) -> Engine:
    """Returns the model in the file `path`. Raises the errors of `stepwell.load` and `stepwell.compile`."""
    if engine == "onnxruntime":
        return OnnxruntimeEngine(path, threads)
    return StepwellEngine(path, threads, trust_code)


def _tensor(name: str, type_: ArrayType | None) -> Tensor:
    if type_ is None:  # An output of an ONNX model whose rank is not declared.
        return Tensor(name, np.dtype(np.float32), None, "tensor<*>")
    return Tensor(name, ArrayType(type_.dtype, ()).allocate().dtype, type_.shape, str(type_))


def _ort_tensor(each: Any) -> Tensor:
    element = each.type.removeprefix("tensor(").removesuffix(")")
    shape = tuple(size if isinstance(size, int) else None for size in each.shape)
    return Tensor(each.name, np.dtype(ORT_TYPES.get(element, element)), shape, f"{each.type} of {each.shape}")
