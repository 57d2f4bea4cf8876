"""`stepwell.show`: any object as this place shows it, a notebook as a picture and a terminal as text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import write_file
from .html import output, text
from .programs import program_html, program_svg

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Stepwell</title></head>
<body>
{body}
</body>
</html>
"""


def show(thing: Any, path: str | Path | None = None) -> None:
    """
    Shows a module, a program, a schedule, a profile or any other object: as HTML in a notebook, as text elsewhere.

    With a `path` it is written to that file, which ends in `.html` or `.svg`. Raises StepwellError for another name,
    and for an object without a picture.
    """
    if path is not None:
        _write(thing, Path(path))
    elif (shell := running_shell()) is not None and hasattr(shell, "kernel"):
        from IPython.display import HTML, display  # pyright: ignore[reportMissingImports]

        display(HTML(html_of(thing)))
    else:
        print(text_of(thing))


def running_shell() -> Any:
    """Returns the shell of IPython that runs this code, None outside of one."""
    package = sys.modules.get("IPython")
    return None if package is None else package.get_ipython()


def html_of(thing: Any) -> str:
    """Returns an object as HTML."""
    if isinstance(thing, Operation):
        return program_html(thing)
    made = getattr(thing, "_repr_html_", None)
    return made() if made is not None else output(text(str(thing)))


def text_of(thing: Any) -> str:
    """Returns an object as text."""
    made = getattr(thing, "_shown_text", None)
    return made() if made is not None else str(thing)


def svg_of(thing: Any) -> str | None:
    """Returns an object as a picture, `None` where it has none."""
    if isinstance(thing, ModuleOp):
        return program_svg(thing)
    made = getattr(thing, "_repr_svg_", None)
    return None if made is None else made()


def _write(thing: Any, path: Path) -> None:
    if path.suffix == ".html":
        write_file(path, PAGE.format(body=html_of(thing)))
    elif path.suffix == ".svg":
        if (picture := svg_of(thing)) is None:
            raise StepwellError(
                Diagnostic(f"this {type(thing).__name__} has no picture, expected a name that ends in .html")
            )
        write_file(path, picture)
    else:
        raise StepwellError(Diagnostic(f"cannot show in '{path}', expected a name that ends in .html or .svg"))
