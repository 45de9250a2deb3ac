"""Attachments of a submission: checked at once, read back with what became of them (docs/integrate/attachments.md)."""

from typing import Any

import pytest

from tests.api.conftest import Api
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

PICTURE = {"url": "https://cdn.example.org/a.png?x=1", "kind": "image"}


def _sent(api: Api, **attributes: Any) -> Any:
    answer = api.submit("post-1", **attributes)
    assert answer.status_code == 201, answer.json
    return answer.json["data"]["attributes"].get("attachments")


def test_attachments_are_stored_as_sent_and_each_but_links_waits_to_be_fetched(
    api: Api, jobs: InlineEngine
) -> None:
    whole = PICTURE | {"alt": "A pier", "filename": "pier.png", "width": 3, "height": 4, "size": 2**40}
    link = {"url": "https://example.org/page", "kind": "link"}
    shown = _sent(api, attachments=[whole, link])
    assert shown == [whole | {"state": "waiting"}, link | {"state": "kept"}]
    assert [job.name for job in jobs.jobs()].count("fetch_attachment") == 1
    listed = api.get("/requests").json["data"][0]["attributes"]
    assert listed["attachments"] == shown
    again = api.submit("post-1", attachments=[PICTURE] * 3)
    assert again.status_code == 200
    assert again.json["data"]["attributes"]["attachments"] == shown
    assert again.json["meta"] == {"duplicate": True, "content_differs": False}
    assert [job.name for job in jobs.jobs()].count("fetch_attachment") == 1


def test_the_flat_attributes_of_clients_in_the_field_mean_one_attachment_each(api: Api) -> None:
    shown = _sent(
        api,
        attachments=[PICTURE],
        attachment_url="https://cdn.example.org/b.mp4",
        attachment_type="video",
        attachment_metadata={"filename": "b.mp4", "size": 12, "width": -1, "proxy": {"x": [1]}},
        embedded_image_url="https://cdn.example.org/c.jpg",
    )
    waiting = {"state": "waiting"}
    assert shown == [
        PICTURE | waiting,
        {"url": "https://cdn.example.org/b.mp4", "kind": "video", "filename": "b.mp4", "size": 12} | waiting,
        {"url": "https://cdn.example.org/c.jpg", "kind": "image"} | waiting,
    ]
    flat = {"attachment_url": PICTURE["url"], "embedded_image_url": PICTURE["url"]}
    most = api.submit("post-3", attachments=[PICTURE] * 10, **flat).json["data"]["attributes"]
    assert len(most["attachments"]) == 12
    assert "attachments" not in api.submit("post-2", attachment_url=None).json["data"]["attributes"]


@pytest.mark.parametrize(
    ("attributes", "field"),
    [
        (
            {"attachments": [PICTURE, PICTURE | {"url": "http://cdn.example.org/a"}]},
            ("attachments", 1, "url"),
        ),
        ({"attachments": [PICTURE | {"url": "https://a:b@example.org/a"}]}, ("attachments", 0, "url")),
        (
            {"attachments": [PICTURE | {"url": "https://example.org/" + "a" * 2048}]},
            ("attachments", 0, "url"),
        ),
        ({"attachments": [PICTURE | {"kind": "sticker"}]}, ("attachments", 0, "kind")),
        ({"attachments": [PICTURE | {"alt": "a" * 2001}]}, ("attachments", 0, "alt")),
        ({"attachments": [PICTURE | {"filename": "a\x00"}]}, ("attachments", 0, "filename")),
        ({"attachments": [PICTURE | {"size": -1}]}, ("attachments", 0, "size")),
        ({"attachments": [PICTURE | {"colour": "red"}]}, ("attachments", 0, "colour")),
        ({"attachments": [PICTURE] * 11}, ("attachments",)),
        ({"attachment_url": "javascript:alert(1)"}, ("attachment_url",)),
        ({"attachment_url": PICTURE["url"], "attachment_type": "audio"}, ("attachment_type",)),
    ],
)
def test_what_breaks_a_limit_is_422_and_names_the_field(
    api: Api, attributes: dict[str, Any], field: tuple[Any, ...]
) -> None:
    answer = api.submit("post-1", **attributes)
    assert answer.status_code == 422
    assert [tuple(problem["loc"]) for problem in answer.json["detail"]] == [
        ("body", "data", "attributes", *field)
    ]
    assert api.get("/requests").json["data"] == []
