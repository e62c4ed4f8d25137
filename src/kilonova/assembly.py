"""Joins the parts: the one file that knows every concrete class. Roles are API, conductor and agents; `up` plays all."""

import asyncio
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import quote

import os_traits
import structlog

from kilonova.agent.dispatch import CHAOS_POINTS
from kilonova.agent.journal import Journal
from kilonova.agent.process import Agent, Links
from kilonova.agent.settings import AgentSettings
from kilonova.bus import Bus
from kilonova.bus.chaos import ChaosRules
from kilonova.bus.in_process import InProcessBus
from kilonova.bus.nats import NatsBus
from kilonova.bus.nats_server import inbox_prefix
from kilonova.bus.tasks import keep_going
from kilonova.companions.identity.contract import IdentityService
from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.companions.identity.face import identity_face
from kilonova.companions.identity.noauth import NoAuthIdentity
from kilonova.companions.identity.remote import RemoteIdentity
from kilonova.companions.identity.tokens import load_keys
from kilonova.companions.image.embedded import EmbeddedImages
from kilonova.companions.image.face import image_face
from kilonova.companions.image.files import ImageFiles
from kilonova.companions.image.parts import ImageParts
from kilonova.companions.network.contract import NetworkService
from kilonova.companions.network.embedded import EmbeddedNetwork
from kilonova.companions.network.face import network_face
from kilonova.companions.network.parts import NetworkParts
from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.policy import RULES as COMPUTE_RULES
from kilonova.compute_api.routes import ROUTES as COMPUTE_ROUTES
from kilonova.compute_api.versions_doc.handlers import root_routes, version_routes
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import KilonovaError, Unavailable
from kilonova.drivers.fake.driver import FakeDriver
from kilonova.drivers.fake.shape import FakeShape
from kilonova.http.cors import Cors
from kilonova.http.errors import compute_form, errors_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy, PolicyError, read_rules
from kilonova.http.site import Application, Metrics, Site
from kilonova.http.versions import Versions
from kilonova.operations.accept import Acceptor, AcceptSettings
from kilonova.operations.cloud import Cloud
from kilonova.operations.commands import CommandLimits, HostCommands
from kilonova.operations.end import Ender
from kilonova.operations.engine import Engine, EngineSettings
from kilonova.operations.guarded_networks import POINTS as NETWORK_POINTS
from kilonova.operations.guarded_networks import GuardedNetworks
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.operations.place import POINT as SCHEDULE_POINT
from kilonova.operations.place import Placer, PlaceSettings
from kilonova.operations.planning import Planner
from kilonova.operations.reads import HostReads
from kilonova.operations.records import Recorder
from kilonova.operations.run import RunLimits, RunParts
from kilonova.operations.secrets import Keyring
from kilonova.operations.table import POINTS, TABLE
from kilonova.operations.wishes import WishReader
from kilonova.own_api.parts import OwnParts
from kilonova.own_api.routes import CHAOS, KILONOVA
from kilonova.own_api.routes import RULES as OWN_RULES
from kilonova.placement_api.face import Mounting, placement_face
from kilonova.placement_api.parts import STANDARD_CLASSES, PlacementParts
from kilonova.placement_api.policy import RULES as PLACEMENT_RULES
from kilonova.reconcilers import housekeeping
from kilonova.reconcilers.housekeeping import Chore, checkpoint, dead_cards, feed_tail, old_history
from kilonova.reconcilers.liveness import Liveness, LivenessSettings
from kilonova.reconcilers.parked import unpark
from kilonova.reconcilers.presence import CONDUCTOR_BINARIES, announce, presence
from kilonova.reconcilers.registration import Registration
from kilonova.scheduling.settings import SelectSettings
from kilonova.settings import (
    AgentOptions,
    BusSettings,
    DatabaseSettings,
    FakeSettings,
    SchedulerSettings,
    Settings,
    SettingsError,
)
from kilonova.storage import topology
from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase
from kilonova.storage.takeover import checks, reading, writing
from kilonova.storage.takeover.source import open_source

log = structlog.get_logger(__name__)
STANDARD_TRAITS: Final = frozenset(os_traits.get_traits())
FEED_KEPT: Final = 100_000
"""How many changes the feed keeps for processes that fell behind."""


async def open_database(settings: DatabaseSettings, state: Path) -> Database:
    """The database that the settings name; SQLite lives in the state directory. Raises errors.Unavailable."""
    if settings.url:
        return await PostgresqlDatabase.connect(
            settings.url, connections=settings.connections, seconds=settings.statement_seconds
        )
    return SqliteDatabase(state / "kilonova.sqlite", full_sync=settings.full_sync)


async def open_bus(settings: BusSettings, name: str, host: str = "") -> Bus:
    """The bus that the settings name; `host` is given where a host's agent speaks. Raises errors.Unavailable."""
    if not settings.url:
        return InProcessBus()
    return await NatsBus.connect(
        settings.url,
        name,
        user=settings.user or None,
        password=settings.password or None,
        inbox_prefix=inbox_prefix(host) if host else None,
    )


def select_settings(settings: SchedulerSettings) -> SelectSettings:
    """The scheduler's own branch."""
    return SelectSettings(
        ram_weight_multiplier=settings.ram_weight_multiplier,
        cpu_weight_multiplier=settings.cpu_weight_multiplier,
        disk_weight_multiplier=settings.disk_weight_multiplier,
        build_failure_weight_multiplier=settings.build_failure_weight_multiplier,
        soft_affinity_weight_multiplier=settings.soft_affinity_weight_multiplier,
        soft_anti_affinity_weight_multiplier=settings.soft_anti_affinity_weight_multiplier,
        host_subset_size=settings.host_subset_size,
        max_alternates=settings.max_alternates,
    )


@dataclass(frozen=True, slots=True)
class Ground:
    """What every role stands on."""

    settings: Settings
    database: Database
    bus: Bus
    chaos: ChaosRules
    ledger: LedgerIndex
    cloud: Cloud
    keyring: Keyring


def make_ground(settings: Settings, database: Database, bus: Bus, chaos: ChaosRules) -> Ground:
    """The ground of one process: its picture of the cloud belongs to it."""
    chaos.know((*POINTS, *CHAOS_POINTS, *NETWORK_POINTS, SCHEDULE_POINT))
    ledger = LedgerIndex(database)
    directory = settings.state.directory
    keyring = Keyring.of_file(Path(directory) / "operations.keys") if directory else Keyring.of_process()
    cloud = Cloud(database, ledger, settings.api.default_zone)
    return Ground(settings, database, bus, chaos, ledger, cloud, keyring)


def make_acceptor(ground: Ground) -> Acceptor:
    """How the HTTP faces take requests in."""
    settings = ground.settings
    accept = AcceptSettings(settings.quota, settings.conductor.batch, settings.scheduler.max_attempts)
    return Acceptor(ground.database, ground.bus, ground.keyring, accept)


@dataclass(slots=True)
class Conductor:
    """One conductor: its engine, and the loops that answer and watch hosts."""

    engine: Engine
    commands: HostCommands
    registration: Registration
    liveness: Liveness
    ground: Ground
    _loops: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Begin to work."""
        await self.ground.cloud.refresh()
        await self.commands.start()
        await self.registration.start()
        await self.liveness.start()
        pause = self.ground.settings.conductor.poll_seconds
        for name, loop in (("liveness", self.liveness.run), ("picture", self._keep_picture)):
            going = keep_going(loop, f"conductor:{name}", pause)
            self._loops.append(asyncio.create_task(going, name=f"conductor:{name}"))
        await self.engine.start()

    async def stop(self) -> None:
        """End in good order: leases are let go."""
        await self.engine.stop()
        await self._end()

    async def drop(self) -> None:
        """End as a crash would."""
        await self.engine.drop()
        await self._end()

    async def _end(self) -> None:
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self.commands.stop()

    async def _keep_picture(self) -> None:
        """Whether hosts are up must be known even while nobody asks for a place."""
        while True:
            await asyncio.sleep(self.ground.settings.conductor.poll_seconds)
            try:
                await self.ground.cloud.refresh()
                await unpark(self.ground.database, self.ground.bus)
            except Unavailable as error:
                log.warning("picture.cannot_refresh", reason=str(error))


def make_conductor(ground: Ground, networks: NetworkService) -> Conductor:
    """A conductor with a name of its own, so that its leases and reports are nobody else's."""
    settings = ground.settings.conductor
    name = f"{socket.gethostname()}-{new_uuid()[:8]}"
    database, cloud, batch = ground.database, ground.cloud, settings.batch
    limits = CommandLimits(settings.accept_seconds, settings.resend_seconds, settings.command_seconds)
    commands = HostCommands(ground.bus, name, limits, cloud.is_up)
    planner = Planner(select_settings(ground.settings.scheduler), Random())
    parts = RunParts(
        wishes=WishReader(database, batch),
        database=database,
        cloud=cloud,
        recorder=Recorder(database, batch),
        placer=Placer(database, cloud, planner, ground.chaos, PlaceSettings(batch, ground.settings.scheduler.replans)),
        ender=Ender(database, batch),
        commands=commands,
        networks=GuardedNetworks(networks, ground.chaos, settings.companion_seconds),
        chaos=ground.chaos,
        keyring=ground.keyring,
        limits=RunLimits(settings.command_seconds, settings.retry_seconds, settings.command_seconds),
        show_amounts=ground.settings.api.show_amounts,
    )
    engine = Engine(
        TABLE,
        parts,
        ground.bus,
        EngineSettings(name, settings.lease_seconds, settings.poll_seconds, settings.slots, batch),
    )
    # Often enough to find a host down soon after it has been silent for too long.
    look = min(5.0, settings.host_down_seconds / 4)
    liveness = Liveness(database, ground.bus, LivenessSettings(name, settings.host_down_seconds, look))
    return Conductor(engine, commands, Registration(database, ground.bus), liveness, ground)


def fake_shape(settings: FakeSettings) -> FakeShape:
    """The shape of a fake host."""
    return FakeShape(
        vcpus=settings.vcpus,
        memory_mb=settings.memory_mb,
        disk_gb=settings.disk_gb,
        cpu_ratio=settings.cpu_ratio,
        numa_cells=settings.numa_cells,
        traits=tuple(settings.traits),
        build_seconds=settings.build_seconds,
        pci_devices=tuple(_pci_device(text) for text in settings.pci_devices),
    )


def _pci_device(text: str) -> tuple[str, int, tuple[str, ...]]:
    """CLASS:COUNT[:TRAIT+TRAIT] as the fake host wants it. Raises SettingsError."""
    parts = text.split(":")
    if len(parts) not in {2, 3} or not parts[1].isdigit():
        raise SettingsError(f"[fake] pci_devices: {text!r} is not CLASS:COUNT or CLASS:COUNT:TRAIT+TRAIT")
    return parts[0], int(parts[1]), tuple(parts[2].split("+")) if len(parts) == 3 else ()


@dataclass(frozen=True, slots=True)
class HostPlace:
    """Where a host stands: its name, its cell, and the directory that its guests are kept in."""

    name: str
    cell: str
    state: Path


def make_agent(ground_bus: Bus, chaos: ChaosRules, journal: Journal, place: HostPlace, settings: Settings) -> Agent:
    """The agent of one host, with its driver."""
    driver = FakeDriver(place.name, fake_shape(settings.fake), place.state / f"guests-{quote(place.name, safe='')}")
    options: AgentOptions = settings.agent
    timing = AgentSettings(beat_seconds=options.beat_seconds, inventory_seconds=options.inventory_seconds)
    return Agent(place.name, place.cell, Links(driver, ground_bus, journal, chaos), timing)


@dataclass(frozen=True, slots=True)
class Companions:
    """The services beside compute, embedded ones here."""

    identity: EmbeddedIdentity
    images: EmbeddedImages
    networks: EmbeddedNetwork


async def open_companions(ground: Ground) -> Companions:
    """Make the embedded companions ready: what every cloud needs is there afterwards."""
    directory = Path(ground.settings.state.directory)
    identity = EmbeddedIdentity(ground.database, load_keys(directory / "identity.keys"), ground.settings.identity)
    await identity.bootstrap(ground.settings.identity.admin_password)
    images = EmbeddedImages(ground.database, ImageFiles(directory / "images"))
    return Companions(identity, images, EmbeddedNetwork(ground.database))


async def start_chores(ground: Ground, companions: Companions) -> asyncio.Task[None]:
    """The chores of a process that conducts."""
    host = socket.gethostname()
    await announce(ground.database, host, CONDUCTOR_BINARIES)
    chores = [
        *_database_chores(ground.database, ground.settings),
        dead_cards(ground.database, companions.networks),
        presence(ground.database, host, CONDUCTOR_BINARIES),
    ]
    if ground.settings.conductor.purge_seconds > 0:
        chores.append(old_history(ground.database, ground.settings.conductor.purge_seconds))
    return asyncio.create_task(housekeeping.run(chores), name="chores")


def _database_chores(database: Database, settings: Settings) -> list[Chore]:
    """What keeps a database small that nobody else looks after."""
    chores = [feed_tail(database, FEED_KEPT)]
    if isinstance(database, SqliteDatabase):
        chores.append(checkpoint(database, settings.database.checkpoint_seconds))
    return chores


@dataclass(frozen=True, slots=True)
class PlacementAlone:
    """What the placement API stands on where it is served alone: no bus, no conductor, no other face."""

    settings: Settings
    database: Database
    ledger: LedgerIndex
    identity: IdentityService


def make_placement_alone(settings: Settings, database: Database) -> PlacementAlone:
    """The ground of one process that serves placement alone. Raises SettingsError."""
    return PlacementAlone(settings, database, LedgerIndex(database), _placement_identity(settings, database))


def _placement_identity(settings: Settings, database: Database) -> IdentityService:
    strategy = settings.placement.auth_strategy
    if strategy == "keystone":
        return RemoteIdentity(settings.keystone)
    if strategy == "noauth2":
        log.warning("placement.everybody_is_believed", auth_strategy=strategy)
        return NoAuthIdentity()
    if strategy != "embedded":
        raise SettingsError(f"[placement] auth_strategy: {strategy!r} is not embedded, keystone or noauth2")
    return EmbeddedIdentity(database, load_keys(Path(settings.state.directory) / "identity.keys"), settings.identity)


async def take_over(database: Database, url: str) -> checks.WholeLedger:
    """Write the ledger of the community's placement at an SQLAlchemy URL into an empty one of ours; what was written.

    Raises checks.CannotTakeOver, writing.NotEmpty, source.Unreadable, errors.BadRequest, errors.Unavailable.
    """
    async with open_source(url) as source:
        tables = await reading.read(source)
    ledger = checks.check(tables, checks.Standards(STANDARD_CLASSES, STANDARD_TRAITS), now())
    await writing.write(database, ledger)
    return ledger


def start_placement_chores(alone: PlacementAlone) -> asyncio.Task[None]:
    """The chores of a process that serves placement alone."""
    return asyncio.create_task(housekeeping.run(_database_chores(alone.database, alone.settings)), name="chores")


def make_placement_site(alone: PlacementAlone) -> Site:
    """The placement API at the root, where clients of the community's own service look for it, and at our usual places.

    Raises SettingsError for a policy file that cannot be read.
    """
    parts = PlacementParts(alone.database, alone.ledger, search_seconds=alone.settings.placement.search_seconds)
    keystone = alone.settings.keystone.url if isinstance(alone.identity, RemoteIdentity) else ""
    faces = [
        (mounting.prefix, _open_to_pages(placement_face(parts, alone.identity, mounting), alone.settings))
        for mounting in _placement_mountings(alone.settings, ("", "/placement", "/own/placement"), keystone)
    ]
    return Site(faces, Metrics(), lambda: _health(alone.database))


def make_site(ground: Ground, companions: Companions, url: str) -> Site:
    """Every HTTP face of this process. `url` is the address that clients reach it at."""
    settings = ground.settings
    reads = HostReads(ground.bus, settings.bus.request_seconds)
    identity_url = f"{url}/identity"
    faces: list[tuple[str, Application]] = [
        ("/identity", identity_face(companions.identity, settings.identity, url)),
        ("/image", image_face(ImageParts(companions.images, settings.api.max_limit), companions.identity, identity_url)),
        ("/network", network_face(NetworkParts(ground.database), companions.identity, identity_url=identity_url)),
        *_compute_faces(ground, companions, reads, identity_url),
        *_placement_faces(ground, companions, identity_url),
        *_own_faces(ground, companions, reads, identity_url),
    ]
    return Site(faces, Metrics(), lambda: _health(ground.database))


def _open_to_pages(face: Application, settings: Settings) -> Application:
    """The placement API with answers to browsers whose pages come from elsewhere, where some are allowed to."""
    allowed = settings.placement
    return Cors(face, allowed.cors_origins, allowed.cors_headers) if allowed.cors_origins else face


async def _health(database: Database) -> Mapping[str, str]:
    try:
        async with database.read() as transaction:
            await topology.read(transaction)
    except KilonovaError as error:
        return {"database": str(error)}
    return {"database": "ok"}


def _compute_faces(
    ground: Ground, companions: Companions, reads: HostReads, identity_url: str
) -> Iterator[tuple[str, Application]]:
    settings = ground.settings
    parts = ComputeParts(
        database=ground.database,
        acceptor=make_acceptor(ground),
        reads=reads,
        images=companions.images,
        networks=companions.networks,
        bus=ground.bus,
        api=settings.api,
        compute=settings.compute,
        quota=settings.quota,
        scheduler=settings.scheduler,
        traits=STANDARD_TRAITS,
    )
    policy = Policy(COMPUTE_RULES)
    for prefix, lenient in (("", False), ("/own", True)):
        versions = Versions("compute", 2, 1, 104, 1003, lenient, legacy_header="x-openstack-nova-api-version")
        for path, routes in (
            (f"{prefix}/compute", root_routes(versions)),
            (f"{prefix}/compute/v2.1", (*version_routes(versions), *COMPUTE_ROUTES)),
        ):
            face = FaceSettings(
                name="compute",
                prefix=path,
                errors=compute_form,
                versions=versions,
                body_limit=settings.api.body_limit,
                legacy_project=path.endswith("v2.1"),
                request_id_headers=("x-openstack-request-id", "x-compute-request-id"),
                identity_url=identity_url,
            )
            yield path, Face(face, routes, parts, companions.identity, policy)


def _placement_faces(ground: Ground, companions: Companions, identity_url: str) -> Iterator[tuple[str, Application]]:
    parts = PlacementParts(ground.database, ground.ledger, search_seconds=ground.settings.placement.search_seconds)
    for mounting in _placement_mountings(ground.settings, ("/placement", "/own/placement"), identity_url):
        yield mounting.prefix, _open_to_pages(placement_face(parts, companions.identity, mounting), ground.settings)


def _placement_mountings(settings: Settings, prefixes: Sequence[str], identity_url: str) -> list[Mounting]:
    """Where the placement API stands, by which rules. Raises SettingsError for a policy file that cannot be read."""
    path = settings.placement.policy_file
    try:
        overrides = read_rules(Path(path)) if path else {}
        Policy(PLACEMENT_RULES, overrides)
    except PolicyError as error:
        raise SettingsError(f"[placement] policy_file: {error}") from error
    return [Mounting(prefix, prefix.startswith("/own"), identity_url, overrides) for prefix in prefixes]


def _own_faces(ground: Ground, companions: Companions, reads: HostReads, identity_url: str) -> Iterator[tuple[str, Application]]:
    parts = OwnParts(ground.database, reads, ground.bus, ground.chaos)
    policy = Policy(OWN_RULES)
    doors = [("/kilonova", KILONOVA)] + ([("/chaos", CHAOS)] if ground.chaos.is_enabled else [])
    for prefix, routes in doors:
        face = FaceSettings("kilonova", prefix, errors_form, identity_url=identity_url)
        yield prefix, Face(face, routes, parts, companions.identity, policy)
