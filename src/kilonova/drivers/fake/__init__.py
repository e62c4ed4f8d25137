"""A hypervisor that runs nothing: for trying the cloud out, for tests and for load."""

from kilonova.drivers.fake.driver import FakeDriver
from kilonova.drivers.fake.shape import FakeShape

__all__ = ["FakeDriver", "FakeShape"]
