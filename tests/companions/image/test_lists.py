import pytest

from .cloud import ImageCloud


async def test_pages_join_to_the_whole_list(cloud: ImageCloud) -> None:
    for number in range(5):
        await cloud.new(name=f"image-{number}")
    path, seen = "/v2/images?limit=2&sort=name:asc", []
    while path:
        page = (await cloud.ask("GET", path)).json()
        assert page["first"] == "/v2/images?limit=2&sort=name%3Aasc"
        seen += [image["name"] for image in page["images"]]
        path = page.get("next", "")
    assert seen == [f"image-{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("name=big", ["big"]),
        ("name=in:big,small", ["big", "small"]),
        ('name=in:"a,b",small', ["a,b", "small"]),
        ("status=active", ["big", "small"]),
        ("status=in:queued,saving", ["a,b"]),
        ("size_min=3", ["big"]),
        ("size_max=3", ["small"]),
        ("min_disk=7", ["big"]),
        ("protected=true", ["a,b"]),
        ("os_hidden=true", ["hidden"]),
        ("hw_disk_bus=virtio", ["big"]),
        ("tag=x&tag=y", ["small"]),
        ("tag=x&tag=z", []),
        ("owner=red", ["a,b", "big", "small"]),
        ("visibility=private", ["big"]),
        ("created_at=gt:2020-01-01T00:00:00Z", ["a,b", "big", "small"]),
        ("updated_at=lt:2020-01-01T00:00:00", []),
        ("member_status=all", ["a,b", "big", "small"]),
    ],
)
async def test_a_filter_keeps_what_fits(cloud: ImageCloud, query: str, expected: list[str]) -> None:
    await cloud.new(name="big", data=b"12345", min_disk=7, hw_disk_bus="virtio", visibility="private")
    await cloud.new(name="small", data=b"1", tags=["x", "y"])
    await cloud.new(name="a,b", protected=True)
    await cloud.new(name="hidden", os_hidden=True)
    assert await cloud.names(f"?sort=name:asc&{query}") == expected


async def test_ids_are_filtered_as_a_list(cloud: ImageCloud) -> None:
    ids = [(await cloud.new(name=name))["id"] for name in ("a", "b", "c")]
    assert sorted(await cloud.names(f"?id=in:{ids[0]},{ids[2]}")) == ["a", "c"]
    assert await cloud.names(f"?id={ids[1]}") == ["b"]


async def test_lists_are_sorted_by_several_keys_and_the_newest_comes_first_otherwise(cloud: ImageCloud) -> None:
    for name, disk in (("a", 1), ("b", 2), ("c", 1)):
        await cloud.new(name=name, min_disk=disk)
    assert await cloud.names("?sort=min_disk:asc,name:desc") == ["c", "a", "b"]
    assert await cloud.names("?sort_key=min_disk&sort_key=name&sort_dir=desc") == ["b", "c", "a"]
    assert await cloud.names() == ["c", "b", "a"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=-1",
        "marker=none",
        "sort=colour:asc",
        "sort=name:up",
        "sort=name&sort_key=name",
        "sort_key=name&sort_key=id&sort_dir=asc&sort_dir=asc&sort_dir=asc",
        "size_min=big",
        "protected=maybe",
        "visibility=secret",
        "created_at=gt:yesterday",
        'name=in:"open',
    ],
)
async def test_a_query_that_makes_no_sense_is_refused(cloud: ImageCloud, query: str) -> None:
    assert (await cloud.ask("GET", f"/v2/images?{query}")).status_code == 400
