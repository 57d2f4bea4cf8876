"""
The reference page of our passes, docs/passes.md, made from their docstrings.

`python -m stepwell.tools.pages.passes > docs/passes.md` brings it up to date; a test fails when it is not.
"""

from __future__ import annotations

import inspect
import re

from ...core.passes.info import pass_info
from ...core.passes.options import REQUIRED, PassOption, format_type, format_value
from ...core.passes.pipeline_text import expand_pipeline, load_pass
from ...core.plugins import registry

_INTRODUCTION = """# Passes

You can run a pass in a pipeline (`stepwell-opt -p 'fold-constant{max-elements=4}'`), or call it on a module in Python
(`FoldConstantPass(max_elements=4)(module)`), which does not change its input. This page has every pass with its
options, and the IR before and after it. The *level* of a pass is the lowest `--opt-level`, or level of a `PassContext`,
that it runs on. `--list-passes` also lists the passes of xDSL, which run in the same pipelines.

A pass of your own is a class or a function with a decorator. Its name is known wherever the module that holds it has
been imported. `stepwell-opt` knows it when its package lists it in a universe ([extending.md](extending.md)).

```python
from stepwell.core import PassContext, Sequential, function_pass, module_pass
from xdsl.dialects.builtin import IntAttr, UnitAttr


@module_pass("number-functions", opt_level=1)
class NumberFunctions:
    \"\"\"Numbers the functions of a module, from `start` on.\"\"\"

    start: int = 0

    def transform_module(self, module, ctx):
        for number, function in enumerate(module.ops, self.start):
            function.attributes["number"] = IntAttr(number)


@function_pass("mark-hot", opt_level=2, requires=["number-functions"])
def mark_hot(function, ctx):
    \"\"\"Marks every function that has a body and is not primitive.\"\"\"
    function.attributes["hot"] = UnitAttr()


both = Sequential([NumberFunctions(start=1), mark_hot(), "canonicalize"], name="prepare-functions")
with PassContext(opt_level=2, disabled=["canonicalize"]):
    marked = both(module)  # `module` stays as it is
```

`function_pass` skips functions with the attribute `stepwell.skip`. It is a unit attribute, or an array of names of
passes. `python -m stepwell.tools.pages.passes` makes this page from the passes themselves.
"""

_EXAMPLE = re.compile(r"^(Before|After)\b[^`]*:$")


def page() -> str:
    """The text of docs/passes.md."""
    found = registry()
    names = [name for name in sorted(found.passes) if found.owner["pass", name] == "stepwell"]
    parts = [_INTRODUCTION, *(_section(name) for name in names), _pipelines()]
    return "\n".join(parts)


def _section(name: str) -> str:
    info = pass_info(name)
    text = "\n".join(_text(inspect.cleandoc(load_pass(name).__doc__ or ""))).rstrip()
    lines = [f"## {name}", "", text, ""]
    required = f", requires {', '.join(f'`{each}`' for each in info.requires)}" if info.requires else ""
    lines += [f"Level {info.opt_level}{required}.", ""]
    if info.options:
        lines += ["| option | type | default |", "|---|---|---|", *map(_row, info.options), ""]
    return "\n".join(lines)


def _row(option: PassOption) -> str:
    default = "required" if option.default is REQUIRED else f"`{format_value(option.default)}`"
    return f"| `{option.name}` | {format_type(option.type)} | {default} |"


def _text(documentation: str) -> list[str]:
    """
    A docstring as Markdown: what is indented, as examples of IR are, becomes a fenced block.

    A blank line inside of an example belongs to it.
    """
    lines: list[str] = []
    example: list[str] = []
    for line in [*documentation.split("\n"), "end"]:
        if line.startswith("    ") or (example and not line):
            example.append(line[4:])
            continue
        if example:
            lines += _fenced(example)
            example = []
        if _EXAMPLE.match(line) and lines and lines[-1]:
            lines.append("")
        lines.append(line)
    return lines[:-1]


def _fenced(example: list[str]) -> list[str]:
    while not example[-1]:
        example.pop()
    return ["```mlir", *example, "```", ""]


def _pipelines() -> str:
    """The named pipelines of Stepwell with the passes that they stand for."""
    found = registry()
    lines = ["## Named pipelines", "", "| name | passes |", "|---|---|"]
    for name in sorted(found.pipelines):
        if name not in found.plugin_pipelines and found.pipelines[name]:  # points to join are empty
            passes = ", ".join(f"`{spec}`" for spec in expand_pipeline(name))
            lines.append(f"| `{name}` | {passes} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
