"""
Every import inside a function of the package, with the reason why it does not stand at the top of its file.

An import belongs at the top. One of the reasons below excuses it; a test compares this list with the tree, so an import
that has no reason any more goes to the top, and a new one needs a line here.
"""

from __future__ import annotations

from typing import Final

STARTS_FAST: Final = {
    "__init__.py": "analysis.drawing.notebook contextlib core.late_formats core.messages.collector llvmlite threading",
    "analysis/drawing/notebook.py": "analysis.drawing.programs",
    "analysis/drawing/show.py": "IPython",
    "analysis/ranges/checks.py": "analysis.ranges.function_faults",
    "core/derived_weights.py": "numpy",
    "core/mapped.py": "numpy",
    "core/packing.py": "numpy",
    "core/messages/diagnostics.py": "core.messages.locations difflib",
    "core/installed.py": "importlib",
    "core/weights.py": "numpy",
    "dialects/graph/base.py": "te te.library",
    "dialects/graph/constants.py": "te.library",
    "dialects/graph/indices.py": "numpy",
    "dialects/graph/operands.py": "numpy",
    "patterns/pdl/importer.py": "patterns.pdl.native patterns.pdl.pattern patterns.pdl.rewrite xdsl",
    "rewrites/constants/fold_constant.py": "rewrites.constants.constant_values te.evaluation",
    "rewrites/constants/known_indices.py": "rewrites.constants.constant_values",
    "rewrites/constants/known_values.py": "numpy rewrites.constants.constant_values te.evaluation",
    "rewrites/constants/zero_subnormals.py": "numpy rewrites.constants.constant_values",
    "rewrites/inference/scale_axis.py": "rewrites.constants.constant_values",
    "runtime/cache.py": "importlib schedule.tuned.records tempfile",
    "runtime/executable.py": "analysis.drawing.show analysis.memory core.text.parsing runtime.exporting.export"
    " runtime.looking.profile runtime.looking.showing runtime.looking.trace runtime.pickling runtime.saving.writing",
    "runtime/load.py": "runtime.saving.text",
    "runtime/native/emit_assembly.py": "runtime.native.jit runtime.native.targets",
    "runtime/program/entry_types.py": "analysis.ranges.given",
    "runtime/program/preparing.py": "concurrent",
    "runtime/program/sizes.py": "core.ir.sizes",
    "te/library/__init__.py": "te.library.operands",
    "runtime/saving/reading.py": "runtime.saving.text",
    "runtime/source.py": "lowering.llvm_text.emit_llvm_text runtime.machine_code schedule.tuned.records",
    "runtime/stairs.py": "lowering.kernels_first lowering.llvm.listening schedule.tuned.apply_tuning",
    "schedule/program/apply_schedule.py": "schedule.program.check",
    "schedule/program/check.py": "numpy",
    "te/dtypes.py": "ml_dtypes numpy",
    "tools/calibrate.py": "core.weights rewrites.calibration.statistics runtime.calibration.calibrate "
    "runtime.calibration.values runtime.quantising.moments",
    "tools/compile.py": "frontends.onnx.compiled machine.named runtime.compile tools.import_onnx",
    "tools/import_onnx.py": "core.passes.progress dialects.graph.literals frontends.onnx.importer"
    " frontends.onnx.unsupported numpy rewrites.constants.externalize_weights tools.options.plugin_files xdsl",
    "tools/opt.py": "tools.options.blame tools.options.checks tools.options.expected tools.options.expected_forms"
    " tools.options.listings tools.options.plugin_files traceback",
    "tools/options/array_files.py": "numpy zipfile zlib",
    "tools/options/rules.py": "core.codegens patterns.language.match patterns.matching.matcher"
    " patterns.matching.tracing patterns.running.explain patterns.running.statistics patterns.text.loading"
    " rewrites.fusion.rules rewrites.partition.pattern_tables rewrites.shipped schedule.default.schedule_rules"
    " testing.rules.checking testing.rules.decision_checking testing.rules.filechecked"
    " testing.rules.group_checking testing.rules.mutation testing.rules.reporting",
    "tools/options/rule_sets.py": "rewrites.fusion.rules rewrites.shipped testing.rule_sets.analysis"
    " testing.rule_sets.examples testing.rule_sets.known",
    "tools/options/weights.py": "dialects.graph.literals rewrites.constants.externalize_weights",
    "tools/main.py": "core.messages.diagnostics tools.options.command",
    "tools/options/passes.py": "tools.options.checks",
    "tools/quantize.py": "frontends.onnx.importer rewrites.constants.externalize_weights"
    " rewrites.quantiser.layers rewrites.quantiser.options runtime.calibration.values runtime.quantising.outputs"
    " runtime.quantising.quantize tools.import_onnx",
    "tools/run.py": "json numpy runtime.compile runtime.load runtime.stairs tools.options.checks tools.options.times",
    "tools/options/command.py": "importlib tools.options.plugin_files tools.options.repro",
    "tools/options/times.py": "runtime.executable",
    "tools/update_checks.py": "filecheck testing.check_lines.update",
    "tools/options/repro.py": "onnx",
    "tools/diff.py": "core.passes.pipelines core.text.parsing frontends.onnx.importer tools.options.checks"
    " trust.diff.ops trust.diff.results",
    "tools/fuzz.py": "core.passes.pipeline_text core.text.parsing patterns.text.loading trust.fuzz.hunt"
    " trust.fuzz.sources",
    "tools/reduce.py": "core.passes.pipeline_text core.text.parsing trust.cases trust.evaluate"
    " trust.reduce.model_test trust.reduce.moves.all trust.reduce.onnx_model trust.reduce.predicates"
    " trust.reduce.regression trust.reduce.session trust.reduce.subject trust.reduce.workers",
    "trust/reduce/moves/onnx_model.py": "onnx",
    "trust/reduce/onnx_model.py": "onnx onnxruntime",
    "tools/show.py": "core.ir.verification core.passes.pipelines core.passes.progress core.text.parsing"
    " analysis.drawing.boxes analysis.drawing.drawing",
    "tools/start.py": "core.late_formats gc importlib",
    "tools/tune.py": "runtime.tuning.tune",
    "universe.py": "core.late_formats",
}
"""
What takes long to load and is not always needed: a flag is read, a program printed or compiled from the cache without
it. NumPy, LLVM, the evaluation of te and most rooms are among it. `python -X importtime` tells.
"""

OPTIONAL_PACKAGE: Final = {
    "core/passes/progress.py": "tqdm",
    "frontends/onnx/attributes.py": "onnx",
    "frontends/onnx/emitting/folding.py": "onnx",
    "frontends/onnx/emitting/shape_arithmetic.py": "onnx",
    "frontends/onnx/files/masks.py": "onnx",
    "frontends/onnx/files/reading.py": "google onnx",
    "frontends/onnx/files/tensors.py": "onnx",
    "frontends/onnx/schemas.py": "onnx",
    "frontends/onnx/unsupported.py": "onnx",
    "testing/in_process.py": "filecheck",
}
"""What `pip install stepwell` does not install. The file can be imported without it."""

RUN_BY_PATH: Final = {
    "runtime/tuning/child.py": "runtime.tuning.job",
}
"""A script that is run by its path and finds the package first."""

REASONS: Final = (STARTS_FAST, OPTIONAL_PACKAGE, RUN_BY_PATH)
