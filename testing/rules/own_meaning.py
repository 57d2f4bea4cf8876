"""What ops compute that nobody has registered a reference for: by their own `te`, or by their own loop function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ...core.text.parsing import make_context, parse_text
from ...dialects.tensor_loop import FuncOp
from ...dialects.traits import LoopSemantics, LoopTemplate
from ...reference.element_types import DTYPES
from ...reference.failure import ReferenceFailure
from ...reference.loops.run import run_loops
from ...reference.properties import element_type_name
from ...te.evaluation import CheckFailed, evaluate_op

Array = np.ndarray[Any, Any]


class OwnMeanings:
    """
    Computes ops that have no reference, and notes how. It fits `otherwise` of `stepwell.reference.run`.

    No rule takes part in that: `te` is evaluated on NumPy arrays, and loop functions are interpreted.
    """

    def __init__(self) -> None:
        self.used: dict[str, str] = {}
        """Maps the names of these ops to what was used: `te` or `loop_function`."""

    def __call__(self, op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...] | None:
        """Returns the results of `op`, or `None` where it has no meaning of its own. Raises `ReferenceFailure`."""
        if isinstance(op, LoopSemantics):
            self.used[op.name] = "te"
            return _by_te(op, arrays)
        if isinstance(op, LoopTemplate):
            self.used[op.name] = "loop_function"
            return _by_loops(op, arrays)
        return None


def _by_te(op: LoopSemantics, arrays: Sequence[Array]) -> tuple[Array, ...]:
    try:
        return tuple(evaluate_op(op, arrays))
    except CheckFailed as failed:
        name, _, reason = str(failed).partition(": ")
        raise ReferenceFailure(name, reason) from None


def _by_loops(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Interprets the loop function of an op. Its buffers hold the bits of the tensors."""
    assert isinstance(op, LoopTemplate)
    module = parse_text(make_context(), op.loop_function(), f"<loops of {op.name}>")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    outputs = run_loops(module, function.sym_name.data, arrays)
    types = [result.type for result in op.results if isinstance(result.type, TensorType)]
    dtypes = [DTYPES[element_type_name(type_.element_type)] for type_ in types]
    return tuple(array.view(dtype) for array, dtype in zip(outputs, dtypes, strict=True))
