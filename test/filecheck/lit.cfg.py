"""Configuration of the FileCheck tests; run them with `lit test/filecheck`."""

import stepwell.testing.lit_format

config.name = "stepwell"  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_format = stepwell.testing.lit_format.StepwellTest()  # noqa: F821
