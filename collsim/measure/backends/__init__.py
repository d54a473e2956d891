"""Backends, by the path of their file: `<name>.py` has one function `connect`."""
