"""Kilonova: a compute cloud control plane that any OpenStack client can use unchanged."""

__version__ = "0.1.0"
