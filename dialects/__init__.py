"""The dialects of Stepwell; each sub-package is one dialect."""
