"""``collsim plot``: pictures of results."""

from typing import Final

HELP: Final = """Draw results as PNG, SVG or PDF.

\b
Example:
  collsim plot crossover all_reduce mst ring -o crossover.png
"""
