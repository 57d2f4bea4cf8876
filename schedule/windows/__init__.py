"""Reductions over windows of images: poolings, in every layout."""
