"""Programs for C: objects, libraries and headers."""
