"""The named conditions that do not belong to one dialect. Each takes what its keys are bound to."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, ShapedType
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from . import equivalence as equivalence  # registers `equivalent` and `available`
from . import numbers as numbers  # registers `compare` and `not`
from .constants import element_type, is_float_type
from .match import Match, as_value, users_of
from .registry import Thing, condition


@condition("single-use", protects="cost")
def single_use(match: Match, thing: Thing) -> bool:
    """Every result of the op (or the value) has one use, so the op goes away when the rule applies."""
    values = thing.results if isinstance(thing, Operation) else (thing,)
    return all(value.has_one_use() for value in values)


@condition("single-user", protects="cost")
def single_user(match: Match, thing: Thing) -> bool:
    """One op uses the op (or the value), however often it does."""
    return len(users_of(thing.results if isinstance(thing, Operation) else (thing,))) == 1


@condition("absorbable", protects="cost")
def absorbable(match: Match, thing: Thing) -> bool:
    """`single-use`, unless the option `allow-duplicate` of the pass lets the rule compute it twice."""
    return bool(match.session.options.get("allow-duplicate")) or single_use(match, thing)


@condition("same-block", protects="structure")
def same_block(match: Match, first: Thing, second: Thing) -> bool:
    """Both ops are in one block: nothing moves into or out of a branch or loop."""
    return _owner(first).parent is _owner(second).parent


def _owner(thing: Any) -> Operation:
    return thing if isinstance(thing, Operation) else thing.owner


@condition("same-type")
def same_type(match: Match, first: Thing, second: Thing) -> bool:
    """Both values have the same type, and no size of it is `?`."""
    type_ = as_value(first).type
    return type_ == as_value(second).type and _is_static(type_)


def _is_static(type_: Attribute) -> bool:
    return not isinstance(type_, ShapedType) or DYNAMIC_INDEX not in type_.get_shape()


@condition("same-shape")
def same_shape(match: Match, first: Thing, second: Thing) -> bool:
    """Both values have the same shape, and no size of it is `?`. The element types may differ."""
    types = as_value(first).type, as_value(second).type
    if not all(isinstance(type_, ShapedType) and _is_static(type_) for type_ in types):
        return False
    one, other = (type_.get_shape() for type_ in types)  # pyright: ignore
    return one == other


@condition("equal-types")
def equal_types(match: Match, first: Thing, second: Thing) -> bool:
    """Both values have the same type, where sizes `?` count as equal although they may differ at run time."""
    return as_value(first).type == as_value(second).type


@condition("static")
def static(match: Match, thing: Thing) -> bool:
    """No size of the type is `?`."""
    return _is_static(as_value(thing).type)


@condition("float")
def float_(match: Match, thing: Thing) -> bool:
    """The elements are floating-point numbers."""
    return is_float_type(as_value(thing).type)


@condition("integer")
def integer(match: Match, thing: Thing) -> bool:
    """The elements are integers or booleans."""
    return not is_float_type(as_value(thing).type)


@condition("boolean")
def boolean(match: Match, thing: Thing) -> bool:
    """The elements are `i1`."""
    type_ = element_type(as_value(thing).type)
    return isinstance(type_, IntegerType) and type_.width.data == 1


@condition("not-same")
def not_same(match: Match, first: Thing, second: Thing) -> bool:
    """The two are different values."""
    return as_value(first) is not as_value(second)


@condition("dtype")
def dtype(match: Match, thing: Thing, *, is_: TypeAttribute) -> bool:
    """The element type is the parameter `is`."""
    return element_type(as_value(thing).type) == is_


@condition("type")
def type_is(match: Match, thing: Thing, *, is_: TypeAttribute) -> bool:
    """The type is the parameter `is`."""
    return as_value(thing).type == is_


@condition("shape")
def shape_is(match: Match, thing: Thing, *, is_: DenseArrayBase) -> bool:
    """The shape is the parameter `is`, a dense array of i64 in which -1 stands for any size."""
    type_ = as_value(thing).type
    if not isinstance(type_, ShapedType):
        return False
    wanted = is_.get_values()  # pyright: ignore[reportAttributeAccessIssue]
    shape = type_.get_shape()
    return len(shape) == len(wanted) and all(size in (-1, found) for size, found in zip(wanted, shape, strict=True))


@condition("block-argument")
def block_argument(match: Match, thing: Thing) -> bool:
    """The value is an argument of a function or block."""
    return isinstance(thing, SSAValue) and not isinstance(thing.owner, Operation)


@condition("only-used-by", protects="cost")
def only_used_by(match: Match, thing: Thing, *users: Thing) -> bool:
    """Every use of the first is by one of the others."""
    values = thing.results if isinstance(thing, Operation) else (thing,)
    allowed = {_owner(user) for user in users}
    return all(use.operation in allowed for value in values for use in value.uses)


@condition("equal-attributes")
def equal_attributes(match: Match, first: Attribute, second: Attribute) -> bool:
    """Two attributes found by `pattern.attribute` are equal."""
    return first == second
