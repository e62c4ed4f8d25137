"""Availability zones: the names that aggregates give to hosts, and the two zones that need no aggregate."""
