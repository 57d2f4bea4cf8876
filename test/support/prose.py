"""
Reads the docstrings of the package: `python test/support/prose.py [ROOT]` counts what the rule for English refuses.

The rule stands in CONTRIBUTING.md: a docstring begins with a verb in the third person or with what the thing is, and
its first sentence holds one thought. What a machine can see of that are the words that it must not begin with, and a
second thought behind a semicolon. Functions need a return type as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from code_size import ROOT, package_files

FRAGMENTS = re.compile(
    r"(Such|Of|That|Those|This one|So (many|much|few|long)|None|No one|In place of|In the place of|What "
    r"of|Whether|As|As if"
    r"|Like|But|And|Or|Also|Again|Not|Only|With|Without|From|For|To|By|On|At|Into|Inside|Beside|Leave|Told|Asked|Where"
    r"|Which|Who|How|When|While|If|Once|Then|There|Here|Same|Ditto|Too)\b(?! is| are)"
)
"""How a docstring must not begin: words that only continue another sentence."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


@dataclass(frozen=True)
class Finding:
    """One place that the lint refuses."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def first_sentence(docstring: str) -> str:
    """Returns the first sentence of a docstring on one line."""
    paragraph = docstring.strip().split("\n\n")[0]
    joined = " ".join(line.strip() for line in paragraph.splitlines())
    return re.split(r"(?<=[.:])\s", joined, maxsplit=1)[0]


def refusal(docstring: str) -> str | None:
    """Returns why the beginning of a docstring is refused, or `None`."""
    sentence = first_sentence(docstring)
    if (found := FRAGMENTS.match(sentence)) is not None:
        return f"begins with '{found[1]}'"
    if ";" in re.sub(r"`[^`]*`", "", sentence):
        return "joins two thoughts by a semicolon"
    return None


def definitions(tree: ast.Module) -> Iterator[tuple[Definition | ast.Constant, str, str | None]]:
    """
    Yields what may have a docstring, with its name and its docstring: public names, and strings behind attributes.
    """
    yield tree, "module", ast.get_docstring(tree)
    pending: list[tuple[ast.AST, bool]] = [(tree, True)]
    while pending:
        node, public = pending.pop()
        body = getattr(node, "body", [])
        for before, each in zip([None, *body], body, strict=False):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                is_public = public and not each.name.startswith("_")
                if is_public:
                    yield each, each.name, ast.get_docstring(each)
                if isinstance(each, ast.ClassDef):
                    pending.append((each, is_public))
            elif isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(each, ast.Expr):
                if public and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str):
                    yield each.value, "attribute", each.value.value


def functions_without_return_type(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yields the functions, nested and private ones included, that do not say what they return."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.returns is None
            and node.name != "__init__"
        ):
            yield node


def findings(path: Path, root: Path) -> Iterator[Finding]:
    """Yields what the lint refuses in one file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    where = path.relative_to(root)
    for node, name, docstring in definitions(tree):
        line = getattr(node, "lineno", 1)
        reason = None if docstring is None else refusal(docstring)
        if docstring is not None and reason is not None:
            yield Finding(where, line, "fragment", f"{name} {reason}: {first_sentence(docstring)}")
    for function in functions_without_return_type(tree):
        yield Finding(where, function.lineno, "return type", function.name)


def public_definitions(root: Path) -> Counter[str]:
    """Returns how many public modules, classes and functions there are, and how many have no docstring."""
    counted: Counter[str] = Counter()
    for path in package_files(root):
        for node, _, docstring in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            kind = type(node).__name__
            counted[kind] += 1
            counted[f"{kind} without docstring"] += docstring is None
    return counted


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    found = [finding for path in package_files(root) for finding in findings(path, root)]
    for finding in found:
        print(finding)
    for rule, number in sorted(Counter(finding.rule for finding in found).items()):
        print(f"{number:6} {rule}")
    for kind, number in sorted(public_definitions(root).items()):
        print(f"{number:6} {kind}")


if __name__ == "__main__":
    main()
