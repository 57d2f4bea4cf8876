"""
`stepwell new-dialect NAME`: a package with a dialect of its own, whose tests pass.

Runs as `python tools/new_dialect.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.new_dialect import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import keyword
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import write_file, writing
from ..core.plugins import registry
from .example import FOLDER
from .options.command import ArgumentParser, run_tool

SOURCE: Final = FOLDER / "mixin_dialect"
"""The package of docs/extending.md. The new one differs from it by its names alone."""

MOVED: Final = {"ci.yml": ".github/workflows/test.yml"}

NAMES: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    (r"stepwell-quaternion", lambda name: f"stepwell-{_dashed(name)}"),
    (r"stepwell_quaternion", lambda name: f"stepwell_{name}"),
    (r"\bQUATERNION\b", str.upper),
    (r"\bquaternion(?=\.[a-z])", str),
    (r"\bquaternion(?=_[a-z])", str),
    (r'(?<=")quaternion(?=")', str),
    (r"(?m)^quaternion(?= = )", str),
    (r"(?<=[a-z]-)quat(?:ernion)?s?\b", lambda name: _dashed(name)),
    (r"(?<=[a-z])Quat(?:ernion)?s?(?=[A-Z])", lambda name: name.title().replace("_", "")),
)
"""What the names in the package are called in one of another dialect. Words of the text stay."""

README: Final = """\
# stepwell-{dashed}

A package that adds the dialect `{name}` to Stepwell: a type, an op by `te` and one by loops, rules, a lowering to
loops, a step of schedules, a code generator, and passes that join `O3`. It computes with quaternions, as the page
`stepwell docs extending` explains block by block. Change what they are until they are yours, and keep the tests green.

```
pip install -e . lit filecheck
lit test
stepwell-opt --explain-op {name}.mul
stepwell fuzz --load-plugin stepwell_{name} --seconds 60
```

| file | has |
|---|---|
| `stepwell_{name}/product.py`, `chain.py` | the ops `{name}.mul` and `{name}.chain` |
| `stepwell_{name}/typed.py` | the type `!{name}.quat`, its ops, and the pass that lowers them |
| `stepwell_{name}/rules.mlir`, `simplify.py` | the rules, and the pass that runs them |
| `stepwell_{name}/loops.py`, `steps.py` | the lowering to loops, and the step that schedules these |
| `stepwell_{name}/in_numpy.py`, `table.mlir` | the code generator, and what it takes |
| `stepwell_{name}/dialect.py`, `__init__.py` | the lists of what there is |
| `test/` | a file for each of these |
| `.github/workflows/test.yml` | the same tests on a server |
"""

EXAMPLES = """
stepwell new-dialect ising                    the package stepwell-ising, in a folder of that name
stepwell new-dialect ising -o packages/ising
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell new-dialect",
        description="Makes a package with a type, ops, rules, lowerings, passes, tests and CI.",
        examples=EXAMPLES,
    )
    parser.add_argument("name", metavar="NAME", help="the name of the dialect")
    parser.add_argument("-o", dest="folder", metavar="FOLDER", help="where to (default: stepwell-NAME, in this folder)")
    parser.add_shared("--debug")
    return parser


def package(name: str) -> dict[str, str]:
    """Returns the files of the package of a dialect, by their names."""
    files = {"README.md": README.format(name=name, dashed=_dashed(name))}
    for path in sorted(SOURCE.rglob("*")):
        place = path.relative_to(SOURCE).as_posix()
        if path.suffix in (".py", ".mlir", ".toml", ".yml") and "Output" not in path.parts:
            files[_renamed(MOVED.get(place, place), name)] = _renamed(path.read_text(encoding="utf-8"), name)
    return files


def _renamed(text: str, name: str) -> str:
    for pattern, new in NAMES:
        text = re.sub(pattern, lambda _, new=new: new(name), text)
    return text


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    name = options.name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        expected = "expected small letters, digits and _, beginning with a letter, and no keyword of Python"
        raise StepwellError(Diagnostic(f"'{name}' cannot be the name of a dialect: {expected}"))
    if name in registry().dialects:
        owner = registry().owner["dialect", name]
        raise StepwellError(Diagnostic(f"there is a dialect '{name}' already: '{owner}' has it"))
    folder = Path(options.folder or f"stepwell-{_dashed(name)}")
    if folder.exists():
        hint = "-o names another folder"
        raise StepwellError(Diagnostic(f"'{folder}' exists, expected a folder to be made", hint=hint))
    files = package(name)
    for place, text in files.items():
        with writing(folder / place):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / place, text)
    print(f"{folder}: {len(files)} files; README.md says what is where. Now:")
    print(f"  cd {folder} && pip install -e . lit filecheck && lit test")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell new-dialect", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
