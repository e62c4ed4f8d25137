"""`kilonova`: one command a verb. Each is a page of its own, read only when it is asked for: this one only names them."""

import importlib
import sys
from typing import Final

import click

from kilonova import __version__
from kilonova.domain.errors import KilonovaError
from kilonova.settings import SettingsError

COMMANDS: Final = {
    "up": "kilonova.cli.up",
    "api": "kilonova.cli.roles",
    "conductor": "kilonova.cli.roles",
    "agent": "kilonova.cli.roles",
    "placement": "kilonova.cli.placement",
    "audit": "kilonova.cli.look",
    "explain": "kilonova.cli.look",
    "config": "kilonova.cli.settings_commands",
    "db": "kilonova.cli.settings_commands",
}
"""Every command and the module that has it, under the command's own name."""


class _Commands(click.Group):
    """A group that loads a command's module when the command is asked for: the whole cloud is a second of imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name]), cmd_name)
        return found


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def commands() -> None:
    """A compute cloud that any OpenStack client can use."""


def main() -> None:
    """Entry of the installed command. What has a name is told in one line, without a trace."""
    try:
        commands()
    except (KilonovaError, SettingsError) as error:
        click.echo(f"kilonova: {error}", err=True)
        sys.exit(2)
