"""
The example of clusters with workers that are killed: `python test/cluster.py [--engine dask] [--chunks 200] [--log]`.

Each engine maps a program over chunks on two local workers, one of which is killed half-way. Results are compared with
NumPy: all sums are of small whole numbers, so they must be the same bits. Then it goes on from a damaged folder, and
tunes while a worker is killed. The exit code is 0 where all is as it must be.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.schedule.tuned.records import TRIAL, read_records

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples" / "cluster"))

import map as mapper  # noqa: E402
import tune as tuner  # noqa: E402
from clusters import Cluster, Measuring, open_cluster  # noqa: E402
from mapping import Summary  # noqa: E402

ROWS = 8
"""The rows of a chunk."""

MODEL = """
func.func @main(%x: tensor<?x32xf32>) -> (tensor<?x16xf32>, tensor<?x32xf32>) {
  %w = graph.weight "w" : tensor<32x16xf32>
  %y = graph.matmul %x, %w : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %z = graph.relu %x : (tensor<?x32xf32>) -> tensor<?x32xf32>
  func.return %y, %z : tensor<?x16xf32>, tensor<?x32xf32>
}
"""

KERNEL = """
func.func @main(%x: tensor<24x128xf32>) -> tensor<24x64xf32> {
  %w = graph.weight "w" : tensor<128x64xf32>
  %y = graph.matmul %x, %w : (tensor<24x128xf32>, tensor<128x64xf32>) -> tensor<24x64xf32>
  return %y : tensor<24x64xf32>
}
"""


def check(holds: bool, what: str) -> None:
    """Ends the run where something is not as it must be."""
    if not holds:
        raise SystemExit(f"wrong: {what}")


class Killer:
    """Kills a worker once, when half of the chunks are done."""

    def __init__(self, half: int):
        self.half = half
        self.killed: str | None = None
        self.last = Summary(0, 0)

    def __call__(self, summary: Summary) -> None:
        self.last = summary
        if self.killed is None and summary.done >= self.half:
            self.killed = max(summary.workers)
            os.kill(int(self.killed.partition(":")[2]), signal.SIGKILL)


class Folder:
    """A program, a data set and what must come of it, made from a seed."""

    def __init__(self, path: Path, chunks: int, seed: int, trust_code: bool):
        generator = np.random.default_rng(seed)
        self.path, self.chunks, self.trust_code = path, chunks, trust_code
        weight = generator.integers(-3, 4, (32, 16)).astype(np.float32)
        # The last chunk is not a whole one.
        self.x = generator.integers(-3, 4, (chunks * ROWS - 3, 32)).astype(np.float32)
        self.expected = self.x @ weight, np.maximum(self.x, 0)
        exe = stepwell.compile(MODEL, weights={"w": weight}, threads=1)
        exe(self.x[:ROWS])  # So that the file has machine code for chunks.
        exe.save(path / "m.stepwell")
        np.save(path / "data.npy", self.x)
        self.out = path / "out"

    def map(self, cluster: Cluster, engine: str, watch: Callable[[Summary], None]) -> int:
        """Runs `map.py` in this process."""
        mapper.open_cluster = lambda *_: nullcontext(cluster)
        words = [str(self.path / "m.stepwell"), str(self.path / "data.npy"), "-o", str(self.out)]
        trust = ["--trust-code"] if self.trust_code else []
        return mapper.main([*words, "--engine", engine, f"--chunk={ROWS}", "--join", *trust], watch)

    def check(self) -> None:
        """Compares every result with NumPy, in the files of chunks and in the joined ones."""
        names = sorted(path.name for path in self.out.glob("*.npz"))
        check(names == [f"chunk-{n:06}.npz" for n in range(self.chunks)], f"the files are {names}")
        check(not list(self.out.glob("*.part")), "parts of files are left")
        for number, expected in enumerate(self.expected):
            found = [np.load(self.out / name)[f"result{number}"] for name in names]
            check([len(part) for part in found] == [ROWS] * (self.chunks - 1) + [ROWS - 3], "chunks have other rows")
            check(np.array_equal(np.concatenate(found), expected), f"result {number} differs from NumPy")
            check(np.array_equal(np.load(self.out / f"result{number}.npy"), expected), f"result{number}.npy differs")


def map_and_kill(cluster: Cluster, engine: str, folder: Folder) -> str:
    """Maps while a worker is killed. Returns what happened."""
    killer, start = Killer(folder.chunks // 2), time.monotonic()
    check(folder.map(cluster, engine, killer) == 0, "the run failed")
    seconds, last = time.monotonic() - start, killer.last
    folder.check()
    assert killer.killed is not None
    check(last.done == folder.chunks, f"{last.done} chunks are done")
    check(last.loads == len(last.workers) >= 2, f"{last.loads} loads by {len(last.workers)} processes")
    by_worker = ", ".join(f"{count}" for count in last.workers.values())
    return (
        f"{folder.chunks} chunks of {ROWS} rows, worker {killer.killed.partition(':')[2]} killed after "
        f"{killer.half}: all results the same bits as NumPy's, each there once; {seconds:.1f} s\n"
        f"  chunks by process: {by_worker}; the model was loaded {last.loads} times"
    )


def go_on(cluster: Cluster, engine: str, folder: Folder) -> str:
    """Goes on from a folder that lacks a chunk and has two damaged ones. Returns what happened."""
    kept = {path: path.stat().st_mtime_ns for path in folder.out.glob("*.npz")}
    lost, short, bent = (folder.out / f"chunk-{n:06}.npz" for n in (1, folder.chunks - 2, folder.chunks - 1))
    lost.unlink()
    short.write_bytes(short.read_bytes()[:-40])
    data = bytearray(bent.read_bytes())
    data[300] ^= 1
    bent.write_bytes(data)
    killer = Killer(folder.chunks)
    check(folder.map(cluster, engine, killer) == 0, "the second run failed")
    folder.check()
    same = sum(path.stat().st_mtime_ns == time for path, time in kept.items())
    check((killer.last.done, same) == (3, folder.chunks - 3), f"{killer.last.done} chunks computed, {same} kept")
    return f"1 chunk removed and 2 damaged: 3 computed, {same} kept"


class KillingMeasuring(Measuring):
    """Kills a worker half a second after it was given candidates, while it measures the first."""

    pids: tuple[int, ...] = ()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.pids:
            threading.Timer(0.5, os.kill, (self.pids[0], signal.SIGKILL)).start()
            KillingMeasuring.pids = ()
        return super().submit(fn, *args, **kwargs)


def tune_and_kill(cluster: Cluster, engine: str, folder: Path, trials: int) -> str:
    """Tunes while a worker is killed. Returns what happened."""
    (folder / "kernel.mlir").write_text(KERNEL)
    while cluster.count < 2:  # The one that was killed may still be starting again.
        time.sleep(0.1)
    pids = {future.result() for future in [cluster.submit(slow_pid) for _ in range(2 * cluster.count)]}
    check(len(pids) == 2, f"{len(pids)} workers")
    KillingMeasuring.pids = tuple(pids)
    tuner.open_cluster, tuner.Measuring = lambda *_: nullcontext(cluster), KillingMeasuring
    start = time.monotonic()
    words = [str(folder / "kernel.mlir"), "--db", str(folder / "db"), "--engine", engine, f"--trials={trials}"]
    check(tuner.main(words) == 0, "the tuner failed")
    seconds = time.monotonic() - start
    found = [record for record in read_records(folder / "db") if record.kind == TRIAL]
    statuses = {record.status for record in found}
    check(statuses == {"ok"}, f"candidates were {statuses}")
    check(len(found) == len({record.program for record in found}) == trials, f"{len(found)} records")
    check(not alive(min(pids, key=lambda pid: alive(pid))), "no worker was killed")
    return f"tuned with {trials} candidates, a worker killed: each measured, and recorded once; {seconds:.1f} s"


def slow_pid() -> int:
    """Returns the number of a worker, after a while in which the others get some too."""
    time.sleep(0.2)
    return os.getpid()


def alive(pid: int) -> bool:
    """Returns whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def run(engine: str, options: argparse.Namespace) -> str:
    """Returns what happened on one engine."""
    trials: int = options.trials
    packages = ("dask", "distributed") if engine == "dask" else ("ray",)
    lines = [", ".join(f"{name} {version(name)}" for name in packages)]
    with tempfile.TemporaryDirectory() as name:
        os.environ["STEPWELL_CACHE_DIR"] = f"{name}/cache"
        folder = Folder(Path(name), options.chunks, options.seed, options.trust_code)
        start = time.monotonic()
        with open_cluster(engine, None, 2) as cluster:
            lines.append(f"two workers after {time.monotonic() - start:.1f} s")
            lines.append(map_and_kill(cluster, engine, folder))
            lines.append(go_on(cluster, engine, folder))
            if trials:
                lines.append(tune_and_kill(cluster, engine, Path(name), trials))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", choices=("dask", "ray"))
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--trials", type=int, default=24, help="candidates of the tuner, 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trust-code", action="store_true", help="workers run the machine code in the file")
    parser.add_argument("--log", type=Path, help="a file for what is printed")
    options = parser.parse_args()
    parts = [
        f"# test/cluster.py --chunks {options.chunks} --trials {options.trials} --seed {options.seed}, "
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n"
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, "
        f"numpy {version('numpy')}"
    ]
    for engine in options.engine or ("dask", "ray"):
        parts.append(run(engine, options))
        print(parts[-1], flush=True)
    if options.log:
        options.log.write_text("\n\n".join(parts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
