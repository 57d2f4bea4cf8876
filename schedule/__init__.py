"""Schedules of loop functions: the primitives, the default schedule for CPUs, and the properties of a machine."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
