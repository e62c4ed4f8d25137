"""The documents that tell clients which versions of the compute API there are."""
