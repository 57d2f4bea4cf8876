"""The programs of the worked examples are tests too: `lit examples`. Files in `rules/` are no programs."""

from stepwell.testing import StepwellTest

config.name = "stepwell-examples"
config.suffixes = [".mlir"]
# The package must be installed first and has tests of its own; the calibration example is run by pytest.
config.excludes = ["rules", "mixin_dialect", "calibration"]
config.test_format = StepwellTest()
