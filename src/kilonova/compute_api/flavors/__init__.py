"""Flavors, their extra specs and who may use the private ones."""
