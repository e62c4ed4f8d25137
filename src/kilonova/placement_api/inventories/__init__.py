"""Inventories: how much of a class a provider has, and how it may be given out."""
