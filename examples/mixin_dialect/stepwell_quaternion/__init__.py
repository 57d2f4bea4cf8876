"""Quaternions for Stepwell: tensors whose last dimension holds `w, x, y, z`."""

from importlib import import_module

from stepwell.core import StepwellPlugin
from xdsl.universe import Universe


def later(module, name):
    """Returns a function that imports `name` when it is called, so that a command imports only what it uses."""
    return lambda: getattr(import_module(f"stepwell_quaternion.{module}"), name)


UNIVERSE = Universe(
    all_dialects={"quaternion": later("dialect", "QUATERNION")},
    all_passes={
        "lower-quats": later("typed", "LowerQuatsPass"),
        "simplify-quaternions": later("simplify", "SimplifyQuaternionsPass"),
        "lower-quaternion-products": later("loops", "LowerQuaternionProductsPass"),
        "schedule-quaternion-products": later("steps", "ScheduleQuaternionProductsPass"),
    },
)

PLUGIN = StepwellPlugin(
    joins={
        "at-start": "lower-quats,simplify-quaternions",
        "after-fusion": "lower-quaternion-products",
        "before-schedule": "schedule-quaternion-products",
    },
    extensions={
        "schedule-step": {"quaternion.vectorize_product": later("steps", "vectorize_product")},
        "codegen": {"quaternion_numpy": later("in_numpy", "CODEGEN")},
        "pattern-table": {"quaternion_numpy": later("in_numpy", "TABLE")},
    },
)
