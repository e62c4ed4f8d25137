"""Turns a flavor and an image into the one candidate query that placement is asked. It knows neither hosts nor answers.

The unsuffixed group is the flavor's sizes with its overrides, its traits and the image's; suffixed groups are the
flavor's alone. A query that could never be right is refused here, naming the property.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from kilonova.domain.errors import BadRequest
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.domain.image_properties import TRAIT_PREFIX, read_image_properties
from kilonova.domain.resources import DISK_GB, MEMORY_MB, VCPU, CandidateQuery, RequestGroup
from kilonova.scheduling.extra_specs import FlavorAsks, read_extra_specs
from kilonova.scheduling.implied_traits import DISABLED, find_implied_traits
from kilonova.scheduling.settings import QuerySettings

_MB_IN_GB: Final = 1024


@dataclass(frozen=True, slots=True)
class QueryParts:
    """What the caller adds to a flavor and an image.

    `member_of` is a conjunction of sets of aggregate uuids of which the host must be in one each; `in_tree` is the uuid
    of the only host's root; `groups` are those of ports and devices, tied by `same_subtree` (sets of suffixes).
    `known_traits` holds the names of all traits that exist; None leaves them unchecked.
    """

    member_of: tuple[frozenset[str], ...] = ()
    forbidden_aggregates: frozenset[str] = frozenset()
    in_tree: str | None = None
    groups: tuple[RequestGroup, ...] = ()
    same_subtree: tuple[frozenset[str], ...] = ()
    root_required: frozenset[str] = frozenset()
    known_traits: Container[str] | None = None


@dataclass(slots=True)
class _Traits:
    """Trait names, each with the property that says so, for the sentence of a refusal."""

    required: dict[str, str] = field(default_factory=dict)
    forbidden: dict[str, str] = field(default_factory=dict)
    root_required: dict[str, str] = field(default_factory=dict)
    root_forbidden: dict[str, str] = field(default_factory=dict)


def candidate_query(
    flavor: Flavor,
    image: Image | None,
    volume_backed: bool = False,
    parts: QueryParts | None = None,
    settings: QuerySettings | None = None,
) -> CandidateQuery:
    """The whole query; `volume_backed` leaves out the root disk. Raises BadRequest naming the property at fault."""
    parts = parts or QueryParts()
    asks = read_extra_specs(flavor.extra_specs)
    traits = _collect_traits(flavor, image, asks, parts)
    for implied in find_implied_traits(flavor, image, volume_backed, settings or QuerySettings()):
        (traits.root_required if implied.of_root else traits.required).setdefault(implied.trait, implied.said_by)
    _refuse_contradictions(traits)
    resources = _unsuffixed_resources(flavor, asks, volume_backed)
    if not resources:
        # Placement has no provider to ask for these traits; the root stands for the host.
        traits.root_required.update(traits.required)
        traits.root_forbidden.update(traits.forbidden)
    suffixed = (*_suffixed_groups(asks), *parts.groups)
    if not resources and not suffixed:
        raise BadRequest(f"The flavor {flavor.name} asks for no resources at all: its extra specs take every class away.")
    unsuffixed = _unsuffixed_group(resources, traits, parts)
    return CandidateQuery(
        groups=((unsuffixed,) if unsuffixed != RequestGroup() else ()) + suffixed,
        # Placement refuses several groups without a policy; "none" is what the community's service then takes.
        group_policy=asks.group_policy or ("none" if len(suffixed) > 1 else None),
        same_subtree=parts.same_subtree,
        root_required=frozenset(traits.root_required) | parts.root_required,
        root_forbidden=frozenset(traits.root_forbidden),
    )


def flavor_resources(flavor: Flavor, volume_backed: bool) -> Mapping[str, int]:
    """The flavor's sizes by class, zeros left out: swap is rounded up to GB, a root volume needs no disk."""
    root = 0 if volume_backed else flavor.root_gb
    swap = -(-flavor.swap_mb // _MB_IN_GB)
    sizes = {VCPU: flavor.vcpus, MEMORY_MB: flavor.memory_mb, DISK_GB: root + flavor.ephemeral_gb + swap}
    return {name: amount for name, amount in sizes.items() if amount}


def _unsuffixed_resources(flavor: Flavor, asks: FlavorAsks, volume_backed: bool) -> Mapping[str, int]:
    # A class that any group speaks of is asked there and only there, also with 0. Source: the community's scheduler.
    sizes = flavor_resources(flavor, volume_backed).items()
    kept = {name: amount for name, amount in sizes if name not in asks.classes}
    return kept | {name: amount for name, amount in asks.unsuffixed.resources.items() if amount}


def _collect_traits(flavor: Flavor, image: Image | None, asks: FlavorAsks, parts: QueryParts) -> _Traits:
    said = f"flavor extra spec {TRAIT_PREFIX}"
    traits = _Traits(root_forbidden={DISABLED: "rule that disabled hosts take no servers"})
    traits.required.update({name: said + name for name in asks.unsuffixed.required})
    traits.forbidden.update({name: said + name for name in asks.unsuffixed.forbidden})
    if image:
        of_image, said = read_image_properties(image.properties), f"image property {TRAIT_PREFIX}"
        traits.required.update({name: said + name for name in of_image.required})
        traits.forbidden.update({name: said + name for name in of_image.forbidden})
    if parts.known_traits is not None:
        _refuse_unknown(asks, traits, parts.known_traits)
    return traits


def _refuse_unknown(asks: FlavorAsks, traits: _Traits, known: Container[str]) -> None:
    named = traits.required | traits.forbidden
    for suffix, group in asks.groups.items():
        for name in group.required | group.forbidden:
            named.setdefault(name, f"flavor extra spec trait{suffix}:{name}")
    for name, said_by in sorted(named.items()):
        if name not in known:
            raise BadRequest(f"The {said_by} names a trait that does not exist.")


def _refuse_contradictions(traits: _Traits) -> None:
    forbidden = traits.root_forbidden | traits.forbidden
    for name, said_by in sorted((traits.root_required | traits.required).items()):
        if name in forbidden:
            # The image's property is the one that a user can change, so it comes first where there is one.
            first, second = said_by, forbidden[name]
            verb, other = ("requires", "forbidden")
            if second.startswith("image") and not first.startswith("image"):
                first, second, verb, other = second, first, "forbids", "required"
            raise BadRequest(f"The {first} {verb} the trait {name}, which is {other} by the {second}.")


def _unsuffixed_group(resources: Mapping[str, int], traits: _Traits, parts: QueryParts) -> RequestGroup:
    group = RequestGroup(
        resources=resources,
        member_of=parts.member_of,
        forbidden_aggregates=parts.forbidden_aggregates,
        in_tree=parts.in_tree,
    )
    if not resources:
        return group
    required = tuple(frozenset((name,)) for name in sorted(traits.required))
    return replace(group, required=required, forbidden=frozenset(traits.forbidden))


def _suffixed_groups(asks: FlavorAsks) -> tuple[RequestGroup, ...]:
    groups = []
    for suffix, group in asks.groups.items():
        resources = {name: amount for name, amount in group.resources.items() if amount}
        if not suffix:
            continue
        if resources:
            required = tuple(frozenset((name,)) for name in sorted(group.required))
            groups.append(RequestGroup(suffix, resources, required, frozenset(group.forbidden)))
        elif group.required or group.forbidden:
            key = f"trait{suffix}:{min(group.required | group.forbidden)}"
            raise BadRequest(f"The flavor extra spec {key} has no resources{suffix}: beside it that it could speak of.")
    return tuple(groups)
