"""Which addresses to try: pure arithmetic on the ranges of a subnet. It never sees which ones are taken.

A port's id says where its search begins. Ids are random, so that searches that run at once rarely meet, and a search that is
repeated goes the same way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

_MASK: Final = 2**128 - 1


@dataclass(frozen=True, slots=True)
class Range:
    """Addresses from `first` to `last`, both in it, as numbers; `version` is 4 or 6."""

    first: int
    last: int
    version: int

    @property
    def size(self) -> int:
        """How many addresses there are."""
        return self.last - self.first + 1


def ranges_of(pools: Sequence[Mapping[str, str]]) -> list[Range]:
    """Pools as the API has them (`start`, `end`) as ranges. Raises ValueError."""
    found = []
    for pool in pools:
        first, last = ip_address(pool["start"]), ip_address(pool["end"])
        found.append(Range(int(first), int(last), first.version))
    return found


def probes(ranges: Sequence[Range], port_id: str, count: int = 4) -> Iterator[str]:
    """A few addresses all over the ranges: in a subnet that is not nearly full one of them is free."""
    total = sum(entry.size for entry in ranges)
    number = _number(port_id)
    for _ in range(count if total else 0):
        # A step of a linear congruential generator (Knuth's constants); its high bits are the good ones.
        number = (number * 6364136223846793005 + 1442695040888963407) & _MASK
        yield _nth(ranges, (number >> 48) % total)


def windows(ranges: Sequence[Range], port_id: str, size: int = 256) -> Iterator[list[str]]:
    """Every address of the ranges once, `size` at a time, beginning somewhere and going round."""
    total = sum(entry.size for entry in ranges)
    count = -(-total // size)
    begin = _number(port_id) % count if count else 0
    for step in range(count):
        place = (begin + step) % count * size
        yield [_nth(ranges, number) for number in range(place, min(place + size, total))]


def hardware_based(cidr: str, mac_address: str) -> str:
    """The address that a host gives itself in an IPv6 subnet without DHCP (modified EUI-64, RFC 4291 appendix A)."""
    octets = [int(part, 16) for part in mac_address.split(":")]
    octets[0] ^= 0x02
    interface = int.from_bytes(bytes([*octets[:3], 0xFF, 0xFE, *octets[3:]]))
    return str(IPv6Address(int(IPv6Network(cidr).network_address) | interface))


def _number(port_id: str) -> int:
    return int(port_id.replace("-", ""), 16)


def _nth(ranges: Sequence[Range], number: int) -> str:
    for entry in ranges:
        if number < entry.size:
            value = entry.first + number
            return str(IPv4Address(value) if entry.version == 4 else IPv6Address(value))
        number -= entry.size
    raise IndexError("the ranges have fewer addresses")
