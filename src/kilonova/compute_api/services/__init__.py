"""Compute services of hosts, and the control processes beside them."""
