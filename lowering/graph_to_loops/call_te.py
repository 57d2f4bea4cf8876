"""`GraphBuilder.call_te`: a kernel that a tensor expression defines, and the call of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ... import te
from ...core.ir.symbols import fresh_name
from ...dialects import tensor_loop
from ...dialects.graph import CallKernelOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import shaped_of, tensor_type
from ...te.expr import Expr
from .convert_te_to_tensor_loop import convert_te_to_tensor_loop


def kernel_call(module: ModuleOp, function: Callable[..., Any], operands: Sequence[SSAValue]) -> CallKernelOp:
    """
    Returns a call of the kernel that `function` defines on placeholders for `operands`. Adds the kernel to `module`.

    Two calls with one expression share a kernel. Raises TEError where the expression has no meaning, and
    VerifyException for an operand that is no tensor.
    """
    inputs = [_placeholder(value, number) for number, value in enumerate(operands)]
    made = function(*inputs)
    outputs = list(made) if isinstance(made, tuple | list) else [made]
    for each in outputs:
        if not isinstance(each, te.Tensor):
            raise te.TEError(f"the function returns {each!r}, expected te.compute(…) or a tuple of such")
    types = [tensor_type(Shaped(tuple(_known(size) for size in each.shape), each.dtype)) for each in outputs]
    kernel = convert_te_to_tensor_loop("kernel", inputs, outputs)
    return CallKernelOp(_named(module, kernel, _base_name(function, outputs)), operands, types)


def _placeholder(value: SSAValue, number: int) -> te.Tensor:
    name = value.name_hint or f"arg{number}"
    shape, dtype = shaped_of(value.type, name)
    return te.placeholder([te.var(f"{name}_d{i}") if dim is None else dim for i, dim in enumerate(shape)], dtype, name)


def _known(size: int | Expr) -> int | None:
    return size if isinstance(size, int) else None


def _base_name(function: Callable[..., Any], outputs: Sequence[te.Tensor]) -> str:
    """Returns the name of a Python function, or of the last stage where it is a lambda."""
    name = getattr(function, "__name__", "<lambda>")
    return name if name.isidentifier() and name.isascii() else outputs[-1].name


def _named(module: ModuleOp, kernel: tensor_loop.FuncOp, base: str) -> str:
    """Adds `kernel` to the module under a free name, unless it is there. Returns its name."""
    for other in module.ops:
        if isinstance(other, tensor_loop.FuncOp):
            kernel.properties["sym_name"] = other.properties["sym_name"]
            if kernel.is_structurally_equivalent(other):
                return other.sym_name.data
    taken = {name.data for op in module.ops if (name := getattr(op, "sym_name", None)) is not None}
    kernel.properties["sym_name"] = type(kernel.sym_name)(fresh_name(base, taken))
    module.body.block.add_op(kernel)
    return kernel.sym_name.data
