"""Servers and what hangs on them: create, read, update, delete, actions, metadata, tags, addresses."""
