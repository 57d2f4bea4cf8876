"""The pass `merge-prepare-functions`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation

from ...core.ir.structural_hash import structural_hash
from ...core.ir.walk import ops_of
from ...core.messages.locations import copy_location
from ...core.messages.origins import fuse
from ...core.passes.base import StepwellPass
from ...core.roles import INSTANCES, PREPARE, prepare_function, prepare_key
from ...dialects.graph.constants import WeightOp
from ...lazy_dataclass import dataclass

MERGED_OPS = frozenset({"graph.weight", "graph.constant", "graph.call_kernel", "func.return"})
"""
The ops of functions that may merge: none of these can fail on its own, with an error that names a place in the program.
"""


@dataclass(frozen=True)
class MergePrepareFunctionsPass(StepwellPass):
    """
    Keeps one of the prepare functions that do the same to different weights.

    A net of twenty like layers packs its weights by twenty like functions. With one of them, the passes below and LLVM
    have a twentieth of the work. The one that stays, the first, lists the others in `stepwell.instances`: name, and the
    weight keys in place of its own, in their order. Results of the others are read as weights by the keys
    `@prepare_1#0`, the way it is written on buffers.

    Before:
        %0 = func.call @prepare_0() : () -> tensor<8x4xf32>
        %1 = func.call @prepare_1() : () -> tensor<8x4xf32>
        func.func private @prepare_0() -> tensor<8x4xf32> attributes {stepwell.prepare} {
          %w = graph.weight "w0" : tensor<4x8xf32>
          … }
        func.func private @prepare_1() -> tensor<8x4xf32> attributes {stepwell.prepare} {
          %w = graph.weight "w1" : tensor<4x8xf32>
          … }
    After:
        %0 = func.call @prepare_0() : () -> tensor<8x4xf32>
        %1 = graph.weight "@prepare_1#0" : tensor<8x4xf32>
        func.func private @prepare_0() -> tensor<8x4xf32> attributes {stepwell.prepare,
            stepwell.instances = {prepare_1 = ["w1"]}} {
          %w = graph.weight "w0" : tensor<4x8xf32>
          … }

    Functions with other ops than weights, constants and calls of kernels stay, and those that read what another
    prepare function makes.
    """

    name = "merge-prepare-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, func.FuncOp)]
        found = [function for function in functions if PREPARE in function.attributes]
        if len(found) < 2:
            return
        kept: dict[str, func.FuncOp] = {}
        merged: dict[str, func.FuncOp] = {}
        for function in found:
            if _may_merge(function):
                first = kept.setdefault(_hash_without_keys(function), function)
                if first is not function:
                    _add_instance(first, function)
                    merged[function.sym_name.data] = function
        calls = [each for function in functions for each in ops_of(function, func.CallOp)]
        for call in calls:
            if call.callee.string_value() in merged:
                _read_as_weights(call)
        for function in merged.values():
            function.detach()
            function.erase()
        self.count("functions merged", len(merged))


def _may_merge(function: func.FuncOp) -> bool:
    """Returns whether a function makes its results from weights of the side-car, in ways that cannot fail."""
    if len(function.body.blocks) != 1 or function.function_type.inputs.data:
        return False
    for op in function.body.block.ops:
        if op.name not in MERGED_OPS or (isinstance(op, WeightOp) and prepare_function(op.weight_key) is not None):
            return False
    return True


def _keys(function: func.FuncOp) -> list[str]:
    """Returns the keys of the weights of a function, each once, in the order of its arguments on buffers."""
    return list(dict.fromkeys(op.weight_key for op in function.body.block.ops if isinstance(op, WeightOp)))


def _hash_without_keys(function: func.FuncOp) -> str:
    """Returns a hash of all a function says but its name, its instances, and which weights it reads."""
    weights = [op for op in function.body.block.ops if isinstance(op, WeightOp)]
    numbers = {key: number for number, key in enumerate(_keys(function))}
    name, keys = function.sym_name, [op.properties["key"] for op in weights]
    instances = function.attributes.pop(INSTANCES, None)
    function.properties["sym_name"] = StringAttr("")
    for op in weights:
        op.properties["key"] = StringAttr(str(numbers[op.weight_key]))
    digest = structural_hash(function)
    for op, key in zip(weights, keys, strict=True):
        op.properties["key"] = key
    function.properties["sym_name"] = name
    if instances is not None:
        function.attributes[INSTANCES] = instances
    return digest


def _add_instance(first: func.FuncOp, function: func.FuncOp) -> None:
    """Lists `function` and its instances as instances of `first`."""
    keys = ArrayAttr(map(StringAttr, _keys(function)))
    new: dict[str, Attribute] = {function.sym_name.data: keys}
    first.attributes[INSTANCES] = DictionaryAttr(_instances(first) | new | _instances(function))
    for own, other in zip(first.walk(), function.walk(), strict=True):
        own.location = fuse((own.location, other.location))


def _instances(function: func.FuncOp) -> dict[str, Attribute]:
    known = function.attributes.get(INSTANCES)
    return dict(known.data) if isinstance(known, DictionaryAttr) else {}


def _read_as_weights(call: func.CallOp) -> None:
    """Puts weights in the place of the results of a call of a prepare function."""
    assert call.parent is not None
    for index, result in enumerate(call.results):
        assert isinstance(result.type, TensorType)
        weight = WeightOp(prepare_key(call.callee.string_value(), index), result.type)
        weight.results[0].name_hint = result.name_hint
        copy_location(call, weight)
        call.parent.insert_op_before(weight, call)
        result.replace_all_uses_with(weight.results[0])
    _erase(call)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
