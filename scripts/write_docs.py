"""Writes the pages of docs/ that are drawn from the code: settings.md and lifecycle.md. With --check it only compares."""

import sys
from collections.abc import Iterator
from pathlib import Path

from kilonova.domain.lifecycle import EVENTS, Event, State, after, status, tasks_with_status
from kilonova.settings import Settings, render

DOCS = Path(__file__).parents[1] / "docs"
NOTE = "<!-- Written by scripts/write_docs.py; edit the code it is drawn from. -->"
ANY = "any state"


def settings_page() -> str:
    """Every setting by section: name, default, meaning."""
    lines = [
        "# Settings",
        "",
        NOTE,
        "",
        "A settings file is TOML; `kilonova config` prints one with every setting. A variable `KILONOVA_SECTION__KEY` wins",
        "over the file: `KILONOVA_API__PORT=8080`. A name that is not on this page is refused. Times are seconds unless the",
        "meaning says otherwise.",
    ]
    whole, meaning = Settings(), ""
    for line in render(whole).splitlines()[1:]:
        if line.startswith("["):
            title = (type(getattr(whole, line.strip("[]"))).__doc__ or "").partition(": ")[2]
            lines += [
                "",
                f"## {line}",
                "",
                title[:1].upper() + title[1:],
                "",
                "| setting | default | meaning |",
                "| --- | --- | --- |",
            ]
        elif line.startswith("#"):
            meaning = line.removeprefix("# ")
        elif line:
            name, _, value = line.partition(" = ")
            lines.append(f"| `{name}` | `{value}` | {meaning} |")
    return "\n".join(lines) + "\n"


def lifecycle_page() -> str:
    """The table of events, the diagram that follows from it, and how states read to users."""
    return "\n".join(
        [
            "# The life of a server",
            "",
            NOTE,
            "",
            "A server's state is a vm_state (what it is) and a task_state (what is being done to it).",
            "`src/kilonova/domain/lifecycle.py` is the only place that sets one: this page is drawn from its table.",
            "",
            "```mermaid",
            "stateDiagram-v2",
            *(f"    {line}" for line in _arrows()),
            "```",
            "",
            "Events that leave the vm_state as it is are not drawn.",
            "",
            "## Events",
            "",
            "*meets*: the vm_states that the event is allowed in; elsewhere it is a 409. *while a task runs*: whether a",
            "task_state may be set at that moment. An empty cell leaves the vm_state as it is; a task of `-` means that none",
            "runs afterwards.",
            "",
            "| event | meets | while a task runs | vm_state after | task_state after |",
            "| --- | --- | --- | --- | --- |",
            *(_row(name, event) for name, event in EVENTS.items()),
            "",
            "## What users see",
            "",
            "| vm_state | status | with a task_state |",
            "| --- | --- | --- |",
            *(_reads(vm) for vm in _vm_states()),
            "",
        ]
    )


def _vm_states() -> list[str]:
    found = {event.vm for event in EVENTS.values() if event.vm} | {vm for event in EVENTS.values() for vm in event.meets or ()}
    return sorted(found)


def _arrows() -> Iterator[str]:
    yield 'state "any state" as any'
    born = after("create", State("building")).vm
    yield f"[*] --> {born}: create"
    for name, event in EVENTS.items():
        if name == "create" or event.vm is None:
            continue
        for vm in sorted(event.meets) if event.meets is not None else ("any",):
            if vm != event.vm:
                yield f"{vm} --> {event.vm}: {name}"
    yield "deleted --> [*]"


def _row(name: str, event: Event) -> str:
    meets = (
        "nothing: the server is born" if name == "create" else ", ".join(sorted(event.meets)) if event.meets is not None else ANY
    )
    tasked = "yes" if event.while_tasked else "no"
    return f"| {name} | {meets} | {tasked} | {event.vm or ''} | {event.task or '-'} |"


def _reads(vm: str) -> str:
    others = ", ".join(f"{task}: {status(vm, task)}" for task in sorted(tasks_with_status(vm)))
    return f"| {vm} | {status(vm, None)} | {others} |"


PAGES = {"settings.md": settings_page, "lifecycle.md": lifecycle_page}


def main() -> None:
    """Write the pages; with --check name those that are not in step and end with 1."""
    stale = [name for name, page in PAGES.items() if not (DOCS / name).exists() or (DOCS / name).read_text() != page()]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"not in step with the code, run scripts/write_docs.py: {', '.join(stale)}")
        return
    for name in stale:
        (DOCS / name).write_text(PAGES[name]())


if __name__ == "__main__":
    main()
