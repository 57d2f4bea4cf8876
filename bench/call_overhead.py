"""
Measures a call from Python: microseconds per call of tiny programs, the fast way and through ctypes, beside NumPy and
an empty lambda.

The programs compute next to nothing (`x + y` on 2x3 floats), so that the call is what is timed. Rounds visit all of
them in turn; the medians over the rounds count.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import stepwell

ADD = """func.func @main(%x: tensor<{0}x3xf32>, %y: tensor<3xf32>) -> tensor<{0}x3xf32> {{
  %0 = graph.add %x, %y : (tensor<{0}x3xf32>, tensor<3xf32>) -> tensor<{0}x3xf32>
  func.return %0 : tensor<{0}x3xf32>
}}
"""

ARENA = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.softmax %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.softmax %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}
"""


def compiled(text: str, fast: bool) -> stepwell.Executable:
    """The program with calls of one of the two kinds, whose first call has been made."""
    os.environ["STEPWELL_FASTCALL"] = "1" if fast else "0"
    return stepwell.compile(text)


def subjects() -> dict[str, Callable[[], Any]]:
    """Returns what is timed, by name."""
    x, y = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    wide, out = np.ones((2, 6), np.float32)[:, ::2], np.empty((2, 3), np.float32)
    found: dict[str, Callable[[], Any]] = {"empty lambda": lambda: None, "np.add": lambda: np.add(x, y)}
    for kind in ("fast", "ctypes"):
        fixed, unknown = compiled(ADD.format(2), kind == "fast"), compiled(ADD.format("?"), kind == "fast")
        arena = compiled(ARENA, kind == "fast")
        unknown(x, y)
        found |= {
            f"{kind}: exe(x, y)": lambda exe=fixed: exe(x, y),
            f"{kind}: exe.run_into([out], x, y)": lambda exe=fixed: exe.run_into([out], x, y),
            f"{kind}: exe(x, y), a '?' size": lambda exe=unknown: exe(x, y),
            f"{kind}: exe(x) with an arena": lambda exe=arena: exe(x),
            f"{kind}: exe(strided x, y)": lambda exe=fixed: exe(wide, y),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=2000, help="per round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["STEPWELL_CACHE_DIR"] = directory
        calls = subjects()
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(options.rounds):
            for name, call in calls.items():
                start = time.perf_counter()
                for _ in range(options.calls):
                    call()
                seconds[name].append((time.perf_counter() - start) / options.calls)
    for name, figures in seconds.items():
        print(f"{name:34} {np.median(figures) * 1e6:8.2f} us")


if __name__ == "__main__":
    main()
