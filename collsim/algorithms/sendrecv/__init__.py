"""Algorithms of sendrecv."""
