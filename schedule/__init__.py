"""Transformations of tensor_loop, default CPU schedules, target description; never runs code."""
