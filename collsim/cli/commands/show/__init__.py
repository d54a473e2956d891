"""``collsim show``: one thing in full."""

from typing import Final

HELP: Final = """Show one thing in full.

\b
Examples:
  collsim show cluster dgx-h100
  collsim show profile h100-nvswitch-8
"""
