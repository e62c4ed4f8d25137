"""Takes over the database of the community's placement: source.py connects, reading.py reads, checks.py judges,
writing.py writes.
"""
