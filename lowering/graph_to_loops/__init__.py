"""The lowering of graph ops to loop functions."""
