"""The entries of a program that a check runs, with what they take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation

from ..core.ir.walk import walk
from ..core.messages.locations import source_directory
from ..core.roles import INSTANCES, KEY, PREPARE, WEIGHTS, prepare_function
from ..core.weights import open_weights
from ..lazy_dataclass import dataclass
from ..reference.arith import dtype_of
from ..reference.element_types import NAMES, Array
from ..reference.loops.buffers import arguments_of
from ..reference.loops.state import symbol_of
from ..testing.programs.values import arrays_of


@dataclass(frozen=True)
class Input:
    """An array that a caller gives: its name, element type and declared shape, in which -1 is a size that is open."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """A function that a caller may call."""

    name: str
    inputs: tuple[Input, ...]
    op: Operation


def entries(module: ModuleOp) -> tuple[list[Entry], list[tuple[Operation, str]]]:
    """Returns the entries of a module, and the public functions that cannot be checked, each with the reason."""
    found: list[Entry] = []
    skipped: list[tuple[Operation, str]] = []
    for op in module.body.block.ops:
        name = symbol_of(op)
        if name is None or op.name not in ("func.func", "tensor_loop.func", "llvm.func") or not _is_public(op):
            continue
        reason = _reason_to_skip(op)
        inputs = _inputs(op) if reason is None else None
        if inputs is None:
            skipped.append((op, reason or "it takes something else than arrays and numbers"))
        else:
            found.append(Entry(name, inputs, op))
    return found, skipped


def _is_public(op: Operation) -> bool:
    visibility = op.get_attr_or_prop("sym_visibility")
    private = getattr(visibility, "data", "public") == "private"
    return (
        not private and bool(op.regions[0].blocks) and PREPARE not in op.attributes and INSTANCES not in op.attributes
    )


def _reason_to_skip(op: Operation) -> str | None:
    if op.name == "llvm.func":
        return "it stands on the llvm level, where nothing says what its arguments are"
    if isinstance(op, func.FuncOp) and not (op.function_type.outputs.data or _has_buffers(op)):
        return "it returns nothing"
    outside = {symbol_of(other) for other in _module_ops(op) if other.regions and not other.regions[0].blocks}
    for inner in walk(op):
        callee = inner.properties.get("callee")
        if callee is not None and getattr(callee, "string_value", lambda: None)() in outside:
            return f"it calls @{callee.string_value()}, which has no body here and may have effects"  # pyright: ignore
    return None


def _has_buffers(op: func.FuncOp) -> bool:
    return any(isinstance(each, MemRefType) for each in op.function_type.inputs)


def _module_ops(op: Operation) -> Sequence[Operation]:
    block = op.parent
    return [] if block is None else list(block.ops)


def _inputs(op: Operation) -> tuple[Input, ...] | None:
    on_buffers = op.name == "tensor_loop.func" or (isinstance(op, func.FuncOp) and _has_buffers(op))
    if on_buffers:
        given = [(each.name, each.type) for each in arguments_of(op) if each.is_given]
    else:
        arguments = op.regions[0].blocks[0].args
        given = [(each.name_hint or f"arg{number}", each.type) for number, each in enumerate(arguments)]
    inputs = [_input(name, type_) for name, type_ in given]
    return None if None in inputs else tuple(each for each in inputs if each is not None)


def _input(name: str, type_: Attribute) -> Input | None:
    try:
        dtype = np.dtype(np.int64) if str(type_) == "index" else dtype_of(type_)
    except (TypeError, KeyError, ValueError):
        return None
    shape = tuple(type_.get_shape()) if isinstance(type_, TensorType | MemRefType) else ()
    return Input(name, NAMES[dtype], shape)


def weights_of(module: ModuleOp, seed: int) -> dict[str, Array]:
    """Returns the weights of a program: those of its side-car, where it can be read, and random ones otherwise."""
    known = stored_weights(module)
    for number, (key, type_) in enumerate(dict(_weight_types(module)).items()):
        if key not in known:
            known[key] = arrays_of(seed + number, tuple(type_.get_shape()), NAMES[dtype_of(type_)], "finite")
    return known


def stored_weights(module: ModuleOp) -> dict[str, Array]:
    """Returns the weights of a program that its side-car has, none where it cannot be read."""
    wanted, file = dict(_weight_types(module)), module.attributes.get(WEIGHTS)
    if not isinstance(file, StringAttr) or not wanted:
        return {}
    directory = source_directory(module)
    try:
        opened = open_weights(file.data if directory is None else directory / file.data)
        return {key: opened.array(key) for key in wanted if key in opened}
    except Exception:
        return {}


def _weight_types(module: ModuleOp) -> list[tuple[str, TensorType | MemRefType]]:
    found: list[tuple[str, TensorType | MemRefType]] = []
    for op in walk(module):
        key = op.properties.get("key")
        if op.name == "graph.weight" and isinstance(key, StringAttr) and prepare_function(key.data) is None:
            type_ = op.results[0].type
            if isinstance(type_, TensorType):
                found.append((key.data, type_))
        attributes = op.properties.get("arg_attrs")
        if not isinstance(attributes, ArrayAttr) or not op.regions or not op.regions[0].blocks:
            continue
        for argument, each in zip(op.regions[0].blocks[0].args, attributes.data, strict=False):
            key = each.data.get(KEY) if isinstance(each, DictionaryAttr) else None
            if isinstance(key, StringAttr) and isinstance(argument.type, MemRefType):
                if prepare_function(key.data) is None:
                    found.append((key.data, argument.type))
    return found
