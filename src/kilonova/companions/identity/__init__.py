"""The identity companion."""
