"""
Measures whole programs (class C4 of cases.json): small networks and blocks of large ones. The options are those of
kernels.py.
"""

from __future__ import annotations

from kernels import main

if __name__ == "__main__":
    main(only="C4")
