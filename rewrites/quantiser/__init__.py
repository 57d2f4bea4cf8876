"""The quantiser: from ranges of values to programs whose layers compute on bytes."""
