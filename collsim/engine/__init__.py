"""Run a schedule on a cluster in simulated time, and check that it is right."""
