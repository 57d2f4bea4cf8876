"""
Counts the lines of code of the package: `python test/support/code_size.py [ROOT]`.

A line counts where it holds a token of code. Blank lines, comments and docstrings (of modules, classes and functions,
and strings that stand alone behind an attribute) do not. Only Python files of the package count: tests, examples,
benchmarks and documentation are left out.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

OUTSIDE_THE_PACKAGE = {"test", "docs", "examples", "bench", "build", "dist"}
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def package_files(root: Path) -> list[Path]:
    """Returns the Python files of the package below `root`, sorted."""
    tops = [path for path in root.iterdir() if path.name not in OUTSIDE_THE_PACKAGE and not path.name.startswith(".")]
    return sorted(
        path
        for top in tops
        for path in (top.rglob("*.py") if top.is_dir() else [top] if top.suffix == ".py" else [])
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
    )


def lines_of_strings_alone(tree: ast.AST) -> set[int]:
    """Returns the numbers of the lines that hold docstrings and other strings that are statements."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def lines_of_code(source: str) -> int:
    """Returns how many lines of a file hold code."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - lines_of_strings_alone(ast.parse(source)))


def count(root: Path) -> Counter[str]:
    """Returns the lines of code of each room."""
    sizes: Counter[str] = Counter()
    for path in package_files(root):
        parts = path.relative_to(root).parts
        sizes[parts[0] if len(parts) > 1 else "(root)"] += lines_of_code(path.read_text(encoding="utf-8"))
    return sizes


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    sizes = count(root)
    for room, lines in sorted(sizes.items()):
        print(f"{lines:7} {room}")
    print(f"{sum(sizes.values()):7} in all, {len(package_files(root))} files")


if __name__ == "__main__":
    main()
