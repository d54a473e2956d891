"""Fit messages between pairs of ranks, and make of them a cluster that predicts schedules."""
