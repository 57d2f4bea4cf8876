"""
Hostile loop programs in great number: `python test/hostile.py [--count N] [--first SEED] [--workers N]`.

Each worker judges its share by test/support/hostile_runs.py. What is not as it must be is shown. The exit code is 1
where there was any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCRIPT = Path(__file__).parent / "support" / "hostile_runs.py"
SHARE = 250
"""The number of programs that one process makes processes for."""


def judge(first: int, count: int) -> tuple[int, str]:
    """Returns the exit code and the output of one share."""
    command = [sys.executable, str(SCRIPT), str(first), str(count)]
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return finished.returncode, finished.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--workers", type=int, default=int(os.environ.get("WORKERS", "2")))
    options = parser.parse_args()
    start = time.monotonic()
    end = options.first + options.count
    shares = [(first, min(SHARE, end - first)) for first in range(options.first, end, SHARE)]
    verdicts: Counter[str] = Counter()
    failed = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for code, output in pool.map(lambda share: judge(*share), shares):
            failed += code != 0
            for line in output.splitlines():
                number, _, verdict = line.partition(" ")
                if code == 0 and number.isdigit():
                    verdicts[verdict] += int(number)
                else:
                    print(line, flush=True)
    for verdict, number in sorted(verdicts.items()):
        print(f"{number} {verdict}")
    print(f"{options.count} programs in {time.monotonic() - start:.0f} s, {failed} of {len(shares)} shares failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
