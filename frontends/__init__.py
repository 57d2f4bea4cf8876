"""
Front ends turn the models of other systems into the graph dialect.

Each needs its own extra.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
