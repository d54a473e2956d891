"""The nouns: collectives, schedules, clusters, timelines, measurements, profiles."""
