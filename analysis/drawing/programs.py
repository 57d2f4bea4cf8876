"""A module as HTML and as a picture."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .boxes import boxes_of, with_chains
from .drawing import svg
from .html import folded, output, program
from .plans import plans_html

READABLE = 60
"""The most boxes of a picture. In larger programs, chains of ops become one box each."""

DRAWABLE = 250
"""The most boxes of a picture that is shown without being asked for."""


def program_html(op: Operation) -> str:
    """
    Returns a program or an op as its text. Above it stand a picture, where it has a function on tensors, and the plans
    of fusion and of schedules that are in it.
    """
    picture = None if not isinstance(op, ModuleOp) else program_svg(op)
    drawn = [] if picture is None else [folded("graph", picture, is_open=True)]
    return output(*drawn, *plans_html(op), program(str(op)))


def program_svg(module: ModuleOp, entry: str | None = None) -> str | None:
    """
    Returns the picture of `entry`, by default the first public function with graph ops. `None` where there is none.
    """
    names = [each.sym_name.data for each in module.ops if isinstance(each, func.FuncOp) and _is_drawn(each)]
    if (entry or (names[0] if names else None)) not in names:
        return None
    boxes = boxes_of(module, entry or names[0])
    if len(boxes.boxes) > READABLE:
        boxes = with_chains(boxes)
    return svg(boxes, f"@{entry or names[0]}") if len(boxes.boxes) <= DRAWABLE else None


def _is_drawn(function: func.FuncOp) -> bool:
    is_public = function.sym_visibility is None or function.sym_visibility.data != "private"
    if not is_public or len(function.body.blocks) != 1:
        return False
    return any(op.name.startswith("graph.") for op in function.body.block.ops)
