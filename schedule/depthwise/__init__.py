"""Depthwise convolutions on register tiles."""
