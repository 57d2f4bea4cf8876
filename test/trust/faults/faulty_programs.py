"""
The programs in which faults are looked for, by name.

- `mlp`, `bert`, …: the nets of `models.py`.
- `snippet:NAME`: a random program with the ops of one snippet beside it. It stands for programs that have ops which no
  net of the list has.
- `alone:NAME`: the ops of one snippet, for faults that show on huge numbers, where a random program overflows.
- `scheduled`: a loop function with a schedule.
- `threads:NAME`: loop functions whose iterations several threads share, however short they are.
- `random:SEED`: a random program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import small_models as models
import stepwell
from stepwell.testing import random_program
from xdsl.dialects.builtin import ModuleOp

SEED, SIZE = 5, 12
"""The random program beside a snippet, which fails on no inputs."""

F32, BOOLEAN, INTEGER = "tensor<5x21xf32>", "tensor<5x21xi1>", "tensor<5x21xi32>"


@dataclass(frozen=True)
class Snippet:
    """Some ops: their arguments by name and type, their lines, and their results by name and type."""

    arguments: dict[str, str]
    lines: str
    results: dict[str, str]


def _map(lines: str, type_: str = F32, result: str | None = None, name: str = "%r") -> Snippet:
    """Returns ops of one or two tensors, whose types are written `T`."""
    arguments = {"%p": type_, "%q": type_} if "%q" in lines else {"%p": type_}
    return Snippet(arguments, lines.replace("T", type_), {name: result or type_})


SNIPPETS: Final[dict[str, Snippet]] = {
    "cse": _map(
        "%a = graph.clip %p, min = 0.0, max = 1.0 : (T) -> T\n%b = graph.clip %p, min = 0.0, max = 2.0 : (T) -> T\n"
        "%r = graph.subtract %a, %b : (T, T) -> T"
    ),
    "simplify": _map(
        "%a = graph.clip %p, min = -0.25, max = 0.5 : (T) -> T\n%r = graph.clip %a, min = -1.0, max = 1.0 : (T) -> T"
    ),
    "arithmetic": _map("%a = graph.negative %q : (T) -> T\n%r = graph.subtract %p, %a : (T, T) -> T"),
    "logic": _map(
        "%a = graph.logical_not %p : (T) -> T\n%b = graph.logical_or %a, %q : (T, T) -> T\n"
        "%r = graph.logical_and %p, %b : (T, T) -> T",
        BOOLEAN,
    ),
    "comparisons": _map(
        "%a = graph.less_equal %p, %q : (T, T) -> B\n%b = graph.not_equal %p, %q : (T, T) -> B\n"
        "%r = graph.logical_and %a, %b : (B, B) -> B".replace("B", BOOLEAN),
        INTEGER,
        BOOLEAN,
    ),
    "choices": _map(
        "%a = graph.greater %p, %q : (T, T) -> B\n%r = graph.where %a, %p, %q : (B, T, T) -> T".replace("B", BOOLEAN),
        INTEGER,
    ),
    "cancelling": _map(
        "%a = graph.add %p, %q : (T, T) -> T\n%r = graph.subtract %p, %a : (T, T) -> T",
        INTEGER,
    ),
    "signs": _map("%a = graph.negative %p : (T) -> T\n%b = graph.sin %a : (T) -> T\n%r = graph.negative %b : (T) -> T"),
    "reductions": _map(
        "%a = graph.negative %p : (T) -> T\n%r = graph.argmax %a, axis = 1 : (T) -> tensor<5xi64>",
        result="tensor<5xi64>",
    ),
    "movement": _map(
        "%a = graph.permute_dims %p, axes = [1, 0] : (T) -> R\n%b = graph.permute_dims %q, axes = [1, 0] : (T) -> R\n"
        "%r = graph.subtract %a, %b : (R, R) -> R".replace("R", "tensor<21x5xf32>"),
        result="tensor<21x5xf32>",
    ),
    "products": Snippet(
        {"%p": "tensor<8x8xf32>", "%q": "tensor<8x8xf32>"},
        "%a = graph.permute_dims %p, axes = [1, 0] : (T) -> T\n%b = graph.permute_dims %q, axes = [1, 0] : (T) -> T\n"
        "%r = graph.matmul %a, %b : (T, T) -> T".replace("T", "tensor<8x8xf32>"),
        {"%r": "tensor<8x8xf32>"},
    ),
    "bias": Snippet(
        {"%p": F32, "%q": "tensor<21xf32>"},
        f"%r = graph.bias_add %p, %q : ({F32}, tensor<21xf32>) -> {F32}",
        {"%r": F32},
    ),
    "norm": _map("%r = graph.l2_normalize %p, axes = [1] : (T) -> T"),
    "requantised": Snippet(
        {"%p": "tensor<5x21xi8>"},
        "%s = graph.full 0.5 : tensor<f32>\n%t = graph.full 0.25 : tensor<f32>\n%z = graph.full 0 : tensor<i8>\n"
        f"%a = graph.dequantize %p, %s, %z : (tensor<5x21xi8>, tensor<f32>, tensor<i8>) -> {F32}\n"
        f"%r = graph.quantize %a, %t, %z : ({F32}, tensor<f32>, tensor<i8>) -> tensor<5x21xi8>",
        {"%r": "tensor<5x21xi8>"},
    ),
    "siblings": Snippet(
        {"%p": F32},
        f"%r = graph.max %p, axis = [1] : ({F32}) -> tensor<5xf32>\n"
        f"%s = graph.min %p, axis = [1] : ({F32}) -> tensor<5xf32>",
        {"%r": "tensor<5xf32>", "%s": "tensor<5xf32>"},
    ),
    "same-length": Snippet(
        {"%p": F32, "%q": F32},
        "%a = graph.add %p, %q : (T, T) -> T\n%r = graph.relu %a : (T) -> T\n"
        "%b = graph.subtract %p, %q : (T, T) -> T\n%s = graph.relu %b : (T) -> T".replace("T", F32),
        {"%r": F32, "%s": F32},
    ),
    "chain": _map("%a = graph.subtract %p, %q : (T, T) -> T\n%r = graph.sigmoid %a : (T) -> T"),
    "branch": Snippet(
        {"%p": F32, "%q": F32},
        f"%c = arith.constant true\n%r = scf.if %c -> ({F32}) {{\n  scf.yield %p : {F32}\n}} else {{\n"
        f"  scf.yield %q : {F32}\n}}",
        {"%r": F32},
    ),
    "pool": Snippet(
        {"%p": "tensor<1x2x7x6xf32>"},
        "%a = graph.abs %p : (T) -> T\n%b = graph.negative %a : (T) -> T\n"
        "%r = graph.max_pool2d %b, pool_size = [3, 3], padding = [1, 1, 1, 1] : (T) -> T\n"
        "%s = graph.avg_pool2d %b, pool_size = [3, 3], padding = [1, 1, 1, 1] : (T) -> T".replace(
            "T", "tensor<1x2x7x6xf32>"
        ),
        {"%r": "tensor<1x2x7x6xf32>", "%s": "tensor<1x2x7x6xf32>"},
    ),
    "conv": Snippet(
        {"%p": "tensor<1x9x8x4xf32>", "%q": "tensor<3x3x4x20xf32>"},
        '%r = graph.conv2d %p, %q, padding = [2, 1, 0, 1], data_layout = "NHWC", kernel_layout = "HWIO" : '
        "(tensor<1x9x8x4xf32>, tensor<3x3x4x20xf32>) -> tensor<1x9x8x20xf32>",
        {"%r": "tensor<1x9x8x20xf32>"},
    ),
    "ties": _map(
        "%a = graph.sign %p : (T) -> T\n%r = graph.argmax %a, axis = 1 : (T) -> tensor<5xi64>", result="tensor<5xi64>"
    ),
    "astype": _map(f"%r = graph.astype %p, dtype = i32 : (T) -> {INTEGER}", result=INTEGER),
    "transpose": Snippet(
        {"%p": "tensor<37x35xf32>"},
        "%r = graph.permute_dims %p, axes = [1, 0] : (tensor<37x35xf32>) -> tensor<35x37xf32>",
        {"%r": "tensor<35x37xf32>"},
    ),
    "product": Snippet(
        {"%p": "tensor<13x37xf32>", "%q": "tensor<37x21xf32>"},
        "%r = graph.matmul %p, %q : (tensor<13x37xf32>, tensor<37x21xf32>) -> tensor<13x21xf32>",
        {"%r": "tensor<13x21xf32>"},
    ),
    "softmax": _map("%r = graph.softmax %p, axis = -1 : (T) -> T"),
    "small": _map("%a = graph.add %p, %q : (T, T) -> T\n%r = graph.tanh %a : (T) -> T", "tensor<7x7xf32>"),
    "select": _map(
        "%a = graph.greater %p, %q : (T, T) -> B\n%r = graph.where %a, %q, %p : (B, T, T) -> T".replace("B", BOOLEAN)
    ),
    "concat": Snippet(
        {"%p": "tensor<3x40xf32>", "%q": "tensor<3x41xf32>"},
        "%a = graph.concat %p, %q, axis = 1 : (tensor<3x40xf32>, tensor<3x41xf32>) -> tensor<3x81xf32>\n"
        "%r = graph.relu %a : (tensor<3x81xf32>) -> tensor<3x81xf32>",
        {"%r": "tensor<3x81xf32>"},
    ),
    "rows": Snippet(
        {"%p": F32},
        f"%a = graph.abs %p : ({F32}) -> {F32}\n%b = graph.negative %a : ({F32}) -> {F32}\n"
        f"%r = graph.max %b, axis = [1] : ({F32}) -> tensor<5xf32>",
        {"%r": "tensor<5xf32>"},
    ),
    "divisions": _map(
        "%a = graph.full 3 : T\n%b = graph.maximum %q, %a : (T, T) -> T\n%r = graph.mod %p, %b : (T, T) -> T", INTEGER
    ),
    "exp": _map("%a = graph.exp %p : (T) -> T\n%r = graph.subtract %a, %q : (T, T) -> T", "tensor<3x3xf32>"),
    "cosine-exp": _map("%a = graph.cos %p : (T) -> T\n%r = graph.exp %a : (T) -> T"),
    "cosine": _map("%r = graph.cos %p : (T) -> T"),
    "erf": _map("%r = graph.erf %p : (T) -> T", "tensor<3x3xf32>"),
    "unsigned": _map("%r = graph.astype %p, dtype = f32 : (T) -> tensor<5x21xf32>", "tensor<5x21xui32>", F32),
    "bytes": _map("%r = graph.astype %p, dtype = i64 : (T) -> tensor<5x21xi64>", "tensor<5x21xi8>", "tensor<5x21xi64>"),
    "floor-divide": _map("%a = graph.full 7 : T\n%r = graph.floor_divide %p, %a : (T, T) -> T", INTEGER),
    "scan": _map("%r = graph.cumulative_sum %p, axis = 0 : (T) -> T", "tensor<12x5xf32>"),
}

SCHEDULED: Final = """
tensor_loop.func @main(%A: memref<20x20xf32>) outs(%C: memref<20x20xf32>) {
  tensor_loop.grid (%i, %j) in (20, 20) {
    tensor_loop.block "double" spatial(%vi in 20 = %i, %vj in 20 = %j) {
      %a = memref.load %A[%vi, %vj] : memref<20x20xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %C[%vi, %vj] : memref<20x20xf32>
    }
  }
}
schedule.program {
  %block = schedule.get_block "double" in @main
  %i, %j = schedule.get_loops %block : 2
  %o, %n = schedule.split %j [?, 8]
  schedule.unroll %n
}
"""

THREADED: Final = """
tensor_loop.func private @kernel(%A: memref<24x16xf32>) outs(%B: memref<24x16xf32>)
    attributes {stepwell.grain = 1 : i64} {
BODY
}
func.func @main(%a: tensor<24x16xf32>) -> tensor<24x16xf32> {
  %r = graph.call_kernel @kernel(%a) : (tensor<24x16xf32>) -> tensor<24x16xf32>
  func.return %r : tensor<24x16xf32>
}
"""

TWO_PHASES: Final = """
  %E = tensor_loop.alloc : memref<24x16xf32>
  tensor_loop.for %i in 24 parallel {
    tensor_loop.for %j in 16 {
      tensor_loop.block "first" spatial(%vi in 24 = %i, %vj in 16 = %j) {
        %a = memref.load %A[%vi, %vj] : memref<24x16xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %E[%vi, %vj] : memref<24x16xf32>
      }
    }
    tensor_loop.for %j in 16 KIND {
      tensor_loop.block "backwards" spatial(%vi in 24 = %i, %vj in 16 = %j) {
        %c15 = arith.constant 15 : index
        %k = arith.subi %c15, %vj : index
        %a = memref.load %E[%vi, %k] : memref<24x16xf32>
        memref.store %a, %B[%vi, %vj] : memref<24x16xf32>
      }
    }
  }"""

BODIES: Final = {
    "rows": TWO_PHASES.replace("KIND", ""),
    "nest": TWO_PHASES.replace("KIND", "parallel").replace("24", "4"),
    "steps": """
  %E = tensor_loop.alloc : memref<25x16xf32>
  tensor_loop.for %j in 16 {
    tensor_loop.block "start" spatial(%vj in 16 = %j) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %E[%c0, %vj] : memref<25x16xf32>
    }
  }
  tensor_loop.for %i in 24 {
    tensor_loop.for %j in 16 {
      tensor_loop.block "step" spatial(%vi in 24 = %i, %vj in 16 = %j) attributes {stepwell.share = 1 : i64} {
        %c1 = arith.constant 1 : index
        %next = arith.addi %vi, %c1 : index
        %a = memref.load %A[%vi, %vj] : memref<24x16xf32>
        %e = memref.load %E[%vi, %vj] : memref<25x16xf32>
        %b = arith.addf %a, %e : f32
        memref.store %b, %E[%next, %vj] : memref<25x16xf32>
        memref.store %b, %B[%vi, %vj] : memref<24x16xf32>
      }
    }
  }""",
}
"""Loop functions for threads: two phases in each iteration, a nest of parallel loops, steps that each need the last."""


def program(name: str) -> ModuleOp:
    """Returns a program by name."""
    kind, _, rest = name.partition(":")
    if kind == "snippet":
        return stepwell.parse(beside(SNIPPETS[rest], random_program(SEED, SIZE).text))
    if kind == "alone":
        return stepwell.parse(alone(SNIPPETS[rest]))
    if kind == "random":
        return stepwell.parse(random_program(int(rest), 30).text)
    if kind == "threads":
        return stepwell.parse(THREADED.replace("24", "4" if rest == "nest" else "24").replace("BODY", BODIES[rest]))
    if kind == "scheduled":
        return stepwell.parse(SCHEDULED)
    return stepwell.from_onnx(models.MODELS[name]())


def alone(snippet: Snippet) -> str:
    """Returns a program that computes the snippet."""
    given = ", ".join(f"{name}: {type_}" for name, type_ in snippet.arguments.items())
    values, types = ", ".join(snippet.results), ", ".join(snippet.results.values())
    return f"func.func @main({given}) -> ({types}) {{\n{snippet.lines}\nfunc.return {values} : {types}\n}}"


def beside(snippet: Snippet, text: str) -> str:
    """Returns a program that computes what `text` does, and the snippet beside it."""
    names = {name: f"%own_{name[1:]}" for name in re.findall(r"%\w+", snippet.lines)}
    names |= {name: f"%own_{name[1:]}" for name in snippet.arguments}
    lines = re.sub(r"%\w+", lambda found: names[found[0]], snippet.lines)
    more = ", ".join(f"{names[name]}: {type_}" for name, type_ in snippet.arguments.items())
    values = ", ".join(f"%own_{name[1:]}" for name in snippet.results)
    types = ", ".join(snippet.results.values())
    head = re.search(r"@main\((.*?)\) -> \(?(.*?)\)? \{\n", text)
    tail = re.search(r"  func\.return (.*?) : (.*)\n", text)
    assert head is not None and tail is not None
    given = f"{head[1]}, {more}" if head[1] else more
    start = f"@main({given}) -> ({head[2]}, {types}) {{\n"
    end = f"  {lines}\n  func.return {tail[1]}, {values} : {tail[2]}, {types}\n"
    return text[: head.start()] + start + text[head.end() : tail.start()] + end + text[tail.end() :]
