"""Decide: times of algorithms at sizes, the fastest, and where two swap."""
