"""`--save-repro FILE`: a command that fails writes one file from which it can be run again."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final

from ...core.installed import version_of
from ...core.messages.files import write_file
from ...core.plugins import registry
from ...lazy_dataclass import dataclass
from ...trust.repro import MOST_BYTES, LeftOut, Repro
from .outputs import refuse_overwriting
from .watched import watched

FLAG: Final = "--save-repro"
STDIN: Final = "stdin.mlir"
PROGRAM: Final = (".mlir", ".rules", ".txt")

_WRITES: Final = re.compile(r"-o|--output(-file)?|--(save|dump|export)-?[\w-]*|--test|--html")
_QUOTED: Final = re.compile(r'"([^"\n]+)"')
_WEIGHTS: Final = re.compile(rb'stepwell\.weights = "([^"\n]+)"')


def file_in(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Returns what the flag names, and the words without it. A flag without a value stays, as the parser refuses it."""
    rest: list[str] = []
    file: str | None = None
    left = iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if name != FLAG:
            rest.append(word)
        else:
            file = value if equals else next(left, None)
            if file is None:
                return None, [*rest, word]
    return file, rest


def run_and_save(tool: str, words: Sequence[str], file: str, act: Callable[[], int]) -> int:
    """Runs a command. Where it fails, `file` gets all that is needed to run it again. Returns its exit code."""
    values = [word.partition("=")[2] for word in words]
    refuse_overwriting({"a file that the command names": [*words, *values]}, {FLAG: file})
    stdin = sys.stdin.buffer.read() if _reads_stdin(tool, words) else None
    taken = _Taken()
    kept = [_kept(word, before, taken) for before, word in zip(["", *words], words, strict=False)]
    if stdin is not None:
        taken.files[STDIN] = stdin
    ending = watched(act, stdin)
    if ending.code in (0, 130):
        return ending.code
    program = next((name for name in taken.files if name.endswith(PROGRAM)), "")
    variables = {name: value for name, value in os.environ.items() if name.startswith("STEPWELL_")}
    words = (*_verb(tool), *kept)
    stdin_name = STDIN if stdin is not None else ""
    write_file(file, Repro(words, ending, versions(), variables, taken.files, program, stdin_name).text())
    print(f"note: '{file}' has this run: stepwell repro {file}", file=sys.stderr)
    return ending.code


def _verb(tool: str) -> tuple[str, ...]:
    """Returns a command as words of `stepwell`."""
    return tuple(tool.replace("stepwell-", "stepwell ", 1).split()[1:])


def _reads_stdin(tool: str, words: Sequence[str]) -> bool:
    if "-" in words:
        return True
    return tool == "stepwell-opt" and not sys.stdin.isatty() and not any(Path(word).is_file() for word in words)


def versions() -> dict[str, str]:
    """Returns the versions of what a result may depend on, and the machine."""
    found = {"machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"}
    plugins = [each.package for each in registry().plugins]
    for package in ("stepwell", "xdsl", "llvmlite", "numpy", "ml_dtypes", "onnx", "onnxruntime", *plugins):
        try:
            found[package] = version_of(package)
        except PackageNotFoundError:
            continue
    return {**found, "python": platform.python_version()}


@dataclass
class _Taken:
    """The files that a run reads, by the names that they get."""

    files: dict[str, bytes | LeftOut] = field(default_factory=dict)
    names: dict[Path, str] = field(default_factory=dict[Path, str])

    def name(self, path: Path) -> str:
        """Takes a file or a folder, and returns its name."""
        path = path.resolve()
        if path not in self.names:
            name, number = path.name, 1
            while name in self.names.values():
                name, number = f"{number}-{path.name}", number + 1
            self.names[path] = name
            for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if each.is_file() and "__pycache__" not in each.parts:
                    self._take(each, f"{name}/{each.relative_to(path).as_posix()}" if each != path else name)
            for other in _read_along(path):
                self._take(path.parent / other, other)
        return self.names[path]

    def _take(self, path: Path, name: str) -> None:
        size = path.stat().st_size
        if size <= MOST_BYTES:
            self.files[name] = path.read_bytes()
        else:
            with path.open("rb") as file:
                self.files[name] = LeftOut(size, hashlib.file_digest(file, "sha256").hexdigest())


def _kept(word: str, before: str, taken: _Taken) -> str:
    """Returns a word as it is when the files that it names lie in the folder in which the command runs."""
    flag, equals, value = word.partition("=")
    if not (flag.startswith("-") and equals):
        flag, value = before, word
    prefix = word[: len(word) - len(value)]
    path = Path(value)
    if _WRITES.fullmatch(flag):
        return prefix + path.name
    if value.startswith("-") or not value:
        return word
    if _exists(path) and (path.is_file() or flag == "--load-plugin"):
        return prefix + taken.name(path)

    def quoted(found: re.Match[str]) -> str:
        return f'"{taken.name(Path(found[1]))}"' if _exists(Path(found[1])) else found[0]

    return _QUOTED.sub(quoted, word)


def _exists(path: Path) -> bool:
    try:
        return path.is_file() or (path.is_dir() and (path / "__init__.py").exists())
    except (OSError, ValueError):
        return False


def _read_along(path: Path) -> Iterator[str]:
    """Yields the files that a program or a model names and that lie beside it or below."""
    found: list[str] = []
    if path.suffix == ".mlir":
        found = [each.decode("utf-8", "replace") for each in _WEIGHTS.findall(path.read_bytes())]
    elif path.suffix == ".onnx":
        found = _external_data(path)
    for name in dict.fromkeys(found):
        if not Path(name).is_absolute() and ".." not in Path(name).parts and (path.parent / name).is_file():
            yield name


def _external_data(path: Path) -> list[str]:
    try:
        import onnx

        model = onnx.load(path, load_external_data=False)
    except Exception:  # It may be the model that is broken.
        return []
    tensors = [each for each in model.graph.initializer if each.data_location == onnx.TensorProto.EXTERNAL]
    return [pair.value for each in tensors for pair in each.external_data if pair.key == "location"]
