"""Hypervisors: hosts seen by what they have and hold."""
