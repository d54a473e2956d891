"""Draw results as PNG, SVG or PDF."""
