"""Ops that are alike are checked once per walk, and whatever they differ in is found all the same."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any

import pytest
import stepwell
from stepwell.core.ir.verification import (
    VerificationError,
    _key_function,  # pyright: ignore[reportPrivateUsage]
    verify_module,
)
from stepwell.dialects.graph.base import TensorOp, tensor_operand, tensor_result
from stepwell.dialects.graph.constants import ConstantOp, FullOp, WeightOp
from stepwell.dialects.graph.contraction import MatmulOp
from stepwell.dialects.graph.reduction import SoftmaxOp
from stepwell.dialects.graph.shapes import Shaped
from stepwell.dialects.graph.signature import tensor_type
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import attr_def, irdl_op_definition, traits_def
from xdsl.traits import HasParent

ALIKE = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %k = graph.weight "k" : tensor<8x8xf32>
  %l = graph.weight "l" : tensor<8x8xf32>
  %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %d = graph.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %e = graph.constant dense<[true, false]> : tensor<2xi1>
  %f = graph.full 1.0 : tensor<2xf32>
  %g = graph.full 2.0 : tensor<2xf32>
  %0 = graph.softmax %x, axis = -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.softmax %x, axis = -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.matmul %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = graph.matmul %2, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %3 : tensor<4x8xf32>
}
"""


def alike(name: str) -> tuple[ModuleOp, Operation]:
    """The program, and the second of its ops called `name`."""
    module = stepwell.parse(ALIKE)
    _, second, *_ = (op for op in module.walk() if op.name == name)
    return module, second


def set_attribute(holder: dict[str, Attribute], name: str, attribute: Attribute) -> None:
    holder[name] = attribute


DIFFERENCES: dict[str, tuple[str, Callable[[Any], object]]] = {
    "the value of a property": ("softmax", lambda op: set_attribute(op.properties, "axis", IntegerAttr(2, 64))),
    "the type of a property": ("softmax", lambda op: set_attribute(op.properties, "axis", IntegerAttr(1, 32))),
    "a missing property": ("softmax", lambda op: op.properties.clear()),
    "one more property": ("softmax", lambda op: set_attribute(op.properties, "axes", IntegerAttr(1, 64))),
    "a property among the attributes": (
        "softmax", lambda op: (op.attributes.update(op.properties), op.properties.clear())
    ),
    "the type of the result": ("softmax", lambda op: setattr(op.results[0], "_type", op.operands[0].type.element_type)),
    "the type of an operand": ("matmul", lambda op: setattr(op, "operands", [op.operands[0], op.operands[0]])),
    "the number of operands": ("matmul", lambda op: setattr(op, "operands", op.operands[:1])),
    "no key": ("weight", lambda op: op.properties.clear()),
    "an empty key": ("weight", lambda op: set_attribute(op.properties, "key", StringAttr(""))),
    "a key that is none": ("weight", lambda op: set_attribute(op.properties, "key", IntegerAttr(1, 64))),
    "the class of a constant": ("constant", lambda op: set_attribute(op.properties, "value", IntegerAttr(1, 64))),
    "the type of a constant": ("constant", lambda op: setattr(op.results[0], "_type", TensorType(f32, [3]))),
    "an operand of a constant": ("constant", lambda op: setattr(op, "operands", [op.parent.args[0]])),
    "no value": ("full", lambda op: op.properties.clear()),
    "the type of a number": ("full", lambda op: set_attribute(op.properties, "value", IntegerAttr(1, 64))),
    "the class of a number": ("full", lambda op: set_attribute(op.properties, "value", StringAttr("1"))),
    "the type of a splat": ("full", lambda op: setattr(op.results[0], "_type", TensorType(f32, [-1]))),
    "the type of a weight": ("weight", lambda op: setattr(op.results[0], "_type", TensorType(f32, [-1]))),
}  # fmt: skip


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_what_differs_from_an_op_that_is_right_is_found(difference: str):
    name, change = DIFFERENCES[difference]
    module, op = alike(f"graph.{name}")
    verify_module(module)
    change(op)
    with pytest.raises(VerificationError) as info:
        verify_module(module)
    assert info.value.op is op


def test_ops_that_are_alike_are_checked_once(monkeypatch: pytest.MonkeyPatch):
    checked: list[str] = []
    for kind in (SoftmaxOp, MatmulOp, WeightOp):
        verify = kind.verify_
        monkeypatch.setattr(kind, "verify_", lambda op, verify=verify: (checked.append(op.name), verify(op)))
    module, _ = alike("graph.softmax")
    assert sorted(checked) == ["graph.matmul", "graph.softmax", "graph.weight"]
    verify_module(module)
    assert len(checked) == 6  # nothing is kept from one walk to the next


@pytest.mark.parametrize("dtype, times", [("f32", 1), ("ui8", 1), ("bf16", 1), ("i1", 3), ("i4", 3)])
def test_constants_of_one_type_are_checked_once_unless_their_bytes_are(
    dtype: str, times: int, monkeypatch: pytest.MonkeyPatch
):
    checked: list[str] = []
    for kind in (ConstantOp, FullOp):
        verify = kind.verify_
        monkeypatch.setattr(kind, "verify_", lambda op, verify=verify: (checked.append(op.name), verify(op)))
    type_ = tensor_type(Shaped((2,), dtype))
    constants = [ConstantOp.from_values(values, type_) for values in ([0, 1], [1, 0], [1, 1])]
    verify_module(ModuleOp([*constants, FullOp(1, type_), FullOp(0, type_)]))
    assert sorted(checked) == ["graph.constant"] * times + ["graph.full"]


def test_a_constant_with_too_many_bytes_is_not_like_one_that_is_right():
    right = ConstantOp.from_values([1.0, 2.0], tensor_type(Shaped((2,), "f32")))
    wrong = right.clone()
    data = BytesAttr(right.dense.data.data + bytes(4))
    wrong.properties["value"] = DenseIntOrFPElementsAttr(right.dense.type, data)
    with pytest.raises(VerificationError, match="holds 3 elements, expected 2"):
        verify_module(ModuleOp([right, wrong]))


class Copying(TensorOp, ABC):
    """An op of one operand and a result of its type."""

    operand = tensor_operand()
    result = tensor_result()

    @classmethod
    def infer(cls, operand: Shaped) -> tuple[Shaped, ...]:  # type: ignore[override]
        return (operand,)


class Plain(Copying):
    name = "test.plain"


class Looking(Copying):
    name = "test.looking"

    def verify_(self) -> None:
        super().verify_()


class Knowing(Copying):
    name = "test.knowing"

    def verification_key(self) -> tuple[int, ...]:
        return ()

    def verify_(self) -> None:
        super().verify_()


class Within(Copying):
    name = "test.within"
    traits = traits_def(HasParent(ModuleOp))


class Asking(Copying):
    name = "test.asking"
    note = attr_def(StringAttr)


def test_a_verifier_of_its_own_is_asked_each_time():
    """
    A class that looks at more than types and properties, or whose traits or attributes do, has no key by inheritance.
    """

    def key(kind: type[Operation]) -> object:
        _, softmax = alike("graph.softmax")
        key_of = _key_function(irdl_op_definition(kind))
        return None if key_of is None else key_of(softmax)

    assert key(Plain) is not None and key(Knowing) is not None
    assert [key(kind) for kind in (Looking, Within, Asking)] == [None] * 3
    assert _key_function(ModuleOp) is None
