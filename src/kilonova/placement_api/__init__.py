"""The Placement API as a face: one table of routes, one folder a noun."""
