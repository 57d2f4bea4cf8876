"""The type of the names of a rule."""

from __future__ import annotations

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import eq, irdl_attr_definition


@irdl_attr_definition
class ValueType(ParametrizedAttribute, TypeAttribute):
    """The type of the names of a rule. A name stands for a value or an op of the program that is matched."""

    name = "pattern.value"


VALUE = ValueType()
IS_VALUE = eq(VALUE)
