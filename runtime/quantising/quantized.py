"""A quantised program with its report."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from ...core.ir.walk import walk
from ...core.messages.files import write_file
from ...core.passes.pipelines import run_pipeline
from ...core.text.parsing import make_context
from ...dialects.graph.constants import WeightOp
from ...lazy_dataclass import dataclass
from ...rewrites.constants.externalize_weights import ExternalizeWeightsPass, InlineWeightsPass
from ..compile import compile
from ..executable import Executable
from ..source import copy_of
from .outputs import Beside, check_program_name, replacing, weights_beside
from .report import QuantizationReport


@dataclass(frozen=True)
class Quantized:
    """A quantised program, and the report about it."""

    module: ModuleOp
    report: QuantizationReport
    entry: str = "main"
    sources: tuple[Path, ...] = ()
    """The files that the program in floats was read from, which `save` leaves alone."""

    def __repr__(self) -> str:
        return f"<stepwell.Quantized @{self.entry}: {self.report!r}>"

    def compile(self, **options: Any) -> Executable:
        """Compiles the program, with the options of `stepwell.compile`."""
        return compile(self.module, entry=self.entry, **options)

    def save(self, path: str | Path) -> None:
        """
        Writes the program as text, and its weights beside it: `m8.safetensors` for `m8.mlir`.

        For a name that does not end in `.mlir`, `.safetensors` is appended. Raises StepwellError when a file cannot be
        written, or is one that the program in floats was read from.
        """
        check_program_name(path, self.sources)
        with replacing() as beside:
            self.write(path, beside)

    def write(self, path: str | Path, beside: Beside) -> None:
        """Writes the same to the files that `beside` names."""
        module = copy_of(self.module)
        weights = weights_beside(path)
        file = beside(weights)
        moving = ExternalizeWeightsPass(file=str(file), min_elements=64, record_as=weights.name)
        run_pipeline(make_context(), module, [moving])
        if not file.exists() and any(isinstance(op, WeightOp) for op in walk(module)):
            # Nothing but the weights that were there: the text would name a file of the program in floats.
            run_pipeline(make_context(), module, [InlineWeightsPass(), moving])
        text = StringIO()
        Printer(text).print_op(module)
        write_file(beside(path), f"{text.getvalue()}\n")
