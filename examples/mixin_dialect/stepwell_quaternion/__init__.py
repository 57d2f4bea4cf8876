"""
A dialect that Stepwell does not know: quaternions, tensors whose last dimension holds `w, x, y, z`.

The universe below is all the wiring there is; the entry point in pyproject.toml names it.
"""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _dialect() -> Dialect:
    from .dialect import Quaternion

    return Quaternion


def _simplify_pass() -> type[ModulePass]:
    from .simplify import SimplifyQuaternionsPass

    return SimplifyQuaternionsPass


QUATERNION_UNIVERSE = Universe(
    all_dialects={"quaternion": _dialect},
    all_passes={"simplify-quaternions": _simplify_pass},
)
