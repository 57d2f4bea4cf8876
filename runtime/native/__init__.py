"""Machine code: what talks to llvmlite and to the processor."""
