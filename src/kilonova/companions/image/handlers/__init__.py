"""Handlers of the image API, one module a noun."""
