"""The examples of docs/te.md run, one after the other, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "te.md"


def test_examples_of_the_guide_run() -> None:
    text = GUIDE.read_text()
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == text.count("```python") >= 8
    names: dict[str, object] = {}
    for number, example in enumerate(examples):
        exec(compile(example, f"te.md, example {number}", "exec"), names)
