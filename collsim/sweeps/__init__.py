"""Grids of predictions: read from a file, run on all cores or a cluster, streamed in order."""
