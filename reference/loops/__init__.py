"""An interpreter of loop functions and of programs on buffers, in NumPy. Every access is checked."""
