"""`kilonova`: one command a verb. Each is a page of its own; this one only names them."""

import sys

import click

from kilonova import __version__
from kilonova.cli.look import audit, explain
from kilonova.cli.roles import agent, api, conductor
from kilonova.cli.settings_commands import config, db
from kilonova.cli.up import up
from kilonova.domain.errors import KilonovaError
from kilonova.settings import SettingsError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def commands() -> None:
    """A compute cloud that any OpenStack client can use."""


for command in (up, api, conductor, agent, audit, explain, config, db):
    commands.add_command(command)


def main() -> None:
    """Entry of the installed command. What has a name is told in one line, without a trace."""
    try:
        commands()
    except (KilonovaError, SettingsError) as error:
        click.echo(f"kilonova: {error}", err=True)
        sys.exit(2)
