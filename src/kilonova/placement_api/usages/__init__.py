"""Usages: what is held, of a provider or by a project."""
