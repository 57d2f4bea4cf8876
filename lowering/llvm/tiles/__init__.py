"""The conversion of register tiles: pieces, groups, tile registers, and the ops on them."""
