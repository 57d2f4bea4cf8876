"""Second moments of what the layers of a program read, by which weights of few bits are rounded."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from ...rewrites.calibration.calibrate_module import return_values
from ...rewrites.calibration.names import value_names
from ...rewrites.quantiser.constants import Constants
from ...rewrites.quantiser.layers import entry_of, float_layers
from ...rewrites.quantiser.weight_only import matrix_of
from ..calibration.batches import CalibrationWarning, arguments_of, check_rows, checked_batches, in_batch, remarks_on
from ..calibration.values import inputs_of, module_of
from ..compile import compile

Array = np.ndarray[Any, Any]


def input_moments(
    module_or_path: ModuleOp | str | Path,
    batches: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    entry: str = "main",
    **options: Any,
) -> dict[str, Array]:
    """
    Returns the second moments of what products with constant matrices read: `sum of x xᵀ`, of f64 and size KxK.

    The keys are names of values, and the sum is over the rows of all batches. Rows that are not finite are left out.
    The other options are those of `compile`. Raises ArgumentError when there is no batch, or one does not fit.
    """
    module = module_of(module_or_path)
    function = entry_of(module, entry)
    inputs, read = inputs_of(function), _values_read(module, entry)
    computed = {name: value for name, value in read.items() if not isinstance(value, BlockArgument)}
    given = {name: value.index for name, value in read.items() if isinstance(value, BlockArgument)}
    found = {name: np.zeros((_size(value),) * 2) for name, value in read.items()}
    return_values(function, list(computed.values()))
    run = compile(module, entry=entry, **options)
    for number, batch in checked_batches(batches):
        with in_batch(number):
            arguments = arguments_of(entry, inputs, batch)
        arrays = dict(zip(computed, run(*arguments), strict=True))
        arrays |= {name: np.asarray(arguments[index]) for name, index in given.items()}
        check_rows(number, arrays.values())
        for warning in remarks_on(number, inputs, arguments):
            warnings.warn(CalibrationWarning(warning), stacklevel=2)
        for name, array in arrays.items():
            _add(found[name], array)
    return found


def _values_read(module: ModuleOp, entry: str) -> dict[str, SSAValue]:
    """Returns the left operands of products with constant matrices, each once, by name."""
    function, constants = entry_of(module, entry), Constants(module)
    names = value_names(function)
    layers = [layer for layer in float_layers(function, constants) if not isinstance(matrix_of(layer, constants), str)]
    return {names[layer.op.operands[0]]: layer.op.operands[0] for layer in layers}


def _size(value: SSAValue) -> int:
    return value.type.get_shape()[-1]  # pyright: ignore[reportAttributeAccessIssue]


def _add(moments: Array, array: Array) -> None:
    rows = array.reshape(-1, moments.shape[0]).astype(np.float64)
    rows = rows[np.isfinite(rows).all(axis=1)]
    moments += rows.T @ rows
