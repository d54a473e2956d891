"""Timelines as traces that Perfetto and chrome://tracing open.

The format is Chrome's Trace Event Format, as JSON: a list of events, each with its phase
(``ph``): X a slice of a thread, s and f the two ends of an arrow, C a counter, M a name.
"""
