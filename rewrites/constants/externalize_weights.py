"""Passes between constants in the text and weights in a side-car file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ...core.messages.diagnostics import Diagnostic, StepwellError, fail
from ...core.messages.files import is_same_file
from ...core.messages.locations import copy_location, source_directory, source_point
from ...core.passes.base import StepwellPass
from ...core.roles import WEIGHTS as ATTRIBUTE
from ...core.weights import RawTensor, WeightFile, WeightsError, open_weights, raw_of_memory, raw_tensor, write_weights
from ...dialects.graph import ConstantOp, WeightOp
from ...lazy_dataclass import dataclass


def side_car(module: ModuleOp) -> Path | None:
    """
    Returns the path of the weights file of a module, or `None` when it names none.

    It is relative to the folder of the IR file, or to the working directory for standard input.
    """
    name = module.attributes.get(ATTRIBUTE)
    if name is None:
        return None
    if not isinstance(name, StringAttr):
        raise PassFailedException(f"module attribute '{ATTRIBUTE}' is {name}, expected a string")
    return (source_directory(module) or Path()) / name.data


def open_side_car(module: ModuleOp, user: Operation) -> WeightFile:
    """Returns the weights file of a module. The error for none is located at `user`."""
    path = side_car(module)
    if path is None:
        fail(user, f"the module names no weights file: it has no attribute '{ATTRIBUTE}'")
    return open_weights(path)


def ops_of_type(module: ModuleOp, op_type: type[Any]) -> Iterator[Any]:
    return (op for op in module.walk() if isinstance(op, op_type))


def replace(op: Operation, new: Operation) -> None:
    """Puts `new` in place of `op`, at its location, its result under the same name."""
    copy_location(op, new)
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    new.results[0].name_hint = op.results[0].name_hint
    new.attributes.update(op.attributes)
    op.results[0].replace_all_uses_with(new.results[0])
    op.detach()
    op.erase()


@dataclass(frozen=True)
class ExternalizeWeightsPass(StepwellPass):
    """
    Moves constants of many elements to a safetensors file.

    Before: `%w = graph.constant dense<…> : tensor<784x128xf32>`.
    After: `%w = graph.weight "w" : tensor<784x128xf32>`, and the module attribute `stepwell.weights` naming the file.

    Keys come from the names of the values. Weights that the module has already are copied to the new file. Splats stay.
    `record_as` is what the attribute says. When it is empty, that is `file`, relative to the folder of the program
    unless it is absolute. Without a constant to move nothing is written. Raises `WeightsError` when a file cannot be
    read or written, and `StepwellError` when it is the program itself.
    """

    name: ClassVar[str] = "externalize-weights"

    file: str
    min_elements: int = 1024
    record_as: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        moved = [constant for constant in ops_of_type(op, ConstantOp) if self._is_large(constant)]
        if not moved:
            return
        if not self.file:
            raise PassFailedException(f"{self.name} needs a file to write to")
        self._refuse_program(op)
        tensors = self._known(op)
        by_content: dict[DenseIntOrFPElementsAttr, str] = {}
        for constant in moved:
            value = constant.dense
            key = by_content.get(value)
            if key is None:
                key = by_content[value] = free_key(constant.results[0].name_hint, tensors)
                shaped = constant.shaped
                shape = tuple(dim for dim in shaped.shape if dim is not None)
                tensors[key] = raw_of_memory(constant.data, shaped.dtype, shape)
            type_ = constant.results[0].type
            assert isinstance(type_, TensorType)
            replace(constant, WeightOp(key, type_))
            self.count("constants moved")
        write_weights(self.file, tensors)
        op.attributes[ATTRIBUTE] = StringAttr(self.record_as or relative_to(source_directory(op), self.file))

    def _refuse_program(self, module: ModuleOp) -> None:
        point = source_point(module.location)
        if point is not None and source_directory(module) is not None and is_same_file(self.file, point.file):
            raise StepwellError(Diagnostic(f"the file of pass '{self.name}', '{self.file}', is the program itself"))

    def _is_large(self, constant: ConstantOp) -> bool:
        return prod(constant.dense.get_shape()) >= self.min_elements and constant.splat is None

    def _known(self, module: ModuleOp) -> dict[str, RawTensor]:
        """Returns the weights that the module reads so far."""
        tensors: dict[str, RawTensor] = {}
        for weight in ops_of_type(module, WeightOp):
            key = weight.weight_key
            if key not in tensors:
                tensors[key] = raw_tensor(open_side_car(module, weight).array(key))
        return tensors


def free_key(hint: str | None, taken: dict[str, RawTensor]) -> str:
    """Returns a key that is not taken, made from the name of the value."""
    base = re.sub(r"_[0-9]+$", "", hint) if hint else "constant"
    key, number = base, 0
    while key in taken:
        number += 1
        key = f"{base}_{number}"
    return key


@dataclass(frozen=True)
class InlineWeightsPass(StepwellPass):
    """
    Writes weights of a side-car into the text as constants.

    Before: `%w = graph.weight "w" : tensor<2xf32>`.
    After: `%w = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>`; without any weight left the module names no file.

    Weights of more than `max_elements` elements stay, where 0 means no limit. Raises `WeightsError` for a file that
    cannot be read, or lacks a key or the expected type.
    """

    name: ClassVar[str] = "inline-weights"

    max_elements: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = list(ops_of_type(op, WeightOp))
        file = open_side_car(op, weights[0]) if weights else None
        left = 0
        for weight in weights:
            assert file is not None
            require(file, weight)
            type_ = weight.results[0].type
            assert isinstance(type_, TensorType)
            if self.max_elements and prod(type_.get_shape()) > self.max_elements:
                left += 1
                continue
            replace(weight, ConstantOp.from_bytes(file.array(weight.weight_key).tobytes(), type_))
            self.count("weights inlined")
        if not left:
            op.attributes.pop(ATTRIBUTE, None)


def require(file: WeightFile, weight: WeightOp) -> None:
    """Raises an error located at `weight` unless the file holds it with its type."""
    shaped = weight.shaped
    shape = tuple(dim for dim in shaped.shape if dim is not None)
    try:
        file.require(weight.weight_key, shaped.dtype, shape)
    except WeightsError as error:
        fail(weight, error.diagnostic.message, hint=error.diagnostic.hint)


@dataclass(frozen=True)
class VerifyWeightsPass(StepwellPass):
    """
    Checks that the side-car holds every weight with its type and is as it was written.

    Changes nothing. Raises an error at the first weight that differs, and `WeightsError` when the hash of the data
    differs from the one recorded in the file.
    """

    name: ClassVar[str] = "verify-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = list(ops_of_type(op, WeightOp))
        if not weights:
            return
        file = open_side_car(op, weights[0])
        for weight in weights:
            require(file, weight)
            self.count("weights verified")
        file.verify()


def relative_to(folder: Path | None, file: str) -> str:
    """Returns `file` as a program in `folder` names it, where no folder is the working directory."""
    if folder is None or os.path.isabs(file) or folder.resolve() == Path.cwd():
        return file
    return os.path.relpath(Path(file).resolve(), folder.resolve())


def recorded_path(file: str, output: str | None) -> str:
    """
    Returns the path by which a program written to `output` names `file`: relative to the folder of the output.

    Without an output, and for an absolute path outside of that folder, the path stays as given.
    """
    if output in (None, "-"):
        return file
    folder, target = Path(output).resolve().parent, Path(file).resolve()
    if os.path.isabs(file) and not target.is_relative_to(folder):
        return file
    return os.path.relpath(target, folder)
