"""
The whole compiler in order: the passes of each stage, and the pipelines that are made of these stages.

Read this file first. A pass is named as `-p` names it, with its options in braces. `universe.py` says in which file
each one stands, and `docs/passes.md` what each one does.
"""

from __future__ import annotations

Passes = tuple[str, ...]


def without(passes: Passes, *names: str) -> Passes:
    """Returns `passes` without those called `names`, each of which must be there."""
    assert set(names) <= set(passes), f"{names} are not all in {passes}"
    return tuple(each for each in passes if each not in names)


def with_options(passes: Passes, options: dict[str, str]) -> Passes:
    """Returns `passes`, those that `options` names with these options: `{"bufferize": "reuse=false"}`."""
    assert options.keys() <= {*passes}, f"{options} are not all for {passes}"
    return tuple(f"{each}{{{options[each]}}}" if each in options else each for each in passes)


# Stages

BATCH_NORM = 'simplify-inference{rules="batch-norm-to-arithmetic","dropout-to-operand"}'

CONVERSIONS = 'simplify-inference{rules="quantize-to-arithmetic","dequantize-to-arithmetic"}'

SIMPLIFY: Passes = (
    "specialize-shapes",  # Ops that take sizes as tensors become static where all shapes are known.
    "eliminate-common-subexpr",  # Equal ops become one.
    "integer-arithmetic",  # Products of dequantised tensors become products of bytes.
    BATCH_NORM,  # A batch norm becomes a factor and a sum per channel. Other norms are kernels as they are.
    "simplify-expr",  # Identities of graph ops are applied until none applies.
    "fold-scale-axis",  # Factors per channel go into weights.
    "zero-subnormals",  # Subnormal constants, which are slow, become zeros.
    "optimize-layouts",  # Convolutions get their channels last, with what lies between them.
    "fold-constant",  # What depends on constants only is computed now, or by prepare functions at load.
    "eliminate-common-subexpr",  # The passes before this one make equal ops.
    "eliminate-dead-code",  # Nobody uses these results any more.
)
"""Rewrites on the graph level."""

BEFORE_QUANTIZE: Passes = (
    "specialize-shapes",  # Ops that take sizes as tensors become static where all shapes are known.
    "eliminate-common-subexpr",  # Equal ops become one.
    BATCH_NORM,  # A batch norm becomes a factor and a sum per channel.
    "simplify-expr",  # Identities of graph ops are applied until none applies.
    "fold-scale-axis",  # Factors per channel go into weights, which are quantised with them.
    "eliminate-common-subexpr",  # The passes before this one make equal ops.
    "eliminate-dead-code",  # Nobody uses these results any more.
)
"""What makes the layers of a program what the quantiser should see."""

FUSE: Passes = (
    "fuse-ewise-fma",  # A multiplication and an addition round once.
    "plan-fusion",  # Rules decide which ops are to be one kernel.
    "apply-fusion-plan",  # Each group of the plan becomes a function.
    "remove-unused-functions",  # Calls have been moved into the new functions.
)
"""Decisions on the graph level about what becomes one kernel."""

TO_LOOPS: Passes = (
    "specialize-shapes",  # Nothing is left to do here where the passes above have run.
    "lower-external-functions",  # What another code generator takes becomes calls of its code.
    "lower-graph-to-loops",  # Each op becomes a loop function, a kernel.
    "prove-written",  # Loop functions written by hand that need no checks of what they read are marked.
    "fuse-loops",  # The kernels of a group become one kernel.
    "widen-temporaries",  # Temporaries of small floats that are only read unrounded become f32.
    "inline-loops",  # Producers are computed where they are read.
    "split-loops",  # Elementwise loops are cut where conditions on their variables change.
    "join-reductions",  # Reductions of one tensor read it once.
    "scale-after-products",  # A softmax before a product divides the result, which is smaller.
    "relax-exponentials",  # Exponentials in softmax need not be exact to a unit, and take factors of scores.
    "inline-loops",  # The pieces and joined reductions read fewer producers each.
)
"""The lowering of the graph level to the tensor_loop level."""

SCHEDULE: Passes = (
    "widen-left-operands",  # What products read as left operands is kept in f32, not f16.
    "apply-tuning",  # Kernels that the tuning database knows get the schedules found for them.
    "plan-schedules",  # What is decided about each kernel is written on its blocks, for the target.
    "prepack-weights",  # Weights get the layout that the plan asks for.
    "apply-schedule-plan",  # Loops become what the plan says.
    "merge-prepare-functions",  # One prepare function serves all weights that are prepared alike.
)
"""Decisions on the tensor_loop level about loops, vectors and threads."""

TO_BUFFERS: Passes = ("bufferize",)
"""The lowering of tensors to buffers in one arena."""

TO_LLVM: Passes = (
    "lower-loops-to-scf",  # Loops and blocks become scf, arith and memref.
    "outline-parallel-loops",  # Parallel loops become functions that the threads call.
    "vectorize-loops",  # Marked loops work on register tiles.
    "expand-math",  # Math functions and small floats become plain arithmetic.
    "guard-divisions",  # A division by zero fails cleanly.
    "vectorize-divisions",  # Integers are divided as floats, which vectors can do.
    "flatten-dynamic-buffers",  # Sizes and strides that types do not say become arguments.
    "lower-to-llvm-dialect",  # All ops become those of LLVM.
)
"""
The lowering of the tensor_loop level to the llvm level.

What a pass makes of a kernel without checks does not depend on the rest of the module: `kernels_first.py` runs all of
them on one kernel after the other.
"""


# Pipelines

STRICT = without(SIMPLIFY, "integer-arithmetic", BATCH_NORM, "fold-scale-axis", "zero-subnormals")
"""The part of `SIMPLIFY` that keeps every rounding."""

EXACT = without(STRICT, "optimize-layouts")
"""The part of `SIMPLIFY` that level 1 runs."""

STRICT_LOOPS = without(TO_LOOPS, "widen-temporaries", "scale-after-products", "relax-exponentials")
"""The part of `TO_LOOPS` that keeps every rounding."""

UNFUSED_LOOPS = without(STRICT_LOOPS, "fuse-loops", "inline-loops", "split-loops", "join-reductions")
"""The part of `TO_LOOPS` that level 0 runs: a kernel per op."""

UNTUNED: Passes = (
    "plan-schedules{prepack=false}",  # What is decided about each kernel is written on its blocks.
    "apply-schedule-plan",  # Loops become what the plan says.
    "merge-prepare-functions",  # One prepare function serves all weights that are prepared alike.
)
"""The decisions about loops that level 1 takes."""

FINISH = (*TO_LOOPS, *SCHEDULE, *TO_BUFFERS, *TO_LLVM)
"""The lowering of any level to the llvm level."""

EXCESS: dict[str, str] = dict.fromkeys(("vectorize-loops", "expand-math"), "excess=true")
"""What lets arithmetic on small floats go on unrounded."""


def flushed(which: str) -> dict[str, str]:
    """Returns the options that let products of bf16 take numbers below 2**-126 for zeros: `weights` or `all`."""
    return dict.fromkeys(("plan-schedules", "prepack-weights", "apply-schedule-plan"), f"flush={which}")


POINTS: dict[str, str] = {
    "at-start": "on the program as it is written",
    "before-fusion": "on the simplified graph, before rules decide what becomes one kernel",
    "after-fusion": "on the graph whose groups are functions, before they become loops",
    "before-schedule": "on loop functions without a schedule",
    "before-buffers": "on scheduled loop functions, before tensors become buffers",
}
"""The points of O1, O2 and O3 that passes of plug-ins join. Each is a pipeline that is empty without plug-ins."""


def joined(passes: Passes) -> Passes:
    """Returns the lowering `passes` with the points on the tensor_loop level."""
    schedule = next(name for name in (*SCHEDULE, *UNTUNED) if name in passes and name != "merge-prepare-functions")
    first, buffers = passes.index(schedule), next(i for i, each in enumerate(passes) if each.startswith("bufferize"))
    return (*passes[:first], "before-schedule", *passes[first:buffers], "before-buffers", *passes[buffers:])


_PIPELINES: dict[str, Passes] = {
    **dict.fromkeys(POINTS, ()),
    "graph-optimize": ("at-start", *SIMPLIFY, "before-fusion", *FUSE, "after-fusion"),
    "graph-optimize-strict": (
        *("at-start", *STRICT),
        *("before-fusion", *without(FUSE, "fuse-ewise-fma"), "after-fusion"),
    ),
    "prepare-quantize": BEFORE_QUANTIZE,
    "to-loops": TO_LOOPS,
    "to-llvm": TO_LLVM,
    "finish": FINISH,
    "O0": (*UNFUSED_LOOPS, *with_options(TO_BUFFERS, {"bufferize": "reuse=false"}), *TO_LLVM),
    "O1": (
        *("at-start", *EXACT, "remove-unused-functions", "before-fusion", "after-fusion"),
        *joined((*STRICT_LOOPS, *UNTUNED, *TO_BUFFERS, *TO_LLVM)),
    ),
    "O2": ("graph-optimize", *joined(with_options(FINISH, {**flushed("weights"), **EXCESS}))),
    "O3": ("graph-optimize", *joined(with_options(FINISH, {**flushed("weights"), **EXCESS}))),
    "finish-strict": with_options(
        joined((*STRICT_LOOPS, *without(SCHEDULE, "widen-left-operands"), *TO_BUFFERS, *TO_LLVM)),
        {"plan-schedules": "winograd=false", "prepack-weights": "winograd=false subnormals=true"},
    ),
    "finish-fast": with_options(
        joined(FINISH),
        {**flushed("all"), "scale-after-products": "bf16=false", **EXCESS},
    ),
}

PIPELINES: dict[str, str] = {name: ",".join(passes) for name, passes in _PIPELINES.items()}
"""Named pipelines: a name that `-p` accepts, and the passes or other names that it stands for."""


def pipeline_text(opt_level: int, numerics: str = "default") -> str:
    """
    Returns the pipeline of an optimisation level.

    `numerics="strict"` leaves out the rules that round differently. `numerics="fast"` lets `simplify-expr` use rules
    that may lose NaN, inf or -0, and products of bf16 take numbers below 2**-126 for zeros.
    """
    if opt_level < 2 or numerics == "default":
        return f"O{opt_level}"
    if numerics == "strict":
        return "graph-optimize-strict,finish-strict"
    return "simplify-expr{numerics=fast},graph-optimize,finish-fast"
