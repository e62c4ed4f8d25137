import orjson

from .site import Cloud


async def test_a_hypervisor_has_numbers_until_287(cloud: Cloud) -> None:
    host = await cloud.host("h1")
    await cloud.server("s", "h1")
    old = (await cloud.get(f"/os-hypervisors/{host.id}"))["hypervisor"]
    assert (old["id"], old["vcpus"], old["memory_mb"], old["memory_mb_used"], old["free_disk_gb"]) == (host.id, 4, 4096, 96, 40)
    assert (old["running_vms"], old["service"]["id"]) == (1, host.id)
    assert orjson.loads(old["cpu_info"]) == {"arch": "x86_64"}
    assert (await cloud.get(f"/os-hypervisors/{host.id}", at="2.28"))["hypervisor"]["cpu_info"] == {"arch": "x86_64"}
    new = (await cloud.get(f"/os-hypervisors/{host.provider_uuid}", at="2.88"))["hypervisor"]
    assert new["id"] == host.provider_uuid
    assert new["service"] == {"id": host.service_id, "host": "h1", "disabled_reason": None}
    assert "uptime" in new
    assert not {"vcpus", "cpu_info", "running_vms", "local_gb", "current_workload"} & new.keys()


async def test_a_list_has_pages_since_233(cloud: Cloud) -> None:
    made = [await cloud.host(name) for name in ("h1", "h2", "h3")]
    page = await cloud.get("/os-hypervisors?limit=2", at="2.33")
    assert [row["id"] for row in page["hypervisors"]] == [made[0].id, made[1].id]
    assert page["hypervisors_links"][0]["href"].endswith(f"limit=2&marker={made[1].id}")
    rest = await cloud.get(f"/os-hypervisors/detail?limit=2&marker={made[1].provider_uuid}", at="2.53")
    assert [row["hypervisor_hostname"] for row in rest["hypervisors"]] == ["h3"]
    assert (await cloud.call("GET", "/os-hypervisors?marker=zz", at="2.53")).status_code == 400


async def test_patterns_and_servers_moved_into_the_query_with_253(cloud: Cloud) -> None:
    for name in ("h1", "h2"):
        await cloud.host(name)
    server = await cloud.server("s", "h1")
    held = [{"name": "s", "uuid": server}]
    assert (await cloud.get("/os-hypervisors/h1/servers"))["hypervisors"][0]["servers"] == held
    assert len((await cloud.get("/os-hypervisors/h/search"))["hypervisors"]) == 2
    assert (await cloud.call("GET", "/os-hypervisors/zz/search")).status_code == 404
    assert (await cloud.call("GET", "/os-hypervisors/h/search", at="2.53")).status_code == 404
    query = "/os-hypervisors?hypervisor_hostname_pattern={}&with_servers=true"
    rows = (await cloud.get(query.format("h"), at="2.53"))["hypervisors"]
    assert [row.get("servers") for row in rows] == [held, None]
    rows = (await cloud.get(query.format("h"), at="2.75"))["hypervisors"]
    assert [row["servers"] for row in rows] == [held, []]
    assert (await cloud.call("GET", query.format("zz"), at="2.53")).status_code == 404
    assert (await cloud.call("GET", query.format("h") + "&limit=1", at="2.53")).status_code == 400


async def test_a_name_is_no_id_of_a_hypervisor(cloud: Cloud) -> None:
    await cloud.host("h1")
    assert (await cloud.call("GET", "/os-hypervisors/h1")).status_code == 404
    assert (await cloud.call("GET", "/os-hypervisors/h1", at="2.53")).status_code == 400


async def test_sums_are_given_until_287(cloud: Cloud) -> None:
    for name in ("h1", "h2"):
        await cloud.host(name)
    sums = (await cloud.get("/os-hypervisors/statistics"))["hypervisor_statistics"]
    assert (sums["count"], sums["vcpus"], sums["free_ram_mb"]) == (2, 8, 8000)
    assert (await cloud.call("GET", "/os-hypervisors/statistics", at="2.88")).status_code == 404
    assert (await cloud.call("GET", "/os-hypervisors/1/uptime", at="2.88")).status_code == 404


async def test_zones_come_from_aggregates(cloud: Cloud) -> None:
    hosts = [await cloud.host(name) for name in ("h1", "h2")]
    number = await cloud.aggregate("a", "az1")
    await cloud.act(number, "add_host", host="h1")
    await cloud.call("PUT", f"/os-services/{hosts[1].service_id}", {"status": "disabled"}, at="2.53")
    zones = (await cloud.get("/os-availability-zone", who="user"))["availabilityZoneInfo"]
    assert zones == [
        {"zoneName": "az1", "zoneState": {"available": True}, "hosts": None},
        {"zoneName": "nova", "zoneState": {"available": False}, "hosts": None},
    ]
    assert (await cloud.call("GET", "/os-availability-zone/detail", who="user")).status_code == 403
    detail = (await cloud.get("/os-availability-zone/detail"))["availabilityZoneInfo"]
    assert detail[0]["hosts"]["h1"]["nova-compute"]["available"] is True
    assert detail[1]["hosts"] is None
