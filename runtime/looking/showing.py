"""Programs, profiles and traces as HTML, and the loop functions of a program as a schedule to work on."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...analysis.drawing.html import folded, heading, output, program
from ...analysis.drawing.programs import program_svg
from ...core.messages.collector import patient_collector
from ...core.passes.pipeline_text import expand_pipeline
from ...core.passes.pipelines import run_pipeline
from ...core.text.parsing import make_context
from ...lowering.pipelines import SCHEDULE
from ...schedule.program.interactive import Schedule
from ..modules import copy_of
from ..source import Source
from ..specialisations import Shapes
from ..stairs import set_signatures


def executable_html(signature: str, entry: str, source: Source) -> str:
    """Returns the signature of a program, its graph and its text, as it was given to `compile`."""
    parts = [heading(signature)]
    picture = program_svg(source.module, entry)
    parts += [] if picture is None else [folded("graph", picture, is_open=True)]
    return output(*parts, folded("program", program(str(source.module))))


def executable_svg(entry: str, source: Source) -> str | None:
    """Returns the graph of a program as it was given to `compile`. `None` where it has none."""
    return program_svg(source.module, entry)


def loops_to_schedule(source: Source, shapes: Shapes | None, check: bool, seed: int) -> Schedule:
    """
    Returns a schedule of the loop functions of a program as they are before `compile` decides about loops.

    Raises the diagnostics of the passes.
    """
    with patient_collector():
        module = copy_of(source.module)
        source.context.copy().run(_take_to_loops, module, source.entry, source.pipeline_for(shapes))
        return Schedule(module, check, seed)


def _take_to_loops(module: ModuleOp, entry: str, pipeline: str) -> None:
    set_signatures(module, entry)
    passes = [str(spec) for spec in expand_pipeline(pipeline)]
    names = [each.partition("{")[0] for each in passes]
    end = next((place for place, name in enumerate(names) if name in (*SCHEDULE, "bufferize")), len(passes))
    run_pipeline(make_context(), module, ",".join(passes[:end]))
