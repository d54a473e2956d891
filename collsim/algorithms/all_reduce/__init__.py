"""Algorithms of all_reduce."""
