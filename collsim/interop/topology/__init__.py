"""Importers of descriptions of machines: one file each, chosen by a file's content."""
