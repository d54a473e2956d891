"""Time the real thing: point to point, a library's collectives, and our own schedules."""
