"""Handlers of the identity API, one module a noun."""
