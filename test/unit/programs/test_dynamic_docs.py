"""The examples of docs/dynamic_shapes.md run, one after the other, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "dynamic_shapes.md"


def test_the_examples_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 5
    namespace: dict[str, object] = {}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), namespace)
