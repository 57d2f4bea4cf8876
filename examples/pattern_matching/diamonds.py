"""Values that two parts of a pattern share, and everything on the way between two ops."""

import stepwell
from stepwell.patterns import Argument, dominates, explain, is_op, match, wildcard
from xdsl.dialects.func import FuncOp

conv = is_op("graph.conv2d")(Argument(), Argument())
diamond = is_op("graph.add")(is_op("graph.relu")(conv), is_op("graph.leaky_relu")(conv))

between = wildcard().has_kind("elementwise")
tail = dominates(conv, between, is_op("graph.add")(wildcard(), wildcard()))

for function in stepwell.parse("diamonds.mlir").ops:
    assert isinstance(function, FuncOp)
    root = function.body.block.last_op.operands[0]
    found = match(tail, root)
    print(function.sym_name.data)
    print("  diamond:", "yes" if match(diamond, root) else "no")
    if found is None:
        print("  tail:   ", "no,", explain(tail, root))
    else:
        print("  tail:   ", "yes, over", [value.name_hint for value in found.all(between)])
