"""
What every graph op computes, in NumPy, written independently of te. It is meant for tests, and compilation never uses
it.

`run(module, entry, *arrays)` executes a program of the graph dialect. `evaluate(name, properties, *arrays)` runs one
op. `register(name, f)` adds the meaning of an op of another dialect. `run_loops(module, entry, arrays)` interprets loop
functions and functions on buffers, and raises `LoopFault` for what no program may do.
"""

from __future__ import annotations

from .failure import ReferenceFailure
from .loops.faults import LoopFault
from .loops.run import run_loops
from .properties import properties_of
from .registry import OPS, evaluate, register
from .run import ReferenceRunError, run

__all__ = [
    "OPS",
    "LoopFault",
    "ReferenceFailure",
    "ReferenceRunError",
    "evaluate",
    "properties_of",
    "register",
    "run",
    "run_loops",
]
