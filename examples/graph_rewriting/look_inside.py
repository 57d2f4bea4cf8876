"""Shows what a module is made of, and how to find a program in it."""

import stepwell
from xdsl.dialects.func import FuncOp

module = stepwell.parse("fma.mlir")
(main,) = (op for op in module.ops if isinstance(op, FuncOp))
*body, last = main.body.block.ops

print("function  ", main.sym_name.data, main.function_type)
print("arguments ", [argument.name_hint for argument in main.args])
for op in body:
    (result,) = op.results
    users = [use.operation.name for use in result.uses]
    print(
        "op        ",
        result.name_hint,
        "=",
        op.name,
        [value.name_hint for value in op.operands],
        "used by",
        users,
    )
print("result    ", [value.name_hint for value in last.operands], "made by", last.operands[0].owner.name)
