"""Passes from one dialect to the next, the named pipelines, and the text that LLVM reads."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
