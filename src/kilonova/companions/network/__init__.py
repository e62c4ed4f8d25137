"""The network companion."""
