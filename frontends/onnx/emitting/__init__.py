"""What converters work with: values, sizes, scopes, and the builder of graphs."""
