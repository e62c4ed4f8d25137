"""The agent's branch of the settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How often, in seconds, a host does what it does unasked, and how long the control plane may take to answer."""

    beat_seconds: float = 10.0
    """Between two signs of life."""
    report_seconds: float = 1.0
    """Between two attempts to get a report taken."""
    hello_seconds: float = 1.0
    """Between two introductions that nobody answered."""
    inventory_seconds: float = 60.0
    """Between two looks at what the hypervisor has."""
    request_seconds: float = 5.0
    """How long an answer may take."""
