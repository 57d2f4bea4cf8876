"""
The page of the public API, docs/api.md, made from docstrings.

`python -m stepwell.tools.pages.api > docs/api.md` brings it up to date; a test fails when it is not.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from .api_listing import PACKAGE, ROOMS, homes, public_names, room_module

_INTRODUCTION = """# The public API

Made by `python -m stepwell.tools.pages.api` from docstrings; do not edit.

With the names on this page one compiles and runs programs, builds and rewrites them, schedules their loops, writes
passes, and adds dialects, converters and code generators of one's own. Every name is at most two levels deep:

```python
import numpy as np
import stepwell
from stepwell.dialects import graph
from stepwell.patterns import is_op, rewrite, rule, wildcard

builder = stepwell.GraphBuilder()
with builder.function("main", x="tensor<4xf32>") as (x,):
    once = builder.emit(graph.ReluOp(x))
    builder.emit_func_output(builder.emit(graph.ReluOp(once)))
module = builder.get()

relu = is_op("graph.relu")
inner = relu(wildcard())
rewrite([rule("relu-of-relu", relu(inner), inner)], module)
(y,) = stepwell.compile(module)(np.array([-1, 0, 1, 2], "f"))
assert y.tolist() == [0, 0, 1, 2]
```

## What is public

A name is public when it is in `__all__` of `stepwell` or of a package that has a section below. There are three ways
to import one:

```python
import stepwell
from stepwell import te
from stepwell.schedule import Schedule
```

Everything else is private, whatever its name: modules inside these packages, names that are not in `__all__`, the
packages without a section, and attributes that begin with an underscore. Private names move and go without notice.
`stepwell.tools` holds the commands; their interface is the command line. Where a class inherits a public method, the
method is public too.

The version number `stepwell.__version__` says what a public name may do. It follows semantic versioning: before 1.0 a
change that breaks a program raises the second number, any other change the third. The file `test/api.txt` in the
repository lists every public name with its signature, so that no change goes unseen:

```
python -m stepwell.tools.pages.api_listing > test/api.txt
python -m stepwell.tools.pages.api > docs/api.md
```

The documentation, the examples and the package in [examples/mixin_dialect](../examples/mixin_dialect) use public names
only; a test reads their imports. Names are loaded on first use, so importing a package costs little.
"""

_CONTINUED = re.compile(r"(?<=[.!?])\s+(?=[A-Z`(])|\n\s*\n")
"""The end of a sentence, or of a paragraph."""


def page() -> str:
    """Returns the text of docs/api.md."""
    return "\n".join([_INTRODUCTION, *map(_section, ROOMS)])


def own_docstring(value: object) -> str:
    """Returns the docstring that was written for an object, or `""` for one that Python made or that is inherited."""
    text = getattr(value, "__doc__", None) or ""
    if inspect.isclass(value):
        text = vars(value).get("__doc__") or ""
        # Python writes such a text for named tuples and data classes.
        return "" if text.startswith(f"{value.__name__}(") else text
    is_described = inspect.ismodule(value) or inspect.isroutine(value) or isinstance(value, property)
    return text if is_described else ""


def summary(room: str, name: str) -> str:
    """Returns the first sentence about a public name."""
    value = getattr(room_module(room), name)
    text = own_docstring(value) or _text_after_assignment(room, name)
    sentence = _CONTINUED.split(inspect.cleandoc(text), maxsplit=1)[0]
    return " ".join(sentence.split()).replace("|", r"\|")


def _section(room: str) -> str:
    title = ".".join(filter(None, (PACKAGE, room)))
    lines = [f"## {title}", "", _sentence_about(room_module(room)), "", "| name | what it is |", "|---|---|"]
    lines += [f"| `{name}` | {_row(room, name)} |" for name in public_names(room)]
    return "\n".join(lines) + "\n"


def _sentence_about(module: ModuleType) -> str:
    return textwrap.fill(" ".join(_CONTINUED.split(inspect.cleandoc(module.__doc__ or ""), maxsplit=1)[0].split()), 120)


def _row(room: str, name: str) -> str:
    own = ".".join(filter(None, (PACKAGE, room, name)))
    home = homes().get(id(getattr(room_module(room), name)), own)
    text = summary(room, name)
    return text if home == own else f"`{home}`: {text}"


def _text_after_assignment(room: str, name: str) -> str:
    """The text below the assignment of a constant, in the module that the room has it from."""
    body = _tree(_source_of(room, name) or room_module(room).__name__).body
    for statement, after in zip(body, body[1:], strict=False):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        is_it = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if is_it and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return str(after.value.value)
    return ""


def _source_of(room: str, name: str) -> str | None:
    """The module that a room has a name from, by the import in its stub or, where it has none, in itself."""
    file = Path(room_module(room).__file__ or "")
    stub = file.with_suffix(".pyi")
    tree = ast.parse((stub if stub.exists() else file).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and name in (alias.name for alias in node.names):
            return f"{room_module(room).__name__}.{node.module}"
    return None


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(page(), end="")
