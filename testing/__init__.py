"""Test helpers shipped for outside packages too: the in-process lit format and IR generators."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
