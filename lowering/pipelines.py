"""Named pipelines: a name that `-p` accepts, and the passes or other names that it stands for."""

from __future__ import annotations

_TO_LOOPS = "lower-external-functions,lower-graph-to-loops,fuse-loops,inline-loops,split-loops,inline-loops"
_TO_LLVM = "lower-loops-to-scf,outline-parallel-loops,vectorize-loops,expand-math,guard-divisions,flatten-dynamic-buffers,lower-to-llvm-dialect"
_EXACT = "eliminate-common-subexpr,simplify-expr,fold-constant,eliminate-common-subexpr,eliminate-dead-code"
_EXACT_LAYOUTS = _EXACT.replace("simplify-expr,", "simplify-expr,optimize-layouts,")
_FUSION = "plan-fusion,apply-fusion-plan,remove-unused-functions"

PIPELINES: dict[str, str] = {
    "graph-optimize": f"{_EXACT_LAYOUTS},fuse-ewise-fma,{_FUSION}".replace("optimize-", "zero-subnormals,optimize-"),
    "graph-optimize-strict": f"{_EXACT_LAYOUTS},{_FUSION}",
    "to-loops": _TO_LOOPS,
    "to-llvm": _TO_LLVM,
    "finish": f"{_TO_LOOPS},apply-tuning,prepack-weights,schedule-cpu,merge-prepare-functions,bufferize,{_TO_LLVM}",
    "O0": f"lower-external-functions,lower-graph-to-loops,bufferize{{reuse=false}},{_TO_LLVM}",
    "O1": f"{_EXACT},remove-unused-functions,{_TO_LOOPS},schedule-cpu,merge-prepare-functions,bufferize,{_TO_LLVM}",
    "O2": "graph-optimize,finish",
    "O3": "graph-optimize,finish",
}
PIPELINES["finish-strict"] = PIPELINES["finish"].replace(
    "prepack-weights", "prepack-weights{winograd=false subnormals=true}"
)

PIPELINES["finish-fast"] = (
    PIPELINES["finish"]
    .replace("prepack-weights", "prepack-weights{flush=true}")
    .replace("schedule-cpu", "schedule-cpu{flush=true}")
)


def pipeline_text(opt_level: int, numerics: str = "default") -> str:
    """
    The pipeline of an optimisation level. `numerics="strict"` leaves out the rules that round differently, `fast` lets
    `simplify-expr` use those that may lose NaN, inf or -0, and products of bf16 take numbers below 2**-126 for zeros.
    """
    if opt_level < 2 or numerics == "default":
        return f"O{opt_level}"
    if numerics == "strict":
        return "graph-optimize-strict,finish-strict"
    return "simplify-expr{numerics=fast},graph-optimize,finish-fast"
