"""Puts `kilonova placement` behind a real Keystone from the package index, on SQLite, and checks who may come in.

Ends with 1 when anything differs. `--venv DIR` keeps Keystone's environment for the next run.
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from child_processes import end, ready_address

KEYSTONE = "keystone==30.0.0"
KILONOVA = Path(sys.executable).parent / "kilonova"
INSTALL_SECONDS = 900.0
COMMAND_SECONDS = 180.0
START_SECONDS = 120.0
CACHE_SECONDS = 2.0
PASSWORD = "secret"
SERVE = """
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server
port = int(sys.argv.pop())  # Keystone reads the arguments, too.
from keystone.wsgi.api import application
class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
make_server("127.0.0.1", port, application, Server).serve_forever()
"""
KEYSTONE_CONF = """[database]
connection = sqlite:///{directory}/keystone.sqlite
[fernet_tokens]
key_repository = {directory}/tokens
[fernet_receipts]
key_repository = {directory}/receipts
[credential]
key_repository = {directory}/credentials
"""
PLACEMENT_TOML = """[state]
directory = "{directory}"
[api]
port = 0
[placement]
auth_strategy = "keystone"
[keystone]
url = "{url}"
password = "{password}"
cache_seconds = {cache}
"""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(command: Sequence[str], log: Path, environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that ends with the context; it writes to `log`."""
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **environment})
    try:
        yield process
    finally:
        end(process)


def prepare(python: Path, directory: Path, url: str) -> None:
    """Keystone's database, keys, first user and endpoints. Raises RuntimeError with what a command wrote."""
    (directory / "keystone.conf").write_text(KEYSTONE_CONF.format(directory=directory))
    for name in ("tokens", "receipts", "credentials"):
        (directory / name).mkdir(mode=0o700)
    bootstrap = ["bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-region-id", "RegionOne"]
    for interface in ("admin", "public", "internal"):
        bootstrap += [f"--bootstrap-{interface}-url", f"{url}/v3"]
    manage = [str(python.parent / "keystone-manage"), "--config-file", str(directory / "keystone.conf")]
    owner = ["--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
    for words in (["db_sync"], ["fernet_setup", *owner], ["credential_setup", *owner], bootstrap):
        done = subprocess.run([*manage, *words], capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"keystone-manage {words[0]} failed:\n{done.stderr[-3000:]}")


@dataclass(frozen=True, slots=True)
class Keystone:
    """A Keystone that answers at `url`, and its administrator's token."""

    url: str
    http: httpx.Client
    admin: str

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer that must not be an error."""
        answer = self.http.request(method, f"{self.url}/v3{path}", json=body, headers={"x-auth-token": self.admin})
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def user(self, name: str, project: str, role: str) -> None:
        """A user with a role on a project, which is made where it is missing."""
        named = self.ask("GET", f"/projects?name={project}")["projects"]
        project_id = (named or [self.ask("POST", "/projects", {"project": {"name": project}})["project"]])[0]["id"]
        user_id = self.ask("POST", "/users", {"user": {"name": name, "password": PASSWORD}})["user"]["id"]
        role_id = self.ask("GET", f"/roles?name={role}")["roles"][0]["id"]
        self.ask("PUT", f"/projects/{project_id}/users/{user_id}/roles/{role_id}")

    def revoke(self, token: str) -> None:
        """End a token."""
        headers = {"x-auth-token": self.admin, "x-subject-token": token}
        self.http.delete(f"{self.url}/v3/auth/tokens", headers=headers).raise_for_status()


def log_in(http: httpx.Client, url: str, user: str, scope: Any) -> str:
    """A token; `scope` is a project's name or a scope as the API has it."""
    if isinstance(scope, str) and scope != "unscoped":
        scope = {"project": {"name": scope, "domain": {"id": "default"}}}
    who = {"name": user, "password": PASSWORD, "domain": {"id": "default"}}
    body = {"auth": {"identity": {"methods": ["password"], "password": {"user": who}}, "scope": scope}}
    answer = http.post(f"{url}/v3/auth/tokens", json=body)
    answer.raise_for_status()
    return answer.headers["x-subject-token"]


def wait_for(http: httpx.Client, url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until Keystone answers. Raises RuntimeError with what it wrote."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if http.get(f"{url}/v3").is_success:
                return
        time.sleep(0.2)
    raise RuntimeError(f"Keystone did not come up:\n{log.read_text()[-3000:]}")


def placement_address(log: Path, process: "subprocess.Popen[bytes]") -> str:
    """The address that `kilonova placement` says. Raises RuntimeError with what it wrote."""
    address = ready_address(process, log)
    if address is not None:
        return address
    raise RuntimeError(f"kilonova placement did not come up:\n{log.read_text()[-3000:]}")


def check(keystone: Keystone, placement: str) -> bool:
    """Ask placement with each kind of token; print and judge the answers."""
    http, url = keystone.http, keystone.url
    reader_project = keystone.ask("GET", "/projects?name=demo")["projects"][0]["id"]
    lists, usages = "/resource_providers", f"/usages?project_id={reader_project}"
    ended = log_in(http, url, "nova", "service")
    rows = [
        ("an administrator of a project", log_in(http, url, "admin", "admin"), lists, 200),
        ("a service", log_in(http, url, "nova", "service"), lists, 200),
        ("a reader", log_in(http, url, "anna", "demo"), lists, 403),
        ("a reader, for the usages of the project", log_in(http, url, "anna", "demo"), usages, 200),
        ("an administrator of the system", log_in(http, url, "admin", {"system": {"all": True}}), lists, 403),
        ("a token without a scope", log_in(http, url, "admin", "unscoped"), lists, 403),
        ("no token of this Keystone", "gAAAAABnonsense", lists, 401),
        ("a token that will be revoked", ended, lists, 200),
    ]
    good = [judge(http, placement, row) for row in rows]
    keystone.revoke(ended)
    time.sleep(CACHE_SECONDS)
    return all([*good, judge(http, placement, ("a token that was revoked", ended, lists, 401))])


def judge(http: httpx.Client, placement: str, row: tuple[str, str, str, int]) -> bool:
    """One question; whether the status is the wanted one."""
    name, token, path, wanted = row
    headers = {"x-auth-token": token, "openstack-api-version": "placement 1.39"}
    status = http.get(placement + path, headers=headers).status_code
    print(f"{'ok  ' if status == wanted else 'FAIL'} {name}: {status}" + ("" if status == wanted else f", not {wanted}"))
    return status == wanted


def conform(python: Path, directory: Path) -> bool:
    """The whole run; whether all was well."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    prepare(python, directory, url)
    environment = {"OS_KEYSTONE_CONFIG_DIR": str(directory)}
    log = directory / "keystone.log"
    with (
        httpx.Client(timeout=60) as http,
        running([str(python), "-c", SERVE, str(port)], log, environment) as served,
    ):
        wait_for(http, url, served, log)
        keystone = Keystone(url, http, log_in(http, url, "admin", "admin"))
        for user in (("placement", "service", "service"), ("nova", "service", "service"), ("anna", "demo", "reader")):
            keystone.user(*user)
        config = directory / "placement.toml"
        config.write_text(PLACEMENT_TOML.format(directory=directory, url=url, password=PASSWORD, cache=CACHE_SECONDS))
        subprocess.run([str(KILONOVA), "db", "upgrade", "--config", str(config)], check=True, timeout=COMMAND_SECONDS)
        said = directory / "placement.log"
        with running([str(KILONOVA), "placement", "--config", str(config)], said, {}) as alone:
            return check(keystone, placement_address(said, alone))


def main() -> int:
    """Set up, run, and give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, help="directory of Keystone's environment, made where it is missing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kilonova-keystone-") as made:
        venv = (asked.venv or Path(made) / "venv").absolute()
        python = venv / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=COMMAND_SECONDS)
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", KEYSTONE]
            subprocess.run(install, check=True, timeout=INSTALL_SECONDS)
        directory = Path(made) / "run"
        directory.mkdir()
        good = conform(python, directory)
    print("all as it should be" if good else "something differs")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
