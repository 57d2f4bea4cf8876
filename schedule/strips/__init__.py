"""Kernels that take a few rows at a time through two products and what stands between them."""
