"""``collsim import``: other tools' files."""

from typing import Final

HELP: Final = """Read other tools' files.

\b
Example:
  collsim import topology examples/nccl_topology_4_h100.xml -o mine.toml
"""
