"""Every table. Tenant tables carry project_id, ledger tables a partition, and no foreign key joins the two, so that each side
can be sharded on its own. JSON is text: both databases then give back what was put in, byte by byte. Times are microseconds.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()

# SQLite gives out row ids only for INTEGER PRIMARY KEY.
Serial = BigInteger().with_variant(Integer(), "sqlite")

# ---- tenants -------------------------------------------------------------------------------------------------------

servers = Table(
    "servers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("hostname", Text, nullable=False),
    Column("description", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("launched_at", BigInteger),
    Column("terminated_at", BigInteger),
    Column("deleted", Boolean, nullable=False),
    Column("vm_state", Text, nullable=False),
    Column("task_state", Text),
    Column("power_state", Integer, nullable=False),
    Column("cell", Text, nullable=False),
    Column("host", Text),
    Column("generation", BigInteger, nullable=False),
    Column("flavor", Text, nullable=False),
    Column("image_id", Text, nullable=False),
    Column("key_name", Text),
    Column("availability_zone", Text),
    Column("pinned_zone", Text),
    Column("config_drive", Boolean, nullable=False),
    Column("user_data", Text),
    Column("metadata", Text, nullable=False),
    Column("system_metadata", Text, nullable=False),
    Column("addresses", Text, nullable=False),
    Column("security_groups", Text, nullable=False),
    Column("access_ip_v4", Text),
    Column("access_ip_v6", Text),
    Column("fault", Text),
    Column("locked_by", Text),
    Column("locked_reason", Text),
    Column("group_id", Text),
    Column("reservation_id", Text, nullable=False),
    Column("launch_index", Integer, nullable=False),
    Column("root_device_name", Text, nullable=False),
    Column("asked", Text, nullable=False),
    Index("servers_of_project", "project_id", "created_at", "id"),
    Index("servers_by_age", "created_at", "id"),
    Index("servers_on_host", "host"),
    Index("servers_in_group", "group_id"),
)

server_wishes = Table(
    "server_wishes",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("document", Text, nullable=False),
)

server_tags = Table(
    "server_tags",
    metadata,
    Column("server_id", Text, nullable=False),
    Column("tag", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    PrimaryKeyConstraint("server_id", "tag"),
    Index("server_tags_by_tag", "tag"),
)

operations = Table(
    "operations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("server_id", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("cell", Text, nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("live", Boolean, nullable=False),
    Column("parked", Boolean, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("owner", Text, nullable=False),
    Column("lease_until", BigInteger, nullable=False),
    Column("input", Text, nullable=False),
    Column("secret", LargeBinary),
    Column("result", Text),
    Column("message", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Index("operations_of_server", "server_id"),
    Index("operations_live", "id", sqlite_where=text("live = 1"), postgresql_where=text("live")),
    Index(
        "one_exclusive_operation",
        "server_id",
        unique=True,
        sqlite_where=text("live = 1 AND exclusive = 1"),
        postgresql_where=text("live AND exclusive"),
    ),
    Index("operations_by_request", "request_id"),
)

operation_steps = Table(
    "operation_steps",
    metadata,
    Column("operation_id", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("intent", Text, nullable=False),
    Column("outcome", Text),
    Column("host", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    PrimaryKeyConstraint("operation_id", "key"),
)

keypairs = Table(
    "keypairs",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("public_key", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("user_id", "name"),
)

server_groups = Table(
    "server_groups",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("rules", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index("server_groups_of_project", "project_id"),
)

quota_usages = Table(
    "quota_usages",
    metadata,
    Column("project_id", Text, primary_key=True),
    Column("instances", BigInteger, nullable=False),
    Column("cores", BigInteger, nullable=False),
    Column("ram", BigInteger, nullable=False),
)

quota_limits = Table(
    "quota_limits",
    metadata,
    Column("project_id", Text, nullable=False),
    Column("resource", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    PrimaryKeyConstraint("project_id", "resource"),
)

flavors = Table(
    "flavors",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("flavorid", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False, unique=True),
    Column("vcpus", Integer, nullable=False),
    Column("memory_mb", Integer, nullable=False),
    Column("root_gb", Integer, nullable=False),
    Column("ephemeral_gb", Integer, nullable=False),
    Column("swap_mb", Integer, nullable=False),
    Column("rxtx_factor", Float, nullable=False),
    Column("is_public", Boolean, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("description", Text),
    Column("extra_specs", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
)

flavor_projects = Table(
    "flavor_projects",
    metadata,
    Column("flavor_id", Integer, nullable=False),
    Column("project_id", Text, nullable=False),
    PrimaryKeyConstraint("flavor_id", "project_id"),
)

# ---- the ledger ----------------------------------------------------------------------------------------------------

providers = Table(
    "providers",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("uuid", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False, unique=True),
    Column("generation", BigInteger, nullable=False),
    Column("parent_id", BigInteger),
    Column("root_id", BigInteger),
    Column("partition", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("providers_by_root", "root_id"),
    Index("providers_by_parent", "parent_id"),
)

inventories = Table(
    "inventories",
    metadata,
    Column("provider_id", BigInteger, nullable=False),
    Column("resource_class", Text, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("min_unit", BigInteger, nullable=False),
    Column("max_unit", BigInteger, nullable=False),
    Column("step_size", BigInteger, nullable=False),
    Column("allocation_ratio", Float, nullable=False),
    Column("used", BigInteger, nullable=False),
    PrimaryKeyConstraint("provider_id", "resource_class"),
)

provider_traits = Table(
    "provider_traits",
    metadata,
    Column("provider_id", BigInteger, nullable=False),
    Column("trait", Text, nullable=False),
    PrimaryKeyConstraint("provider_id", "trait"),
    Index("provider_traits_by_trait", "trait"),
)

provider_aggregates = Table(
    "provider_aggregates",
    metadata,
    Column("provider_id", BigInteger, nullable=False),
    Column("aggregate", Text, nullable=False),
    PrimaryKeyConstraint("provider_id", "aggregate"),
)

resource_classes = Table(
    "resource_classes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
)

traits = Table(
    "traits",
    metadata,
    Column("name", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
)

consumers = Table(
    "consumers",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("generation", BigInteger, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("consumer_type", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("consumers_of_project", "project_id"),
)

allocations = Table(
    "allocations",
    metadata,
    Column("consumer", Text, nullable=False),
    Column("provider_id", BigInteger, nullable=False),
    Column("resource_class", Text, nullable=False),
    Column("partition", Text, nullable=False),
    Column("used", BigInteger, nullable=False),
    PrimaryKeyConstraint("consumer", "provider_id", "resource_class"),
    Index("allocations_of_provider", "provider_id"),
)

# The feed that keeps every process's index true. PostgreSQL's migration adds `xid xid8 DEFAULT pg_current_xact_id()`.
changes = Table(
    "changes",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    sqlite_autoincrement=True,
)

ledger_state = Table(
    "ledger_state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("epoch", Text, nullable=False),
    Column("floor", BigInteger, nullable=False),
)

# ---- the cloud's own parts -----------------------------------------------------------------------------------------

cells = Table(
    "cells",
    metadata,
    Column("name", Text, primary_key=True),
    Column("disabled", Boolean, nullable=False),
    Column("watcher", Text, nullable=False),
    Column("watched_until", BigInteger, nullable=False),
)

hosts = Table(
    "hosts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("id", Integer, nullable=False, unique=True),
    Column("service_id", Text, nullable=False, unique=True),
    Column("cell", Text, nullable=False),
    Column("provider_uuid", Text, nullable=False, unique=True),
    Column("epoch", BigInteger, nullable=False),
    Column("incarnation", Text, nullable=False),
    Column("alive", Boolean, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("disabled_reason", Text),
    Column("forced_down", Boolean, nullable=False),
    Column("failed_builds", Integer, nullable=False),
    Column("hypervisor", Text, nullable=False),
    Column("reported", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
)

# Numbers that several tables share; a row is raised in the transaction that uses its number.
counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

# Control processes: what `os-services` shows besides the hosts.
processes = Table(
    "processes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("binary", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("disabled_reason", Text),
    Column("seen_at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("binary", "host"),
)

aggregates = Table(
    "aggregates",
    metadata,
    Column("id", Serial, primary_key=True),
    Column("uuid", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False, unique=True),
    Column("metadata", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
)

aggregate_hosts = Table(
    "aggregate_hosts",
    metadata,
    Column("aggregate_id", Integer, nullable=False),
    Column("host", Text, nullable=False),
    PrimaryKeyConstraint("aggregate_id", "host"),
)

# ---- embedded companions -------------------------------------------------------------------------------------------

identity_projects = Table(
    "identity_projects",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("domain_id", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    UniqueConstraint("domain_id", "name"),
)

identity_users = Table(
    "identity_users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("domain_id", Text, nullable=False),
    Column("email", Text),
    Column("description", Text, nullable=False),
    Column("default_project_id", Text),
    Column("enabled", Boolean, nullable=False),
    Column("password_hash", Text, nullable=False),
    UniqueConstraint("domain_id", "name"),
)

identity_roles = Table(
    "identity_roles",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

# `target` is a project's id, or "system".
identity_assignments = Table(
    "identity_assignments",
    metadata,
    Column("user_id", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("role_id", Text, nullable=False),
    PrimaryKeyConstraint("user_id", "target", "role_id"),
)

revoked_tokens = Table(
    "revoked_tokens",
    metadata,
    Column("audit_id", Text, primary_key=True),
    Column("expires_at", BigInteger, nullable=False),
)

images = Table(
    "images",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text),
    Column("owner", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    Column("protected", Boolean, nullable=False),
    Column("hidden", Boolean, nullable=False),
    Column("disk_format", Text),
    Column("container_format", Text),
    Column("min_disk", Integer, nullable=False),
    Column("min_ram", Integer, nullable=False),
    Column("size", BigInteger),
    Column("virtual_size", BigInteger),
    Column("checksum", Text),
    Column("hash_algorithm", Text),
    Column("hash_value", Text),
    Column("properties", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

# What the network companion keeps: one document a resource, with the columns that are searched or must be unique beside it.
networks = Table(
    "networks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

subnets = Table(
    "subnets",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("network_id", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("subnets_of_network", "network_id"),
)

ports = Table(
    "ports",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("network_id", Text, nullable=False),
    Column("device_id", Text, nullable=False),
    Column("mac_address", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    UniqueConstraint("network_id", "mac_address"),
    Index("ports_of_device", "device_id"),
)

# An address is taken by the row, so that two ports never get the same one.
port_addresses = Table(
    "port_addresses",
    metadata,
    Column("subnet_id", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("port_id", Text, nullable=False),
    PrimaryKeyConstraint("subnet_id", "address"),
    Index("addresses_of_port", "port_id"),
)

security_groups = Table(
    "security_groups",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

security_group_rules = Table(
    "security_group_rules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("security_group_id", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("rules_of_group", "security_group_id"),
)
