"""Allocations: what consumers hold."""
