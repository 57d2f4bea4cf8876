"""
The page of what graph ops are called elsewhere, docs/aliases.md, made from the table of core/text/aliases.py.

`python -m stepwell.tools.pages.aliases > docs/aliases.md` brings it up to date; a test fails when it is not.
"""

from __future__ import annotations

from ...core.text.aliases import ALIASES, RECIPES, SYSTEMS, WITHOUT_NAMES

_INTRODUCTION = """# Names of ops in other systems

You can look up here which graph op does what an operator of another system does. The column NumPy has names of SciPy
too, and StableHLO those of CHLO. MLIR stands for its dialects `arith`, `math`, `linalg` and `tensor`.
The op may take its operands in another order or have other properties: [graph.md](graph.md) says what it takes.

An error for an unknown op looks into the same table:

```
model.mlir:2:8: error: op 'graph.mul' is unknown
    %y = graph.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
         ^^^^^^^^^
hint: did you mean 'graph.multiply'?
```

`python -m stepwell.tools.pages.aliases` makes this page from `core/text/aliases.py`.
"""


def page() -> str:
    """Returns the text of docs/aliases.md."""
    lines = [_INTRODUCTION, f"| graph op | {' | '.join(SYSTEMS)} |", f"|---|{'---|' * len(SYSTEMS)}"]
    for op, systems in ALIASES.items():
        cells = [" ".join(f"`{name}`" for name in names) for names in systems]
        lines.append(f"| [{op}](graph.md#graph{op}) | {' | '.join(cells)} |")
    lines += ["", *(f"`graph.{op}` has none of these names: {reason}." for op, reason in WITHOUT_NAMES.items())]
    lines += ["", "## Names that stand for several ops", "", "| name | graph ops |", "|---|---|"]
    lines += [f"| `{name}` | `{recipe}` |" for name, recipe in sorted(RECIPES.items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
