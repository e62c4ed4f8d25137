"""Why a decision came out as it did: reasons with counts and names, and the words for users and administrators.

A host counts under the first reason that took it out and under no other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

OPENING: Final = "No valid host was found."
MOST_NAMES: Final = 1000
"""How many host names a reason keeps: enough for a table that a person reads, bounded for a cloud of any size."""
MOST_SCORES: Final = 20


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason and the `hosts` that fell by it; `names` are the first of them.

    `sentence` goes on after "N hosts were looked at:" and names no host and no amount. `asked` and `most_free` are
    amounts of the resource class `subject`: the nearest miss.
    """

    code: str
    subject: str
    sentence: str
    hosts: int
    names: tuple[str, ...]
    asked: int | None = None
    most_free: int | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A host that stood, and how good it was among those that stood."""

    host: str
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How many hosts were looked at, why the fallen fell (most hosts first), how many stood and the best of these."""

    looked_at: int
    reasons: tuple[Reason, ...] = ()
    stood: int = 0
    scores: tuple[Score, ...] = ()


def message(explanation: Explanation, amounts: bool) -> str:
    """The fault's message: counts in words, no host names; `amounts` says whether the nearest miss may be shown."""
    if not explanation.looked_at:
        return f"{OPENING} There are no hosts to look at."
    clauses = [reason.sentence + (_amounts(reason) if amounts else "") for reason in explanation.reasons]
    if explanation.stood:
        clauses.append(f"{explanation.stood} would do")
    if explanation.looked_at == 1:
        clauses = [clause.replace("1 ", "it ", 1) for clause in clauses]
    return f"{OPENING} {_looked_at(explanation)}: {', '.join(clauses)}."


def details(explanation: Explanation) -> str:
    """The fault's details for administrators: a table of reasons with amounts and host names, then the scores."""
    lines = [f"{_looked_at(explanation)}."]
    if explanation.reasons:
        rows = [(str(reason.hosts), _cause(reason), _names(reason)) for reason in explanation.reasons]
        lines += ["", *_table((("HOSTS", "REASON", "NAMES"), *rows))]
    if explanation.scores:
        scored = [(f"{score.score:.3f}", score.host) for score in explanation.scores]
        lines += ["", *_table((("SCORE", f"HOST (of {explanation.stood} that would do)"), *scored))]
    return "\n".join(lines)


def to_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation as plain values, for a JSON column, an event or the log."""
    # By hand: it is written for every server that is placed, and asdict takes ten times as long.
    return {
        "looked_at": explanation.looked_at,
        "reasons": [
            {
                "code": reason.code,
                "subject": reason.subject,
                "sentence": reason.sentence,
                "hosts": reason.hosts,
                "names": reason.names,
                "asked": reason.asked,
                "most_free": reason.most_free,
            }
            for reason in explanation.reasons
        ],
        "stood": explanation.stood,
        "scores": [{"host": score.host, "score": score.score} for score in explanation.scores],
    }


def from_json(document: Mapping[str, Any]) -> Explanation:
    """The explanation that `to_json` wrote; fields that a newer version added are left out."""
    return Explanation(
        looked_at=document["looked_at"],
        reasons=tuple(
            Reason(
                code=reason["code"],
                subject=reason["subject"],
                sentence=reason["sentence"],
                hosts=reason["hosts"],
                names=tuple(reason["names"]),
                asked=reason["asked"],
                most_free=reason["most_free"],
            )
            for reason in document["reasons"]
        ),
        stood=document["stood"],
        scores=tuple(Score(score["host"], score["score"]) for score in document["scores"]),
    )


def _looked_at(explanation: Explanation) -> str:
    count = explanation.looked_at
    return "1 host was looked at" if count == 1 else f"{count} hosts were looked at"


def _amounts(reason: Reason) -> str:
    if reason.asked is None:
        return ""
    if reason.most_free is None:
        return f" ({reason.asked} asked)"
    # An overloaded provider has less than nothing free; people are told that there is nothing.
    return f" ({reason.asked} asked, the most free is {max(reason.most_free, 0)})"


def _cause(reason: Reason) -> str:
    return reason.sentence.removeprefix(f"{reason.hosts} ") + _amounts(reason)


def _names(reason: Reason) -> str:
    more = reason.hosts - len(reason.names)
    return ", ".join(reason.names) + (f" and {more} more" if more else "")


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The rows as lines: columns aligned, numbers of the first to the right, nothing after the last."""
    cells = list(rows)
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    return [
        "  ".join(
            cell.ljust(width) if place else cell.rjust(width) for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
