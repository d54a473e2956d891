"""Algorithms of reduce."""
