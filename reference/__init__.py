"""
What every graph op computes, in NumPy, written independently of te. It is meant for tests, and compilation never uses
it.

`run(module, entry, *arrays)` executes a program of the graph dialect. `evaluate(name, properties, *arrays)` runs one
op. `register(name, f)` adds the meaning of an op of another dialect.
"""

from __future__ import annotations

from .failure import ReferenceFailure
from .properties import properties_of
from .registry import OPS, evaluate, register
from .run import ReferenceRunError, run

__all__ = ["OPS", "ReferenceRunError", "ReferenceFailure", "evaluate", "properties_of", "register", "run"]
