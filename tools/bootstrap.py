"""Lets `python tools/NAME.py` run from any checkout: makes the folder above this one the package `stepwell`."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def make_package() -> None:
    """Registers the checkout as `stepwell`, whatever it is called on disk, and takes `tools/` off the path."""
    root = Path(__file__).resolve().parent.parent
    spec = spec_from_file_location("stepwell", root / "__init__.py", submodule_search_locations=[str(root)])
    assert spec is not None and spec.loader is not None
    sys.modules["stepwell"] = package = module_from_spec(spec)
    spec.loader.exec_module(package)
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != root / "tools"]
