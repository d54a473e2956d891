"""``collsim show``: one thing in full."""

from typing import Final

HELP: Final = """Show one thing in full.

\b
Example:
  collsim show cluster dgx-h100
"""
