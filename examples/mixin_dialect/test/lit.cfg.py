import os

from stepwell.testing import StepwellTest

config.name = "stepwell-quaternion"
config.test_source_root = os.path.dirname(__file__)
config.test_format = StepwellTest()
config.suffixes = [".mlir"]
