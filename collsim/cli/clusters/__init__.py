"""The cluster that options mean, and what a reader has to know of it."""
