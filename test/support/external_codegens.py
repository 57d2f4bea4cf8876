"""Code generators for the tests: each in Python or LLVM text, a few lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepwell.core.codegens import CodegenContext, codegen
from stepwell.reference.run import run
from xdsl.dialects.func import FuncOp

calls: list[tuple[Any, ...]] = []
"""What `test_numpy` was called with, each time."""

behave: list[Callable[..., Any]] = []
"""In place of what the function says, while there is something in here."""


@codegen("test_numpy", supports=lambda function: "graph.tanh" not in str(function) or "does not know tanh")
def numpy_code(function: FuncOp, context: CodegenContext) -> Callable[..., Any]:
    name, module = function.sym_name.data, context.module

    def code(*arrays: Any) -> Any:
        calls.append(arrays)
        return behave[-1](*arrays) if behave else run(module, name, *arrays)

    return code


@codegen("test_llvm")
def llvm_code(function: FuncOp, context: CodegenContext) -> str:
    """The first element becomes seven; a function called `fails` fails."""
    status = 5 if function.sym_name.data == "fails" else 0
    pointers = ", ".join("ptr %p" + str(i) for i in range(len(function.function_type.inputs) + 1))
    last = f"%p{len(function.function_type.inputs)}"
    return f"define i32 @{context.symbol}({pointers}) {{\n  store float 7.0, ptr {last}\n  ret i32 {status}\n}}\n"


@codegen("test_absent", available=lambda: "its library is on the moon")
def absent_code(function: FuncOp, context: CodegenContext) -> Any:
    raise AssertionError


made: list[Callable[[FuncOp, CodegenContext], Any]] = []


@codegen("test_any")
def any_code(function: FuncOp, context: CodegenContext) -> Any:
    return made[-1](function, context)


def program(compiler: str, element_type: str = "f32", op: str = "add", name: str = "f", shape: str = "2x3x") -> str:
    """`f(x, y) = (op(x, y), x)` for a code generator, and `main` = (op(f0, f1), f0)."""
    t = f"tensor<{shape}{element_type}>"
    return f"""func.func @main(%x: {t}, %y: {t}) -> ({t}, {t}) {{
  %0, %1 = func.call @{name}(%x, %y) : ({t}, {t}) -> ({t}, {t})
  %2 = graph.{op} %0, %1 : ({t}, {t}) -> {t}
  func.return %2, %0 : {t}, {t}
}}
func.func private @{name}(%x: {t}, %y: {t}) -> ({t}, {t}) attributes {{graph.primitive,
    graph.compiler = "{compiler}"}} {{
  %0 = graph.{op} %x, %y : ({t}, {t}) -> {t}
  func.return %0, %x : {t}, {t}
}}
"""
