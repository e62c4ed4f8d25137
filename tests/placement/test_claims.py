import pytest

from kilonova.domain.errors import BadAmount, Conflict, OverCapacity
from kilonova.domain.resources import Inventory
from kilonova.placement.claims import verify

NAMES = {1: "host-1"}
VCPU = (1, "VCPU")


def check(inventory: Inventory, old: int, new: int) -> None:
    verify({VCPU: inventory}, {VCPU: old} if old else {}, {VCPU: new}, NAMES)


def test_a_claim_up_to_the_capacity_is_allowed_and_one_more_is_not() -> None:
    check(Inventory(10, reserved=2, allocation_ratio=2.0, used=10), 0, 6)
    with pytest.raises(OverCapacity, match="7 VCPU asked of resource provider host-1, where 6 of 16 are free"):
        check(Inventory(10, reserved=2, allocation_ratio=2.0, used=10), 0, 7)


@pytest.mark.parametrize(("old", "new"), [(4, 4), (4, 2)])
def test_c139_a_write_that_keeps_or_lowers_a_use_is_allowed_on_an_overloaded_provider(old: int, new: int) -> None:
    check(Inventory(10, reserved=6, used=8), old, new)


@pytest.mark.parametrize(("old", "new", "used"), [(2, 3, 6), (0, 1, 6)])
def test_c139_a_write_that_makes_an_overload_worse_is_not(old: int, new: int, used: int) -> None:
    with pytest.raises(OverCapacity):
        check(Inventory(10, reserved=6, used=used), old, new)


def test_what_a_consumer_holds_itself_does_not_count_against_it() -> None:
    check(Inventory(10, used=8), 8, 10)


@pytest.mark.parametrize(
    ("inventory", "field"),
    [
        (Inventory(10, min_unit=4), "min_unit"),
        (Inventory(10, max_unit=2), "max_unit"),
        (Inventory(10, step_size=2), "step_size"),
    ],
)
def test_c155_a_broken_unit_has_a_code_of_its_own_and_names_the_field(inventory: Inventory, field: str) -> None:
    with pytest.raises(BadAmount, match=field):
        check(inventory, 0, 3)


def test_a_class_without_inventory_is_a_conflict_that_names_both() -> None:
    with pytest.raises(Conflict, match=r"Inventory for .VCPU. on resource provider host-1 does not exist"):
        verify({}, {}, {VCPU: 1}, NAMES)
