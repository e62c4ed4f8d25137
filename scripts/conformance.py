"""Drives a fresh cloud with the community's own command line, unpatched, and compares what it prints.

`make conformance` runs it; `--postgres` keeps the cloud's truth in PostgreSQL. Ends with 1 when anything differs.
"""

import argparse
import json
import shlex
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from conformance_checks import Answer
from conformance_ledger import commands_without_row
from conformance_rows import STEPS
from conformance_steps import Ask, NoRoomProbe, Row, Step
from started_cloud import CloudDied, Outcome, StartedCloud, remove

READY_AIM_SECONDS = 3.0
POLL_SECONDS = 0.01
PROBE_SECONDS = 10.0
SETTLE_SECONDS = 20.0
IMAGE_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Result:
    """How one row came out; no complaints means that all is well."""

    name: str
    seconds: float
    complaints: tuple[str, ...]


@dataclass(slots=True)
class Conformance:
    """One run against one cloud; `kept` has what later rows need from earlier ones."""

    cloud: StartedCloud
    kept: dict[str, str] = field(default_factory=dict)

    def run(self, steps: tuple[Step, ...], deadline: float) -> list[Result]:
        """All steps in order, printed as they come. Those that would begin after `deadline` (monotonic) fail unrun."""
        results = []
        for step in steps:
            if time.monotonic() > deadline:
                result = Result(_name(step), 0.0, ("not run: the time of the whole run is up",))
            else:
                result = self._step(step)
            print_result(result)
            results.append(result)
        return results

    def _step(self, step: Step) -> Result:
        if isinstance(step, Row):
            return self._row(step)
        return self._ask(step) if isinstance(step, Ask) else self._probe(_name(step), step)

    def _row(self, row: Row) -> Result:
        begun = time.monotonic()
        try:
            words = shlex.split(row.command.format_map(self.kept))
        except KeyError as error:
            return Result(row.command, 0.0, (f"not run: an earlier row was to give {error.args[0]}",))
        while True:
            outcome = self._command(row, words)
            complaints = self._judge(row, outcome)
            is_final = not complaints or not row.settles or time.monotonic() - begun > SETTLE_SECONDS
            if is_final:
                return Result(row.command, outcome.seconds, tuple(complaints))

    def _command(self, row: Row, words: list[str]) -> Outcome:
        if row.program == "kilonova":
            return self.cloud.kilonova(*words, seconds=row.seconds)
        # A row may name a cloud of its own: the last --os-cloud counts.
        return self.cloud.openstack(*words, seconds=row.seconds)

    def _judge(self, row: Row, outcome: Outcome) -> list[str]:
        if outcome.code is None:
            return [f"did not end within {row.seconds:.0f} s"]
        if outcome.code != row.code:
            return [f"exit code {outcome.code} instead of {row.code}: {(outcome.errors or outcome.output).strip()[-600:]}"]
        value = None
        if "-f json" in row.command and outcome.code == 0:
            try:
                value = json.loads(outcome.output)
            except json.JSONDecodeError:
                return [f"no JSON was printed but {outcome.output!r:.300}"]
        complaints = [sentence for check in row.checks for sentence in check(Answer(outcome.output, outcome.errors, value))]
        first = value[0] if isinstance(value, list) and value else value
        for name, column in row.keeps.items():
            if isinstance(first, dict) and column in first:
                self.kept[name] = str(first[column])
        return complaints

    def _ask(self, ask: Ask) -> Result:
        """One request, its status, the version it names, and its body."""
        headers = {"X-Auth-Token": self.cloud.token}
        if ask.version:
            headers["OpenStack-API-Version"] = f"placement {ask.version}"
        begun = time.monotonic()
        method = "GET" if ask.body is None else "PUT"
        answer = httpx.request(method, f"{self.cloud.url}{ask.path.format_map(self.kept)}", headers=headers, json=ask.body)
        seconds = time.monotonic() - begun
        if answer.status_code != ask.status:
            return Result(ask.name, seconds, (f"answered {answer.status_code} instead of {ask.status}: {answer.text:.300}",))
        complaints = []
        named = answer.headers.get("openstack-api-version", "")
        if ask.answered and named != f"placement {ask.answered}":
            complaints.append(f"the version named is {named!r} instead of {ask.answered}")
        value = answer.json() if answer.content else None
        complaints += [sentence for check in ask.checks for sentence in check(Answer(answer.text, "", value))]
        return Result(ask.name, seconds, tuple(complaints))

    def _probe(self, name: str, probe: NoRoomProbe) -> Result:
        """How long the server takes to say that a create finds no host, without the client's own start."""
        if "image" not in self.kept or "huge" not in self.kept:
            return Result(name, 0.0, ("not run: an earlier row was to give the image and the flavor",))
        body = {"name": "no-room", "imageRef": self.kept["image"], "flavorRef": self.kept["huge"], "networks": "none"}
        headers = {"X-Auth-Token": self.cloud.token, "OpenStack-API-Version": "compute 2.104"}
        with httpx.Client(base_url=f"{self.cloud.url}/compute/v2.1", headers=headers) as client:
            begun = time.monotonic()
            answer = client.post("/servers", json={"server": body})
            if answer.status_code != 202:
                return Result(name, 0.0, (f"POST answered {answer.status_code}: {answer.text:.300}",))
            self.kept["no_room"] = answer.json()["server"]["id"]
            status = "BUILD"
            while status == "BUILD" and time.monotonic() - begun < PROBE_SECONDS:
                status = client.get(f"/servers/{self.kept['no_room']}").json()["server"]["status"]
                time.sleep(POLL_SECONDS)
            seconds = time.monotonic() - begun
        complaints = [] if status == "ERROR" else [f"the status is {status}"]
        if seconds > probe.within_seconds:
            complaints.append(f"it took {seconds:.2f} s instead of {probe.within_seconds:.0f} s")
        return Result(name, seconds, tuple(complaints))


def _name(step: Step) -> str:
    if isinstance(step, Row):
        return step.command
    return step.name if isinstance(step, Ask) else "POST /servers with a flavor that fits nowhere, until ERROR"


def print_result(result: Result) -> None:
    """One line of the table, and below it what is wrong."""
    print(f"{'FAIL' if result.complaints else 'ok':4} {result.seconds:6.2f} s  {result.name}")
    for complaint in result.complaints:
        print(f"                 {complaint}")
    sys.stdout.flush()


def conform(directory: Path, flags: tuple[str, ...], seconds: float) -> int:
    """Run all rows against a new cloud in `directory`, within `seconds`; how many failed. Raises CloudDied."""
    begun = time.monotonic()
    cloud = StartedCloud(directory, *flags)
    image = directory / "image.raw"
    image.write_bytes(b"\0" * IMAGE_BYTES)
    kept = {"state": str(cloud.state), "file": str(image), "private_key": str(directory / "key.pem")}
    try:
        ready = cloud.start()
        print(
            f"ready after {ready:.2f} s, {cloud.cpu_seconds():.2f} s of CPU (aim: {READY_AIM_SECONDS:.0f} s on a quiet machine)"
        )
        results = Conformance(cloud, kept).run(STEPS, begun + seconds)
    finally:
        cloud.stop()
    unmentioned = commands_without_row(STEPS)
    if unmentioned:
        results.append(Result("every command of osc-placement", 0.0, tuple(f"no row runs {name!r}" for name in unmentioned)))
        print_result(results[-1])
    failed = sum(1 for result in results if result.complaints)
    if failed:
        print(f"What the cloud wrote last:\n{cloud.log_tail()}")
    print(f"{len(results) - failed} of {len(results)} as expected, in {time.monotonic() - begun:.0f} s")
    return failed


def main() -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", action="store_true", help="keep the cloud's truth in a PostgreSQL of its own")
    parser.add_argument("--seconds", type=float, default=900.0, help="limit of the whole run")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="kilonova-conformance-"))
    try:
        return 1 if conform(directory, ("--postgres",) if options.postgres else (), options.seconds) else 0
    except CloudDied as error:
        print(error)
        return 1
    finally:
        remove(directory)


if __name__ == "__main__":
    sys.exit(main())
