"""The programs of the worked examples are tests too: `lit examples/passes`. Rule files in `rules/` are not."""

import stepwell.testing.lit_format

config.name = "stepwell-examples"
config.suffixes = [".mlir"]
config.excludes = ["rules"]
config.test_format = stepwell.testing.lit_format.StepwellTest()
