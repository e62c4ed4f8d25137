"""The links that a resource carries: to itself at this version, and to itself whatever the version."""

from typing import Any


def links_to(root: str, path: str) -> list[dict[str, Any]]:
    """The self and bookmark links of `path` ("flavors/1") under the face's address ("http://host/compute/v2.1")."""
    return [
        {"rel": "self", "href": f"{root}/{path}"},
        {"rel": "bookmark", "href": f"{root.rpartition('/')[0]}/{path}"},
    ]
