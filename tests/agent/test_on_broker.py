"""An agent that reaches the control plane through a broker, with nothing but its own login."""

from pathlib import Path

from kilonova.bus.nats import NatsBus
from kilonova.bus.nats_server import NatsServer, NatsUser, inbox_prefix, permissions
from tests.agent.agent_site import Conductor, Site, command


async def test_a_host_does_its_work_with_the_permissions_of_a_host(tmp_path: Path) -> None:
    host = NatsUser("host-1", "secret-1", permissions("host-1", chaotic=True))
    broker = NatsServer(tmp_path / "nats", users=(NatsUser("control", "secret"), host))
    await broker.start()
    control = await NatsBus.connect(broker.url, "control", "control", "secret")
    own = await NatsBus.connect(broker.url, "host-1", "host-1", "secret-1", inbox_prefix("host-1"))
    conductor, site = Conductor(control), Site(own, tmp_path)
    await conductor.start()
    await site.start()

    builds = [command(server=f"server-{number}") for number in range(20)]
    await conductor.send(*builds)
    assert {(await conductor.report()).key for _ in builds} == {build.key for build in builds}
    assert len((await conductor.read(name="guests"))["guests"]) == 20

    await site.close()
    await own.close()
    await control.close()
    await broker.stop()
