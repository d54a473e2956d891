"""``collsim import``: other tools' files."""

from typing import Final

HELP: Final = """Read other tools' files.

\b
Example:
  collsim import topology topology.xml -o mine.toml
"""
