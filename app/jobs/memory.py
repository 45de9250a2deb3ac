"""Lets the memory of large computations go back to the system."""

import ctypes
from functools import cache

LARGE = 1 << 20
"""Bytes from which on freed memory goes back at once."""
_MMAP_THRESHOLD = -3
"""The number of this option in glibc's ``malloc.h``."""


@cache
def give_back_large() -> None:
    """From now on, give back freed arrays of ``LARGE`` bytes at once. Elsewhere than on glibc it does nothing.

    By itself glibc does so only until the first of them was freed, and then keeps those of that size for later, each
    thread for itself: some 30 MB more at the peak of a large refit.
    """
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, LARGE)
    except (AttributeError, OSError, TypeError):  # another libc
        return
