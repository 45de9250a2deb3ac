import gc
import sys

if "pytest" in sys.modules:
    # Until all is imported and collected (``conftest.py``): what is there stays, and to look through it takes seconds.
    gc.disable()
