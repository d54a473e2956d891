"""``collsim plot``: pictures of results."""

from typing import Final

HELP: Final = """Draw results as PNG, SVG or PDF.

`show cluster NAME --plot FILE` draws a cluster. Every picture is shown in docs/plots.md.

\b
Examples:
  collsim plot crossover all_reduce mst ring -o crossover.png
  collsim plot timeline all_reduce --algorithm ring -s 1MiB -o timeline.png
"""
