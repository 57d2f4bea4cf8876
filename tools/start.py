"""
The console scripts: each loads its tool and runs it. Ctrl-C while the tool is still loading ends it as quietly as later
on.

Nothing is imported here before, since that is what takes the time.
"""

from __future__ import annotations

INTERRUPTED = 130
"""The exit code after ctrl-C, as shells have it."""


def _run(tool: str) -> int:
    try:
        from importlib import import_module

        from ..core.late_formats import late_formats

        with late_formats():
            module = import_module(f".{tool}", __package__)
        return module.main()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        from gc import freeze

        freeze()  # The process ends now. To look for garbage first takes a quarter of a second after a large model.


def stepwell() -> int:
    """`stepwell`."""
    return _run("main")


def opt() -> int:
    """`stepwell-opt`."""
    return _run("opt")


def run() -> int:
    """`stepwell-run`."""
    return _run("run")


def calibrate() -> int:
    """`stepwell-calibrate`."""
    return _run("calibrate")


def show() -> int:
    """`stepwell-show`."""
    return _run("show")


def tune() -> int:
    """`stepwell-tune`."""
    return _run("tune")


def import_onnx() -> int:
    """`stepwell-import-onnx`."""
    return _run("import_onnx")
