"""
`stepwell.calibrate` records what goes into and comes out of the functions made for external code generators.

The program is rewritten so that it returns this data (`calibrate-map,calibrate-module`), and then run like any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import Diagnostic, listening
from ...core.passes.pipelines import run_pipeline
from ...core.text.parsing import make_context, parse
from ...reference.run import run as run_reference
from ...rewrites.calibration.calibrate_module import CalibrateMapPass, CalibrateModulePass
from ...rewrites.calibration.plan import Slice, read_map
from ...rewrites.calibration.statistics import SIDES, StatisticsOptions, TensorStatistics
from ...rewrites.calibration.statistics import load_statistics as load_statistics
from ...rewrites.calibration.statistics import save_statistics as save_statistics
from ...rewrites.simplify.remove_unused_functions import RemoveUnusedFunctionsPass
from ..compile import compile
from ..errors import ArgumentError
from ..modules import copy_of
from ..program.describe import array_type, functions, input_names
from ..program.weights import reference_weights
from .batches import CalibrationWarning as CalibrationWarning
from .batches import arguments_of, checked_batches, in_batch, left_out

Array = np.ndarray[Any, Any]
CallData = dict[str, list[Array]]
"""`{"inputs": […], "outputs": […]}` of one call."""


class Calibrator:
    """
    A program made ready to give its calibration data, batch by batch.

    `calls` tells for every recorded function, in call order, how many inputs and outputs each of its calls has.
    `warnings` say what is not recorded and why. The parameters are those of `calibrate`.
    """

    def __init__(
        self,
        module_or_path: ModuleOp | str | Path,
        *,
        entry: str = "main",
        recursive: bool = False,
        multi: str = "error",
        reference: bool = False,
        opt_level: int = 3,
        numerics: str = "default",
        threads: int | None = None,
        cache: bool = True,
        weights: str | Path | Mapping[str, Any] | None = None,
    ):
        if not isinstance(entry, str):
            raise ArgumentError(f"the entry is {entry!r}, expected the name of a function")
        self.entry = entry
        self.warnings: list[Diagnostic] = []
        self.module = self._calibration_module(module_or_path, recursive, multi)
        """The module that runs: a copy, so that the module given is not changed."""
        function = functions(self.module)[entry]
        assert isinstance(function, func.FuncOp)
        self.calls: dict[str, list[Slice]] = read_map(function)
        self.result_types = [str(type_) for type_ in function.function_type.outputs]
        types = [array_type(type_) for type_ in function.function_type.inputs]
        self.inputs = list(zip(input_names(function), types, strict=True))
        """The name and type of every argument of the entry."""
        self._run: Callable[..., tuple[Array, ...]]
        if reference:
            arrays = reference_weights(self.module, weights)
            self._run = lambda *given: tuple(
                np.array(result) for result in run_reference(self.module, entry, *given, weights=arrays)
            )  # copies, since a result may be the array given
        else:
            self._run = compile(
                self.module,
                entry=entry,
                opt_level=opt_level,
                numerics=numerics,
                threads=threads,
                cache=cache,
                weights=weights,
            )

    def _calibration_module(self, module_or_path: ModuleOp | str | Path, recursive: bool, multi: str) -> ModuleOp:
        if isinstance(module_or_path, ModuleOp):
            module = copy_of(module_or_path)
            verify_module(module)
        else:
            module = parse(module_or_path)
        options = (self.entry, recursive, multi)
        passes = [
            CalibrateMapPass(*options),
            CalibrateModulePass(*options),
            RemoveUnusedFunctionsPass((self.entry,)),
        ]
        with listening(self._note):
            run_pipeline(make_context(), module, passes, asked_for=True)
        return module

    def _note(self, diagnostic: Diagnostic) -> None:
        if diagnostic.severity == "warning":
            self.warnings.append(diagnostic)

    def run(self, batch: Mapping[str, Any]) -> dict[str, list[CallData]]:
        """
        Returns the data of every call of every recorded function on one set of arguments, by name.

        Raises ArgumentError when these do not fit, and whatever the program fails with.
        """
        results = self._run(*arguments_of(self.entry, self.inputs, batch))
        return {
            name: [
                {
                    "inputs": [results[number] for number in call.input_numbers],
                    "outputs": [results[number] for number in call.output_numbers],
                }
                for call in calls
            ]
            for name, calls in self.calls.items()
        }


def calibrate(
    module_or_path: ModuleOp | str | Path,
    data: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    statistics: bool | StatisticsOptions = False,
    entry: str = "main",
    recursive: bool = False,
    multi: str = "error",
    reference: bool = False,
    opt_level: int = 3,
    numerics: str = "default",
    threads: int | None = None,
    cache: bool = True,
    weights: str | Path | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """
    Runs a program on `data` and returns what went into and came out of each function with `graph.compiler` it calls.

    `data` is one batch, an array for each argument of `entry` by name, or an iterable of batches. The result has
    `{"inputs": […], "outputs": […]}` for every function that `entry` calls, in call order. These are the arrays
    themselves for one batch. For an iterable all batches are stacked along a new first axis. With `statistics` there is
    a `TensorStatistics` in place of each array, and only one batch at a time is held in memory.

    `recursive` records calls in functions that `entry` calls too. `multi="list"` allows several calls of a function,
    and gives for each function a list with one element per call. `reference` runs the program in NumPy, op by op,
    instead of compiling it. The other parameters are those of `compile`. Functions run as ordinary parts of the
    program, whether or not the code generator they are meant for is there. The module given is not changed.

    A `CalibrationWarning` says what is not recorded. Raises ArgumentError when there is no batch or one does not
    fit, CompileError and the errors of `calibrate-module` when the program cannot be calibrated.
    """
    calibrator = Calibrator(
        module_or_path,
        entry=entry,
        recursive=recursive,
        multi=multi,
        reference=reference,
        opt_level=opt_level,
        numerics=numerics,
        threads=threads,
        cache=cache,
        weights=weights,
    )
    for diagnostic in calibrator.warnings:
        warnings.warn(CalibrationWarning(diagnostic), stacklevel=2)
    single = isinstance(data, Mapping)
    batches = [cast("Mapping[str, Any]", data)] if single else cast("Iterable[Mapping[str, Any]]", data)
    if statistics:
        options = statistics if isinstance(statistics, StatisticsOptions) else StatisticsOptions()
        collector: Collector = StatisticsCollector(calibrator, options)
    else:
        collector = DataCollector(calibrator, stacked=not single)
    run_batches(calibrator, batches, [collector])
    for diagnostic in collector.remarks():
        warnings.warn(CalibrationWarning(diagnostic), stacklevel=2)
    return without_lists(collector.result()) if multi == "error" else collector.result()


def run_batches(calibrator: Calibrator, batches: Iterable[Mapping[str, Any]], collectors: Iterable[Collector]) -> int:
    """Runs every batch and hands its data to every collector. Returns the number of batches, at least one."""
    chosen = list(collectors)
    count = 0
    for count, batch in checked_batches(batches):
        with in_batch(count):
            data = calibrator.run(batch)
        for collector in chosen:
            collector.add(data)
    return count


def without_lists(result: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Returns the data of the only call of each function."""
    return {name: calls[0] for name, calls in result.items()}


class Collector:
    """Puts the data of batches together."""

    def add(self, data: Mapping[str, list[CallData]]) -> None:
        """Takes in one batch."""
        raise NotImplementedError

    def result(self) -> dict[str, list[Any]]:
        """Returns the collected data by function and by call."""
        raise NotImplementedError

    def remarks(self) -> list[Diagnostic]:
        """Returns what the user should know of the data."""
        return []


class DataCollector(Collector):
    """Keeps all data: that of one batch as it is, or every batch `stacked` along a new first axis."""

    def __init__(self, calibrator: Calibrator, *, stacked: bool):
        self._stacked = stacked
        self._batches: list[Mapping[str, list[CallData]]] = []
        self._calls = calibrator.calls

    def add(self, data: Mapping[str, list[CallData]]) -> None:
        self._batches.append(data)

    def result(self) -> dict[str, list[Any]]:
        if not self._stacked:
            return dict(self._batches[0])
        return {
            name: [{side: self._stack(name, number, side) for side in SIDES} for number in range(len(calls))]
            for name, calls in self._calls.items()
        }

    def _stack(self, name: str, number: int, side: str) -> list[Array]:
        found = [batch[name][number][side] for batch in self._batches]
        return [_stacked(name, side, index, arrays) for index, arrays in enumerate(zip(*found, strict=True))]


def _stacked(name: str, side: str, index: int, arrays: tuple[Array, ...]) -> Array:
    for number, array in enumerate(arrays, 1):
        if array.shape != arrays[0].shape:
            raise ArgumentError(
                f"batches have different shapes: {side.removesuffix('s')} {index} of @{name} is {arrays[0].shape} in "
                f"batch 1 and {array.shape} in batch {number}; collect statistics, or calibrate batch by batch"
            )
    return np.stack(arrays)


class StatisticsCollector(Collector):
    """Keeps statistics of every tensor. Its size does not depend on the number of batches."""

    def __init__(self, calibrator: Calibrator, options: StatisticsOptions):
        self._result: dict[str, list[dict[str, list[TensorStatistics]]]] = {}
        types = calibrator.result_types
        for name, calls in calibrator.calls.items():
            self._result[name] = [
                {
                    "inputs": [TensorStatistics(types[number], options) for number in call.input_numbers],
                    "outputs": [TensorStatistics(types[number], options) for number in call.output_numbers],
                }
                for call in calls
            ]

    def add(self, data: Mapping[str, list[CallData]]) -> None:
        for name, calls in self._result.items():
            for call, arrays in zip(calls, data[name], strict=True):
                for side in SIDES:
                    for statistics, array in zip(call[side], arrays[side], strict=True):
                        statistics.update(array)

    def result(self) -> dict[str, list[Any]]:
        return dict(self._result)

    def remarks(self) -> list[Diagnostic]:
        return [
            left_out(
                f"{side.removesuffix('s')} {number} of @{name}",
                tensor.nan,
                tensor.not_finite - tensor.nan,
                tensor.count + tensor.not_finite,
            )
            for name, calls in self._result.items()
            for call in calls
            for side in SIDES
            for number, tensor in enumerate(call[side])
            if tensor.not_finite
        ]
