"""A value that is used twice is computed once, and long programs need no deep stack."""

import sys

import stepwell
from stepwell.dialects import graph

sys.setrecursionlimit(1000)  # what Python starts with; who runs this may have raised it
builder = graph.GraphBuilder()
with builder.function("main", a="tensor<4xf32>") as (a,):
    b = builder.emit(graph.AddOp(a, a), "b")
    c = builder.emit(graph.AddOp(b, b), "c")
    d = builder.emit(graph.AddOp(c, c), "d")
    builder.emit_func_output(d)
module = builder.get()
print("ops", sum(op.name == "graph.add" for op in module.walk()), "uses of a", a.uses.get_length())

with builder.function("main", x="tensor<4xf32>") as (x,):
    value = x
    for _ in range(3000):
        value = builder.emit(graph.SquareOp(value))
    builder.emit_func_output(value)
legal = stepwell.Sequential(["legalize{table=elementary}"])(builder.get())
products = sum(op.name == "graph.multiply" for op in legal.walk())
print("products", products, "deeper than the stack of Python", products > sys.getrecursionlimit())
