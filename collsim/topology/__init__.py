"""Shapes of clusters: one file each, giving links, routes and cuts."""
