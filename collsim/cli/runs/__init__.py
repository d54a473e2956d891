"""Algorithms and schedules as options name them, and what is told of their runs."""
