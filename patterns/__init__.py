"""
The pattern language, which says what a piece of a program looks like, where it occurs, and what replaces it.

```python
x = wildcard()
RULE = rule("relu-of-relu", op("graph.relu", op("graph.relu", x)), create("graph.relu", x))
```

`docs/rewrites.md` describes it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
