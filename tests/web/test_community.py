"""The community's page: saved with a reason, told in the history, stale saves, who may."""

import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.communities.declarations import Section
from app.core.models import Account, Action, Community, HistoryEntry, HistoryText, ScoringState
from app.core.people import accounts, key_admin, keys, profiles
from app.core.permissions import SYSTEM
from app.core.upkeep import community_revisions
from app.core.vocabulary import KeyTemplate, WhoDecides
from app.web.community.community import as_typed, settings_of
from app.wiring import Wiring
from tests import factories
from tests.cast import SETTINGS, Cast, Person
from tests.panels import register
from tests.web.conftest import Stage, Visitor

Visit = Callable[[Person | None], Visitor]
URL = "/community?community=harbour-forum"


def as_form(wiring: Wiring, cast: Cast, section: str = Section.BASICS, **changed: str) -> dict[str, str]:
    """What the section's page would send, with ``changed`` typed into it; a dash unticks."""
    values = {setting.name: in_force(wiring, cast)[setting.name] for setting in settings_of(section)}
    sent = {"version": community_revisions.version_of(values), "reason": "Agreed in the spring meeting"}
    for name, value in values.items():
        if not isinstance(value, bool):
            sent[name] = as_typed(value)
        elif value:
            sent[name] = "y"
    return {name: value for name, value in (sent | changed).items() if value != "-"}


def in_force(wiring: Wiring, cast: Cast) -> dict[str, Any]:
    with wiring.database.reading() as session:
        return community_revisions.values_of(session, session.get_one(Community, cast.community_id))


def told(wiring: Wiring) -> list[tuple[HistoryEntry, HistoryText]]:
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(HistoryEntry, HistoryText)
            .join(HistoryText)
            .where(HistoryEntry.what == "community.revised")
        )
        return [(entry, text) for entry, text in rows]


MATRIX = [("rater", 403), ("moderator", 403), ("operator", 200), ("admin", 200), ("outsider", 404)]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("who", "status"), [*MATRIX, (None, 303)])
def test_only_operators_and_above_see_and_save_it(
    visit: Visit, cast: Cast, wiring: Wiring, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    assert visitor.get(URL).status_code == status
    saved = visitor.post(URL, **as_form(wiring, cast, name="Taken over"))
    assert saved.status_code == {200: 303, 303: 401}.get(status, status)
    assert (in_force(wiring, cast)["name"] == "Taken over") is (status == 200)
    if status != 404 and who:
        assert (">Community<" in visitor.get("/settings").text) is (status == 200), (
            "the navigation says so too"
        )


def test_what_is_saved_holds_and_the_history_keeps_before_after_and_why(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    before = in_force(wiring, cast)
    typed = as_form(wiring, cast, policy_text="Be kind.\r\nCite sources.", is_public="-")
    assert operator.post("/community", **typed).status_code == 303
    changed = {"policy_text": "Be kind.\nCite sources.", "is_public": False}
    assert in_force(wiring, cast) == before | changed
    ((entry, text),) = told(wiring)
    assert entry.before == {"policy_text": None, "is_public": True}
    assert entry.after == changed
    assert (entry.account_id, text.reason) == (cast.operator.account_id, "Agreed in the spring meeting")
    page = operator.get("/history/settings?area=community").text
    assert "Public: on → off" in page
    assert "Policy text: none → Be kind." in page
    assert operator.post("/community", **as_form(wiring, cast)).status_code == 303
    assert len(told(wiring)) == 1, "nothing was changed, so nothing is told"


MISTAKES: list[tuple[dict[str, str], str]] = [
    ({"name": ""}, "Name must not be empty."),
    ({"name": "   "}, "Name must not be blank."),
    ({"name": "x" * 256}, "Name must be at most 255 characters; it has 256."),
    ({"description": "x" * 5_001}, "Description must be at most 5,000 characters; it has 5,001."),
    ({"policy_text": "x" * 20_001}, "Policy text must be at most 20,000 characters; it has 20,001."),
    ({"policy_text": "a\x00b"}, "Policy text must not contain NUL characters."),
    ({"min_ratings": "0"}, "Minimum ratings must be a whole number from 1 to 1,000."),
    ({"min_ratings": ""}, "Minimum ratings must be a whole number from 1 to 1,000."),
    ({"min_trust_level": "much"}, "Minimum trust must be a whole number from 0 to 100."),
    ({"helpful_at": "0,7"}, "Helpful from must be a number from 0 to 0.64."),
    ({"undo_seconds": "1e9"}, "Seconds to undo must be a number from 0 to 600."),
    ({"content_retention_days": "1.5"}, "Days to keep content must be a whole number from 1 to 36,500."),
    ({"note_pages": "http://a.example x"}, "that begins with https://; line 1 does not."),
    ({"note_pages": "https://a.example/x"}, "must say after each address what the page says"),
    ({"note_pages": "https://a.example/x One\nhttps://a.example/x Two"}, "name each address once."),
    (
        {"note_pages": "\n".join(f"https://a.example/{n} It" for n in range(21))},
        "has at most 20 pages that drafted notes may cite",
    ),
    ({"reason": ""}, "Enter a reason."),
    ({"reason": " "}, "Reason must not be blank."),
]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_cannot_be_kept_is_said_beside_its_field_and_the_rest_stays(
    operator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    for changed, said in MISTAKES:
        name = next(iter(changed))
        section = Section.BASICS if name == "reason" else community_settings.everything()[name].section
        typed = as_form(wiring, cast, section, **{"reason": "Kept while typing"} | changed)
        answer = operator.post(f"/community/{section}".removesuffix("/basics"), **typed)
        assert answer.status_code == 422, said
        assert said in answer.text
        assert "Kept while typing" in answer.text or name == "reason", said
    assert told(wiring) == []


def test_a_save_from_an_older_page_is_409_and_saving_again_is_a_decision(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    stale = as_form(wiring, cast, name="My name")
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        communities.rename(session, SYSTEM, community, "The platform's name", {"members": 3})
    operator = visit(cast.operator)
    answer = operator.post("/community", **stale)
    assert answer.status_code == 409
    assert 'value="My name"' in answer.text
    assert in_force(wiring, cast)["name"] == "The platform's name"
    again = stale | {"version": as_form(wiring, cast)["version"]}
    assert again["version"] in answer.text
    assert operator.post("/community", **again).status_code == 303
    assert in_force(wiring, cast)["name"] == "My name"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_each_section_saves_its_own_settings_and_keeps_what_others_saved_meanwhile(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator, admin = visit(cast.operator), visit(cast.admin)
    basics = as_form(wiring, cast, name="A new name", min_ratings="99")
    notes = as_form(wiring, cast, Section.NOTES, min_ratings="7", name="Not of this section")
    assert admin.post("/community/notes", **notes).status_code == 303
    assert operator.post("/community", **basics).status_code == 303, "the notes are another section"
    now = in_force(wiring, cast)
    assert (now["name"], now["min_ratings"]) == ("A new name", 7)
    assert operator.post("/community/notes", **notes | {"min_ratings": "8"}).status_code == 409
    assert in_force(wiring, cast)["min_ratings"] == 7


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_every_setting_is_in_one_section_with_its_range_and_admins_see_one_more(
    visit: Visit, cast: Cast
) -> None:
    admin, operator = visit(cast.admin), visit(cast.operator)
    shown: list[str] = []
    for section in Section:
        text = admin.get(f"/community/{section}" if section != Section.BASICS else "/community").text
        assert 'aria-current="page">' in text
        assert re.search(r'<nav aria-label="Sections of Community">.*href="/community/danger"', text)
        for setting in settings_of(section):
            assert f'name="{setting.name}"' in text
            if setting.bounds:
                assert "{:,g} to {:,g}. ".format(*setting.bounds) in text
        shown += [setting.name for setting in settings_of(section)]
    assert sorted(shown) == sorted(community_settings.everything())
    assert "/community/sign-in" not in operator.get("/community").text
    assert operator.get("/community/sign-in").status_code == 403


def test_settings_are_set_here_alone_and_what_integrations_supply_stays_theirs(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient
) -> None:
    operator = visit(cast.operator)
    typed = as_form(wiring, cast, Section.NOTES, min_ratings="7", min_age_days="30", helpful_at="0,5")
    assert operator.post("/community/notes", **typed | {"published": "y"}).status_code == 303
    ((entry, _),) = told(wiring)
    assert entry.before["min_ratings"] == 5
    assert entry.after == {"min_ratings": 7, "min_age_days": 30, "helpful_at": 0.5, "published": True}
    with wiring.database.reading() as session:
        home = session.get_one(Community, cast.community_id)
        assert home.settings == SETTINGS | entry.after, "what was not changed here follows the service"
        assert session.get_one(ScoringState, cast.community_id).refit_due_at is not None
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "Opener", KeyTemplate.ADAPTER, None).text
    given = {"min_ratings": 1, "theme": "blue"}
    body = {"platform": "discourse", "platform_community_server_id": "new", "name": "New", "settings": given}
    answer = client.post("/api/v1/community-servers", json=body, headers={"Authorization": f"Bearer {key}"})
    assert (answer.status_code, answer.json["settings"]) == (201, given)
    with wiring.database.reading() as session:
        opened = session.get_one(Community, uuid.UUID(answer.json["id"]))
        assert (opened.supplied, opened.settings) == (given, {})
        assert community_settings.read(session, opened.id).min_ratings == 5


def test_pausing_and_archiving_ask_first_show_on_every_page_and_end_again(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient, stage: Stage
) -> None:
    action_id = stage.post()
    operator, admin, moderator = visit(cast.operator), visit(cast.admin), visit(cast.moderator)
    assert operator.post("/community/danger/pause", reason=" ").status_code == 422
    assert moderator.get("/community/danger/pause").status_code == 403
    assert operator.get("/community/nonsense").status_code == 404
    assert operator.get("/community/danger/nonsense").status_code == 404
    assert "Pause automatic actions?" in operator.get("/community/danger/pause").text
    assert operator.post("/community/danger/pause", reason="A rule went wild").status_code == 303
    for path in ("/review", f"/review/{action_id}", "/settings"):
        assert "A rule went wild" in moderator.get(path).text, path
    assert "A rule went wild" not in visit(cast.rater).get("/help-needed").text
    assert operator.post("/community/danger/resume", reason="Mended").status_code == 303
    assert "A rule went wild" not in moderator.get("/review").text
    page = operator.get("/history/settings?area=community").text
    assert "Automatic actions paused" in page
    assert "Automatic actions resumed" in page

    refused = operator.get("/community/danger/archive")
    assert refused.status_code == 403
    assert "role admin" in refused.text
    assert admin.post("/community/danger/archive", reason="The forum closes").status_code == 303
    stage.jobs.run_all()
    assert "is archived" in moderator.get("/review").text
    assert moderator.get(f"/review/{action_id}").status_code == 200
    late = moderator.post(f"/review/{action_id}/message", message="Late")
    assert late.status_code == 403
    assert "archived" in late.text
    rater = visit(cast.rater)
    refused = rater.get("/help-needed")
    assert (refused.status_code, "archived" in refused.text) == (403, True)
    headers = cast.headers | {"Content-Type": "application/vnd.api+json"}
    attributes = {
        "request_id": "late",
        "requested_by": "ann",
        "community_server_id": str(cast.community_id),
        "original_message_content": "Hello",
    }
    sent = client.post(
        "/api/public/v1/requests",
        json={"data": {"type": "requests", "attributes": attributes}},
        headers=headers,
    )
    assert (sent.status_code, "archived" in sent.json["detail"]) == (403, True)
    patched = client.patch(
        f"/api/public/v1/moderation-actions/{action_id}", json={"action_state": "applied"}, headers=headers
    )
    assert (patched.status_code, "archived" in patched.json["detail"]) == (403, True)
    read = client.get(f"/api/public/v1/community-servers/{cast.community_id}", headers=cast.headers)
    assert read.json["data"]["attributes"]["is_active"] is False
    assert operator.post("/community", **as_form(wiring, cast, name="Late")).status_code == 403
    assert operator.get("/community").status_code == 200
    assert admin.post("/community/danger/unarchive", reason="It opens again").status_code == 303
    assert rater.get("/help-needed").status_code == 200


def test_from_an_account_to_a_community_of_ones_own_and_its_first_key(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient
) -> None:
    with wiring.database.writing() as session:
        account = accounts.create(session, "nora@example.org", "correct horse battery", confirmed=True)
        nora = Person("nora@example.org", account.id, profiles.of_account(session, account).id)
    visitor = visit(nora)
    assert "Create a community" in visitor.get("/communities").text
    for wrong, said in (
        ({"name": ""}, "Enter a name."),
        ({"platform": "No!"}, "Platform must be 1 to 50 characters"),
        ({"platform": "discourse"}, "Id on the platform is needed for this platform."),
        ({"platform": "discourse", "platform_id": "forum-1"}, "Id on the platform is another community"),
        ({"platform": "bridgenote", "platform_id": "x"}, "own"),
    ):
        refused = visitor.post("/community/new", **({"name": "Nora's garden", "platform": "web"} | wrong))
        assert (refused.status_code, said in refused.text) == (422, True), wrong
    made = visitor.post("/community/new", name="Nora's garden", platform="web")
    assert made.location == "/getting-started?community=nora-s-garden"
    page = visitor.get(made.location).text
    assert "Create an API key" in page
    with wiring.database.reading() as session:
        garden = session.scalars(sa.select(Community).where(Community.slug == "nora-s-garden")).one()
        assert (garden.platform, garden.is_public) == ("web", False)
        assert community_settings.read(session, garden.id).who_decides == WhoDecides.PANEL
    unreached = "can be drawn only once"
    page = visitor.get("/history/settings?area=community").text
    assert "Who decides reviews: Everyone who answers → Always" in page
    assert unreached not in visitor.get("/community/decides").text, "there is no integration yet"
    minted = visitor.post(
        "/keys", name="First", template="adapter", communities=str(garden.id), reason="Ours"
    )
    assert minted.headers["Cache-Control"] == "no-store"
    text = minted.text.split('value="bnk_')[1].split('"')[0]
    assert (
        client.get(
            f"/api/public/v1/community-servers/{garden.id}", headers={"Authorization": f"Bearer bnk_{text}"}
        ).json["data"]["attributes"]["name"]
        == "Nora's garden"
    )
    assert unreached in visitor.get("/community/decides").text
    register(wiring, replace(cast, community_id=garden.id), "http://127.0.0.1/drawn", ["panel.drawn"])
    assert unreached not in visitor.get("/community/decides").text
    with wiring.database.writing() as session:
        shared = keys.mint(session, SYSTEM, "Of all forums", KeyTemplate.ADAPTER, None).key
    for claim in (
        {"platform": "discourse", "platform_id": "forum-9"},
        {"platform": "web", "platform_id": "9"},
    ):
        refused = visitor.post("/community/new", name="Not theirs", **claim)
        assert (refused.status_code, "is named by a service admin" in refused.text) == (422, True), claim
    with wiring.database.writing() as session:
        key_admin.revoke(session, SYSTEM, shared.id)
    for name, platform in (("A forum", "discourse"), ("A site", "web")):
        made = visitor.post("/community/new", name=name, platform=platform, platform_id="9")
        assert made.status_code == 303
    with wiring.database.reading() as session:
        named = session.scalars(sa.select(Community).where(Community.name.in_(("A forum", "A site")))).all()
        decides = {one.name: community_settings.read(session, one.id).who_decides for one in named}
        assert decides == {"A forum": WhoDecides.EVERYONE, "A site": WhoDecides.EVERYONE}
    wiring.throttle.enabled = True
    again = [visitor.post("/community/new", name="More", platform="other").status_code for _ in range(6)]
    assert again == [422] * 5 + [429]
    wiring.settings.open_communities = False
    assert visitor.get("/community/new").status_code == 403
    assert visitor.post("/community/new", name="Another", platform="web").status_code == 403
    assert "Create a community" not in visitor.get("/communities").text


def test_nobody_joins_or_reads_what_an_integration_opened_until_an_operator_makes_it_public(
    visit: Visit, client: FlaskClient, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        text = keys.mint(session, SYSTEM, "Of all forums", KeyTemplate.ADAPTER, None).text
        session.get_one(Account, cast.admin.account_id).service_admin = True
    attributes = {
        "request_id": "post-1",
        "requested_by": "ann",
        "community_server_id": "cove",
        "original_message_content": factories.REVIEWED,
    }
    body = {"data": {"type": "requests", "attributes": attributes}}
    headers = {"Authorization": f"Bearer {text}", "X-Adapter-Platform": "discourse"}
    assert client.post("/api/public/v1/requests", json=body, headers=headers).status_code == 201
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        cove = session.scalars(sa.select(Community).where(Community.slug == "cove")).one()
        action = session.scalars(sa.select(Action).where(Action.community_id == cove.id)).one()
    reads = ("/help-needed?community=cove", f"/review/{action.id}", "/review?community=cove")
    rater, service_admin = visit(cast.rater), visit(cast.admin)
    assert not re.search(r"\bcove\b", rater.get("/communities").text)
    assert rater.post(f"/communities/{cove.id}/join").status_code == 404
    assert [rater.get(path).status_code for path in reads] == [404] * 3
    page = service_admin.get("/community?community=cove").text
    assert "This community is not public" in page
    saved = service_admin.post(
        "/community?community=cove", name="Cove", is_public="y", reason="They asked for it"
    )
    assert saved.status_code == 303, saved.text
    assert "This community is not public" not in service_admin.get("/community?community=cove").text
    assert "Cove" in rater.get("/communities").text
    assert rater.post(f"/communities/{cove.id}/join").status_code == 303
    assert rater.get(f"/review/{action.id}").status_code == 200
