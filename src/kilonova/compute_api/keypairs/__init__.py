"""Keypairs: public keys that servers are given; private halves are never kept."""
