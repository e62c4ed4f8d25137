"""Every knob, as one frozen tree. A part is handed its own branch and never the whole."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast


def knob(default: Any, meaning: str) -> Any:
    """A setting with its default and, for `kilonova config`, what it means."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class StateSettings:
    """[state]: what a process keeps on disk besides the database."""

    directory: str = knob("", "Directory of token keys, image files and host journals.")


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """[api]: the HTTP faces."""

    listen: str = knob("127.0.0.1", "Address that HTTP is served on.")
    port: int = knob(8774, "Port that HTTP is served on; 0 takes a free one.")
    public_url: str = knob("", "Address that clients reach this cloud at; empty: http://listen:port.")
    max_limit: int = knob(1000, "Most items on one page of a list.")
    body_limit: int = knob(114688, "Largest request body in bytes (images have a limit of their own).")
    default_zone: str = knob("nova", "Availability zone of hosts that are in no aggregate with a zone.")
    internal_zone: str = knob("internal", "Zone that control processes are shown in.")
    show_amounts: bool = knob(True, "Whether users see amounts in the fault of a server that found no host.")
    shutdown_seconds: float = knob(5.0, "How long running requests may take when the process is asked to end.")


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """[database]: where the truth is kept."""

    url: str = knob("", "postgresql://... or empty for SQLite in the state directory.")
    connections: int = knob(8, "Most connections of this process to PostgreSQL.")
    statement_seconds: float = knob(10.0, "How long one statement may take.")
    full_sync: bool = knob(False, "SQLite: whether every commit survives a power cut (slower).")
    checkpoint_seconds: float = knob(5.0, "SQLite: how often the write-ahead log is moved into the file.")


@dataclass(frozen=True, slots=True)
class BusSettings:
    """[bus]: how processes wake each other."""

    url: str = knob("", "nats://... or empty for the bus inside this process.")
    user: str = knob("", "NATS user.")
    password: str = knob("", "NATS password.")
    request_seconds: float = knob(5.0, "How long an answer from a host may take.")


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """[scheduler]: where servers go."""

    pending_on_no_valid_host: bool = knob(False, "Not served yet: whether a server that finds no host waits as PENDING (2.1002).")
    pending_timeout: float = knob(0.0, "Not served yet: seconds after which a PENDING server becomes ERROR; 0: never.")
    max_placement_results: int = knob(1000, "Not served yet: most candidates that one search gives; all are looked at.")
    host_subset_size: int = knob(1, "Among how many of the best hosts one is taken at random.")
    max_attempts: int = knob(3, "Builds tried on different hosts before a server goes to ERROR.")
    max_alternates: int = knob(5, "Hosts kept as alternatives to the best one.")
    replans: int = knob(10, "How often a request that lost its room to another is planned anew at once.")
    ram_weight_multiplier: float = knob(1.0, "Weight of free memory; negative packs instead of spreading.")
    cpu_weight_multiplier: float = knob(1.0, "Weight of free VCPUs.")
    disk_weight_multiplier: float = knob(1.0, "Weight of free disk.")
    build_failure_weight_multiplier: float = knob(1000000.0, "Weight of recent failed builds, which push a host back.")
    soft_affinity_weight_multiplier: float = knob(1.0, "Weight of servers of the same group on a host.")
    soft_anti_affinity_weight_multiplier: float = knob(1.0, "Weight against servers of the same group on a host.")


@dataclass(frozen=True, slots=True)
class PlacementSettings:
    """[placement]: the placement API, alone or with the cloud."""

    auth_strategy: str = knob(
        "embedded",
        "`kilonova placement`: who knows tokens: `embedded` (this database's identity), `keystone`, `noauth2` (anybody; tests).",
    )
    policy_file: str = knob("", "YAML file of policy rules by the community's names, over the defaults.")
    search_seconds: float = knob(10.0, "How long one search for candidates may take; then it is refused with 503.")
    cors_origins: tuple[str, ...] = knob((), "Origins whose pages may call the placement API from a browser; `*`: any.")
    cors_headers: tuple[str, ...] = knob((), "Headers that such pages may send besides the usual.")


@dataclass(frozen=True, slots=True)
class KeystoneSettings:
    """[keystone]: a real Keystone that knows the tokens, and our own login there."""

    url: str = knob("", "Address of its API: http://host:5000 or https://host/identity.")
    username: str = knob("placement", "User that asks what tokens mean; needs the role service, or admin.")
    password: str = knob("", "Password of that user.")
    project_name: str = knob("service", "Project of that user.")
    user_domain: str = knob("Default", "Name of that user's domain.")
    project_domain: str = knob("Default", "Name of that project's domain.")
    ca_file: str = knob("", "PEM file of the authorities that sign its certificate; empty: the usual ones.")
    cache_seconds: float = knob(60.0, "How long a token may still be believed after it was revoked.")
    cached_tokens: int = knob(10_000, "Most tokens that are remembered.")
    call_seconds: float = knob(10.0, "How long finding out what one token means may take.")


@dataclass(frozen=True, slots=True)
class ComputeSettings:
    """[compute]: what servers may do."""

    allow_resize_to_same_host: bool = knob(False, "Not served yet: whether a resize may stay on its host.")
    shelved_offload_time: float = knob(0.0, "Not served yet: seconds until a shelved server leaves its host; -1: never.")
    force_config_drive: bool = knob(False, "Whether every new server gets a config drive.")


@dataclass(frozen=True, slots=True)
class QuotaSettings:
    """[quota]: default limits by the community's names; -1 is no limit."""

    count: str = knob("servers", "What counts: `servers` (every live server); `placement` is not served yet.")
    instances: int = knob(10, "Servers of a project.")
    cores: int = knob(20, "VCPUs of a project.")
    ram: int = knob(51200, "Memory of a project in MB.")
    key_pairs: int = knob(100, "Keypairs of a user.")
    server_groups: int = knob(10, "Server groups of a project.")
    server_group_members: int = knob(10, "Servers of a group.")
    metadata_items: int = knob(128, "Metadata items of a server.")


@dataclass(frozen=True, slots=True)
class ConductorSettings:
    """[conductor]: how operations are run."""

    lease_seconds: float = knob(15.0, "How long an operation is a conductor's without a sign of life.")
    poll_seconds: float = knob(1.0, "How often work is looked for when no wake-up comes.")
    slots: int = knob(256, "Operations that one conductor runs at once, per cell.")
    batch: int = knob(64, "Most requests of one transaction.")
    accept_seconds: float = knob(5.0, "How long a host may take to accept a command.")
    command_seconds: float = knob(600.0, "How long a host may take to do a command.")
    resend_seconds: float = knob(2.0, "How often a command is asked after when no report comes.")
    companion_seconds: float = knob(30.0, "How long one call to a companion service may take.")
    retry_seconds: float = knob(1.0, "Pause before a step is tried again after a transient error.")
    host_down_seconds: float = knob(30.0, "Silence after which a host counts as down.")
    purge_seconds: float = knob(0.0, "Age at which deleted servers and their operations are forgotten; 0: never.")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """[agent]: the process on a host."""

    host: str = knob("", "Name of the host; empty: the machine's.")
    cell: str = knob("cell1", "Cell that the host belongs to.")
    driver: str = knob("fake", "Hypervisor driver: fake.")
    beat_seconds: float = knob(10.0, "How often a host says that it lives.")
    inventory_seconds: float = knob(60.0, "How often a host looks at what it has.")


@dataclass(frozen=True, slots=True)
class FakeSettings:
    """[fake]: the shape of a fake host."""

    vcpus: int = knob(64, "VCPUs.")
    memory_mb: int = knob(262144, "Memory in MB.")
    disk_gb: int = knob(4096, "Disk in GB.")
    cpu_ratio: float = knob(1.0, "How often a VCPU is given out.")
    numa_cells: int = knob(0, "NUMA cells, each a nested provider; 0: none.")
    build_seconds: float = knob(0.0, "How long a build takes.")
    traits: tuple[str, ...] = knob((), "More traits of the root provider.")
    pci_devices: tuple[str, ...] = knob((), "PCI devices, each a nested provider: CLASS:COUNT or CLASS:COUNT:TRAIT+TRAIT.")


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """[identity]: the embedded identity service."""

    admin_password: str = knob("kilonova", "Password of the user admin, set when the cloud is made.")
    token_seconds: float = knob(86400.0, "Life of a token.")
    region: str = knob("RegionOne", "Name of the only region.")


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole tree."""

    state: StateSettings = field(default_factory=StateSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    placement: PlacementSettings = field(default_factory=PlacementSettings)
    keystone: KeystoneSettings = field(default_factory=KeystoneSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    compute: ComputeSettings = field(default_factory=ComputeSettings)
    quota: QuotaSettings = field(default_factory=QuotaSettings)
    conductor: ConductorSettings = field(default_factory=ConductorSettings)
    agent: AgentOptions = field(default_factory=AgentOptions)
    fake: FakeSettings = field(default_factory=FakeSettings)
    identity: IdentitySettings = field(default_factory=IdentitySettings)


class SettingsError(ValueError):
    """A setting cannot be read; the sentence names it."""


def load(path: Path | None, environment: Mapping[str, str]) -> Settings:
    """Settings from a TOML file, then from variables KILONOVA_SECTION__KEY, over the defaults. Raises SettingsError."""
    content: dict[str, dict[str, Any]] = {}
    if path is not None:
        try:
            content = tomllib.loads(path.read_text())
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise SettingsError(f"{path}: {error}") from error
    for name, value in environment.items():
        section, separator, key = name.removeprefix("KILONOVA_").partition("__")
        if name.startswith("KILONOVA_") and separator:
            content.setdefault(section.lower(), {})[key.lower()] = value
    branches = {entry.name: entry for entry in fields(Settings)}
    unknown = [section for section in content if section not in branches]
    if unknown:
        raise SettingsError(f"[{unknown[0]}] is no section of the settings")
    return Settings(**{section: _branch(section, branches[section], values) for section, values in content.items()})


def _branch(section: str, entry: "Field[Any]", values: Mapping[str, Any]) -> Any:
    defaults = cast(Callable[[], Any], entry.default_factory)()
    known = {knob_field.name for knob_field in fields(defaults)}
    for key in values:
        if key not in known:
            raise SettingsError(f"[{section}] has no setting {key}")
    return replace(
        defaults, **{key: _value(f"[{section}] {key}", getattr(defaults, key), value) for key, value in values.items()}
    )


def _value(name: str, default: Any, value: Any) -> Any:
    """`value` in the type of `default`; text, as variables have it, is read."""
    try:
        if isinstance(default, tuple):
            return tuple(value.split(",") if isinstance(value, str) else map(str, value)) if value else ()
        if isinstance(default, bool):
            if isinstance(value, str) and value.lower() in {"true", "false", "1", "0"}:
                return value.lower() in {"true", "1"}
            if not isinstance(value, bool):
                raise ValueError
            return value
        if isinstance(value, bool):
            raise ValueError
        return type(default)(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{name}: {value!r} is not {type(default).__name__}") from error


def render(settings: Settings) -> str:
    """All settings as TOML, each with its meaning."""
    lines = ["# Every setting with its default or present value. Variables KILONOVA_SECTION__KEY win over the file.", ""]
    for section in fields(settings):
        lines.append(f"[{section.name}]")
        branch = getattr(settings, section.name)
        for entry in fields(branch):
            lines.append(f"# {entry.metadata['meaning']}")
            lines.append(f"{entry.name} = {_toml(getattr(branch, entry.name))}")
        lines.append("")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
