"""Finds the weights that native code asks for, and checks them against what the IR says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import did_you_mean
from ...core.messages.locations import SourcePoint, source_directory
from ...core.roles import WEIGHTS, prepare_function
from ...core.weights import WeightsError, open_weights
from ...dialects.graph.constants import WeightOp
from ...te.dtypes import numpy_dtype
from ..errors import CompileError
from .arrays import ArrayType
from .describe import array_type
from .description import Argument, Description, Entry


def bind_weights(
    description: Description,
    named_file: str | None,
    directory: Path | None,
    given: str | Path | Mapping[str, Any] | None,
    places: Mapping[str, SourcePoint | None] | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """
    Returns the array of every weight key, mapped from the side-car without a copy.

    `places` gives the place in the program where a key is asked for. `given` (a file or arrays by key) goes before
    `named_file`, the module's `stepwell.weights`, which is relative to `directory`.

    Raises CompileError when weights are wanted but no file is named, or an array given does not fit. Raises
    WeightsError when the file cannot be read, lacks a key, or has it with another type or shape.
    """
    wanted = {
        argument.key: argument.type
        for entry in description.entries
        for argument in entry.of("weight")
        if prepare_function(argument.key) is None
    }
    if not wanted:
        return {}
    if isinstance(given, Mapping):
        arrays = {key: np.asarray(value) for key, value in given.items()}
        return {key: _checked(key, arrays, type_) for key, type_ in wanted.items()}
    places = places or {}
    with _pointing_at(next(iter(places.values()), None)):
        file = open_weights(_side_car(named_file, directory, given, sorted(wanted)))
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for key, type_ in wanted.items():
        with _pointing_at(places.get(key)):
            file.require(key, type_.dtype, tuple(size or 0 for size in type_.shape))
            arrays[key] = file.array(key)
    return arrays


@contextmanager
def _pointing_at(place: SourcePoint | None) -> Iterator[None]:
    """Gives an error of the weights file the place in the program that wants the weight."""
    try:
        yield
    except WeightsError as error:
        raise WeightsError(replace(error.diagnostic, point=place)) from error


def _side_car(named: str | None, directory: Path | None, given: str | Path | None, keys: list[str]) -> Path:
    if given is not None:
        return Path(given)
    if named is None:
        shown = ", ".join(f"'{key}'" for key in keys[:3]) + (" …" if len(keys) > 3 else "")
        raise CompileError(
            f"the program reads weights ({shown}) but the module names no file: add the module attribute "
            'stepwell.weights = "file.safetensors" or pass weights='
        )
    return (directory or Path()) / named


def _checked(key: str, arrays: Mapping[str, Any], type_: ArrayType) -> np.ndarray[Any, Any]:
    if key not in arrays:
        hint = did_you_mean(key, arrays)
        raise CompileError(f"the weights given have no '{key}'" + (f"; {hint}" if hint else ""))
    array = arrays[key]
    if array.dtype != numpy_dtype(type_.dtype) or not type_.fits(array.shape):
        found = "x".join(map(str, (*array.shape, array.dtype)))
        raise CompileError(f"weight '{key}' is given as {found}, the program expects {type_}")
    return array


def reference_weights(
    module: ModuleOp, given: str | Path | Mapping[str, Any] | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the weights that the ops of `module` ask for, from `given` or the file that the module names."""
    named = module.attributes.get(WEIGHTS)
    wanted = [op for op in module.walk() if isinstance(op, WeightOp)]
    arguments = {
        op.weight_key: Argument("weight", op.weight_key, array_type(op.results[0].type), op.weight_key) for op in wanted
    }
    description = Description((Entry("weights", tuple(arguments.values())),), ())
    file = getattr(named, "data", None)
    return bind_weights(description, file, source_directory(module), given)
