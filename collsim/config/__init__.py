"""TOML in and out: presets, cluster files, profiles."""
