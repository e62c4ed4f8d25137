"""How a reason is said to people: one phrase a reason, for one host and for several."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """Goes on after a number of hosts: "is down" or "are down"; `{subject}` stands for what the reason speaks of."""

    singular: str
    plural: str

    def of(self, count: int, subject: str) -> str:
        """The clause with its number, as in "2 are down"."""
        return f"{count} {self.about(count, subject)}"

    def about(self, count: int, subject: str) -> str:
        """The clause without its number."""
        return (self.singular if count == 1 else self.plural).replace("{subject}", subject)
