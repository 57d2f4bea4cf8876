"""
The rooms of the package from top to bottom, and the sub-rooms inside them. A lower one never imports a higher one.

docs/architecture.md tells what each room holds; a test compares the two.
"""

from __future__ import annotations

from typing import Final

ROOMS: Final = (
    "tools",
    "testing",
    "frontends",
    "runtime",
    "lowering",
    "schedule",
    "rewrites",
    "patterns",
    "analysis",
    "reference",
    "dialects",
    "machine",
    "core",
    "te",
)
"""From top to bottom; a room may import rooms after it."""

REST: Final = "*"
"""Stands for the files and folders that an order does not name. They make no circle either."""

SUBROOMS: Final[dict[str, tuple[str, ...]]] = {
    "core": ("passes", "text", "ir", "weights", "codegens", "fingerprint", "plugins", "roles", "messages"),
    "te": ("library", REST),
    "dialects": ("tile", "schedule", "pattern", "llvm_ext", "tensor_loop", "graph", "traits"),
    "patterns": ("text", "running", "matching", "checking", "examples", "pdl", "language"),
    "rewrites": (
        "rules",
        "partition",
        "shapes",
        "placement",
        "inference",
        "constants",
        "calibration",
        "fusion",
        "simplify",
        "shipped",
    ),
    "schedule": (
        "tuned",
        "default",
        "program",
        "strips",
        "rows",
        "primitives",
        "bytes",
        "moves",
        "windows",
        "winograd",
        "grouped",
        "depthwise",
        "products",
        "kernels",
    ),
    "lowering": (
        "pipelines",
        "llvm_text",
        "scf",
        "llvm",
        "math",
        "loops_to_scf",
        "buffers",
        "loops",
        "graph_to_loops",
        "shared",
    ),
    "lowering.llvm": ("lower_to_llvm_dialect", "tiles", REST),
    "runtime": (
        "tuning",
        "calibration",
        "load",
        "compile",
        "executable",
        "pickling",
        "saving",
        "looking",
        "exporting",
        "source",
        "machine_code",
        "stairs",
        "specialisations",
        "external_code",
        "program",
        "native",
        "cache",
        "errors",
    ),
    "runtime.saving": (
        "writing",
        "reading",
        "text",
        "safety",
        "opening",
        "processor",
        "manifest",
        "container",
    ),
    "runtime.tuning": ("tune", "kernel_tuning", REST, "spaces", "job"),
    "frontends.onnx": (
        "operators",
        "compiled",
        "importer",
        "unsupported",
        "schemas",
        "declared",
        "inputs",
        "calling",
        "registry",
        "emitting",
        "files",
        "attributes",
        "types",
        "errors",
        "value",
    ),
    "testing": ("interpreting", "rules", "lit_format", "in_process", "run_line", "assembly", "programs"),
    "tools": (
        "main",
        "compile",
        "cache",
        "opt",
        "run",
        "show",
        "tune",
        "calibrate",
        "import_onnx",
        "pages",
        "drawing",
        "options",
        "start",
        "bootstrap",
    ),
}
"""For a room, or a folder inside one: its files and folders from top to bottom."""

MAY_NOT: Final[dict[str, tuple[str, ...]]] = {
    "testing": ("frontends", "runtime", "lowering", "schedule"),
    "testing.programs": ("rewrites", "patterns"),
    "lowering": ("rewrites",),
    "reference": ("te.evaluation", "te.expr", "te.functions", "te.library", "te.numeric", "te.ops", "te.tensor"),
    "dialects.graph": ("dialects.tensor_loop",),
    "dialects.tensor_loop": ("dialects.graph",),
}
"""What a room does not import although it stands lower."""
