"""
The examples in docstrings run.

An example is a block between lines ```` ```python ```` and ```` ``` ````. It may use the names of its own file, the
public names of its room, those of the root, and the dialect `graph`. Each file runs in a child of this process,
since examples register passes, converters and the like.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import stepwell
from code_size import ROOT, package_files
from stepwell.dialects import graph
from stepwell.testing.in_process import call_tool_in_child
from stepwell.testing.run_line import Command, Finished

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(source: str) -> list[str]:
    """Returns the blocks of Python in the docstrings of a file, each with its own indentation taken off."""
    found: list[str] = []
    if "```python" not in source:  # To parse all files takes every test process three seconds.
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found += BLOCK.findall(ast.get_docstring(node) or "")
    return found


def run(example: str, module: str, folder: Path) -> Finished:
    """Runs an example of the file that is the module `module`, in `folder`."""
    names = names_for(module)  # What this imports, the next child finds.

    def main(arguments: Sequence[str]) -> None:
        os.chdir(folder)
        exec(compile("from __future__ import annotations\n" + example, "example", "exec"), names)

    return call_tool_in_child(main, Command(["example"]), b"")


def names_for(module: str) -> dict[str, Any]:
    """Returns the names that an example of a file may use."""
    own = import_module(module)
    names = {"stepwell": stepwell, "graph": graph, "__name__": "example"}
    for place in (stepwell, import_module(".".join(module.split(".")[:2]))):
        names |= {name: getattr(place, name) for name in getattr(place, "__all__", ())}
    return names | {name: value for name, value in vars(own).items() if not name.startswith("__")}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("stepwell", *(parts[:-1] if parts[-1] == "__init__" else parts)))


WITH_EXAMPLES = {
    module_name(path): found
    for path in package_files(ROOT)
    if (found := examples(path.read_text(encoding="utf-8"))) and path.parent.name != "pages"
}


def test_there_are_examples() -> None:
    assert len(WITH_EXAMPLES) >= 9


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    done = run("\n".join(WITH_EXAMPLES[module]), module, tmp_path)
    assert done.exit_code == 0, done.stderr.decode()


def test_blocks_are_found_in_docstrings_alone() -> None:
    source = '''
def f():
    """
    Does it.

    ```python
    if f:
        print(1)
    ```

    ```
    no Python
    ```
    """
    text = """
```python
other
```
"""
'''
    assert examples(source) == ["if f:\n    print(1)\n"]


def test_an_example_that_fails_is_seen(tmp_path: Path) -> None:
    assert run("no_such_name", "stepwell.core.codegens", tmp_path).exit_code != 0
    assert run("raise SystemExit(codegen is not None)", "stepwell.core.codegens", tmp_path).exit_code == 1
