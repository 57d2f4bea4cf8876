"""One pattern after the other, each tried on values that it matches and on values that it does not."""

from typing import Any

import stepwell
from stepwell.patterns import (
    Argument,
    Constant,
    Function,
    If,
    Pattern,
    Rest,
    Result,
    Splat,
    call,
    is_op,
    literal,
    match,
    wildcard,
)
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f32
from xdsl.dialects.func import FuncOp


def values_of(name: str) -> dict[str, Any]:
    """The results of all ops of a function of programs.mlir by name, its arguments, and the function itself."""
    (function,) = (op for op in MODULE.walk() if isinstance(op, FuncOp) and op.sym_name.data == name)
    found = {argument.name_hint: argument for argument in function.args}
    found |= {result.name_hint: result for op in function.walk() for result in op.results}
    return found | {"function": function}


def show(title: str, pattern: Pattern, function: str, *names: str) -> None:
    """Prints which of the named values the pattern matches."""
    values = values_of(function)
    verdicts = [f"{name} {'yes' if match(pattern, values[name]) else 'no'}" for name in names]
    print(f"{title:36}", ", ".join(verdicts))


MODULE = stepwell.parse("programs.mlir")
conv2d, bias_add, relu = is_op("graph.conv2d"), is_op("graph.bias_add"), is_op("graph.relu")
add, matmul = is_op("graph.add"), is_op("graph.matmul")
x, w, b = wildcard(), wildcard(), wildcard()

# One of two ops
show(
    "an addition or a subtraction",
    is_op("graph.add")(x, w) | is_op("graph.subtract")(x, w),
    "arithmetic",
    "sum",
    "difference",
    "product",
)

# Ops by what they are and by their attributes
show("an elementwise matmul", matmul(x, w).has_kind("elementwise"), "layer", "product")
show("an op that is elementwise", x.has_kind("elementwise", "broadcast"), "layer", "product", "sum")
show("a convolution in NHWC", conv2d(x, w).has_attr({"data_layout": "NHWC"}), "images", "conv", "conv_nhwc")
show("a convolution in steps of two", conv2d(x, w).has_attr({"strides": [2, 2]}), "images", "conv", "strided")
show("a convolution by a 3 x 3 kernel", conv2d(x, w.has_shape(None, None, 3, 3)), "images", "conv", "pointwise")

# An op that may be there
biased = bias_add(conv2d(x, w), b)
show("conv2d, bias_add, perhaps relu", biased.optional(relu), "images", "biased", "active", "conv")

# Types
show("elements of f32", x.has_dtype("f32"), "types", "x", "n")
show("the shape 10 x 10", x.has_shape(10, 10), "types", "x", "n", "row")
show("any number of rows of 10", x.has_shape(None, 10), "types", "x", "n", "row")
show(
    "conv2d, relu of one result shape",
    relu(conv2d(x, w)).has_shape(1, 32, 28, 28),
    "images",
    "small",
    "large",
)

# Several operands and several results
show("three parts joined", is_op("graph.concat")(x, w, b), "parts", "three", "four")
show("any number of parts joined", is_op("graph.concat")(Rest()), "parts", "three", "four")
norm = is_op("graph.batch_norm")(wildcard(), wildcard(), wildcard(), wildcard(), wildcard())
show("the first result of batch_norm", relu(Result(norm, 0)), "normalised", "first", "second")
show("any result of batch_norm", relu(Result(norm, 0)) | relu(Result(norm, 1)), "normalised", "first", "second")

# Functions
p, q = wildcard(), wildcard()
show("a function that adds two things", Function((p, q), add(p, q)), "plus", "function")
show("... of another", Function((p, q), add(p, q)), "minus", "function")
show("a function with an attribute", Function(None, x, (("composite", "add"),)), "plus", "function")
show("... of another", Function(None, x, (("composite", "add"),)), "minus", "function")

# Constants
show("weights that are known", bias_add(conv2d(x, Constant()), b), "images", "biased", "fixed")
show("an addition of zero", add(x, Splat(0.0)), "zeros", "nothing", "little", "integer")
zero = DenseIntOrFPElementsAttr.from_list(TensorType(f32, [4]), [0.0])
show("... of exactly this constant", add(x, literal(zero)), "zeros", "nothing", "little", "integer")

# Branches, and names for values
first, second = Argument(0), Argument(1)
smaller = If(is_op("tensor.extract")(is_op("graph.less")(first, second)), first, second)
show("x where x < y, else y", smaller, "branches", "smaller", "greater")
show("a comparison with a name", is_op("graph.less")(Argument(name="x"), w), "branches", "condition", "other")

# Calls
show(
    "a call of a function that adds",
    call(Function((p, q), add(p, q)), x, w),
    "calls",
    "summed",
    "reduced",
    "blended",
)
show("a call by name, of any operands", call("minus"), "calls", "summed", "reduced", "blended")

# As many as there are, and whatever there is
adds = Function(None, add(p, q))
show("a function of anything that adds", adds, "three", "function")
show("... of another", adds, "minus", "function")
show("a call of any such function", call(adds), "calls", "summed", "reduced", "blended")
fuzzy = Function((Argument(), Argument()), add(wildcard(), wildcard()))
show("a sum of two things, however made", fuzzy, "square_plus", "function")
show("... of another", fuzzy, "minus", "function")
