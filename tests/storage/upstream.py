"""A database as the community's placement has it since Xena: the tables and columns that a takeover reads."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import asyncpg

from tests.conftest import copy_of

SCHEMA: Final = (
    "CREATE TABLE resource_classes (id INTEGER PRIMARY KEY, name VARCHAR(255), created_at TIMESTAMP)",
    "CREATE TABLE traits (id INTEGER PRIMARY KEY, name VARCHAR(255), created_at TIMESTAMP)",
    "CREATE TABLE projects (id INTEGER PRIMARY KEY, external_id VARCHAR(255))",
    "CREATE TABLE users (id INTEGER PRIMARY KEY, external_id VARCHAR(255))",
    "CREATE TABLE consumer_types (id INTEGER PRIMARY KEY, name VARCHAR(255))",
    "CREATE TABLE placement_aggregates (id INTEGER PRIMARY KEY, uuid VARCHAR(36))",
    """CREATE TABLE resource_providers (id INTEGER PRIMARY KEY, uuid VARCHAR(36), name VARCHAR(200), generation INTEGER,
       parent_provider_id INTEGER, root_provider_id INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP)""",
    """CREATE TABLE inventories (resource_provider_id INTEGER, resource_class_id INTEGER, total INTEGER, reserved INTEGER,
       min_unit INTEGER, max_unit INTEGER, step_size INTEGER, allocation_ratio FLOAT)""",
    "CREATE TABLE resource_provider_traits (resource_provider_id INTEGER, trait_id INTEGER)",
    "CREATE TABLE resource_provider_aggregates (resource_provider_id INTEGER, aggregate_id INTEGER)",
    """CREATE TABLE consumers (uuid VARCHAR(36), generation INTEGER, project_id INTEGER, user_id INTEGER,
       consumer_type_id INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP)""",
    """CREATE TABLE allocations (id INTEGER PRIMARY KEY, consumer_id VARCHAR(36), resource_provider_id INTEGER,
       resource_class_id INTEGER, used INTEGER)""",
)
MADE: Final = "'2024-05-06 07:08:09'"


def uuid(number: int) -> str:
    """A uuid that a test can write."""
    return str(UUID(int=number))


HOST, NUMA, DEVICE, STORAGE = (uuid(number) for number in range(1, 5))
GROUP, SERVER, MOVING = uuid(10), uuid(20), uuid(21)
SMALL_CLOUD: Final = (
    f"INSERT INTO resource_classes VALUES (1, 'VCPU', {MADE}), (2, 'DISK_GB', {MADE}), (3, 'CUSTOM_GOLD', {MADE})",
    f"INSERT INTO traits VALUES (1, 'HW_CPU_X86_AVX2', {MADE}), (2, 'CUSTOM_FAST', {MADE}), (3, 'CUSTOM_NEVER', NULL)",
    "INSERT INTO projects VALUES (7, 'demo')",
    "INSERT INTO users VALUES (8, 'anna')",
    "INSERT INTO consumer_types VALUES (1, 'INSTANCE')",
    f"INSERT INTO placement_aggregates VALUES (5, '{GROUP}')",
    f"""INSERT INTO resource_providers VALUES (11, '{HOST}', 'host', 5, NULL, 11, {MADE}, {MADE}),
       (12, '{NUMA}', 'numa', 2, 11, 11, {MADE}, NULL), (13, '{DEVICE}', 'device', 1, 12, 11, NULL, NULL),
       (14, '{STORAGE}', 'störage', 3, NULL, 14, {MADE}, {MADE})""",
    """INSERT INTO inventories VALUES (11, 1, 32, 2, 1, 16, 1, 16.0), (12, 1, 8, 0, 2, 8, 2, 1.5), (13, 3, 4, 0, 1, 4, 1, 1.0),
       (14, 2, 2000, 100, 1, 2000, 10, 1.0)""",
    "INSERT INTO resource_provider_traits VALUES (11, 1), (11, 2), (13, 2)",
    "INSERT INTO resource_provider_aggregates VALUES (11, 5), (14, 5)",
    f"""INSERT INTO consumers VALUES ('{SERVER}', 3, 7, 8, 1, {MADE}, {MADE}), ('{MOVING}', 1, 7, 8, NULL, {MADE}, NULL),
       ('{uuid(22)}', 1, 7, 8, NULL, {MADE}, {MADE})""",
    f"""INSERT INTO allocations VALUES (1, '{SERVER}', 11, 1, 4), (2, '{SERVER}', 13, 3, 1), (3, '{SERVER}', 14, 2, 20),
       (4, '{MOVING}', 11, 1, 2), (5, '{MOVING}', 14, 2, 30)""",
)
"""A host of two levels with a device, a shared storage, a server, a consumer without a type, one that holds nothing."""


def on_sqlite(directory: Path, *statements: str) -> str:
    """The address of a new file with the schema and what the statements put there."""
    path = directory / "upstream.sqlite"
    connection = sqlite3.connect(path)
    for statement in (*SCHEMA, *statements):
        connection.execute(statement)
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


async def on_postgresql(server_url: str, *statements: str) -> str:
    """The address of a new database with the schema and what the statements put there."""
    url = await copy_of(server_url, "template0")
    connection = await asyncpg.connect(url)
    for statement in (*SCHEMA, *statements):
        await connection.execute(statement)
    await connection.close()
    return url.replace("postgresql:", "postgresql+psycopg2:", 1)


async def fill_sqlite(address: str, rows: Mapping[str, Sequence[Sequence[Any]]]) -> None:
    """Put many rows into tables of a file made by `on_sqlite`."""
    connection = sqlite3.connect(address.removeprefix("sqlite:///"))
    for table, values in rows.items():
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    connection.commit()
    connection.close()
