"""The pass `merge-prepare-functions`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf, func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from ..core.passes import StepwellPass
from ..core.roles import INSTANCES, KEY, PREPARE, ROLE
from ..core.structural_hash import structural_hash


@dataclass(frozen=True)
class MergePrepareFunctionsPass(StepwellPass):
    """
    Keeps one of the prepare functions that do the same to different weights.

    A net of twenty like layers packs its weights by twenty like functions; with one of them, the passes below and LLVM have a
    twentieth of the work. The one that stays, the first, lists the others in `stepwell.instances`: name, and the weight keys in place
    of its own, in the order of its weight arguments. Who reads a result goes on asking for that of `@prepare_1`.

    Before:
        func.func private @prepare_0(%w: memref<4x8xf32> {stepwell.role = "weight", stepwell.key = "w0", …}, %r: …)
            attributes {stepwell.prepare} { … }
        func.func private @prepare_1(%w: memref<4x8xf32> {stepwell.role = "weight", stepwell.key = "w1", …}, %r: …)
            attributes {stepwell.prepare} { … }
    After:
        func.func private @prepare_0(%w: memref<4x8xf32> {stepwell.role = "weight", stepwell.key = "w0", …}, %r: …)
            attributes {stepwell.prepare, stepwell.instances = {"prepare_1" = ["w1"]}} { … }

    Left alone: functions on tensors, those that are called, those that read what another prepare function makes, and those that
    may fail, whose error names the place in the program.
    """

    name = "merge-prepare-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, func.FuncOp)]
        found = [function for function in functions if PREPARE in function.attributes]
        if len(found) < 2:
            return
        calls = (each for function in functions for each in function.walk() if isinstance(each, func.CallOp))
        called = {call.callee.string_value() for call in calls}
        kept: dict[str, func.FuncOp] = {}
        for function in found:
            if function.sym_name.data in called or not _may_merge(function):
                continue
            first = kept.setdefault(_hash_without_keys(function), function)
            if first is not function:
                _add_instance(first, function)
                function.detach()
                function.erase()
                self.count("functions merged")


def _may_merge(function: func.FuncOp) -> bool:
    """Whether all arguments have roles, all weights are from the side-car, and nothing can fail."""
    attributes = function.arg_attrs
    if attributes is None or not function.body.blocks or not all(ROLE in each.data for each in attributes):
        return False
    if any(key.startswith("@") for key in _keys(function)):
        return False
    return not any(isinstance(op, cf.AssertOp) for op in function.walk())


def _keys(function: func.FuncOp) -> list[str]:
    """The keys of the weights of a function, in the order of its arguments."""
    given = [each.data.get(KEY) for each in function.arg_attrs or ()]
    return [key.data for key in given if isinstance(key, StringAttr)]


def _hash_without_keys(function: func.FuncOp) -> str:
    """A hash of all a function says but its name, its keys and its instances."""
    properties, attributes = dict(function.properties), dict(function.attributes)
    assert function.arg_attrs is not None
    plain = [DictionaryAttr({k: v for k, v in each.data.items() if k != KEY}) for each in function.arg_attrs]
    function.properties |= {"sym_name": StringAttr(""), "arg_attrs": ArrayAttr(plain)}
    function.attributes.pop(INSTANCES, None)
    digest = structural_hash(function)
    function.properties, function.attributes = properties, attributes
    return digest


def _add_instance(first: func.FuncOp, function: func.FuncOp) -> None:
    """Lists `function` and its instances as instances of `first`."""
    new: dict[str, Attribute] = {function.sym_name.data: _strings(_keys(function))}
    first.attributes[INSTANCES] = DictionaryAttr(_instances(first) | new | _instances(function))


def _instances(function: func.FuncOp) -> dict[str, Attribute]:
    known = function.attributes.get(INSTANCES)
    return dict(known.data) if isinstance(known, DictionaryAttr) else {}


def _strings(texts: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr(map(StringAttr, texts))
