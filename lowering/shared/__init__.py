"""The ground of several lowerings: types of te, calls of kernels, and the check that nothing is left."""
