"""``collsim calibrate``: from measurements to numbers."""

from typing import Final

HELP: Final = """Learn the numbers of a machine from measurements.

\b
Example:
  collsim calibrate fit examples/nccl_tests_all_reduce_8gpu.txt
"""
