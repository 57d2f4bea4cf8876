"""Random programs of the graph level, made of the shapes that graph passes look for."""
