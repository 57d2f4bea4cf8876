"""
Maps a saved model over a data set on a cluster: `python map.py m.stepwell data.npy -o out --engine dask`.

docs/cluster.md tells how to use it. Started again, it computes only what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import stepwell
from chunk_worker import Settings
from clusters import ENGINES, open_cluster
from dataset import Dataset, digest_of
from folder import Folder, Manifest
from mapping import Progress, Summary, Watch, map_chunks

SHOWN = 10
"""The most errors of chunks that are printed."""


class Options(argparse.ArgumentParser):
    """Says what is wrong with a command line, and what is expected, in place of all its options."""

    def error(self, message: str) -> NoReturn:
        hint = "--engine dask or --engine ray says what starts the workers, or whose cluster --address is"
        self.exit(2, f"error: {message}\nhint: {hint if '--engine' in message else f'{self.prog} --help lists them'}\n")


def tell(error: Exception) -> None:
    """Prints an error. Those of Stepwell have their heading."""
    print(error if isinstance(error, stepwell.StepwellError) else f"error: {error}", file=sys.stderr)


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say which cluster is used."""
    add = parser.add_argument
    add("--engine", choices=ENGINES, required=True)
    add("--address", help="of a cluster that runs (default: processes of this machine)")
    add("--workers", type=positive, default=2, help="processes to start, or workers to wait for (default: 2)")
    add("--wait", type=float, default=60.0, metavar="S", help="seconds to wait for workers (default: 60)")


def positive(text: str) -> int:
    """Returns a number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}', expected a whole number from 1 on")
    return int(text)


def argument_parser() -> argparse.ArgumentParser:
    """Returns the options of the command."""
    parser = Options(description="Maps a saved model over a data set on a cluster (docs/cluster.md).")
    add = parser.add_argument
    add("model", type=Path, help="a program that exe.save wrote")
    add("data", type=Path, help="its input as .npy, or its inputs by name as .npz")
    add("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where results go, one file per chunk")
    add_cluster(parser)
    add("--chunk", type=positive, default=64, metavar="ROWS", help="rows of a chunk (default: 64)")
    add("--threads", type=positive, default=1, help="threads of a call (default: 1)")
    add("--trust-code", action="store_true", help="run the machine code in the file (docs/saving.md)")
    add("--errors", type=positive, default=10, metavar="N", help="stop after N chunks that failed (default: 10)")
    add("--join", action="store_true", help="write each result of all rows into one .npy file at the end")
    return parser


def run(options: argparse.Namespace, watch: Watch | None = None) -> Summary:
    """Does what the options say. Raises the errors of `stepwell.load`, OSError, TimeoutError and ValueError."""
    exe = stepwell.load(options.model, trust_code=options.trust_code, threads=options.threads)
    data = Dataset(options.data, exe, options.chunk)
    digest = digest_of(options.model)
    outputs = tuple(name for name, _ in exe.output_types)
    settings = Settings(digest, options.chunk, options.trust_code, options.threads)
    progress = Progress()
    with Folder(options.output, Manifest(digest, data.digest, data.rows, options.chunk, outputs)) as folder:
        missing = folder.missing(data.chunks)
        summary = Summary(len(data.chunks), len(data.chunks) - len(missing))
        if missing:
            with open_cluster(options.engine, options.address, options.workers, options.wait) as cluster:
                summary = map_chunks(
                    *(cluster, options.model, settings, data, folder, missing), watch or progress, options.errors
                )
        progress.end(summary)
        if options.join and summary.before + summary.done == summary.total:
            for path in folder.join(data.chunks):
                print(path)
    return summary


def main(arguments: Sequence[str] | None = None, watch: Watch | None = None) -> int:
    """Returns 0 where all chunks have results."""
    options = argument_parser().parse_args(arguments)
    try:
        summary = run(options, watch)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on with the chunks that are missing", file=sys.stderr)
        return 130
    except (stepwell.StepwellError, OSError, ValueError, RuntimeError, ImportError) as error:
        tell(error)
        return 1
    for chunk, reason in sorted(summary.errors.items(), key=lambda each: each[0].number)[:SHOWN]:
        print(f"{chunk}: {reason}", file=sys.stderr)
    missing = summary.total - summary.before - summary.done
    if missing:
        print(f"{missing} chunks have no results; the same command tries them again", file=sys.stderr)
    return int(missing > 0)


if __name__ == "__main__":
    raise SystemExit(main())
