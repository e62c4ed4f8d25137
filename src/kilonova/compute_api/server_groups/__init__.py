"""Server groups: who shall stand together and who apart."""
