"""Finds the weights that native code asks for, and checks them against what the IR says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr

from ...core.derived_weights import BYTES, source_key, sources_first, summed, sums_of, with_sources
from ...core.ir.walk import ops_of
from ...core.messages.articles import with_article
from ...core.messages.diagnostics import did_you_mean, emit_remark, remarks_wanted
from ...core.messages.locations import nearest_source_point, source_directory
from ...core.messages.points import SourcePoint
from ...core.packing import pack
from ...core.roles import KEY, WEIGHTS, prepare_function
from ...core.weights import RawTensor, WeightsError, open_weights, refuse_missing
from ...dialects.graph.constants import WeightOp
from ...te.dtypes import SMALL_INTEGERS, numpy_dtype, of_numpy
from ..errors import CompileError
from .arrays import ArrayType, unshared
from .describe import array_type
from .description import Argument, Description, Entry


def given_weights(weights: Any) -> str | Path | Mapping[str, Any] | None:
    """
    Returns the argument `weights` of `compile` for a program to keep: arrays that somebody may write into are copied.

    Raises CompileError for what is neither a file nor arrays by key.
    """
    if weights is None or isinstance(weights, str | Path):
        return weights
    if not isinstance(weights, Mapping):
        kind = with_article(type(weights).__name__)
        raise CompileError(f"weights is {kind}, expected the name of a safetensors file or a dict of arrays")
    kept: dict[str, Any] = {}
    for key, value in weights.items():
        if not isinstance(key, str):
            raise CompileError(f"weights has the key {key!r}, expected the names of weights")
        try:
            kept[key] = value if isinstance(value, RawTensor) else unshared(value)
        except (TypeError, ValueError) as error:
            kind = with_article(type(value).__name__)
            raise CompileError(f"weight '{key}' is {kind}, expected a numpy array: {error}") from None
    return kept


def refuse_idle_file(weights: str | Path, module: ModuleOp) -> None:
    """Raises CompileError for a weights file that is given to a program which asks for no weight."""
    if not keys_of(module):
        raise CompileError(f"the program has no weights, but weights= gives '{weights}'")


def bind_weights(
    description: Description,
    named_file: str | None,
    directory: Path | None,
    given: str | Path | Mapping[str, Any] | None,
    module: ModuleOp | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """
    Returns the array of every weight key, mapped from the side-car without a copy.

    `given` (a file or arrays by key) goes before `named_file`, the module's `stepwell.weights`, which is relative to
    `directory`. `module` is the program before it was lowered: it says where a key is asked for, and which keys mean
    something. A remark tells the keys of a file that the program does not ask for.

    Raises CompileError when weights are wanted but no file is named, or an array given does not fit or has a key that
    the program does not ask for. Raises WeightsError when the file cannot be read, lacks a key, or has it with another
    type or shape.
    """
    types = {argument.key: argument.type for entry in description.entries for argument in entry.of("weight")}
    # A tensor that is missing or does not fit is told before what follows from it.
    wanted = {key: types[key] for key in sources_first(types) if prepare_function(key) is None}
    known = with_sources([*wanted, *(() if module is None else keys_of(module))])
    if isinstance(given, Mapping):
        arrays = _arrays_of(given, wanted)
        missing = _tensors([key for key in wanted if key not in arrays and source_key(key) not in arrays])
        if len(missing) > 1:
            raise CompileError(f"the weights given have no {_some(missing)}")
        for key in missing:
            _refuse_missing(key, arrays)
        found: dict[str, np.ndarray[Any, Any]] = {}
        for key, type_ in wanted.items():
            if key not in arrays:
                arrays[key] = _derived(key, source_key(key), given[source_key(key)])
            found[key] = _checked(key, arrays, type_)
        if module is not None:
            _refuse_unknown(given, known)
        return found
    if not wanted:
        return {}
    places = {} if module is None else {op.weight_key: nearest_source_point(op) for op in ops_of(module, WeightOp)}
    with _pointing_at(next(iter(places.values()), None)):
        file = open_weights(_side_car(named_file, directory, given, sorted(_tensors(wanted))))
    if missing := _tensors([key for key in wanted if key not in file and source_key(key) not in file]):
        with _pointing_at(places.get(missing[0])):
            refuse_missing(file, missing)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for key, type_ in wanted.items():
        with _pointing_at(places.get(key) or places.get(source_key(key))):
            file.require(key, type_.dtype, tuple(size or 0 for size in type_.shape))
            arrays[key] = file.array(key)
    unused = [key for key in file.entries if key not in known]
    if module is not None and unused and remarks_wanted():
        emit_remark(module, f"weights file '{file.path}': the program does not ask for {_some(unused)}")
    return arrays


def _arrays_of(given: Mapping[str, Any], wanted: Mapping[str, ArrayType]) -> dict[str, np.ndarray[Any, Any]]:
    """Returns weights as arrays."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for key, value in given.items():
        is_raw = isinstance(value, RawTensor)
        # What is only wanted packed is not unpacked.
        arrays[key] = np.asarray(value) if not is_raw else value.array() if key in wanted else value.bytes()
    return arrays


def _tensors(keys: Iterable[str]) -> list[str]:
    """Returns those of `keys` that follow from nothing, or all where each follows from a tensor."""
    given = list(keys)
    return [key for key in given if key == source_key(key)] or given


def _derived(key: str, source: str, value: Any) -> np.ndarray[Any, Any]:
    """Returns what `key` names of the tensor of key `source`, `value`."""
    is_raw, sums = isinstance(value, RawTensor), sums_of(key)
    if is_raw and sums is None:
        return value.bytes()
    array = value.array() if is_raw else np.asarray(value)
    allowed = SMALL_INTEGERS if sums is None else BYTES
    if of_numpy(array.dtype.name) not in allowed:
        known = ", ".join(str(numpy_dtype(name)) for name in allowed)
        raise CompileError(f"weight '{source}' is given with element type {array.dtype}, expected one of {known}")
    if sums is None:
        return pack(array)
    if sums[1] >= array.ndim:
        raise CompileError(f"weight '{source}' is given with {array.ndim} dimensions, expected at least {sums[1] + 1}")
    return summed(array, *sums[1:])


def keys_of(module: ModuleOp) -> set[str]:
    """Returns the keys that weights and arguments of functions of `module` have."""
    keys = {op.weight_key for op in ops_of(module, WeightOp)}
    for op in module.body.ops:
        attributes = op.properties.get("arg_attrs")
        for each in attributes if isinstance(attributes, ArrayAttr) else ():
            key = each.data.get(KEY) if isinstance(each, DictionaryAttr) else None
            if isinstance(key, StringAttr):
                keys.add(key.data)
    return keys


def _refuse_unknown(given: Mapping[str, Any], known: Collection[str]) -> None:
    unknown = [key for key in given if key not in known]
    if unknown:
        near = next((hint for key in unknown if (hint := did_you_mean(key, known))), None)
        hint = near or (f"its weights are {_some(sorted(known))}" if known else "it has no weights")
        raise CompileError(f"the program asks for no weight {_some(unknown)}, which weights= gives; {hint}")


def _some(keys: Sequence[str]) -> str:
    return ", ".join(f"'{key}'" for key in keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")


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
        raise CompileError(
            f"the program reads weights ({_some(keys)}) but the module names no file: add the module attribute "
            'stepwell.weights = "file.safetensors" or pass weights='
        )
    return (directory or Path()) / named


def _refuse_missing(key: str, arrays: Mapping[str, Any]) -> NoReturn:
    hint = did_you_mean(key, arrays)
    raise CompileError(f"the weights given have no '{key}'" + (f"; {hint}" if hint else ""))


def _checked(key: str, arrays: Mapping[str, Any], type_: ArrayType) -> np.ndarray[Any, Any]:
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
    return bind_weights(description, file, source_directory(module), given, module)
