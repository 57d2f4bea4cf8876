"""The machines that code is made for: registers, caches and features, by name or as found in this one."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
