"""collsim: how long a collective takes on your GPUs, and why."""
