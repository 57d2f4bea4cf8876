"""Constants of the graph: folding, preparing, and keeping them outside of the text."""
