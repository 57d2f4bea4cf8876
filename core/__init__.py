"""
What every other part uses: messages with places, parsing, verification, passes and pipelines, plug-ins, weights in
files.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
