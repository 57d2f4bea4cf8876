"""Statistics of the values that the layers of a program read, which the quantiser chooses its grids by."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation

from ...core.ir.verification import verify_module
from ...core.plugins import registry
from ...core.text.parsing import parse
from ...rewrites.calibration.calibrate_module import return_values
from ...rewrites.calibration.names import value_names
from ...rewrites.calibration.statistics import VALUES, StatisticsOptions, TensorStatistics
from ...rewrites.quantiser.constants import Constants
from ...rewrites.quantiser.layers import entry_of, float_layers
from ...rewrites.quantiser.points import Recorded, recorded_values
from ..compile import compile
from ..modules import copy_of
from ..program.arrays import ArrayType
from ..program.describe import array_type, input_names
from .batches import CalibrationWarning, arguments_of, check_rows, checked_batches, in_batch, left_out, remarks_on

Array = np.ndarray[Any, Any]


class ValueRecorder:
    """A program made ready to give the values that its layers read, batch by batch, by the names in its text."""

    def __init__(self, module_or_path: ModuleOp | str | Path, *, entry: str = "main", **options: Any):
        self.entry = entry
        self.module = module_of(module_or_path)
        """The program that runs. It returns the values."""
        function = entry_of(self.module, entry)
        names = value_names(function)
        constants = Constants(self.module)
        found = recorded_values(float_layers(function, constants), constants)
        self.recorded = {names[each.value]: each for each in found}
        self.inputs = inputs_of(function)
        """The name and type of every argument of the entry."""
        computed = {name: each.value for name, each in self.recorded.items() if isinstance(each.value.owner, Operation)}
        self._computed = list(computed)
        self._given = {name: _number(each) for name, each in self.recorded.items() if name not in computed}
        return_values(function, list(computed.values()))
        self._run = compile(self.module, entry=entry, **options)

    def run(self, batch: Mapping[str, Any]) -> dict[str, Array]:
        """Returns the values on one set of arguments, by name. Raises ArgumentError when these do not fit."""
        return self.run_on(arguments_of(self.entry, self.inputs, batch))

    def run_on(self, arguments: Sequence[Any]) -> dict[str, Array]:
        """Returns the values on arguments that fit, by name."""
        results = self._run(*arguments)
        given = {name: np.asarray(arguments[number]) for name, number in self._given.items()}
        return given | dict(zip(self._computed, results, strict=True))

    def statistics(self, options: StatisticsOptions) -> dict[str, TensorStatistics]:
        """Returns statistics of no batch so far, by name."""
        return {
            name: TensorStatistics(str(each.value.type), options, channel_axis=each.channel_axis)
            for name, each in self.recorded.items()
        }


def inputs_of(function: func.FuncOp) -> list[tuple[str, ArrayType]]:
    """Returns the name and type of every argument of an entry on tensors."""
    types = [array_type(type_) for type_ in function.function_type.inputs]
    return list(zip(input_names(function), types, strict=True))


def module_of(module_or_path: ModuleOp | str | Path) -> ModuleOp:
    """Returns a verified copy of a program, or the one in a file, which may be a model of another format."""
    if not isinstance(module_or_path, ModuleOp):
        if "\n" not in str(module_or_path):
            load = registry().extensions_of("importer").get(Path(module_or_path).suffix.lower())
            if load is not None:
                return load()(module_or_path)
        return parse(module_or_path)
    module = copy_of(module_or_path)
    verify_module(module)
    return module


def _number(recorded: Recorded) -> int:
    assert isinstance(recorded.value, BlockArgument)
    return recorded.value.index


def calibrate_values(
    module_or_path: ModuleOp | str | Path,
    batches: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    statistics: StatisticsOptions | None = None,
    entry: str = "main",
    **options: Any,
) -> dict[str, Any]:
    """
    Returns statistics of the values that the layers of `entry` read, over all batches: `found[entry]["values"]["x"]`.

    The other options are those of `compile`. Raises ArgumentError when there is no batch, or one does not fit.
    """
    recorder = ValueRecorder(module_or_path, entry=entry, **options)
    return {entry: {VALUES: statistics_over(recorder, batches, statistics or StatisticsOptions())}}


def statistics_over(
    recorder: ValueRecorder, batches: Mapping[str, Any] | Iterable[Mapping[str, Any]], options: StatisticsOptions
) -> dict[str, TensorStatistics]:
    """
    Returns statistics over all batches by the names of the values. Raises ArgumentError as `calibrate_values`.

    Warns of arguments with infinities and NaN, and of values that have some where all arguments are finite.
    """
    found, is_finite = recorder.statistics(options), True
    for number, batch in checked_batches(batches):
        with in_batch(number):
            arguments = arguments_of(recorder.entry, recorder.inputs, batch)
            arrays = recorder.run_on(arguments)
        check_rows(number, arrays.values())
        for warning in remarks_on(number, recorder.inputs, arguments):
            is_finite = False
            warnings.warn(CalibrationWarning(warning), stacklevel=3)
        for name, array in arrays.items():
            found[name].update(array)
    for name, tensor in found.items():
        if tensor.not_finite and is_finite:  # Else it is as likely a consequence of the arguments.
            infinite, total = tensor.not_finite - tensor.nan, tensor.count + tensor.not_finite
            warnings.warn(CalibrationWarning(left_out(f"%{name}", tensor.nan, infinite, total)), stacklevel=3)
    return found
