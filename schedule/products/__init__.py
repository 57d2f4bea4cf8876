"""Matrix products and convolutions on register tiles."""
