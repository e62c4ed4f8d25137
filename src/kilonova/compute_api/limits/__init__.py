"""Limits and what is used of them: for users as /limits, for administrators as quota sets."""
