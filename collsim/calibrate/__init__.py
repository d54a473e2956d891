"""Learn from measurements: read them, fit a profile, check a machine against it."""
