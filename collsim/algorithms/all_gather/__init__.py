"""Algorithms of all_gather."""
