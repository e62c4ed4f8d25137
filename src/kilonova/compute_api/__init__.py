"""The Compute API 2.1-2.104 as a face: one table of routes, one folder a noun."""
