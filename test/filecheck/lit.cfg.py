"""Configuration of the FileCheck tests; run them with `lit test/filecheck`."""

import stepwell.testing.lit_format

config.name = "stepwell"
config.suffixes = [".mlir"]
config.test_format = stepwell.testing.lit_format.StepwellTest()
