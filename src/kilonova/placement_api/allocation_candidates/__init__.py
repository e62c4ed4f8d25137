"""Allocation candidates: every way to meet a request."""
