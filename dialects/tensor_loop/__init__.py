"""The tensor_loop dialect: loop functions, loops, blocks, buffers."""
