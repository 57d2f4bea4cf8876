"""
Which file of the package imports which: `python test/support/import_graph.py [ROOT]` prints the circles.

All three kinds of import count: those at the top of a file, those under `if TYPE_CHECKING:`, and those inside
functions. What a script does under `if __name__ == "__main__":` does not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from code_size import ROOT, package_files

Kind = Literal["top", "type checking", "function"]


@dataclass(frozen=True)
class Import:
    """One name that a file imports."""

    importer: tuple[str, ...]
    """The path of the file inside the package, without `.py` and without `__init__`."""
    imported: tuple[str, ...]
    """The path of what is imported inside the package; it starts with `<other>` for anything else."""
    line: int
    kind: Kind


def module_path(file: Path, root: Path) -> tuple[str, ...]:
    """Returns the path of a module inside the package, `()` for the package itself."""
    parts = file.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def without_script_part(tree: ast.Module) -> ast.Module:
    """Returns the module without `if __name__ == "__main__":`, where a script imports the package by its name."""
    body = [node for node in tree.body if not (isinstance(node, ast.If) and "__main__" in ast.dump(node.test))]
    return ast.Module(body, tree.type_ignores)


def statements(node: ast.AST, kind: Kind = "top") -> Iterator[tuple[ast.Import | ast.ImportFrom, Kind]]:
    """Yields the import statements below `node`, each with its kind."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, kind
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(child, "function")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test) and kind == "top":
            yield from statements(child, "type checking")
        else:
            yield from statements(child, kind)


def imports_of(source: str, importer: tuple[str, ...], package: tuple[str, ...]) -> Iterator[Import]:
    """
    Yields what a file imports, each name by itself.

    `package` is the path of the package that holds the file. `from ..rewrites import engine` gives `patterns`:
    it imports that as much as `from ..rewrites.engine import x` does.
    """
    for node, kind in statements(without_script_part(ast.parse(source))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(importer, ("<other>", *alias.name.split(".")), node.lineno, kind)
        elif node.level == 0:
            yield Import(importer, ("<other>", *(node.module or "").split(".")), node.lineno, kind)
        else:
            base = package[: len(package) - (node.level - 1)]
            path = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield Import(importer, (*path, alias.name), node.lineno, kind)


@cache
def file_imports(file: Path, root: Path) -> list[Import]:
    """Returns what one file of the package below `root` imports."""
    package = file.relative_to(root).parent.parts
    return list(imports_of(file.read_text(encoding="utf-8"), module_path(file, root), package))


def graph(root: Path) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Returns, for each file of the package, the files that it imports."""
    files = {module_path(file, root): file for file in package_files(root)}
    found: dict[tuple[str, ...], set[tuple[str, ...]]] = {module: set() for module in files}
    for module, file in files.items():
        for each in file_imports(file, root):
            target = each.imported if each.imported in files else each.imported[:-1]
            if target in files and target != module:
                found[module].add(target)
    return found


def circles(edges: Mapping[tuple[str, ...], set[tuple[str, ...]]]) -> list[list[tuple[str, ...]]]:
    """Returns the groups of files that import each other in a circle (strongly connected, Tarjan 1972), sorted."""
    number: dict[tuple[str, ...], int] = {}
    lowest: dict[tuple[str, ...], int] = {}
    stack: list[tuple[str, ...]] = []
    found: list[list[tuple[str, ...]]] = []

    def visit(node: tuple[str, ...]) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for target in sorted(edges[node]):
            if target not in number:
                visit(target)
                lowest[node] = min(lowest[node], lowest[target])
            elif target in stack:
                lowest[node] = min(lowest[node], number[target])
        if lowest[node] == number[node]:
            start = stack.index(node)
            if len(stack) - start > 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    sys.setrecursionlimit(10_000)
    for node in edges:
        if node not in number:
            visit(node)
    return sorted(found)


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    found = circles(graph(root))
    for group in found:
        print(f"{len(group)} files: " + " ".join(".".join(module) for module in group))
    print(f"{len(found)} circles")


if __name__ == "__main__":
    main()
