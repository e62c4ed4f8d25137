"""The table of conformance: every command that is run, its exit code, and what its output must say."""

from conformance_checks import (
    GIVEN,
    TIME,
    UUID,
    Like,
    counts,
    has,
    has_fields,
    holds,
    is_silent,
    lists,
    omits,
    says,
)
from conformance_ledger import LEDGER
from conformance_steps import NoRoomProbe, Row, Step

SERVER = "OS-EXT-SRV-ATTR:"
NO_ROOM = Like(r"^No valid host was found\. 3 hosts were looked at: 3 .*DISK_GB \(8192 asked, the most free is 4096\)")

CLOUD: tuple[Step, ...] = (
    Row("token issue -f json", (has(id=GIVEN, expires=TIME, project_id=GIVEN, user_id=GIVEN),)),
    Row("catalog list -f json", (lists({"Name": "nova", "Type": "compute"}), lists({"Type": "placement"}))),
    Row("compute service list -f json", (lists({"Binary": "nova-compute", "Host": "host-1", "State": "up", "Zone": "nova"}),)),
    Row("hypervisor list -f json", (counts(3), lists({"Hypervisor Hostname": "host-2", "State": "up"}))),
    Row(
        "hypervisor show host-1 -f json",
        (has(hypervisor_hostname="host-1", state="up", status="enabled", service_host="host-1", id=UUID),),
        keeps={"provider": "id"},
    ),
    Row("availability zone list -f json", (lists({"Zone Name": "nova", "Zone Status": "available"}),)),
)

INGREDIENTS: tuple[Step, ...] = (
    Row(
        "flavor create --vcpus 1 --ram 512 --disk 1 --property team:colour=blue small -f json",
        (has(name="small", vcpus=1, ram=512, disk=1, properties={"team:colour": "blue"}, id=GIVEN),),
    ),
    Row("flavor create --vcpus 1 --ram 512 --disk 8192 huge -f json", (has(name="huge", disk=8192),), keeps={"huge": "id"}),
    Row("flavor list -f json", (lists({"Name": "small", "VCPUs": 1, "RAM": 512}), lists({"Name": "huge"}))),
    Row("flavor show small -f json", (has(name="small", properties={"team:colour": "blue"}),)),
    Row(
        "image create --disk-format raw --container-format bare --file {file} cirros -f json",
        (has(name="cirros", status="active", size=1_048_576, disk_format="raw", id=UUID),),
        keeps={"image": "id"},
    ),
    Row("image list -f json", (lists({"Name": "cirros", "Status": "active"}),)),
    Row("network create private -f json", (has(name="private", status="ACTIVE", admin_state_up=True, id=UUID),)),
    Row(
        "subnet create --network private --subnet-range 10.7.0.0/24 private-4 -f json",
        (has(name="private-4", cidr="10.7.0.0/24", gateway_ip="10.7.0.1", ip_version=4, enable_dhcp=True),),
    ),
    Row("network list -f json", (lists({"Name": "private", "Subnets": [UUID]}),)),
    Row("keypair create --private-key {private_key} key -f json", (has(name="key", type="ssh", fingerprint=GIVEN),)),
    Row("keypair list -f json", (lists({"Name": "key", "Type": "ssh"}),)),
    Row(
        "server group create --policy anti-affinity apart -f json",
        (has(name="apart", policy="anti-affinity", members=[]),),
        keeps={"group": "id"},
    ),
    Row("aggregate create fast -f json", (has(name="fast", hosts=[], properties={}),)),
    Row("aggregate add host fast host-1 -f json", (has(name="fast", hosts=["host-1"]),)),
    Row("aggregate set --property ssd=true fast", (is_silent,)),
    Row("aggregate show fast -f json", (has(name="fast", hosts=["host-1"], properties={"ssd": "true"}),)),
)

LIFE: tuple[Step, ...] = (
    Row(
        "server create --image cirros --flavor small --network private --key-name key --hint group={group} --wait web -f json",
        (
            has(name="web", status="ACTIVE", key_name="key", image=Like("^cirros"), adminPass=GIVEN, id=UUID),
            has_fields({"addresses": {"private": [Like(r"^10\.7\.0\.")]}, f"{SERVER}host": Like("^host-")}),
            holds("flavor", {"original_name": "small", "vcpus": 1}),
        ),
        keeps={"web": "id", "host": f"{SERVER}hypervisor_hostname"},
    ),
    Row(
        "server create --image cirros --flavor small --no-network --hint group={group} --wait lone -f json",
        (has(name="lone", status="ACTIVE", addresses={}),),
    ),
    Row(
        "server list -f json",
        (
            lists({"Name": "web", "Status": "ACTIVE", "Image": "cirros", "Flavor": "small", "Networks": {"private": [GIVEN]}}),
            lists({"Name": "lone", "Status": "ACTIVE", "Networks": {}}),
        ),
    ),
    Row("server group show apart -f json", (has(name="apart", members=[UUID, UUID]),)),
    Row(
        "server show web -f json",
        (
            has(name="web", status="ACTIVE", key_name="key", created=TIME, host_status="UP", server_groups=None),
            has_fields({"OS-EXT-STS:vm_state": "active", "OS-EXT-STS:power_state": 1, "OS-EXT-STS:task_state": None}),
            has_fields({"OS-EXT-AZ:availability_zone": "nova", f"{SERVER}host": Like("^host-")}),
        ),
    ),
    Row("server stop web", (is_silent,)),
    Row("server list --name web -f json", (lists({"Name": "web", "Status": "SHUTOFF"}),), settles=True),
    Row("server start web", (is_silent,)),
    Row("server list --name web --status ACTIVE -f json", (lists({"Name": "web", "Status": "ACTIVE"}),), settles=True),
    Row("server reboot --wait web"),
    Row("server reboot --hard --wait web"),
    Row("server set --name shop --property tier=front --property colour=red --description Shop web", (is_silent,)),
    Row(
        "server show {web} -f json",
        (has(name="shop", description="Shop", properties={"tier": "front", "colour": "red"}, status="ACTIVE"),),
    ),
    Row("server unset --property colour shop", (is_silent,)),
    Row("server set --tag blue shop", (is_silent,)),
    Row("server show shop -f json", (has(name="shop", properties={"tier": "front"}, tags=["blue"]),)),
    Row("console log show shop", (says(r"login:", r"Linux version"),)),
    Row("console log show --lines 2 shop", (says(r"login:"),)),
    Row(
        "server event list shop -f json",
        (
            *(lists({"Action": action, "Request ID": Like("^req-")}) for action in ("create", "stop", "start", "reboot")),
            counts(5),
        ),
        keeps={"request": "Request ID"},
    ),
    Row(
        "server event show shop {request} -f json",
        (has_fields({"action": "reboot", "events": GIVEN, "start_time": TIME, "message": None}),),
    ),
)

QUOTA: tuple[Step, ...] = (
    Row(
        "limits show --absolute -f json",
        (lists({"Name": "total_instances_used", "Value": 2}), lists({"Name": "total_cores_used"})),
    ),
)

NO_ROOM_FOUND: tuple[Step, ...] = (
    NoRoomProbe(),
    Row(
        "server show {no_room} -f json",
        (has(status="ERROR"), holds("fault", {"code": 500, "message": NO_ROOM, "created": TIME, "details": Like("host-3")})),
    ),
    Row(
        "explain --state {state} {no_room}",
        (says(r"on no host, in cell0", r"HOSTS +REASON +NAMES", r"3 .*DISK_GB.*8192 asked.*host-\d, host-\d, host-\d"),),
        program="kilonova",
    ),
    Row("server create --image cirros --flavor huge --no-network --wait giant", (says("Error creating server: giant"),), code=1),
    Row("server show giant -f json", (has(status="ERROR"), holds("fault", {"message": NO_ROOM}))),
    Row("server delete --wait {no_room} giant"),
)

OWN: tuple[Step, ...] = (
    Row("--os-cloud kilonova-own token issue -f json", (has(id=GIVEN),)),
    Row("--os-cloud kilonova-own server list -f json", (lists({"Name": "shop", "Status": "ACTIVE"}),)),
    Row("--os-cloud kilonova-own resource provider list -f json", (counts(3), lists({"name": "host-1"}))),
)

END: tuple[Step, ...] = (
    Row("server delete --wait shop lone"),
    Row("server list -f json", (omits({}),)),
    Row("resource provider usage show {provider} -f json", (lists({"resource_class": "VCPU", "usage": 0}),)),
    Row("port list -f json", (omits({"Status": "ACTIVE"}),)),
    Row("server show shop", (says("No Server found for shop"),), code=1),
    Row("aggregate remove host fast host-1 -f json", (has(hosts=[]),)),
    Row("aggregate delete fast", (is_silent,)),
    Row("server group delete apart", (is_silent,)),
    Row("keypair delete key", (is_silent,)),
    Row("flavor delete small huge", (is_silent,)),
    Row("flavor list -f json", (omits({"Name": "small"}), omits({"Name": "huge"}))),
    Row("network delete private", (is_silent,)),
    Row("image delete cirros", (is_silent,)),
    Row("audit --state {state}", (says("^clean"),), program="kilonova"),
)

STEPS: tuple[Step, ...] = CLOUD + INGREDIENTS + LIFE + LEDGER + QUOTA + NO_ROOM_FOUND + OWN + END
