"""The ledger as a library: an in-memory index of providers, the search for candidates, the check of claims.

Pure: it reads and writes no database, and knows no HTTP.
"""
