"""Asks Linux to let this process use the tile registers of AMX."""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

_ARCH_PRCTL = 158
_REQUEST_PERMISSION = 0x1023
_TILE_DATA = 18


@cache
def amx_permitted() -> bool:
    """
    Asks Linux, once, to let this process use tile registers, and returns whether it does. Other systems, kernels before
    5.16 and machines without AMX refuse.

    It holds for all threads and for processes forked later. Their 8 KiB are saved on a switch only where they are in
    use. Source: Linux, Documentation/arch/x86/xstate.rst.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    numbers = (_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA)
    return syscall(*(ctypes.c_long(number) for number in numbers)) == 0
