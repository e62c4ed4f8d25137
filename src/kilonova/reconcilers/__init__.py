"""Loops without input that bring reality to intent, and the audit that looks whether they did."""
