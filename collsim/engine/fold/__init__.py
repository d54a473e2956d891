"""Simulate the ranks that stand for all, where schedule and cluster are the same for all."""
