"""The lowering of blocks and loops to scf and memref."""
