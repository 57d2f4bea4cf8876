"""Reductions along rows: softmax, normalisation, maxima."""
