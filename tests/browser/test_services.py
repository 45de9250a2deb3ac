"""An operator connects each kind of service, watches and changes it, and looks at the community's own model."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, expect

from app.jobs import communities
from tests import talk
from tests.browser.accessibility import violations
from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.layout import SCREENS, too_wide
from tests.browser.live import DOUBTFUL, PATIENCE, Service, wait_for
from tests.browser.place import Place, opened_place
from tests.onnx_models import write_model
from tests.stub_services import WORD, Stub, dripping, serving, status

PATHS = {
    "OpenAI moderation": "/v1",
    "Azure AI Content Safety": "",
    "Guard model (chat)": "/v1",
    "Your own model over HTTP": "/score",
}
SCORED = {
    "Azure AI Content Safety": "Hate",
    "Guard model (chat)": "Hate",
}
"""What the stub finds in a post with its word, by kind."""
WALKED = ("Azure AI Content Safety", "Guard model (chat)")
"""The kinds whose forms or categories differ; the tests below walk through the other two."""


_FAILED = re.compile(r"service\.own: (no answer within 6 s|paused after failures|too many calls at once)")


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as started:
        yield started


def add(olga: Visitor, stub: Stub, title: str, name: str = "stub") -> None:
    """Add a service of this kind by the form."""
    olga.open("/classifiers")
    olga.page.get_by_role("link", name="Add a service").click()
    olga.page.get_by_role("link", name=title).click()
    olga.main.get_by_label("Name").fill(name)
    olga.main.get_by_label("Key").fill("sk-secret")
    olga.main.get_by_label("URL").fill(stub.url(PATHS[title]))
    if title == "Guard model (chat)":
        olga.main.get_by_label("Model", exact=True).fill("model-1")
    olga.main.get_by_label("Posts of this community are sent to this host").check()
    olga.main.get_by_label("Reason").fill("Try it")
    olga.button("Add service").click()
    expect(olga.status).to_contain_text(f"{name} is added. It is observed")


@pytest.mark.parametrize("title", WALKED)
def test_a_service_is_observed_compared_and_counted(
    place: Place, visit: Visit, stub: Stub, title: str
) -> None:
    olga = visit(place.operator)
    add(olga, stub, title)
    assert "sk-secret" not in olga.page.content()
    watched = f"Look at my {WORD}"
    place.finished(place.submit(watched))
    wait_for("the observed service's call", lambda: bool(stub.seen))
    assert place.actions("under_review") == []

    def compared() -> bool:
        olga.page.get_by_role("link", name="Compare with and without it").click()
        return olga.page.get_by_role("cell", name=f"{SCORED[title]}, Tier 2").count() > 0

    wait_for("the observed score", compared)
    region = olga.page.get_by_role("region", name="With and without its scores")
    expect(region.get_by_role("row").filter(has_text="Let through")).to_contain_text(
        f"{SCORED[title]}, Tier 2"
    )

    olga.main.get_by_label("If it fails", exact=True).select_option("review")
    state = olga.page.get_by_role("region", name="What its scores do")
    state.get_by_label("Reason").fill("It agrees")
    olga.button("Count its scores").click()
    expect(olga.status).to_contain_text("Its scores count from now on.")
    (action_id,) = place.queue(f"Another {WORD}")
    max_ = visit(place.moderator, f"/review/{action_id}")
    expect(max_.page.get_by_role("complementary")).to_contain_text(
        re.compile(rf"service\.stub 1\+.*{SCORED[title]}")
    )
    olga.open("/classifiers")
    row = olga.page.get_by_role("row").filter(has_text="service.stub")
    expect(row).to_contain_text("counts")
    expect(row).to_contain_text(title)


def test_without_script_a_model_as_files_is_added_measured_and_counted(place: Place, visit: Visit) -> None:
    folder = f"tiny-{place.platform_id}"
    write_model(place.service.log.parent / "models" / folder)
    olga = visit(place.operator, java_script_enabled=False, wants=[422])
    olga.open("/classifiers/services/new?kind=onnx")
    olga.main.get_by_label("Name").fill("files")
    olga.main.get_by_label("Folder").fill(f"../models/{folder}")
    olga.main.get_by_label("Reason").fill("Try it")
    olga.button("Add service").click()
    expect(olga.page.get_by_role("group", name="There is a problem")).to_contain_text("without a path")
    olga.main.get_by_label("Folder").fill(folder)
    olga.button("Add service").click()
    expect(olga.status).to_contain_text("files is added. It is observed")

    region = olga.page.get_by_role("region", name="Measure")
    region.get_by_text("Measure version 1").click()
    lines = [{"text": f"A {WORD}", "categories": ["toxicity"]}, {"text": "Fine", "categories": []}] * 5
    content = "\n".join(map(json.dumps, lines)).encode()
    file = FilePayload(name="examples.jsonl", mimeType="application/json", buffer=content)
    region.get_by_label("Examples").set_input_files(file)
    region.get_by_label("Reason").fill("Ours")
    region.get_by_role("button", name="Measure").click()
    expect(olga.status).to_contain_text("Version 1 is measured.")
    expect(region).to_contain_text("5 of 5 found, 0 of 5 others flagged wrongly")

    state = olga.page.get_by_role("region", name="What its scores do")
    state.get_by_label("Reason").fill("It agrees")
    olga.button("Count its scores").click()
    expect(olga.status).to_contain_text("Its scores count from now on.")
    place.queue(f"Another {WORD}")


def test_a_text_is_tested_beside_the_built_ins(place: Place, visit: Visit, stub: Stub) -> None:
    olga = visit(place.operator)
    add(olga, stub, "Your own model over HTTP", "own")
    add(olga, stub, "OpenAI moderation", "openai")
    olga.open("/classifiers")
    olga.main.get_by_label("Text", exact=True).fill(f"You {WORD}")
    olga.button("Test").click()
    answers = olga.page.get_by_role("table", name="Answers")
    for name in ("service.own 1", "service.openai 1"):
        expect(answers.get_by_role("row").filter(has_text=name)).to_contain_text("Toxicity 0.93")
    expect(answers.get_by_role("row").filter(has_text="builtin.rules")).to_be_visible()
    expect(olga.page.get_by_role("region", name="Result by what is in force")).to_contain_text(
        "Nothing would happen."
    )
    assert violations(olga, "a tested text with services") == []


def test_mistakes_are_explained_and_the_key_is_not_kept(place: Place, visit: Visit) -> None:
    olga = visit(place.operator, "/classifiers/services/new?kind=openai_moderation", wants=[422])
    olga.main.get_by_label("Name").fill("OpenAI")
    olga.main.get_by_label("Key").fill("sk-secret")
    olga.main.get_by_label("URL").fill("http://10.0.0.1/v1")
    olga.main.get_by_label("Categories").fill("harassment")
    olga.button("Add service").click()
    summary = olga.page.get_by_role("group", name="There is a problem")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("Categories, line 1")
    expect(olga.main.get_by_label("Categories")).to_have_value("harassment")
    olga.main.get_by_label("Categories").fill("")
    olga.main.get_by_label("Reason").fill("Try it")
    olga.button("Add service").click()
    summary.get_by_role("link", name=re.compile("URL must start with https")).click()
    expect(olga.main.get_by_label("URL")).to_be_focused()
    expect(summary).to_contain_text("sent to this host must be given")
    expect(olga.main.get_by_label("Key")).to_have_value("")
    assert violations(olga, "a service with mistakes") == []


def test_without_script_on_a_phone_in_the_dark_a_version_is_tried_and_put_in_force(
    place: Place, visit: Visit, stub: Stub
) -> None:
    olga = visit(place.operator, java_script_enabled=False, viewport=PHONE, color_scheme="dark")
    add(olga, stub, "Your own model over HTTP", "own")
    page = olga.page.url
    olga.page.get_by_role("region", name="What its scores do").get_by_label("Reason").fill("It agrees")
    olga.button("Count its scores").click()
    expect(olga.status).to_contain_text("Its scores count from now on.")
    place.queue(f"A {WORD}")
    settings = olga.page.get_by_role("region", name="Settings")
    settings.get_by_label("Categories").fill("toxicity =\nsarcasm = spam")
    settings.get_by_label("Reason").fill("Only sarcasm")
    olga.button("Save settings").click()
    expect(olga.status).to_contain_text("Version 2 is saved.")
    olga.button("Try version 2").click()
    tried = olga.page.get_by_role("region", name="Version 2 on recent posts")
    expect(tried.get_by_role("row").filter(has_text="Let through")).to_contain_text("Toxicity, Tier 2")
    olga.page.get_by_role("region", name="Versions").get_by_label("Reason").fill("Tried")
    olga.button("Put version 2 in force").click()
    expect(olga.status).to_contain_text("Version 2 is in use.")
    olga.main.get_by_text("Remove", exact=True).last.click()
    olga.page.get_by_role("region", name="Remove").get_by_label("Reason").fill("Enough")
    olga.button("Remove this service").click()
    expect(olga.status).to_contain_text("own is removed.")
    olga.wants(404)
    assert olga.open(page).status == 404


def test_pages_of_services_fit_and_have_no_violation(place: Place, visit: Visit, stub: Stub) -> None:
    olga = visit(place.operator)
    add(olga, stub, "Your own model over HTTP", "own")
    page = olga.page.url
    place.finished(place.submit(f"A {WORD}"))
    wait_for("the observed service's call", lambda: bool(stub.seen))
    found: list[str] = []
    for path in (page, f"{page}/comparison", "/classifiers", "/classifiers/services/new", *_forms()):
        olga.open(path)
        olga.page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true })")
        found += violations(olga, path)
        found += too_wide(olga, *SCREENS)
    assert not found, "\n".join(found)


def _forms() -> list[str]:
    kinds = ("openai_moderation", "azure_content_safety", "perspective", "chat_guard", "http", "onnx")
    return [f"/classifiers/services/new?kind={kind}" for kind in kinds]


def test_a_required_service_that_hangs_sends_posts_to_people_and_other_communities_go_on(
    service: Service, place: Place, visit: Visit, stub: Stub
) -> None:
    olga = visit(place.operator)
    add(olga, stub, "Your own model over HTTP", "own")
    settings = olga.page.get_by_role("region", name="Settings")
    settings.get_by_text("Time, budget and cost").click()
    settings.get_by_label("Seconds for one call").fill("6")
    settings.get_by_label("Reason").fill("Quick")
    olga.button("Save settings").click()
    expect(olga.status).to_contain_text("Version 2 is in use.")
    olga.page.get_by_role("region", name="What its scores do").get_by_label("Reason").fill("It agrees")
    olga.button("Count its scores").click()
    expect(olga.status).to_contain_text("Its scores count from now on.")
    # It is opened before the calls hang, so that all of their time is there for what they must not hold up.
    with opened_place(service) as elsewhere:
        stub.fail(dripping(0.05))
        waiting = [place.submit(f"Nothing much, {number}") for number in range(12)]
        wait_for("the first calls", lambda: len(stub.seen) >= 4)
        elsewhere.queue(DOUBTFUL[0])
        assert place.actions("under_review") == [], "all calls hang still"
    wait_for("posts for people", lambda: len(place.actions("under_review")) == len(waiting), 2 * PATIENCE)
    action_id = place.actions("under_review")[0]["id"]
    max_ = visit(place.moderator, f"/review/{action_id}")
    expect(max_.page.get_by_role("complementary")).to_contain_text(_FAILED)
    olga.page.reload()
    expect(olga.main).to_contain_text("no answer within 6 s")


def test_a_required_service_that_recovers_decides_without_anybody_doing_anything(
    place: Place, visit: Visit, stub: Stub
) -> None:
    olga = visit(place.operator)
    add(olga, stub, "Your own model over HTTP", "own")
    state = olga.page.get_by_role("region", name="What its scores do")
    state.get_by_label("If it fails", exact=True).select_option("retry")
    state.get_by_label("Reason").fill("It agrees")
    olga.button("Count its scores").click()
    expect(olga.status).to_contain_text("Its scores count from now on.")
    stub.fail(status(500), times=3)  # all attempts of the first try
    (action_id,) = place.queue(f"Look at my {WORD}")
    assert place.action(action_id)["classifier_evidence"]["category"] == "toxicity"
    assert len(stub.seen) == 4


def test_a_model_is_looked_at_tried_and_taken_back(service: Service, place: Place, visit: Visit) -> None:
    raised = [talk.Post(item.text, item.author, item.wrong, max(0.56, item.base)) for item in talk.posts(300)]
    with service.wiring.database.writing() as session:
        talk.store(session, place.community_id, raised)
    communities.learn(service.wiring.database, place.community_id)
    olga = visit(place.operator, "/classifiers")
    row = olga.page.get_by_role("table", name="Own model of this community").get_by_role("row", name="Spam")
    expect(row).to_contain_text("Version 1 in force")
    row.get_by_role("link", name="Spam").click()
    expect(olga.page.get_by_role("heading", name="Spam, own model")).to_be_visible()
    expect(olga.page.get_by_role("img", name="Reliability")).to_be_visible()
    expect(olga.page.get_by_text("Raise the score")).to_be_visible()

    olga.button("Try the other classifiers alone on the last 30 days").click()
    trial = olga.page.get_by_role("region", name="The other classifiers alone on the last 30 days")
    expect(trial).to_contain_text("All 300 posts were read.")
    expect(trial.get_by_role("row").filter(has_text="Let through").first).to_contain_text("Spam, Tier 2")
    found = violations(olga, "a trial of the own model")
    assert not found, "\n".join(found)
    assert too_wide(olga, *SCREENS) == []

    olga.page.get_by_label("Reason").fill("It let offers through")
    olga.button("Score without it").click()
    expect(olga.status).to_contain_text("The other classifiers score alone again.")
    olga.page.get_by_label("Reason").fill("It was the weather")
    olga.button("Put in force version 1").click()
    expect(olga.status).to_contain_text("Version 1 is in force.")

    olga.open("/classifiers")
    olga.page.get_by_text("Change how it learns").click()
    olga.page.get_by_label("Learn from this community’s decisions").uncheck()
    form = olga.page.locator("form", has=olga.button("Save how it learns"))
    form.get_by_label("Reason for the change").fill("Not this winter")
    assert too_wide(olga, *SCREENS) == []
    olga.button("Save how it learns").click()
    expect(olga.status).to_contain_text("Learning is off.")
    expect(olga.page.get_by_role("table", name="Own model of this community")).to_contain_text("Off")
