"""
A page followed by copying its blocks: `python test/support/followed_page.py PAGE.md` in an empty folder.

A block may be indented, as part of a list.

* A block whose fence says `file=NAME` is saved as NAME.
* A block `sh` is given to one shell. A block `sh setup` installs something. It is left out where that is done already.
* A block `python` is run by `python`, each by itself.
* All other blocks are shown to the reader only.

What still runs at the end, such as a server, is stopped.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Final

FENCE: Final = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
END: Final = "END OF THE BLOCK"
PROLOGUE: Final = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"


@dataclass(frozen=True)
class Block:
    """A block of a page. `words` are what its fence says after the language."""

    language: str
    words: tuple[str, ...]
    text: str

    @property
    def file(self) -> str | None:
        """The name that the reader saves the block as."""
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


def blocks(page: str) -> list[Block]:
    """Returns the blocks of a page in their order."""
    return [Block(found[2], tuple(found[3].split()), dedent(found[4])) for found in FENCE.finditer(page)]


def commands(page: str) -> list[str]:
    """Returns the lines that a reader types, without comments and lines that go on."""
    joined = "".join(block.text for block in blocks(page) if block.language == "sh").replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def script(page: str, setup: bool) -> str:
    """Returns what a shell does to follow the page. Blocks `sh setup` are in it if `setup` says so."""
    parts = [PROLOGUE]
    for number, block in enumerate(blocks(page)):
        if block.file:
            parts.append(_saved(block.file, block.text))
        elif block.language == "sh" and (setup or "setup" not in block.words):
            parts.append(block.text)
        elif block.language == "python":
            name = f"block{number}.py"
            parts.append(_saved(name, block.text) + f"python {name}\n")
    return "".join(parts)


def _saved(name: str, text: str) -> str:
    folder = Path(name).parent
    return f"mkdir -p '{folder}'\ncat > '{name}' <<'{END}'\n{text}{END}\n"


def follow(
    page: Path, folder: Path, environment: Mapping[str, str], *, setup: bool = False, timeout: float = 180
) -> str:
    """
    Follows `page` in `folder` and returns what it printed.

    Raises:
        AssertionError: A block failed. The message has all output.
        subprocess.TimeoutExpired: The page took longer than `timeout` seconds.
    """
    text = script(page.read_text(encoding="utf-8"), setup)
    done = subprocess.run(
        ["bash", "--norc", "-c", text],
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"{page.name} ends with {done.returncode}:\n{done.stdout}"
    return done.stdout


if __name__ == "__main__":
    print(follow(Path(sys.argv[1]).resolve(), Path.cwd(), os.environ, setup="--setup" in sys.argv[2:]))
