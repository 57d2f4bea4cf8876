"""A code generator: products of quaternions computed by NumPy."""

from pathlib import Path

import numpy as np
from stepwell.core import Codegen
from stepwell.patterns import rules_of_file
from stepwell.rewrites import PatternEntry


def code(function, context):
    """Returns the Python function that computes `function`, whose body is one product."""

    def product(p, q):
        pw, pv, qw, qv = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
        w = pw * qw - (pv * qv).sum(-1, keepdims=True)
        return np.concatenate([w, pw * qv + qw * pv + np.cross(pv, qv)], -1)

    return product


CODEGEN = Codegen("quaternion_numpy", code)
TABLE = [PatternEntry(rule) for rule in rules_of_file(str(Path(__file__).parent / "table.mlir"))]
