"""
PyTorch on the CPU, in several ways of which the fastest counts: eager calls (images channels-last; weights of products
as [N, K] and as [K, N]), eager calls of fused ops with prepacked weights (oneDNN), and a traced, frozen module after
`optimize_for_inference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch
from torch.nn import functional

from .engine import Kept, Unsupported, Variant, attempt, straight_line, threads
from .reference import EPSILON, Arrays
from .vocabulary import Node, Program

torch.set_num_threads(threads())
torch.set_grad_enabled(False)
torch.set_float32_matmul_precision("highest")
INFERENCE = torch.inference_mode()
INFERENCE.__enter__()  # for the whole process: entering it in each call would cost microseconds


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    """Returns the variants that make sense for the nodes and element types of the program."""
    yield attempt(_eager, program, arrays, "eager")
    if any(node.op == "linear" for node in program.nodes):
        yield attempt(_eager, program, arrays, "mm")
    if any(node.op in ("linear", "conv") for node in program.nodes):
        yield attempt(_eager, program, arrays, "packed")
    if program.nodes[0].op != "identity" and program.inputs[0].dtype == "float32":
        yield attempt(_frozen, program, arrays)


def _tensors(program: Program, arrays: Arrays, transposed: bool = True) -> dict[str, Any]:
    """
    Returns inputs and weights, those of rank 4 channels-last, weights of products `transposed` as torch keeps them, [N,
    K].
    """
    tensors: dict[str, Any] = {}
    for value in (*program.inputs, *program.weights):
        tensor = torch.from_numpy(arrays[value.name].copy())
        if len(value.shape) == 4:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        tensors[value.name] = tensor
    for node in program.nodes:
        if node.op == "linear" and transposed:
            name = node.operands[1].name
            tensors[name] = tensors[name].T.contiguous()
    return tensors


def _eager(program: Program, arrays: Arrays, style: str) -> Variant:
    names = _tensors(program, arrays, style != "mm") | {
        "torch": torch,
        "F": functional,
        "attention": attention,
    }
    if style == "packed":
        names |= _packed_weights(program, names)
    lines = [_line(node, style) for node in program.nodes]
    run = straight_line(lines, names, [value.name for value in program.outputs])
    return _kept(style, run)


def _kept(name: str, run: Callable[[], Any]) -> Variant:
    kept = Kept(run)
    return Variant(name, kept, lambda: [tensor.numpy() for tensor in kept.last])


def _packed_weights(program: Program, tensors: dict[str, Any]) -> dict[str, Any]:
    """Weights in the blocked layout that oneDNN likes for the sizes at hand."""
    ops = torch.ops.mkldnn
    packed: dict[str, Any] = {
        "packed_linear": ops._linear_pointwise.default,
        "packed_conv": ops._convolution_pointwise.default,
    }
    for node in program.nodes:
        name = node.operands[1].name if len(node.operands) > 1 else ""
        x = node.operands[0]
        if node.op == "linear":
            rows = prod(x.shape[:-1])
            packed[name] = ops._reorder_linear_weight(tensors[name], rows)
        elif node.op == "conv":
            geometry = ([node["pad"]] * 2, [node["stride"]] * 2, [1, 1], node["groups"])
            packed[name] = torch.ops.aten.mkldnn_reorder_conv2d_weight(
                tensors[name].to_mkldnn(), *geometry, list(x.shape)
            )
    return packed


def attention(q: Any, k: Any, v: Any, heads: int) -> Any:
    batch, length, hidden = q.shape
    q, k, v = (x.view(batch, length, heads, -1).transpose(1, 2) for x in (q, k, v))
    return functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, hidden)


def _frozen(program: Program, arrays: Arrays) -> Variant:
    """Returns what TorchScript makes of the eager program. Weights are constants of the graph, prepacked and fused."""
    import warnings

    tensors = _tensors(program, arrays)
    lines = [_line(node, "eager") for node in program.nodes]
    inputs = [value.name for value in program.inputs]
    run = straight_line(
        lines,
        tensors | {"torch": torch, "F": functional, "attention": attention},
        [value.name for value in program.outputs],
    )

    class Net(torch.nn.Module):
        def forward(self, *arguments: Any) -> Any:
            return run(**dict(zip(inputs, arguments, strict=True)))[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(Net().eval(), [tensors[name] for name in inputs])
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
    arguments = [tensors[name] for name in inputs]
    for _ in range(4):  # the profiling executor specialises in its first calls
        frozen(*arguments)
    return _kept("frozen", lambda: [frozen(*arguments)])


def _line(node: Node, style: str) -> str:
    if node.op not in EXPRESSIONS:
        raise Unsupported(f"torch has no {node.op}")
    operands = [value.name for value in node.operands]
    expression = STYLES.get((style, node.op), EXPRESSIONS[node.op])
    return f"{node.result.name} = {expression(node, *operands)}"


def _packed_linear(node: Node, x: str, w: str, *bias: str) -> str:
    fused = {None: '"none", [], ""', "relu": '"relu", [], ""', "gelu": '"gelu", [], "none"'}[node["activation"]]
    return f"packed_linear({x}, {w}, {bias[0] if bias else None}, {fused})"


def _packed_conv(node: Node, x: str, w: str, b: str) -> str:
    fused = {None: '"none", [], ""', "relu": '"relu", [], ""', "relu6": '"hardtanh", [0, 6], ""'}
    pad, stride = node["pad"], node["stride"]
    geometry = f"[{pad}, {pad}], [{stride}, {stride}], [1, 1], {node['groups']}"
    return f"packed_conv({x}, {w}, {b}, {geometry}, {fused[node['activation']]})"


def _activated(name: str | None, text: str) -> str:
    """Activations in place, where torch has that."""
    match name:
        case None:
            return text
        case "relu":
            return f"F.relu({text}, inplace=True)"
        case "relu6":
            return f"F.relu6({text}, inplace=True)"
        case _:
            return f"F.gelu({text})"


def _linear(node: Node, x: str, w: str, *bias: str) -> str:
    return _activated(node["activation"], f"F.linear({', '.join([x, w, *bias])})")


def _mm(node: Node, x: str, w: str, *bias: str) -> str:
    """Computes the product with the weight as [K, N]."""
    if len(node.result.shape) == 2:
        text = f"torch.addmm({bias[0]}, {x}, {w})" if bias else f"torch.mm({x}, {w})"
    else:
        text = f"torch.matmul({x}, {w})" + (f".add_({bias[0]})" if bias else "")
    return _activated(node["activation"], text)


def _conv(node: Node, x: str, w: str, b: str) -> str:
    text = f"F.conv2d({x}, {w}, {b}, {node['stride']}, {node['pad']}, 1, {node['groups']})"
    return _activated(node["activation"], text)


def _matmul(node: Node, a: str, b: str) -> str:
    return f"torch._int_mm({a}, {b})" if node.result.dtype == "int32" else f"torch.mm({a}, {b})"


def _layer_norm(node: Node, x: str, scale: str, offset: str) -> str:
    return f"F.layer_norm({x}, ({node.result.shape[-1]},), {scale}, {offset}, {EPSILON})"


def _unary(name: str) -> Callable[..., str]:
    return lambda node, x: f"torch.{name}({x})"


EXPRESSIONS: dict[str, Callable[..., str]] = {
    "matmul": _matmul,
    "linear": _linear,
    "conv": _conv,
    "layer_norm": _layer_norm,
    "attention": lambda node, *xs: f"attention({', '.join(xs)}, {node['heads']})",
    "identity": lambda node, x: f"{x}.clone()",
    "add": lambda node, x, y: f"{x} + {y}",
    "subtract": lambda node, x, y: f"{x} - {y}",
    "multiply": lambda node, x, y: f"{x} * {y}",
    "gelu": lambda node, x: f"F.gelu({x})",
    "gelu_tanh": lambda node, x: f'F.gelu({x}, approximate="tanh")',
    "silu": lambda node, x: f"F.silu({x})",
    "softmax": lambda node, x: f"torch.softmax({x}, -1)",
    "transpose": lambda node, x: f"{x}.T.contiguous()",
    "sum": lambda node, x: f"torch.sum({x}, {node['axis']})",
    **{name: _unary(name) for name in ("exp", "tanh", "erf", "sigmoid", "relu")},
}

STYLES: dict[tuple[str, str], Callable[..., str]] = {
    ("mm", "linear"): _mm,
    ("packed", "linear"): _packed_linear,
    ("packed", "conv"): _packed_conv,
}
"""What a way of running writes differently."""
