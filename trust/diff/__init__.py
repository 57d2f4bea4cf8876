"""Two programs compared: by their results on the same inputs, and by their ops, aligned by what these came from."""
