"""An ONNX model that is reduced, and the question whether another runtime gives other results for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...frontends.onnx.importer import from_onnx
from ...lazy_dataclass import dataclass
from ...reference.element_types import Array
from ...runtime.compile import compile
from ..check import CheckOptions
from ..entries import entries
from ..inputs import KINDS, InputSet, made_inputs, shapes_of
from .predicates import Predicate
from .subject import Subject

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

RUNTIMES: Final = ("onnxruntime", "reference")
"""What results are compared with: onnxruntime, or the reference evaluator of the package onnx."""

TOLERANCE: Final = 1e-3
"""The part of the largest value that a result may be off. What is reduced is wrong by more."""


class Model(Subject):
    """An ONNX model. It must have no parts in other files."""

    suffix = ".onnx"

    def __init__(self, data: bytes):
        self.load(data)

    def data(self) -> bytes:
        return self.model.SerializeToString(deterministic=True)

    def load(self, data: bytes) -> None:
        import onnx

        self.model: ModelProto = onnx.load_model_from_string(data)

    @property
    def graph(self) -> GraphProto:
        """Returns the main graph."""
        return self.model.graph

    def parsed(self) -> ModuleOp:
        return from_onnx(self.model)

    def check(self) -> None:
        import onnx

        onnx.checker.check_model(self.model, full_check=True)
        if not self.graph.output:
            raise ValueError("a model has a result")

    def ops(self) -> int:
        return len(self.graph.node)

    def types(self) -> dict[str, Any]:
        """Returns the types of all values that the shapes of the inputs decide, by their names."""
        import onnx

        graph = onnx.shape_inference.infer_shapes(self.model, data_prop=True).graph
        return {each.name: each.type for each in (*graph.input, *graph.output, *graph.value_info)}


def read_model(path: str) -> Model:
    """Returns the model in a file with its weights. Raises `StepwellError` where it is none."""
    import onnx

    try:
        return Model(onnx.load(path).SerializeToString())
    except OSError:
        raise
    except Exception as error:
        raise StepwellError(Diagnostic(f"'{path}' is no ONNX model that can be read: {error}")) from error


@dataclass
class Elsewhere(Predicate):
    """Machine code gives another result than another runtime, or fails where that gives one."""

    runtime: str
    options: CheckOptions = field(default_factory=CheckOptions)
    opt_level: int = 3

    def kind(self, subject: Subject) -> str | None:
        assert isinstance(subject, Model)
        module = subject.parsed()
        run = compile(module, opt_level=self.opt_level, cache=False)
        for inputs in self._inputs(module):
            expected = results_elsewhere(self.runtime, subject.model, inputs.arrays)
            if expected is not None and are_different(expected, run(*inputs.arrays)):
                return "wrong"
        return None

    def _inputs(self, module: ModuleOp) -> Sequence[InputSet]:
        (entry,) = entries(module)[0]
        shapes = shapes_of(entry, self.options.shapes)
        return [made_inputs(entry, kind, self.options.seed, shapes) for kind in KINDS[:1]]

    def __str__(self) -> str:
        return f"{self.runtime} gives the same results"


def results_elsewhere(runtime: str, model: ModelProto, arrays: Sequence[Array]) -> list[Array] | None:
    """Returns what another runtime computes, or `None` where it does not take the model."""
    given = {each.name for each in model.graph.initializer}
    names = [each.name for each in model.graph.input if each.name not in given]
    feed = dict(zip(names, arrays, strict=True))
    try:
        if runtime == "onnxruntime":
            import onnxruntime

            settings = onnxruntime.SessionOptions()
            settings.log_severity_level, settings.intra_op_num_threads = 4, 1
            session = onnxruntime.InferenceSession(model.SerializeToString(), settings, ["CPUExecutionProvider"])
            return [np.asarray(each) for each in session.run(None, feed)]
        from onnx.reference import ReferenceEvaluator

        return [np.asarray(each) for each in ReferenceEvaluator(model).run(None, feed)]
    except ModuleNotFoundError:
        raise
    except Exception:  # It may refuse what is valid, and what a step of the search has made.
        return None


def are_different(expected: Sequence[Array], found: Sequence[Array]) -> bool:
    """Returns whether results differ by more than rounding can explain, or in shape."""
    for one, other in zip(expected, found, strict=True):
        if one.shape != other.shape:
            return True
        if one.dtype.kind in "biu":
            if not np.array_equal(one, other):
                return True
            continue
        with np.errstate(all="ignore"):
            left, right = one.astype(np.float64), np.asarray(other).astype(np.float64)
            largest = max(1.0, float(np.max(np.abs(left), where=np.isfinite(left), initial=0.0)))
            if not np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE * largest, equal_nan=True):
                return True
    return False
