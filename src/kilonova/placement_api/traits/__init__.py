"""Traits: names of qualities, and which provider has which."""
