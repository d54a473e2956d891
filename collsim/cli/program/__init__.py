"""What every command goes through: how it is found and stopped, and where answers go."""
