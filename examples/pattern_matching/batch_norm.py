"""The same rewrite by a function: it sees what the parts of the pattern stand for and makes the new op."""

import stepwell
from stepwell.patterns import (
    Constant,
    Match,
    associative,
    callback,
    is_op,
    rewrite,
    rewrite_once,
    splat_number,
    wildcard,
)
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f64, i64
from xdsl.ir import SSAValue

add, subtract, multiply, divide, sqrt = (
    is_op(f"graph.{name}") for name in ("add", "subtract", "multiply", "divide", "sqrt")
)
x, gamma, beta, mean, var = (wildcard() for _ in range(5))
epsilon = Constant()
normal = divide(multiply(gamma, subtract(x, mean)), sqrt(add(var, epsilon)))


def to_batch_norm(match: Match) -> SSAValue | None:
    """Makes the batch_norm along the last axis. Returns `None`, no change, for anything but one number per channel."""
    channels, type_ = match[gamma].type, match[x].type
    vectors = [match[each] for each in (gamma, beta, mean, var)]
    number = splat_number(match[epsilon])
    if number is None or channels.get_shape() != type_.get_shape()[-1:] or any(v.type != channels for v in vectors):
        return None
    properties = {"axis": IntegerAttr(len(type_.get_shape()) - 1, i64), "epsilon": FloatAttr(number, f64)}
    types = [type_, channels, channels]
    return match.create("graph.batch_norm", [match[x], *vectors], types, properties).results[0]


rule = callback("batch-norm", add(associative(normal), beta), to_batch_norm, numerics="rounding")
module = stepwell.parse("batch_norm.mlir")
for function in module.ops:
    report = rewrite([rule], function)
    module.verify()
    print(f"{function.sym_name.data:22} sweeps {report.sweeps}, rewrites {report.hits.get('batch-norm', 0)}")

# What a rule makes may match again: the next sweep takes it. A rule may also retire after its first sweep.
TANHS = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.tanh %x : (tensor<4xf32>)
  %1 = graph.tanh %0 : (tensor<4xf32>)
  %2 = graph.tanh %1 : (tensor<4xf32>)
  %3 = graph.tanh %2 : (tensor<4xf32>)
  func.return %3 : tensor<4xf32>
}"""
tanh = is_op("graph.tanh")
halve = callback("halve", tanh(tanh(x)), lambda match: match.create("graph.tanh", [match[x]]))
for apply in (rewrite, rewrite_once):
    tanhs = stepwell.parse(TANHS)
    report = apply([halve], tanhs)
    left = sum(op.name == "graph.tanh" for op in tanhs.walk())
    print(f"{apply.__name__:22} sweeps {report.sweeps}, rewrites {report.hits['halve']}, tanh left {left}")
