"""Named conditions about graph ops."""

from __future__ import annotations

from itertools import pairwise
from math import frexp, prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, ShapedType, Signedness, TensorType
from xdsl.ir import Attribute, Operation

from ...core.ir.element_types import dtype_name, is_small_float
from ...core.ir.normal_form import normal_properties, with_defaults
from ...dialects.graph.base import plain_properties
from ...dialects.graph.elementwise import ClipOp
from ...dialects.graph.movement import PadOp, PermuteDimsOp, StridedSliceOp
from ...dialects.graph.normalisation import GroupNormOp
from ...dialects.graph.shapes import ShapeError, broadcast
from ...patterns.language.constants import constant_attribute, element_type, is_float_type, splat_number
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, condition
from ...te import dtypes


@condition("same-op")
def same_op(match: Match, first: Operation, second: Operation) -> bool:
    """Both ops have one name and equal properties."""
    if first.name != second.name:
        return False
    return with_defaults(first) == with_defaults(second) or normal_properties(first) == normal_properties(second)


@condition("unsigned")
def unsigned(match: Match, thing: Thing) -> bool:
    """The elements are unsigned integers."""
    type_ = element_type(as_value(thing).type)
    return isinstance(type_, IntegerType) and type_.signedness.data == Signedness.UNSIGNED


@condition("signed")
def signed(match: Match, thing: Thing) -> bool:
    """The elements have a sign: floats and signed integers."""
    type_ = element_type(as_value(thing).type)
    return is_float_type(type_) or (not unsigned(match, thing) and str(type_) != "i1")


@condition("own-arithmetic", protects="cost")
def own_arithmetic(match: Match, thing: Thing) -> bool:
    """The elements are not f16 or bf16, whose arithmetic is that of f32, rounded."""
    return not is_small_float(element_type(as_value(thing).type))


@condition("number")
def number(match: Match, thing: Thing) -> bool:
    """The elements are numbers, not booleans."""
    return str(element_type(as_value(thing).type)) != "i1"


@condition("not-literal", protects="cost")
def not_literal(match: Match, thing: Thing) -> bool:
    """The value is not a `graph.constant` or `graph.full`."""
    return constant_attribute(as_value(thing)) is None


@condition("identity-permutation")
def identity_permutation(match: Match, op: PermuteDimsOp) -> bool:
    """The `graph.permute_dims` leaves every dimension where it is."""
    return permutation(op) == tuple(range(rank(op)))


def rank(op: Operation) -> int:
    """Returns the number of dimensions of the first operand."""
    type_ = op.operands[0].type
    assert isinstance(type_, ShapedType)
    return type_.get_num_dims()


def permutation(op: Operation) -> tuple[int, ...]:
    """Returns the axes of a `graph.permute_dims`, counted from the front."""
    axes = plain_properties(op)["axes"]
    return tuple(reversed(range(rank(op)))) if axes is None else tuple(axis % rank(op) for axis in axes)


@condition("moves-only-ones")
def moves_only_ones(match: Match, op: PermuteDimsOp) -> bool:
    """The dimensions that the `graph.permute_dims` puts into another order have size 1, and no size is `?`."""
    shape = _sizes(op.operands[0])
    moved = [axis for axis in permutation(op) if shape[axis] != 1]
    return DYNAMIC_INDEX not in shape and all(before < after for before, after in pairwise(moved))


def _sizes(thing: Thing) -> tuple[int, ...]:
    """Returns the sizes of a tensor, -1 for `?`. What has no shape is taken to have one size `?`."""
    type_ = as_value(thing).type
    return type_.get_shape() if isinstance(type_, ShapedType) else (DYNAMIC_INDEX,)


@condition("same-size")
def same_size(match: Match, first: Thing, second: Thing) -> bool:
    """Both tensors have the same number of elements, and no size of them is `?`."""
    one, other = _sizes(first), _sizes(second)
    return DYNAMIC_INDEX not in (*one, *other) and prod(one) == prod(other)


@condition("combined-type")
def combined_type(match: Match, result: Thing, *operands: Thing) -> bool:
    """`result` has the type of an elementwise op on the others, and no size is `?`."""
    shapes = [_sizes(each) for each in (result, *operands)]
    if any(DYNAMIC_INDEX in shape for shape in shapes):
        return False
    try:
        stretched = broadcast(*shapes[1:])
    except ShapeError:
        return False
    return stretched == shapes[0]


@condition("pads-nothing")
def pads_nothing(match: Match, op: PadOp) -> bool:
    """The `graph.pad` adds no element."""
    return not any(plain_properties(op)["pad_width"])


@condition("steps-forward")
def steps_forward(match: Match, op: StridedSliceOp) -> bool:
    """The `graph.strided_slice` reverses no axis: if it keeps the shape it keeps everything."""
    strides = plain_properties(op)["strides"]
    return strides is None or all(stride > 0 for stride in strides)


@condition("first-result-only")
def first_result_only(match: Match, op: Operation) -> bool:
    """No result of the op but the first has a user."""
    return all(result.first_use is None for result in op.results[1:])


@condition("splits-into-groups", protects="cost")
def splits_into_groups(match: Match, op: GroupNormOp) -> bool:
    """The channels of the `graph.group_norm` are known, no size is 0 and at most one is `?`: a reshape can say them."""
    shape = _sizes(op.operands[0])
    known = shape[plain_properties(op)["axis"] % len(shape)] != DYNAMIC_INDEX
    return known and 0 not in shape and shape.count(DYNAMIC_INDEX) < 2


@condition("without-bounds")
def without_bounds(match: Match, op: ClipOp) -> bool:
    """The `graph.clip` has neither bound."""
    found = plain_properties(op)
    return found["min"] is None and found["max"] is None


@condition("conversion-keeps-value")
def conversion_keeps_value(match: Match, value: Thing, converted: Thing, result: Thing) -> bool:
    """
    Converting `value` to the type of `result` gives the same with or without the step over `converted`.

    The step must hold every value exactly. Integers wrap into integers but floats saturate into them, so a step
    from integers over floats to integers is the same only where the last type has room for every value.
    """
    first, step, last = (element_type(as_value(thing).type) for thing in (value, converted, result))
    if not holds_all(first, step):
        return False
    saturates = not is_float_type(first) and is_float_type(step) and not is_float_type(last)
    return not saturates or str(last) == "i1" or holds_all(first, last)


def _is_known_integer(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType) and dtype_name(type_) in dtypes.TABLE


@condition("clipped-to-fit")
def clipped_to_fit(match: Match, clip: ClipOp, converted: Thing) -> bool:
    """The integers that the `graph.clip` leaves are integers of the element type of `converted` too."""
    types = [element_type(as_value(thing).type) for thing in (clip, converted)]
    found = plain_properties(clip)
    low, high = found["min"], found["max"]
    if not all(_is_known_integer(type_) for type_ in types) or low is None or high is None:
        return False
    least, most = dtypes.integer_range(str(dtype_name(types[1])))
    # Where the bounds cross, the result is the upper one.
    return most > 1 and all(least <= bound <= most for bound in (low, high))


@condition("within-bounds")
def within_bounds(match: Match, thing: Thing, clip: ClipOp) -> bool:
    """The elements are integers, and every integer of their type is within the bounds of the `graph.clip`."""
    type_ = element_type(as_value(thing).type)
    if not _is_known_integer(type_):
        return False
    least, most = dtypes.integer_range(str(dtype_name(type_)))
    found = plain_properties(clip)
    low, high = found["min"], found["max"]
    return (low is None or low <= least) and (high is None or high >= most)


LARGEST_SHIFT = 14
"""Powers of two up to this one, and their reciprocals, are normal numbers of every float type (f16: 2^-14 to 2^15)."""


@condition("power-of-two")
def power_of_two(match: Match, thing: Thing) -> bool:
    """All elements are one float 2^n or -2^n, n from -14 to 14, so its reciprocal is exact."""
    number = splat_number(as_value(thing))
    if not isinstance(number, float):
        return False
    fraction, exponent = frexp(number)
    return abs(fraction) == 0.5 and abs(exponent - 1) <= LARGEST_SHIFT


def holds_all(narrow: Attribute, wide: Attribute) -> bool:
    """Returns whether every value of the element type `narrow` is one of `wide` too."""
    names = dtype_name(narrow), dtype_name(wide)
    return narrow == wide or (all(name in dtypes.ALL for name in names) and dtypes.holds_all(*map(str, names)))


def scalar_type(type_: Attribute) -> TensorType:
    """Returns the tensor type of rank 0 with the element type of `type_`."""
    return TensorType(element_type(type_), [])


__all__ = ["holds_all", "permutation", "rank", "scalar_type"]
