"""
The examples in docstrings run.

An example is a block between lines ```` ```python ```` and ```` ``` ````. It may use the names of its own file, the
public names of its room, those of the root, and the dialect `graph`. Each file runs in a process of its own, since
examples register passes, converters and the like.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from code_size import ROOT, package_files
from fresh_processes import run_fresh

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

RUN = """
import importlib, sys
import stepwell
from stepwell.dialects import graph
module = importlib.import_module(sys.argv[1])
room = importlib.import_module(".".join(sys.argv[1].split(".")[:2]))
names = {"stepwell": stepwell, "graph": graph, "__name__": "example"}
for place in (stepwell, room):
    names |= {name: getattr(place, name) for name in getattr(place, "__all__", ())}
names |= {name: value for name, value in vars(module).items() if not name.startswith("__")}
exec(compile("from __future__ import annotations\\n" + sys.argv[2], "example", "exec"), names)
"""


def examples(source: str) -> list[str]:
    """Returns the blocks of Python in the docstrings of a file, each with its own indentation taken off."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found += BLOCK.findall(ast.get_docstring(node) or "")
    return found


def run(example: str, module: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs an example of the file that is the module `module`, in `folder`."""
    return run_fresh(RUN, folder, [module, example])


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
    assert done.returncode == 0, done.stderr


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
    assert run("no_such_name", "stepwell.core.codegens", tmp_path).returncode != 0
    assert run("raise SystemExit(codegen is not None)", "stepwell.core.codegens", tmp_path).returncode == 1
