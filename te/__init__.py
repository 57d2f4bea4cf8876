"""Tensor expressions: immutable data that says what each element of a tensor is."""
