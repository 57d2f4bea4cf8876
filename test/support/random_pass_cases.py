"""The graph passes as the random tests see them: options, class of numerics, and what else may be asked of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pytest
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.reference.failure import ReferenceFailure
from stepwell.rewrites.partition import pattern_tables as targets
from stepwell.testing.graphs.maker import Flavour, Graph
from tolerances import check_random_program, check_same
from xdsl.dialects.builtin import ModuleOp

Numerics = Literal["exact", "rounding"]

TABLE: Final = """
pattern.rule "fuzz.conv2d" doc "a convolution and what follows" {
  %x = pattern.any
  %w = pattern.any
  %conv = pattern.op "graph.conv2d"(%x, %w)
  %b = pattern.any
  %sum = pattern.op "graph.add | graph.bias_add"(%conv, %b)
  %either = pattern.or %sum, %conv
  %relu = pattern.op "graph.relu"(%either)
  %root = pattern.or %relu, %either
  pattern.partition %root
}
pattern.rule "fuzz.chain" doc "two elementwise ops" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.add | graph.multiply"(%x, %y)
  %root = pattern.op "graph.relu | graph.negative | graph.abs | graph.tanh"(%inner)
  pattern.partition %root
}
pattern.rule "fuzz.known" doc "a sum with a constant" {
  %x = pattern.any
  %k = pattern.constant
  %root = pattern.op "graph.add | graph.maximum"(%x, %k)
  pattern.partition %root
}
"""
"""A table for the passes that take one; `{table}` in a pipeline is the path of a file that holds it."""

TARGET: Final = "fuzz"
TARGET_OPS: Final = ("add", "multiply", "relu", "negative", "abs", "maximum", "conv2d", "matmul", "split", "dropout")
"""What the target `fuzz` computes."""


def written_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a file in `folder` with TABLE; TARGET computes TARGET_OPS until the test ends."""
    names = {f"graph.{name}": lambda op: True for name in TARGET_OPS}
    monkeypatch.setitem(targets._PREDICATES, TARGET, names)  # pyright: ignore[reportPrivateUsage]
    path = folder / "fuzz.mlir"
    path.write_text(TABLE)
    return str(path)


@dataclass(frozen=True)
class PassCase:
    """
    One pass, or several that belong together, as pipeline text.

    `least`: the share of programs that it must change for the test to mean something. `again`: why a second run may
    change something; empty when it must not. `keeps_failures`: what fails before fails after, unless it is unused.
    """

    pipeline: str
    numerics: Numerics = "exact"
    flavours: tuple[Flavour, ...] = ("any",)
    least: float = 0.1
    again: str = ""
    keeps_failures: bool = True

    def apply(self, module: ModuleOp, table: str) -> ModuleOp:
        """The module that the pass makes of `module`."""
        for each in parse_pipeline(self.pipeline.replace("{table}", table)):
            module = each(module)  # pyright: ignore
        return module


CASES: Final = (
    PassCase("eliminate-common-subexpr"),
    PassCase('simplify-expr{numerics="strict"}', keeps_failures=False),
    PassCase("simplify-expr", "rounding", ("smooth",), keeps_failures=False),
    PassCase('simplify-expr{numerics="fast"}', "rounding", ("smooth",), keeps_failures=False),
    PassCase("simplify-inference", "rounding", ("smooth",)),
    PassCase('simplify-inference{numerics="strict"}'),
    PassCase("canonicalize-ops"),
    PassCase("canonicalize-cast"),
    PassCase('legalize{table="elementary"}', flavours=("any", "smooth")),
    PassCase("sink-to-lca"),
    PassCase("combine-parallel-conv2d", "rounding", ("smooth",)),
    PassCase("combine-parallel-dense", "rounding", ("smooth",)),
    PassCase("combine-parallel-dense{to-batch}", "rounding", ("smooth",), least=0.05),
    PassCase("combine-parallel-batch-matmul", "rounding", ("smooth",)),
    PassCase("combine-parallel-conv2d{min-branches=2}", "rounding", ("smooth",)),
    PassCase("combine-parallel-dense{min-branches=2}", "rounding", ("smooth",)),
    PassCase("fold-constant", "exact", ("decided",)),
    PassCase("fold-constant", "rounding", ("smooth",)),
    PassCase("fold-constant{max-elements=3}", "exact", ("decided",)),
    PassCase('fold-scale-axis{direction="bwd"}', "rounding", ("smooth",)),
    PassCase('fold-scale-axis{direction="fwd"}', "rounding", ("smooth",)),
    PassCase("fold-scale-axis", "rounding", ("smooth",)),
    PassCase("remove-unused-functions"),
    PassCase("eliminate-dead-code", keeps_failures=False),
    PassCase("fuse-matmul-add"),
    PassCase("fuse-ewise-fma", "rounding", ("smooth",)),
    PassCase("inline-primitive"),
    PassCase("plan-fusion"),
    PassCase("plan-fusion,apply-fusion-plan"),
    PassCase("plan-fusion,apply-fusion-plan,inline-primitive",
             again="an inlined body stands at the call, so constants may come in another order"),
    PassCase('merge-composite{table="{table}"}'),
    PassCase('partition-by-pattern{table="{table}"}'),
    PassCase('partition-by-pattern{table="{table}" bind-constants annotate-codegen}'),
    PassCase("annotate-target{targets=fuzz}"),
    PassCase("annotate-target{targets=fuzz},merge-regions"),
    PassCase("annotate-target{targets=fuzz},merge-regions,partition-graph",
             again="regions that are left are numbered anew"),
    PassCase("annotate-target{targets=fuzz},merge-regions,partition-graph{bind-constants}",
             again="regions that are left are numbered anew"),
    PassCase('merge-composite{table="{table}"},annotate-target{targets=fuzz},merge-regions,partition-graph',
             again="regions that are left are numbered anew"),
    PassCase("graph-optimize-strict", "exact", ("decided",), keeps_failures=False,
             again="functions that weights are prepared by are programs to a second run"),
    PassCase("graph-optimize", "rounding", ("smooth",), keeps_failures=False, again="as above"),
)  # fmt: skip


def alive(graph: Graph) -> bool:
    """Whether the failure of a program is that of an op that something needs."""
    (dead_code,) = parse_pipeline("eliminate-dead-code")
    try:
        graph.run(dead_code(graph.module))  # pyright: ignore
    except ReferenceFailure:
        return True
    return False


def check_results(graph: Graph, module: ModuleOp, numerics: Numerics, *, keeps_failures: bool) -> None:
    """Asserts that a rewritten module computes what the program does, within the class of numerics."""
    if graph.expected is None:
        try:
            graph.run(module)
        except ReferenceFailure:
            return
        assert not keeps_failures or not alive(graph), f"does not fail any more: {graph.failure}"
        return
    found = graph.run(module)
    if numerics == "exact":
        check_same(found, graph.expected)
    else:
        # Sums in another order meet cancellation and norms that are steep near zero. In programs of f64 alone the
        # bound is still nine digits; where there is f32, its rounding reaches results of f64 too.
        narrow = any(f"x{name}>" in str(module) or f"<{name}>" in str(module) for name in ("f16", "f32"))
        for one, wanted in zip(found, graph.expected, strict=True):
            factor = 30 if wanted.dtype == np.float32 else 30 * 2.0**29 if narrow else 1000
            check_random_program(graph.largest * factor, [one], [wanted])
