"""Logs, real runs and profiles: what was measured, and what was fitted to it."""
