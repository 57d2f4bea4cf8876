"""Configuration of the FileCheck tests; run them with `lit test/filecheck`."""

import os

from stepwell.testing import StepwellTest

# What has been tuned on this machine is not what is tested.
os.environ["STEPWELL_TUNING_DB"] = ""

config.name = "stepwell"
config.suffixes = [".mlir"]
config.test_format = StepwellTest()
