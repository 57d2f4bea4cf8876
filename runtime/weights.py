"""Finding the weights that a program's native code asks for, and checking them against what the IR says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.diagnostics import did_you_mean
from .arrays import ArrayType, numpy_dtype
from .errors import CompileError
from .program import Description


def bind_weights(
    description: Description,
    named_file: str | None,
    directory: Path | None,
    given: str | Path | Mapping[str, Any] | None,
) -> dict[str, np.ndarray[Any, Any]]:
    """
    The array of every weight key, mapped from the side-car without a copy.

    `given` (a file or arrays by key) goes before `named_file`, the module's `stepwell.weights`, which is relative to
    `directory`. Raises CompileError when weights are wanted but no file is named, a key is missing, or type or shape
    differ from the IR.
    """
    wanted = {
        argument.key: argument.type
        for entry in description.entries
        for argument in entry.of("weight")
        if not argument.key.startswith("@")
    }
    if not wanted:
        return {}
    if isinstance(given, Mapping):
        source, arrays = "the weights given", {key: np.asarray(value) for key, value in given.items()}
    else:
        path = _side_car(named_file, directory, given, sorted(wanted))
        source, arrays = str(path), _mapped(path, wanted)
    return {key: _checked(key, arrays, type_, source) for key, type_ in wanted.items()}


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


def _mapped(path: Path, wanted: Mapping[str, ArrayType]) -> dict[str, np.ndarray[Any, Any]]:
    from ..core.weights import open_weights

    file = open_weights(path)
    return {key: file.array(key) for key in file.keys()}  # noqa: SIM118


def _checked(key: str, arrays: Mapping[str, Any], type_: ArrayType, source: str) -> np.ndarray[Any, Any]:
    if key not in arrays:
        hint = did_you_mean(key, arrays)
        raise CompileError(f"{source} has no weight '{key}'" + (f"; {hint}" if hint else ""))
    array = arrays[key]
    found = "x".join(map(str, (*array.shape, array.dtype)))
    if array.dtype != numpy_dtype(type_.dtype) or not type_.fits(array.shape):
        raise CompileError(f"weight '{key}' of {source} is {found}, the program expects {type_}")
    return array
