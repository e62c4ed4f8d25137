"""The page of cases says what there is: every case is on it, with the file of its test or why it has none."""

import re
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "cases.md"
CASES: Final = tuple(f"C{number:03}" for number in range(1, 178, 2))
ROW: Final = re.compile(r"^\| (C\d{3}) \| [^|]+ \| [^|]+\. \| (?:`([\w/.]+)`|not yet: [a-z A-Z]+) \|$", re.MULTILINE)
TEST: Final = re.compile(r"^async def test_(c\d{3})_", re.MULTILINE)


def test_every_case_is_on_the_page_once() -> None:
    assert tuple(match[1] for match in ROW.finditer(PAGE.read_text())) == CASES


def test_the_page_names_the_file_of_every_test_and_no_other() -> None:
    told = {match[1]: match[2] for match in ROW.finditer(PAGE.read_text()) if match[2]}
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    there = {case.upper(): f"tests/cases/{path.name}" for path in files for case in TEST.findall(path.read_text())}
    assert told == there
