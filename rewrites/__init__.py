"""Passes that rewrite a program within its dialect, and the rules that they apply."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
