"""
Tunes a program on a cluster: `python tune.py model.mlir --engine ray --workers 2`.

It is `stepwell-tune` with the candidates of a generation compiled and measured by workers (docs/tuning.md).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import stepwell
from clusters import Measuring, open_cluster
from map import Options, add_cluster, positive, tell


def argument_parser() -> argparse.ArgumentParser:
    """Returns the options of the command."""
    parser = Options(description="Tunes a program on a cluster (docs/cluster.md).")
    add = parser.add_argument
    add("program", type=Path, help="a program as text")
    add("--db", type=Path, help="the database to add to (default: that of compilation)")
    add_cluster(parser)
    add("--trials", type=positive, default=64, metavar="N", help="schedules per kernel (default: 64)")
    add("--seconds", type=float, metavar="S", help="begin no candidate after S seconds")
    add("--seed", type=int, default=0, metavar="N", help="the seed of the search (default: 0)")
    add("--target", default="host", metavar="NAME", help="the machine to tune for (default: host)")
    add("--kernel", metavar="NAME", help="tune only the kernel of this name")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints what was found. Returns 1 where there is an error."""
    options = argument_parser().parse_args(arguments)
    try:
        with open_cluster(options.engine, options.address, options.workers, options.wait) as cluster:
            report = stepwell.tune(
                options.program,
                database=options.db,
                executor=Measuring(cluster),
                jobs=cluster.count,
                trials=options.trials,
                seconds=options.seconds,
                seed=options.seed,
                target=options.target,
                kernel=options.kernel,
            )
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from what the database has", file=sys.stderr)
        return 130
    except (stepwell.StepwellError, OSError, RuntimeError, ImportError) as error:
        tell(error)
        return 1
    print(report)
    print(f"database: {report.database}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
