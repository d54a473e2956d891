"""Learn a machine's numbers from measurements, and hold predictions against them."""
