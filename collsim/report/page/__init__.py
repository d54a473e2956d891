"""The HTML report: one file that answers which algorithm, from which size, and why.

Everything is in the file, the library that draws included; it asks for nothing else.
"""
