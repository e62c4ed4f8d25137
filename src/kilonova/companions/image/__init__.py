"""The image companion."""
