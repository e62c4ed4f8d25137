"""Runs files of placement's own suite against a live service, in the environment that has gabbi and the suite.

Arguments: a directory with the files, and the service's addresses, which requests are dealt to in turn. Prints a line of JSON
for each test as it ends: file, test, outcome ("passed" or what went wrong) and the trace of a failure.
"""

import http.client
import itertools
import json
import os
import sys
import unittest
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import placement_fixtures
from gabbi import driver

SECONDS = 60.0


class Told(unittest.TestResult):
    """A result that tells each test's end at once."""

    def addSuccess(self, test: Any) -> None:
        """See unittest.TestResult."""
        super().addSuccess(test)
        self._tell(test, "passed")

    def addFailure(self, test: Any, err: Any) -> None:
        """See unittest.TestResult."""
        super().addFailure(test, err)
        self._tell(test, "failed", self.failures[-1][1])

    def addError(self, test: Any, err: Any) -> None:
        """See unittest.TestResult."""
        super().addError(test, err)
        self._tell(test, "error", self.errors[-1][1])

    def addSkip(self, test: Any, reason: str) -> None:
        """See unittest.TestResult."""
        super().addSkip(test, reason)
        self._tell(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """See unittest.TestResult."""
        super().addExpectedFailure(test, err)
        self._tell(test, "expected failure")

    def addUnexpectedSuccess(self, test: Any) -> None:
        """See unittest.TestResult."""
        super().addUnexpectedSuccess(test)
        self._tell(test, "unexpected success")

    def _tell(self, test: Any, outcome: str, detail: str = "") -> None:
        name = getattr(test, "test_data", {}).get("name") or str(test)
        line = {"file": test.test_base_name, "test": name, "outcome": outcome, "detail": detail}
        print(json.dumps(line), flush=True)


class Dealt(httpx.BaseTransport):
    """Sends each request to the next of several services, over a connection of its own, as it was given.

    The client's usual transport refuses to send what no service should be sent, such as a length that is no number.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        self._netlocs = itertools.cycle([urlsplit(url).netloc for url in urls])

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx.BaseTransport."""
        connection = http.client.HTTPConnection(next(self._netlocs), timeout=SECONDS)
        try:
            target = request.url.raw_path.decode("ascii")
            connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.raw:
                connection.putheader(name, value)
            connection.endheaders(request.read() or None)
            answer = connection.getresponse()
            return httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())
        finally:
            connection.close()


def main(directory: str, urls: Sequence[str]) -> None:
    """Run every file of the directory, each from an empty ledger on."""
    os.environ[placement_fixtures.URLS] = " ".join(urls)
    suites = driver.build_tests(
        directory,
        unittest.TestLoader(),
        url=urls[0],
        test_loader_name="placement",
        fixture_module=placement_fixtures,
        # No TLS is spoken here, and to read the machine's certificates for each test would take most of the time.
        cert_validate=False,
    )
    result = Told()
    client = httpx.Client(transport=Dealt(urls))
    for suite in suites:
        for test in suite:
            test.http.client = client
        suite.run(result)
        # gabbi stops a run where a fixture fails; the other files can be run nevertheless.
        result.shouldStop = False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
