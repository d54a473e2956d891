"""Schedules as text that a person writes: rounds of ``0 -> 1: chunk 0``."""
