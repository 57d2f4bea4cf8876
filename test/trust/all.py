"""
What `make test-trust` runs, into a log in `docs/acceptance/`: planted faults, right programs, the models of
`make test-models`, the hunt of `fuzz` and provenance, side by side, then forty programs reduced by all workers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent
LOGS = HERE.parents[1] / "docs" / "acceptance"


def run(command: list[str]) -> tuple[int, str]:
    """Returns the exit code of a script, and what it prints."""
    finished = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, text=True, check=False)
    return finished.returncode, finished.stdout


def main() -> int:
    """Writes the log. Returns 0 if every part has passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--programs", type=int, default=500)
    options = parser.parse_args()
    started = time.monotonic()
    parts = {
        "Planted faults": [str(HERE / "planted.py")],
        "Right programs": [str(HERE / "alarms.py"), "--programs", str(options.programs)],
        "Right models": [str(HERE / "alarms.py"), "--models"],
        "Habits": [str(HERE / "habits.py")],
        "Provenance": [str(HERE / "provenance.py")],
    }
    with ThreadPoolExecutor(options.workers) as pool:
        found = dict(zip(parts, pool.map(run, parts.values()), strict=True))
    # Each search has all workers, since its seconds count.
    found["Reduced programs"] = run([str(HERE / "reduction.py"), "--jobs", str(options.workers)])
    lines = [f"make test-trust, {date.today()}: {(time.monotonic() - started) / 60:.0f} minutes"]
    for title, (code, text) in found.items():
        lines += ["", f"## {title}: {'passed' if code == 0 else 'failed'}", "", text.rstrip()]
    text = "\n".join(lines) + "\n"
    print(text)
    (LOGS / f"{date.today()}-trust.log").write_text(text)
    return max(code for code, _ in found.values())


if __name__ == "__main__":
    sys.exit(main())
