"""Parts of a graph for other code generators: patterns, regions and functions."""
