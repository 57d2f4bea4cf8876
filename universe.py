"""
The one table of what Stepwell adds to xDSL: every dialect and every pass, by name, as `module:object`.

Nothing is imported until a name is asked for. Installed as the `xdsl.universe` entry point, so stock
`xdsl-opt` sees our dialects and passes too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import Universe

DIALECTS: dict[str, str] = {
    "graph": "dialects.graph:Graph",
    "llvm_ext": "dialects.llvm_ext:LLVMExt",
    "pattern": "dialects.pattern:Pattern",
    "schedule": "dialects.schedule:Schedule",
    "tensor_loop": "dialects.tensor_loop:TensorLoop",
    "tile": "dialects.tile:Tile",
}

PASSES: dict[str, str] = {
    "bufferize": "lowering.buffers.bufferize:BufferizePass",
    "fuse-loops": "lowering.loops.fuse_loops:FuseLoopsPass",
    "flatten-dynamic-buffers": "lowering.buffers.flatten_dynamic_buffers:FlattenDynamicBuffersPass",
    "guard-accesses": "lowering.loops.guard_accesses:GuardAccessesPass",
    "prove-written": "lowering.loops.prove_written:ProveWrittenPass",
    "guard-divisions": "lowering.scf.guard_divisions:GuardDivisionsPass",
    "inline-loops": "lowering.loops.inline_loops:InlineLoopsPass",
    "join-reductions": "lowering.loops.join_reductions:JoinReductionsPass",
    "relax-exponentials": "lowering.loops.relax_exponentials:RelaxExponentialsPass",
    "scale-after-products": "lowering.loops.scale_after_products:ScaleAfterProductsPass",
    "widen-left-operands": "lowering.loops.widen_left_operands:WidenLeftOperandsPass",
    "widen-temporaries": "lowering.loops.widen_temporaries:WidenTemporariesPass",
    "split-loops": "lowering.loops.split_loops:SplitLoopsPass",
    "lower-external-functions": "lowering.graph_to_loops.lower_external_functions:LowerExternalFunctionsPass",
    "lower-graph-to-loops": "lowering.graph_to_loops.lower_graph_to_loops:LowerGraphToLoopsPass",
    "eliminate-common-subexpr": "rewrites.simplify.eliminate_common_subexpr:EliminateCommonSubexprPass",
    "simplify-expr": "rewrites.simplify.simplify_expr:SimplifyExprPass",
    "merge-prepare-functions": "lowering.graph_to_loops.merge_prepare_functions:MergePrepareFunctionsPass",
    "prepack-weights": "schedule.default.prepack:PrepackWeightsPass",
    "apply-tuning": "schedule.tuned.apply_tuning:ApplyTuningPass",
    "apply-schedule": "schedule.program.apply_schedule:ApplySchedulePass",
    "schedule-cpu": "schedule.default.cpu:ScheduleCPUPass",
    "decide-schedules": "schedule.default.decide_schedules:DecideSchedulesPass",
    "plan-schedules": "schedule.default.plan_schedules:PlanSchedulesPass",
    "apply-schedule-plan": "schedule.default.apply_schedule_plan:ApplySchedulePlanPass",
    "lower-loops-to-scf": "lowering.loops_to_scf.lower_loops_to_scf:LowerLoopsToSCFPass",
    "apply-patterns": "rewrites.rules.apply_patterns:ApplyPatternsPass",
    "partition-pattern": "rewrites.partition.partition_pattern:PartitionPatternPass",
    "annotate-target": "rewrites.partition.annotate_target:AnnotateTargetPass",
    "merge-regions": "rewrites.partition.merge_regions:MergeRegionsPass",
    "partition-graph": "rewrites.partition.partition_graph:PartitionGraphPass",
    "partition-by-pattern": "rewrites.partition.partition_by_pattern:PartitionByPatternPass",
    "merge-composite": "rewrites.partition.merge_composite:MergeCompositePass",
    "eliminate-dead-code": "rewrites.simplify.eliminate_dead_code:EliminateDeadCodePass",
    "fold-constant": "rewrites.constants.fold_constant:FoldConstantPass",
    "fuse-ewise-fma": "rewrites.fusion.fuse_ewise_fma:FuseEwiseFmaPass",
    "fuse-matmul-add": "rewrites.fusion.fuse_matmul_add:FuseMatmulAddPass",
    "calibrate-map": "rewrites.calibration.calibrate_module:CalibrateMapPass",
    "calibrate-module": "rewrites.calibration.calibrate_module:CalibrateModulePass",
    "zero-subnormals": "rewrites.constants.zero_subnormals:ZeroSubnormalsPass",
    "optimize-layouts": "rewrites.placement.optimize_layouts:OptimizeLayoutsPass",
    "plan-fusion": "rewrites.fusion.plan_fusion:PlanFusionPass",
    "apply-fusion-plan": "rewrites.fusion.apply_fusion_plan:ApplyFusionPlanPass",
    "inline-primitive": "rewrites.fusion.inline_primitive:InlinePrimitivePass",
    "remove-unused-functions": "rewrites.simplify.remove_unused_functions:RemoveUnusedFunctionsPass",
    "legalize": "rewrites.simplify.legalize:LegalizePass",
    "equalize-layers": "rewrites.quantiser.equalize:EqualizeLayersPass",
    "quantize": "rewrites.quantiser.quantize:QuantizePass",
    "integer-arithmetic": "rewrites.quantised.integer_arithmetic:IntegerArithmeticPass",
    "fold-scale-axis": "rewrites.inference.fold_scale_axis:FoldScaleAxisPass",
    "combine-parallel-conv2d": "rewrites.fusion.combine_parallel:CombineParallelConv2dPass",
    "combine-parallel-dense": "rewrites.fusion.combine_parallel:CombineParallelDensePass",
    "combine-parallel-batch-matmul": "rewrites.fusion.combine_parallel:CombineParallelBatchMatmulPass",
    "canonicalize-cast": "rewrites.simplify.canonicalize_cast:CanonicalizeCastPass",
    "sink-to-lca": "rewrites.placement.sink_to_lca:SinkToLcaPass",
    "check-lca-placement": "rewrites.placement.sink_to_lca:CheckLcaPlacementPass",
    "canonicalize-ops": "rewrites.simplify.canonicalize_ops:CanonicalizeOpsPass",
    "simplify-inference": "rewrites.inference.simplify_inference:SimplifyInferencePass",
    "specialize-shapes": "rewrites.shapes.specialize_shapes:SpecializeShapesPass",
    "expose-values": "rewrites.calibration.expose_values:ExposeValuesPass",
    "externalize-weights": "rewrites.constants.externalize_weights:ExternalizeWeightsPass",
    "inline-weights": "rewrites.constants.externalize_weights:InlineWeightsPass",
    "verify-weights": "rewrites.constants.externalize_weights:VerifyWeightsPass",
    "vectorize-divisions": "lowering.scf.vectorize_divisions:VectorizeDivisionsPass",
    "vectorize-loops": "lowering.scf.vectorize_loops:VectorizeLoopsPass",
    "expand-math": "lowering.math.expand_math:ExpandMathPass",
    "profile-kernels": "lowering.scf.profile_kernels:ProfileKernelsPass",
    "outline-parallel-loops": "lowering.scf.threads:OutlineParallelLoopsPass",
    "lower-to-llvm-dialect": "lowering.llvm.lower_to_llvm_dialect:LowerToLLVMDialectPass",
}

TARGETS: dict[str, str] = {
    "equations": "patterns.text.equations:EquationsTarget",
    "asm": "runtime.native.emit_assembly:AssemblyTarget",
    "llvm-ir": "lowering.llvm_text.emit_llvm_text:LLVMTextTarget",
}
"""Output formats for `-t`."""

PIPELINES = "lowering.pipelines:PIPELINES"
"""Named pipelines for `-p`: a `dict[str, str]` from name to pipeline text, which may use other names."""

POINTS = "lowering.pipelines:POINTS"
"""The points of these pipelines that passes of plug-ins join, with what they are for."""

EXTENSIONS: dict[str, dict[str, str]] = {
    # kind -> name -> module:object, or a module that registers things; see core.plugins.StepwellPlugin
    "op-explainer": {"graph": "dialects.graph.documentation:explain"},
    "op-check": {
        "func.func": "analysis.ranges.checks:check_function",
        "tensor_loop.func": "analysis.ranges.checks:check_loop_function",
    },
    "front-end": {".onnx": "frontends.onnx.compiled:compile_onnx"},
    "importer": {".onnx": "frontends.onnx.importer:from_onnx"},
    "te-kernels": {"loops": "lowering.graph_to_loops.call_te:kernel_call"},
    "loop-runner": {"native": "runtime.native.loop_runner:run_loops"},
    "instrument": {"check-semantics": "trust.check:CheckSemantics"},
    "codegen": {"openblas": "runtime.external_code.openblas:OPENBLAS"},
    "config-key": {"check-bounds": "lowering.loops.guard_accesses:KEY", "target": "machine.named:KEY"},
    "rule-functions": {
        "builders": "rewrites.rules.builders",
        "movement": "rewrites.rules.movement_builders",
        "products": "rewrites.rules.product_builders",
        "reductions": "rewrites.rules.reduction_builders",
        "inference": "rewrites.inference.builders",
        "quantisation": "rewrites.inference.quantisation",
        "quantised-contractions": "rewrites.quantised.contractions",
        "quantised-scales": "rewrites.quantised.scales",
        "quantised-moves": "rewrites.quantised.moves",
        "quantised-takes": "rewrites.quantised.takes",
        "quantised-widened": "rewrites.quantised.widened",
        "quantised-tables": "rewrites.quantised.tables",
        "quantised-by-hand": "rewrites.quantised.by_hand",
        "quantised-joins": "rewrites.quantised.joins",
        "quantised-packed": "rewrites.quantised.packed",
        "legalization": "rewrites.simplify.legalization",
        "scale-axis": "rewrites.inference.scale_axis",
        "loops": "schedule.default.loop_conditions",
    },
}

KINDS = frozenset({*EXTENSIONS, "external-target", "onnx-converters", "pattern-table", "schedule-step"})
"""The kinds of extensions that a package may add to. Of the last four Stepwell has none of its own."""


def _loader(location: str) -> Callable[[], Any]:
    module_name, _, object_name = location.partition(":")

    def load() -> Any:
        # Here, since this table is read before anything of xDSL but its own table is loaded.
        from .core.late_formats import late_formats

        with late_formats():
            module = import_module(f".{module_name}", __package__)
        return getattr(module, object_name) if object_name else module

    return load


def pipelines() -> dict[str, str]:
    """The named pipelines of Stepwell."""
    return dict(_loader(PIPELINES)())


def points() -> list[str]:
    """The points of the named pipelines that passes of plug-ins join."""
    return list(_loader(POINTS)())


def extensions() -> dict[str, dict[str, Callable[[], Any]]]:
    """Loaders of everything that xDSL's `Universe` cannot carry, by kind and name."""
    return {kind: {name: _loader(location) for name, location in named.items()} for kind, named in EXTENSIONS.items()}


STEPWELL_UNIVERSE = Universe(
    all_dialects={name: _loader(location) for name, location in DIALECTS.items()},
    all_passes={name: _loader(location) for name, location in PASSES.items()},
    all_targets={name: _loader(location) for name, location in TARGETS.items()},
)
