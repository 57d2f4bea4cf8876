from stepwell.testing import StepwellTest

config.name = "stepwell-quaternion"
config.suffixes = [".mlir"]
config.test_format = StepwellTest()
