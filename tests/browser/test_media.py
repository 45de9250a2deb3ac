"""Covered pictures open by click, by V and without script; nothing is asked from another server."""

import uuid

from playwright.sync_api import Locator, expect

from app.core.classify.corpus import SAMPLES
from tests.attached import attach
from tests.browser.accessibility import Examiner
from tests.browser.conftest import Visit, Visitor
from tests.browser.live import Service
from tests.browser.place import Place

THREAT = SAMPLES["threat"][0]


def _filter(picture: Locator) -> str:
    return str(picture.evaluate("one => getComputedStyle(one).filter"))


def _opened(visitor: Visitor, path: str) -> tuple[Locator, Locator]:
    visitor.open(path)
    picture = visitor.page.get_by_role("img", name="A pier")
    return picture, visitor.page.get_by_role("checkbox", name="Show picture 1 clearly")


def test_a_covered_picture_opens_by_click_by_v_and_without_script(
    service: Service, place: Place, visit: Visit
) -> None:
    (action_id,) = place.queue(THREAT)
    attach(service.wiring, uuid.UUID(action_id))
    path = f"/review/{action_id}"
    rita = visit(place.rater, own=True)
    asked: list[str] = []
    rita.page.on("request", lambda request: asked.append(request.url))
    picture, box = _opened(rita, path)
    expect(picture).to_be_hidden()
    rita.press("v")  # the content of a sensitive post first, then its pictures one by one
    expect(picture).to_be_visible()
    assert "blur" in _filter(picture)
    assert not Examiner(whole=False).look(rita, "a covered picture")
    rita.press("v")
    expect(box).to_be_checked()
    assert _filter(picture) == "none"
    assert rita.page.evaluate("document.images[0].naturalWidth") > 0
    rita.page.locator("label", has_text="Cover again").first.click()
    assert "blur" in _filter(picture)
    assert {url.split("/")[2] for url in asked} == {service.url.split("/")[2]}
    assert not any(url.endswith("/media/2") for url in asked)  # the video waits to be started

    bare = visit(place.rater, java_script_enabled=False)
    picture, box = _opened(bare, f"{path}?show={action_id}")
    bare.page.locator(".cover").first.click()
    expect(box).to_be_checked()
