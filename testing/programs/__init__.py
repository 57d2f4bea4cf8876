"""Random programs and the values that they are run on."""
