"""The functions of the math dialect and small floats, expanded into arithmetic."""
