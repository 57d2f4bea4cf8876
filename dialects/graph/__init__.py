"""The graph dialect: pure operations on whole tensors."""
