"""Programs as native code: how they run, are measured, traced, exported and tuned."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
