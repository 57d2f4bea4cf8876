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
    "bufferize": "lowering.bufferize:BufferizePass",
    "fuse-loops": "lowering.fuse_loops:FuseLoopsPass",
    "flatten-dynamic-buffers": "lowering.flatten_dynamic_buffers:FlattenDynamicBuffersPass",
    "guard-divisions": "lowering.guard_divisions:GuardDivisionsPass",
    "inline-loops": "lowering.inline_loops:InlineLoopsPass",
    "split-loops": "lowering.split_loops:SplitLoopsPass",
    "lower-external-functions": "lowering.lower_external_functions:LowerExternalFunctionsPass",
    "lower-graph-to-loops": "lowering.lower_graph_to_loops:LowerGraphToLoopsPass",
    "eliminate-common-subexpr": "rewrites.eliminate_common_subexpr:EliminateCommonSubexprPass",
    "simplify-expr": "rewrites.simplify_expr:SimplifyExprPass",
    "merge-prepare-functions": "lowering.merge_prepare_functions:MergePrepareFunctionsPass",
    "prepack-weights": "schedule.prepack:PrepackWeightsPass",
    "apply-tuning": "schedule.apply_tuning:ApplyTuningPass",
    "apply-schedule": "schedule.apply_schedule:ApplySchedulePass",
    "schedule-cpu": "schedule.cpu:ScheduleCPUPass",
    "lower-loops-to-scf": "lowering.lower_loops_to_scf:LowerLoopsToSCFPass",
    "apply-patterns": "rewrites.apply_patterns:ApplyPatternsPass",
    "partition-pattern": "rewrites.partition_pattern:PartitionPatternPass",
    "annotate-target": "rewrites.annotate_target:AnnotateTargetPass",
    "merge-regions": "rewrites.merge_regions:MergeRegionsPass",
    "partition-graph": "rewrites.partition_graph:PartitionGraphPass",
    "partition-by-pattern": "rewrites.partition_by_pattern:PartitionByPatternPass",
    "merge-composite": "rewrites.merge_composite:MergeCompositePass",
    "eliminate-dead-code": "rewrites.eliminate_dead_code:EliminateDeadCodePass",
    "fold-constant": "rewrites.fold_constant:FoldConstantPass",
    "fuse-ewise-fma": "rewrites.fuse_ewise_fma:FuseEwiseFmaPass",
    "fuse-matmul-add": "rewrites.fuse_matmul_add:FuseMatmulAddPass",
    "calibrate-map": "rewrites.calibrate_module:CalibrateMapPass",
    "calibrate-module": "rewrites.calibrate_module:CalibrateModulePass",
    "zero-subnormals": "rewrites.zero_subnormals:ZeroSubnormalsPass",
    "optimize-layouts": "rewrites.optimize_layouts:OptimizeLayoutsPass",
    "plan-fusion": "rewrites.plan_fusion:PlanFusionPass",
    "apply-fusion-plan": "rewrites.apply_fusion_plan:ApplyFusionPlanPass",
    "inline-primitive": "rewrites.inline_primitive:InlinePrimitivePass",
    "remove-unused-functions": "rewrites.remove_unused_functions:RemoveUnusedFunctionsPass",
    "legalize": "rewrites.legalize:LegalizePass",
    "fold-scale-axis": "rewrites.fold_scale_axis:FoldScaleAxisPass",
    "combine-parallel-conv2d": "rewrites.combine_parallel:CombineParallelConv2dPass",
    "combine-parallel-dense": "rewrites.combine_parallel:CombineParallelDensePass",
    "combine-parallel-batch-matmul": "rewrites.combine_parallel:CombineParallelBatchMatmulPass",
    "canonicalize-cast": "rewrites.canonicalize_cast:CanonicalizeCastPass",
    "sink-to-lca": "rewrites.sink_to_lca:SinkToLcaPass",
    "check-lca-placement": "rewrites.sink_to_lca:CheckLcaPlacementPass",
    "canonicalize-ops": "rewrites.canonicalize_ops:CanonicalizeOpsPass",
    "simplify-inference": "rewrites.simplify_inference:SimplifyInferencePass",
    "specialize-shapes": "rewrites.specialize_shapes:SpecializeShapesPass",
    "expose-values": "rewrites.expose_values:ExposeValuesPass",
    "externalize-weights": "rewrites.externalize_weights:ExternalizeWeightsPass",
    "inline-weights": "rewrites.externalize_weights:InlineWeightsPass",
    "verify-weights": "rewrites.externalize_weights:VerifyWeightsPass",
    "vectorize-loops": "lowering.vectorize_loops:VectorizeLoopsPass",
    "expand-math": "lowering.expand_math:ExpandMathPass",
    "profile-kernels": "lowering.profile_kernels:ProfileKernelsPass",
    "outline-parallel-loops": "lowering.threads:OutlineParallelLoopsPass",
    "lower-to-llvm-dialect": "lowering.lower_to_llvm_dialect:LowerToLLVMDialectPass",
}

TARGETS: dict[str, str] = {
    "asm": "runtime.emit_assembly:AssemblyTarget",
    "llvm-ir": "lowering.emit_llvm_text:LLVMTextTarget",
}
"""Output formats for `-t`."""

PIPELINES = "lowering.pipelines:PIPELINES"
"""Named pipelines for `-p`: a `dict[str, str]` from name to pipeline text, which may use other names."""

EXTENSIONS: dict[str, dict[str, str]] = {
    # kind -> name -> module:object; see core.plugins.StepwellPlugin
    "op-explainer": {"graph": "dialects.graph.documentation:explain"},
    "loop-runner": {"native": "runtime.loop_runner:run_loops"},
    "codegen": {"openblas": "runtime.external_openblas:OPENBLAS"},
    "config-key": {"target": "schedule.targets:KEY"},
}


def _loader(location: str) -> Callable[[], Any]:
    module_name, _, object_name = location.partition(":")

    def load() -> Any:
        return getattr(import_module(f".{module_name}", __package__), object_name)

    return load


def pipelines() -> dict[str, str]:
    """The named pipelines of Stepwell."""
    return dict(_loader(PIPELINES)())


def extensions() -> dict[str, dict[str, Callable[[], Any]]]:
    """Loaders of everything that xDSL's `Universe` cannot carry, by kind and name."""
    return {kind: {name: _loader(location) for name, location in named.items()} for kind, named in EXTENSIONS.items()}


STEPWELL_UNIVERSE = Universe(
    all_dialects={name: _loader(location) for name, location in DIALECTS.items()},
    all_passes={name: _loader(location) for name, location in PASSES.items()},
    all_targets={name: _loader(location) for name, location in TARGETS.items()},
)
