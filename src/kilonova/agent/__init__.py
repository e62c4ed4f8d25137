"""The process on a host: takes commands, does them through the driver, tells how they ended."""

from kilonova.agent.process import Agent, Links
from kilonova.agent.settings import AgentSettings

__all__ = ["Agent", "AgentSettings", "Links"]
