"""
Stepwell: stairs from tensor graphs down to native code.

The names of `__init__.pyi` are loaded on first use, so that `import stepwell` and parsing or printing IR load
neither numpy nor llvmlite. `docs/api.md` lists the public names of all rooms.
"""

import sys

import lazy_loader

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
__all__.append("__version__")

_ROOMS = frozenset(
    {"analysis", "core", "dialects", "frontends", "lowering", "machine", "patterns", "reference", "rewrites"}
    | {"runtime", "schedule", "te", "testing", "trust"}
)


def __getattr__(name: str) -> object:
    """Loads a public name. The cycle collector waits, since it would look at all classes again and again."""
    if name not in __all__:  # pytest asks before this is a package: the folder of a checkout may have any name
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .core.messages.collector import patient_collector

    with patient_collector():
        if name in ("compile", "compile_onnx", "compile_torch"):
            _load_llvm()
        if name == "load" or name in _ROOMS:  # These need nothing of xDSL.
            return _load(name)
        from .core.late_formats import late_formats

        with late_formats():
            return _load(name)


def _load_llvm() -> None:
    """Begins to load LLVM, which leaves Python to other threads for most of its time."""
    from contextlib import suppress
    from threading import Thread

    def load() -> None:
        with suppress(Exception):  # Who needs it is told what is wrong.
            import llvmlite.binding  # noqa: F401

    Thread(target=load).start()


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: object) -> None:
    """Makes IPython show modules as text and pictures. `import stepwell` inside of IPython has done so already."""
    from .analysis.drawing.notebook import register

    register(shell)


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    load_ipython_extension(_shell)
