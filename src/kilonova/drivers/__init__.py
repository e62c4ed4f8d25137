"""Hypervisors behind one contract."""
