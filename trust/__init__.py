"""Trust: the program is run before and after each pass, and the rewrite that breaks it is searched for."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
