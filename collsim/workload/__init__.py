"""Estimate: how long a step of training takes, and how much of it ranks wait for messages."""
