"""The part of the table of conformance that speaks to placement: every command of osc-placement, and our own versions."""

from collections.abc import Iterable
from importlib.metadata import entry_points

from conformance_checks import GIVEN, UUID, Like, at, counts, empty, has, is_silent, lists, omits, says
from conformance_steps import Ask, Row, Step

RACK = "7ac00000-0000-4000-8000-000000000001"
NODE = "7ac00000-0000-4000-8000-000000000002"
SPARE = "7ac00000-0000-4000-8000-000000000003"
POOL = "7ac00000-0000-4000-8000-000000000004"
NOBODY = "7ac00000-0000-4000-8000-00000000dead"
TOGETHER = "a6600000-0000-4000-8000-000000000001"
HOLDER = "c0500000-0000-4000-8000-000000000001"
OWNER = "--project-id team --user-id person"
OLD = "--os-placement-api-version 1.18"
MOVES = "--os-placement-api-version 1.37"
TYPES = "--os-placement-api-version 1.38"
NEW = "--os-placement-api-version 1.39"

HOSTS: tuple[Step, ...] = (
    Row("resource provider list -f json", (counts(3), lists({"name": "host-1", "uuid": UUID, "generation": GIVEN}))),
    Row("resource provider show {provider} -f json", (has(uuid=UUID, name="host-1"),)),
    Row(
        "resource provider inventory list {provider} -f json",
        (
            lists({"resource_class": "VCPU", "total": 64}),
            lists({"resource_class": "MEMORY_MB"}),
            lists({"resource_class": "DISK_GB"}),
        ),
    ),
    Row("resource provider usage show {provider} -f json", (lists({"resource_class": "VCPU", "usage": GIVEN}),)),
    Row("resource provider allocation show {web} -f json", (lists({"resources": {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}}),)),
    Row(
        "allocation candidate list --resource VCPU=1 --resource MEMORY_MB=512 -f json",
        (counts(3), lists({"resource provider": UUID, "allocation": Like("VCPU=1")})),
    ),
    Row("trait list -f json", (counts(100), lists({"name": "HW_CPU_X86_AVX2"}))),
)

NAMES: tuple[Step, ...] = (
    Row("resource class create CUSTOM_GPU", (is_silent,)),
    Row("resource class create CUSTOM_GPU", (says("409"),), code=1),
    Row("resource class set CUSTOM_NIC", (is_silent,)),
    Row("resource class set CUSTOM_NIC", (is_silent,)),
    Row("resource class show CUSTOM_GPU -f json", (has(name="CUSTOM_GPU"),)),
    Row("resource class list -f json", (lists({"name": "VCPU"}), lists({"name": "CUSTOM_GPU"}), lists({"name": "CUSTOM_NIC"}))),
    Row("resource class delete CUSTOM_NIC", (is_silent,)),
    Row("resource class delete VCPU", (says("400"),), code=1),
    Row("trait create CUSTOM_GOLD", (is_silent,)),
    Row("trait show CUSTOM_GOLD -f json", (has(name="CUSTOM_GOLD"),)),
    Row("trait list --name startswith:CUSTOM_GO -f json", (lists({"name": "CUSTOM_GOLD"}), omits({"name": "HW_CPU_X86_AVX2"}))),
    Row("trait list --name in:CUSTOM_GOLD,HW_CPU_X86_AVX2 -f json", (counts(2), lists({"name": "HW_CPU_X86_AVX2"}))),
)

PROVIDERS: tuple[Step, ...] = (
    Row(f"resource provider create --uuid {RACK} rack -f json", (has(uuid=RACK, name="rack", root_provider_uuid=RACK),)),
    Row(
        f"resource provider create --uuid {NODE} --parent-provider {RACK} node -f json",
        (has(uuid=NODE, root_provider_uuid=RACK, parent_provider_uuid=RACK, generation=0),),
    ),
    Row(f"resource provider create --uuid {SPARE} spare -f json", (has(uuid=SPARE),)),
    Row(f"resource provider create --uuid {POOL} pool -f json", (has(uuid=POOL),)),
    Row("resource provider create nameless -f json", (has(name="nameless", uuid=UUID),), keeps={"nameless": "uuid"}),
    Row("resource provider create rack", (says("409", "name"),), code=1),
    Row("resource provider set --name named {nameless} -f json", (has(name="named"),)),
    Row("resource provider delete {nameless}", (is_silent,)),
    Row(
        f"resource provider set --name spare --parent-provider {RACK} {SPARE} -f json",
        (has(root_provider_uuid=RACK, parent_provider_uuid=RACK),),
    ),
    Row(f"resource provider set --name spare --parent-provider {NODE} {SPARE}", (says("400", "re-parenting"),), code=1),
    Row(
        f"{MOVES} resource provider set --name spare --parent-provider {NODE} {SPARE} -f json", (has(parent_provider_uuid=NODE),)
    ),
)

CONTENTS: tuple[Step, ...] = (
    Row(
        f"resource provider inventory set {RACK} --resource VCPU=8 --resource VCPU:max_unit=4"
        " --resource VCPU:allocation_ratio=2.0 --resource MEMORY_MB=1024 -f json",
        (lists({"resource_class": "VCPU", "total": 8, "max_unit": 4, "allocation_ratio": 2.0}), counts(2)),
    ),
    Row(
        f"resource provider inventory set {RACK} --dry-run --amend --resource VCPU:reserved=2 -f json",
        (lists({"resource_class": "VCPU", "total": 8, "reserved": 2}), lists({"resource_class": "MEMORY_MB"})),
    ),
    Row(f"resource provider inventory show {RACK} VCPU -f json", (has(total=8, reserved=0, max_unit=4),)),
    Row(
        f"resource provider inventory set {RACK} --amend --resource VCPU:reserved=1 --resource DISK_GB=100 -f json",
        (lists({"resource_class": "VCPU", "reserved": 1}), lists({"resource_class": "DISK_GB", "total": 100}), counts(3)),
    ),
    Row(
        f"resource provider inventory class set {RACK} DISK_GB --total 50 --reserved 5 -f json",
        (has(total=50, reserved=5),),
    ),
    Row(f"resource provider inventory set {NODE} --resource CUSTOM_GPU=2 -f json", (lists({"resource_class": "CUSTOM_GPU"}),)),
    Row(f"resource provider inventory set {POOL} --resource DISK_GB=1000 -f json", (lists({"total": 1000}),)),
    Row(f"{OLD} resource provider aggregate set --aggregate {TOGETHER} {POOL} -f json", (lists({"uuid": TOGETHER}),)),
    Row(f"resource provider show {RACK} -f json", (has(uuid=RACK),), keeps={"generation": "generation"}),
    Row(
        f"resource provider aggregate set --aggregate {TOGETHER} --generation {{generation}} {RACK} -f json",
        (lists({"uuid": TOGETHER}),),
    ),
    Row(f"resource provider aggregate set --generation {{generation}} {RACK}", (says("409"),), code=1),
    Row(f"resource provider aggregate list {RACK} -f json", (lists({"uuid": TOGETHER}),)),
    Row(
        f"resource provider inventory set --aggregate {TOGETHER} --amend --resource DISK_GB:reserved=10 -f json",
        (
            lists({"resource_provider": RACK, "resource_class": "DISK_GB", "reserved": 10}),
            lists({"resource_provider": POOL, "resource_class": "DISK_GB", "reserved": 10}),
        ),
    ),
    Row(f"resource provider trait set --trait CUSTOM_GOLD {NODE} -f json", (lists({"name": "CUSTOM_GOLD"}),)),
    Row(f"resource provider trait set --trait MISC_SHARES_VIA_AGGREGATE {POOL} -f json", (counts(1),)),
    Row(f"resource provider trait list {NODE} -f json", (lists({"name": "CUSTOM_GOLD"}),)),
    Row("trait list --associated -f json", (lists({"name": "CUSTOM_GOLD"}), omits({"name": "HW_CPU_X86_SGX"}))),
)

SEARCHES: tuple[Step, ...] = (
    Row(f"resource provider list --uuid {RACK} -f json", (lists({"name": "rack"}), omits({"name": "node"}))),
    Row("resource provider list --name rack -f json", (lists({"uuid": RACK}), omits({"name": "node"}))),
    Row(f"resource provider list --in-tree {SPARE} -f json", (lists({"uuid": RACK}), counts(3), omits({"uuid": POOL}))),
    Row("resource provider list --resource CUSTOM_GPU=2 -f json", (lists({"uuid": NODE}), omits({"uuid": RACK}))),
    Row(f"resource provider list --member-of {TOGETHER} -f json", (lists({"uuid": RACK}), lists({"uuid": POOL}), counts(2))),
    Row(f"resource provider list --aggregate-uuid {TOGETHER} -f json", (lists({"uuid": RACK}), counts(2))),
    Row("resource provider list --required CUSTOM_GOLD -f json", (lists({"uuid": NODE}), omits({"uuid": RACK}))),
    Row(f"resource provider list --in-tree {RACK} --forbidden CUSTOM_GOLD -f json", (counts(2), omits({"uuid": NODE}))),
    Row(
        f"{NEW} resource provider list --required CUSTOM_GOLD,MISC_SHARES_VIA_AGGREGATE -f json",
        (lists({"uuid": NODE}), lists({"uuid": POOL}), omits({"uuid": RACK})),
    ),
    Row(
        f"allocation candidate list --resource VCPU=1 --resource DISK_GB=30 --member-of {TOGETHER} -f json",
        (lists({"resource provider": RACK, "allocation": Like("DISK_GB=30")}), lists({"resource provider": POOL})),
    ),
    Row("allocation candidate list --resource VCPU=1 --limit 1 -f json", (counts(1), omits({"#": 2}))),
    Row(
        "allocation candidate list --resource CUSTOM_GPU=1 --required CUSTOM_GOLD -f json", (lists({"resource provider": NODE}),)
    ),
    Row("allocation candidate list --resource CUSTOM_GPU=1 --forbidden CUSTOM_GOLD -f json", (empty,)),
    Row(
        f"{NEW} allocation candidate list --resource CUSTOM_GPU=1 --required CUSTOM_GOLD,HW_CPU_X86_SGX -f json",
        (lists({"resource provider": NODE}),),
    ),
    Row(
        "allocation candidate list --resource VCPU=1 --group 1 --resource CUSTOM_GPU=1 --required CUSTOM_GOLD"
        " --group 2 --resource MEMORY_MB=64 --group-policy isolate -f json",
        (
            lists({"resource provider": NODE, "allocation": "CUSTOM_GPU=1"}),
            lists({"resource provider": RACK, "allocation": Like("MEMORY_MB=64")}),
        ),
    ),
    Row(
        "allocation candidate list --group 1 --resource CUSTOM_GPU=1 --group 2 --resource CUSTOM_GPU=1"
        " --group-policy isolate -f json",
        (empty,),
    ),
    Row("allocation candidate list --group-policy none -f json", (says("resource"),), code=1),
)

CLAIMS: tuple[Step, ...] = (
    Row(
        f"resource provider allocation set {HOLDER} {OWNER} --allocation rp={RACK},VCPU=2,MEMORY_MB=64"
        f" --allocation rp={NODE},CUSTOM_GPU=1 -f json",
        (
            lists({"resource_provider": RACK, "resources": {"VCPU": 2, "MEMORY_MB": 64}, "project_id": "team"}),
            lists({"resource_provider": NODE, "resources": {"CUSTOM_GPU": 1}, "user_id": "person"}),
        ),
    ),
    Row(f"resource provider allocation set {HOLDER} {OWNER} --allocation rp={RACK},VCPU=5", (says("409"),), code=1),
    Row(
        f"{TYPES} resource provider allocation set {HOLDER} {OWNER} --consumer-type TASK --allocation rp={RACK},VCPU=4"
        f" --allocation rp={NODE},CUSTOM_GPU=2 -f json",
        (lists({"resource_provider": RACK, "resources": {"VCPU": 4}, "consumer_type": "TASK"}),),
    ),
    Row(f"{TYPES} resource provider allocation show {HOLDER} -f json", (counts(2), lists({"consumer_type": "TASK"}))),
    Row(f"resource provider show --allocations {NODE} -f json", (says(HOLDER, "CUSTOM_GPU"),)),
    Row(f"resource provider usage show {NODE} -f json", (lists({"resource_class": "CUSTOM_GPU", "usage": 2}),)),
    Row("resource usage show team -f json", (lists({"resource_class": "VCPU", "usage": 4}),)),
    Row("resource usage show --user-id person team -f json", (lists({"resource_class": "CUSTOM_GPU", "usage": 2}),)),
    Row("resource usage show --user-id stranger team -f json", (empty,)),
    Row(f"resource provider inventory delete {NODE}", (says("409"),), code=1),
)

_SEARCH = "/placement/allocation_candidates?"
_TREE = f"{_SEARCH}in_tree={RACK}"
_FULL = f"{_SEARCH}resources=CUSTOM_GPU:1&in_tree={RACK}"
_OTHER = f"/placement/allocations/{NOBODY}"

OWN_VERSIONS: tuple[Step, ...] = (
    Ask("/placement/", (at("1.0", "versions", 0, "min_version"), at("1.39", "versions", 0, "max_version"))),
    Ask("/own/placement/", (at("1.0", "versions", 0, "min_version"), at("1.1002", "versions", 0, "max_version"))),
    Ask("/placement/resource_classes", version="latest", answered="1.39"),
    Ask("/own/placement/resource_classes", version="latest", answered="1.1002"),
    *(Ask("/placement/resource_classes", version=version, status=406) for version in ("1.40", "1.999", "1.1003")),
    *(Ask("/own/placement/resource_classes", version=version, answered="1.39") for version in ("1.39", "1.40", "1.999")),
    *(
        Ask(f"{root}/resource_classes", version=version, answered=version)
        for root in ("/placement", "/own/placement")
        for version in ("1.1001", "1.1002")
    ),
    Ask("/own/placement/resource_classes", version="1.1003", status=406),
    # 1.1001: a tree is asked about alone.
    Ask(_TREE, (at(400, "errors", 0, "status"),), status=400, version="1.39"),
    Ask(f"/own{_TREE}", (at(400, "errors", 0, "status"),), status=400, version="1.999"),
    Ask(
        f"{_TREE}&required=CUSTOM_GOLD",
        (
            at([{"allocations": {}, "mappings": {"": [NODE]}}], "allocation_requests"),
            at(GIVEN, "provider_summaries", SPARE),
        ),
        version="1.1001",
    ),
    Ask(_TREE, (at([{"allocations": {}, "mappings": {"": [RACK]}}], "allocation_requests"),), version="1.1001"),
    Ask(f"{_TREE}&required=!CUSTOM_GOLD", (at([], "allocation_requests"),), version="1.1001"),
    Ask(f"{_TREE}&member_of={TOGETHER}", (at({}, "allocation_requests", 0, "allocations"),), version="1.1001"),
    Ask(f"{_SEARCH}in_tree={NOBODY}", (at([], "allocation_requests"), at({}, "provider_summaries")), version="1.1001"),
    Ask(f"{_SEARCH}in_tree=rack", status=400, version="1.1001"),
    Ask(_SEARCH, status=400, version="1.1001"),
    # 1.1002: as if consumers held nothing, or as they hold it.
    Ask(_FULL, (at([], "allocation_requests"),), version="1.1002"),
    Ask(f"{_FULL}&replacing={HOLDER}", status=400, version="1.1001"),
    Ask(
        f"{_FULL}&replacing={HOLDER}&replacing={NOBODY}",
        (
            at({NODE: {"resources": {"CUSTOM_GPU": 1}}}, "allocation_requests", 0, "allocations"),
            at(0, "provider_summaries", NODE, "resources", "CUSTOM_GPU", "used"),
        ),
        version="1.1002",
    ),
    Ask(f"{_FULL}&replacing={HOLDER}&unchanged={HOLDER}", status=400, version="1.1002"),
    Ask(
        f"{_SEARCH}resources=VCPU:4&resources1=CUSTOM_GPU:2&required1=CUSTOM_GOLD&unchanged={HOLDER}",
        (at({"": [RACK], "1": [NODE]}, "allocation_requests", 0, "mappings"),),
        version="1.1002",
    ),
    Ask(f"{_SEARCH}resources=VCPU:4&unchanged={HOLDER}", (at([], "allocation_requests"),), version="1.1002"),
    # 1.1002: why a claim is refused.
    *(
        Ask(
            _OTHER,
            (at(code, "errors", 0, "code"),),
            status=409,
            version=version,
            body={
                "allocations": {provider: {"resources": amounts}},
                "project_id": "team",
                "user_id": "person",
                "consumer_generation": generation,
                "consumer_type": "TASK",
            },
        )
        for version, provider, amounts, generation, code in (
            ("1.1002", NODE, {"CUSTOM_GPU": 1}, None, "kilonova.over_capacity"),
            ("1.1002", RACK, {"VCPU": 5}, None, "kilonova.bad_amount"),
            ("1.1002", RACK, {"VCPU": 1}, 7, "placement.concurrent_update"),
            ("1.1001", NODE, {"CUSTOM_GPU": 1}, None, "placement.undefined_code"),
        )
    ),
)

ENDS: tuple[Step, ...] = (
    Row(f"resource provider allocation unset --provider {NODE} {HOLDER} -f json", (lists({"resource_provider": RACK}),)),
    Row(
        f"resource provider allocation set {HOLDER} {OWNER} --allocation rp={RACK},VCPU=1,MEMORY_MB=8 -f json",
        (lists({"resources": {"VCPU": 1, "MEMORY_MB": 8}}),),
    ),
    Row(
        f"resource provider allocation unset --resource-class MEMORY_MB {HOLDER} -f json",
        (lists({"resource_provider": RACK, "resources": {"VCPU": 1}}),),
    ),
    Row(f"resource provider delete {SPARE}", (is_silent,)),
    Row(f"resource provider delete {RACK}", (says("409", "child"),), code=1),
    Row(f"resource provider trait delete {NODE}", (is_silent,)),
    Row(f"resource provider trait list {NODE} -f json", (empty,)),
    Row(f"resource provider inventory delete {NODE} --resource-class CUSTOM_GPU", (is_silent,)),
    Row(f"resource provider inventory list {NODE} -f json", (empty,)),
    Row(f"resource provider delete {NODE}", (is_silent,)),
    Row(f"resource provider delete {RACK}", (says("409", "allocations"),), code=1),
    Row(f"resource provider allocation delete {HOLDER}", (is_silent,)),
    Row(f"resource provider allocation show {HOLDER} -f json", (empty,)),
    Row(f"resource provider inventory delete {RACK}", (is_silent,)),
    Row(f"resource provider delete {RACK}", (is_silent,)),
    Row(f"resource provider delete {POOL}", (is_silent,)),
    Row(f"resource provider show {RACK}", (says("404"),), code=1),
    Row("resource class delete CUSTOM_GPU", (is_silent,)),
    Row("trait delete CUSTOM_GOLD", (is_silent,)),
    Row("trait show CUSTOM_GOLD", (says("404"),), code=1),
)

LEDGER: tuple[Step, ...] = HOSTS + NAMES + PROVIDERS + CONTENTS + SEARCHES + CLAIMS + OWN_VERSIONS + ENDS


def commands_without_row(steps: Iterable[Step]) -> list[str]:
    """The commands of osc-placement that no row runs."""
    lines = [step.command for step in steps if isinstance(step, Row)]
    names = [entry.name.replace("_", " ") for entry in entry_points(group="openstack.placement.v1")]
    return [name for name in names if not any(f" {name} " in f" {line} " for line in lines)]
