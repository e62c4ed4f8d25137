"""Reading a candidate query: which parameters and suffixes a version knows, and the groups that they make. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from kilonova.domain.errors import BadRequest
from kilonova.domain.resources import CandidateQuery, RequestGroup
from kilonova.placement_api.errors import BadValue, DuplicateKey, MissingValue
from kilonova.placement_api.queries import Terms, read_member_of, read_resources, read_root_traits, read_traits, read_uuid
from kilonova.placement_api.wording import invalid_query, no_regexes

Values = Mapping[str, tuple[str, ...]]

_SINCE: Final = {"resources": 10, "required": 17, "member_of": 21, "in_tree": 31}
_WHOLE_SINCE: Final = {"limit": 16, "group_policy": 25, "root_required": 35, "same_subtree": 36} | {
    "replacing": 1002,
    "unchanged": 1002,
}
_NUMBERED: Final = 25
_NAMED: Final = 33
_RESOURCELESS: Final = 36
_TREE_ALONE: Final = 1001
_KEY: Final = re.compile(r"(resources|required|member_of|in_tree)(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r"[1-9][0-9]*")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SUFFIX: Final = "([a-zA-Z0-9_-]{1,64})?"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and how many candidates are wanted; None for all.

    `replacing` are consumers that count as holding nothing; `unchanged` is the one whose allocation is to be the only
    candidate (placement 1.1002).
    """

    query: CandidateQuery
    limit: int | None
    replacing: tuple[str, ...] = ()
    unchanged: str | None = None

    @property
    def classes(self) -> frozenset[str]:
        """Every resource class that is named."""
        return frozenset(name for group in self.query.groups for name in group.resources)

    @property
    def choices(self) -> int:
        """How many providers a candidate names at most: one for each suffixed group and each class of the other one."""
        return sum(1 if group.suffix else len(group.resources) for group in self.query.groups)

    @property
    def traits(self) -> frozenset[str]:
        """Every trait that is named."""
        query = self.query
        inside = (frozenset().union(*group.required, group.forbidden) for group in query.groups)
        return frozenset().union(query.root_required, query.root_forbidden, *inside)


def read_query(values: Values, version: int) -> Asked:
    """The query that the parameters make at a version. Raises BadRequest."""
    return _read(tuple(values.items()), version)


# Few flavors make most of the questions.
@lru_cache(maxsize=512)
def _read(values: tuple[tuple[str, tuple[str, ...]], ...], version: int) -> Asked:
    by_suffix: dict[str, dict[str, tuple[str, ...]]] = {}
    whole: dict[str, tuple[str, ...]] = {}
    for key, given in values:
        if _WHOLE_SINCE.get(key, version + 1) <= version:
            whole[key] = given
            continue
        name, suffix = _split(key, version)
        by_suffix.setdefault(suffix, {})[name] = given
    groups = tuple(_group(suffix, by_suffix[suffix], version) for suffix in sorted(by_suffix))
    # Each once: the search would look for a head for every one of them.
    subtrees = tuple({frozenset(map(str.strip, value.split(","))): None for value in whole.get("same_subtree", ())})
    _check_resources(groups, subtrees, version)
    _check_subtrees(groups, subtrees)
    policy = _policy(groups, whole.get("group_policy", ()))
    root = _root(whole.get("root_required", ()), version)
    query = CandidateQuery(groups, policy, subtrees, frozenset().union(*root.required), root.forbidden)
    limit = _limit(whole.get("limit", ()))
    return Asked(query, limit, *_consumers(whole.get("replacing", ()), whole.get("unchanged", ())))


def _split(key: str, version: int) -> tuple[str, str]:
    match = _KEY.fullmatch(key)
    if match is not None and _SINCE[match[1]] <= version:
        name, suffix = match[1], match[2]
        if not suffix:
            return name, ""
        form = _NAME if version >= _NAMED else _NUMBER
        if version >= _NUMBERED and form.fullmatch(suffix):
            return name, suffix
    if version < _NUMBERED:
        raise BadRequest(invalid_query(f"Additional properties are not allowed ({key!r} was unexpected)"))
    suffixed = _SUFFIX if version >= _NAMED else f"({_NUMBER.pattern})?"
    known = tuple(f"^{name}{suffixed}$" for name, since in _SINCE.items() if since <= version)
    raise BadRequest(invalid_query(no_regexes(key, known)))


def _group(suffix: str, given: Values, version: int) -> RequestGroup:
    required = read_traits(f"required{suffix}", given.get("required", ()), version)
    member_of = read_member_of(f"member_of{suffix}", given.get("member_of", ()), version)
    in_tree = given.get("in_tree")
    if in_tree is not None and len(in_tree) > 1:
        raise DuplicateKey(f"Query parameter in_tree{suffix} may be given only once.")
    return RequestGroup(
        suffix=suffix,
        resources=read_resources(f"resources{suffix}", given["resources"][-1]) if "resources" in given else {},
        required=required.required,
        forbidden=required.forbidden,
        member_of=member_of.required,
        forbidden_aggregates=member_of.forbidden,
        in_tree=None if in_tree is None else read_uuid(f"in_tree{suffix}", in_tree[0]),
    )


def _check_resources(groups: tuple[RequestGroup, ...], subtrees: tuple[frozenset[str], ...], version: int) -> None:
    """Who asks for nothing must at least hang together with somebody who does, or (own versions) name a tree."""
    alone = version >= _TREE_ALONE and any(group.in_tree for group in groups if not group.suffix)
    idle = [group for group in groups if not group.resources and not (alone and not group.suffix)]
    if version < _RESOURCELESS:
        _check_orphans(groups, idle, version)
        return
    if not alone and len(idle) == len(groups):
        raise MissingValue("There must be at least one resources or resources[$S] parameter.")
    in_subtree = frozenset().union(*subtrees)
    bad = [group.suffix for group in idle if group.suffix not in in_subtree]
    if bad:
        raise BadValue(
            "Resourceless suffixed group request should be specified in `same_subtree` query param: "
            f"bad group(s) are {', '.join(map(repr, bad))}."
        )


def _check_orphans(groups: tuple[RequestGroup, ...], idle: list[RequestGroup], version: int) -> None:
    """Before 1.36 every group asks for something."""
    if version < _NUMBERED and (idle or not groups):
        raise MissingValue(invalid_query("'resources' is a required property", "required"))
    if not groups:
        raise MissingValue("At least one request group (`resources` or `resources{$S}`) is required.")
    traits = [f"required{group.suffix}" for group in idle if group.required]
    if traits:
        raise MissingValue(
            "All traits parameters must be associated with resources. Found the following orphaned traits keys: "
            f"{', '.join(traits)}"
        )
    aggregates = [f"member_of{group.suffix}" for group in idle if group.member_of or group.forbidden_aggregates]
    if aggregates:
        raise MissingValue(
            "All member_of parameters must be associated with resources. Found the following orphaned member_of keys: "
            f"{', '.join(aggregates)}"
        )
    if idle:
        raise MissingValue("All request groups must specify resources.")


def _check_subtrees(groups: tuple[RequestGroup, ...], subtrees: tuple[frozenset[str], ...]) -> None:
    known = {group.suffix for group in groups}
    for suffixes in subtrees:
        if "" in suffixes:
            raise BadValue("Empty string (unsuffixed group) can not be specified in `same_subtree`")
        unknown = suffixes - known
        if unknown:
            raise BadValue(f"Real suffixes should be specified in `same_subtree`: there is no {', '.join(sorted(unknown))}.")


# Of what is given more than once the first counts, but for what adds up.
def _policy(groups: tuple[RequestGroup, ...], given: tuple[str, ...]) -> str | None:
    if not given:
        # Only groups that ask for something make the parameter needed; what it says holds for all.
        if sum(1 for group in groups if group.suffix and group.resources) > 1:
            raise MissingValue('The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.')
        return None
    if given[0] not in ("none", "isolate"):
        raise BadRequest(invalid_query(f"{given[0]!r} is not one of ['none', 'isolate']"))
    return given[0]


def _root(given: tuple[str, ...], version: int) -> Terms:
    if len(given) > 1:
        raise DuplicateKey("Query parameter 'root_required' may be specified only once.")
    return read_root_traits(given, version)


def _limit(given: tuple[str, ...]) -> int | None:
    if not given:
        return None
    # Nineteen digits are the most that a machine's number can have.
    if not re.fullmatch(r"[1-9][0-9]{0,18}", given[0]):
        raise BadRequest(invalid_query(f"{given[0]!r} is no whole number of at least 1 for limit", "pattern"))
    return int(given[0])


def _consumers(replacing: tuple[str, ...], unchanged: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    if len(unchanged) > 1:
        raise DuplicateKey("Query parameter unchanged may be given only once.")
    if replacing and unchanged:
        raise BadValue("Query parameters replacing and unchanged cannot be given together.")
    given = tuple(dict.fromkeys(read_uuid("replacing", uuid) for uuid in replacing))
    return given, read_uuid("unchanged", unchanged[0]) if unchanged else None
