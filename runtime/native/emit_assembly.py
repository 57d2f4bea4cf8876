"""`-t asm`: machine code as text, for this machine or a named one."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target as OutputTarget

from ...analysis.lineage import Lineages
from ...core.ir.walk import walk
from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.points import SourcePoint
from ...lazy_dataclass import dataclass
from ...lowering.llvm_text.emit_llvm_text import emit_llvm_text
from ...lowering.llvm_text.pieces import emit_llvm_function
from ...machine.intrinsics import lacking_feature
from ...machine.named import chosen_machine
from .listing import comment_of, listed


@dataclass(frozen=True)
class AssemblyTarget(OutputTarget):
    """
    `-t asm`: a module of the llvm dialect as assembly.

    `machine` is one of docs/targets.md, that of the pass context when left out. So `-t 'asm{machine="aarch64-neon"}'`
    makes code for another machine than ours. `kernel` is the function to print, with those that it calls. It is
    compiled by itself, as large kernels are. With `lines`, comments say from which ops of the source the instructions
    come. Raises StepwellError where the module has instructions that this machine has not, or no such function.
    """

    name = "asm"

    machine: str | None = None
    speed_level: int = 2
    kernel: str | None = None
    lines: bool = True

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        # This import is here, since LLVM takes long to load and most runs of the tool need no assembly.
        from .jit import assembly
        from .targets import code_target

        machine = chosen_machine(self.machine)
        if self.kernel is None:
            text = emit_llvm_text(module, lines=self.lines)
        else:
            text = emit_llvm_function(module, self.kernel, lines=self.lines)
        target = code_target(machine.name)
        if lacking := lacking_feature(text, target):
            message = f"the module has instructions of {lacking}, which {machine.name} does not have"
            hint = f"run the passes for that machine: --config target={machine.name}"
            raise StepwellError(Diagnostic(message, hint=hint))
        code = assembly(text, target, self.speed_level)
        output.write(listed(code, comment_of(target), shown_places(module)) if self.lines else code)


def shown_places(module: ModuleOp) -> Callable[[SourcePoint], str]:
    """Returns what tells a place of `module`: with the names of the nodes of a model that are there."""
    nodes: dict[SourcePoint, dict[str, None]] = {}
    lineages = Lineages()
    for op in walk(module):
        for origin in lineages.of(op).origins:
            if origin.point is not None and origin.name:
                nodes.setdefault(origin.point, {})[str(origin)] = None
    return lambda point: ", ".join(nodes.get(point, (_shown(point),)))


def _shown(point: SourcePoint) -> str:
    """Returns a place as text. The start of a function has a line and no column."""
    return str(point) if point.column else f"{point.file}:{point.line}"
