"""The commands that look at a cloud, on one that runs and on one that does not."""

import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Running


def test_a_server_that_fits_nowhere_is_explained(cloud: Running):
    server = cloud.server(16, "big")

    fault = cloud.show(server)["fault"]
    assert fault["message"].startswith(
        "No valid host was found. 2 hosts were looked at: 2 lack VCPU (16 asked, the most free is 4)."
    )
    assert "host-1" not in fault["message"]
    assert "host-1" in fault["details"]
    printed = cloud.run("explain", "--state", str(cloud.state), server)
    assert printed.returncode == 0
    assert "on no host, in cell0" in printed.stdout
    assert "host-1, host-2" in printed.stdout


def test_a_server_that_found_its_host_is_explained_with_scores(cloud: Running):
    server = cloud.server(1)

    printed = cloud.run("explain", "--state", str(cloud.state), server)
    assert f"is on {cloud.show(server)['OS-EXT-SRV-ATTR:host']} in cell1" in printed.stdout
    assert "SCORE" in printed.stdout


def test_an_unknown_server_is_told_in_one_line(cloud: Running):
    printed = cloud.run("explain", "--state", str(cloud.state), "nobody")

    assert printed.returncode == 2
    assert printed.stderr.count("\n") == 1


def test_the_audit_of_a_sound_cloud_is_clean(cloud: Running):
    cloud.server(1)

    printed = cloud.run("audit", "--state", str(cloud.state))
    assert (printed.returncode, printed.stdout) == (0, "clean\n")


def test_the_audit_finds_the_cloud_by_clouds_yaml_too(cloud: Running, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.state / "clouds.yaml"))

    assert cloud.run("audit", "--os-cloud", "kilonova").returncode == 0
    assert cloud.run("audit", "--os-cloud", "nobody").returncode == 2


@pytest.mark.parametrize(
    ("damage", "invariant"),
    [
        ("UPDATE inventories SET used = used + 1 WHERE resource_class = 'VCPU'", "used-is-the-sum"),
        ("UPDATE quota_usages SET instances = instances + 1", "quota-is-the-count"),
    ],
)
def test_drift_is_found_and_repaired(cloud: Running, damage: str, invariant: str):
    cloud.server(1)
    with sqlite3.connect(cloud.state / "kilonova.sqlite") as database:
        database.execute(damage)
    database.close()

    found = cloud.run("audit", "--state", str(cloud.state))
    assert found.returncode == 1
    assert invariant in found.stdout
    repaired = cloud.run("audit", "--state", str(cloud.state), "--repair")
    assert repaired.returncode == 0
    assert repaired.stdout.endswith("clean\n")


def test_a_state_directory_serves_one_cloud_only(cloud: Running):
    printed = cloud.run("up", "--port", "0", "--state", str(cloud.state))

    assert printed.returncode == 2
    assert "another kilonova runs" in printed.stderr


def test_rules_of_the_chaos_door_come_fire_and_go(cloud: Running):
    rule = cloud.ask("POST", "/chaos/rules", {"point": "create.claim", "when": "before", "action": "fail", "times": 1}, 201)

    server = cloud.show(cloud.server(1))
    assert server["status"] == "ERROR"
    assert "create.claim" in server["fault"]["message"]
    assert [entry["fired"] for entry in cloud.ask("GET", "/chaos/rules")["rules"] if entry["id"] == rule["id"]] == [1]
    cloud.ask("DELETE", f"/chaos/rules/{rule['id']}", status=204)
    assert cloud.ask("GET", "/chaos/rules")["rules"] == []
    assert {"schedule", "network.bind", "agent.build", "create.finish"} <= set(cloud.ask("GET", "/chaos/points")["points"])


@pytest.mark.parametrize(
    "rule", [{"point": "nowhere", "when": "before", "action": "fail"}, {"point": "create.claim", "when": "x", "action": "fail"}]
)
def test_a_wrong_rule_names_its_field(cloud: Running, rule: dict[str, str]):
    cloud.ask("POST", "/chaos/rules", rule, 400)


def test_health_and_metrics_are_served(cloud: Running):
    assert cloud.http.get("/healthz").text == "database: ok\n"
    assert 'kilonova_http_requests_total{face="/compute/v2.1"' in cloud.http.get("/metrics").text


def test_a_cloud_that_stopped_is_looked_at_in_its_database_and_goes_on_where_it_was(tmp_path: Path):
    running = Running(tmp_path / "state")
    running.start()
    server = running.server(1, "kept")
    running.stop()

    assert running.run("audit", "--state", str(running.state)).stdout == "clean\n"
    assert "kept" in running.run("explain", "--state", str(running.state), server).stdout
    running.start()
    assert running.show(server)["status"] == "ACTIVE"
    assert running.http.get("/chaos/rules").status_code == 404
    running.stop()


def test_the_settings_are_printed_with_their_meanings(cloud: Running):
    printed = cloud.run("config")

    assert printed.returncode == 0
    assert "pending_on_no_valid_host = false" in printed.stdout


def test_a_wrong_setting_is_told_in_one_line(cloud: Running, tmp_path: Path):
    path = tmp_path / "wrong.toml"
    path.write_text("[nothing]\nat = 1\n")

    printed = cloud.run("config", "--config", str(path))
    assert (printed.returncode, printed.stderr) == (2, "kilonova: [nothing] is no section of the settings\n")


def test_a_database_is_made_and_its_epoch_renewed_from_the_command_line(cloud: Running, tmp_path: Path):
    path = tmp_path / "kilonova.toml"
    path.write_text(f'[state]\ndirectory = "{tmp_path}"\n')

    assert cloud.run("db", "upgrade", "--config", str(path)).stdout == "schema 0001\n"
    assert cloud.run("db", "upgrade", "--config", str(path)).stdout == "schema 0001\n"
    assert cloud.run("db", "renew-epoch", "--config", str(path)).returncode == 0
    assert cloud.run("audit", "--config", str(path)).stdout == "clean\n"
