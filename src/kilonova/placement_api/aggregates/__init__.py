"""A provider's aggregates."""
