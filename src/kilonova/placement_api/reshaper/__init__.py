"""The reshaper: moves inventories and allocations together."""
