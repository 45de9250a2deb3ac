"""Action history's settings: every setting change of a community with before, after and reason; filters; CSV."""

import csv
import io
import re
from dataclasses import replace

import pytest

from app.core.history import chain as history
from app.core.ids import new_id
from app.core.models import Community
from app.core.people import accounts, keys
from app.core.review import reason_templates
from app.core.review.reason_templates import ReasonDraft
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.vocabulary import KeyTemplate
from app.core.webhooks import registrations as webhooks
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import Stage, Visit, Visitor
from tests.web.hooks import MISSING, Hooks


@pytest.mark.both_databases
def test_an_operator_reads_every_setting_change_and_takes_it_along(
    visit: Visit, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    stage.post()
    with wiring.database.writing() as session:
        admin = accounts.actor_for(accounts.get(session, cast.admin.account_id), cast.admin.profile_id)
        community = session.get_one(Community, cast.community_id)
        current = threshold_sets.current(session, cast.community_id)
        drafts = [draft_of(one) for one in current.categories]
        drafts[0] = replace(drafts[0], tier1=0.97, severity=7)
        threshold_sets.revise(session, admin, cast.community_id, drafts, "Too many false alarms")
        keys.mint(session, admin, "=Forum", KeyTemplate.ADAPTER, [cast.community_id])
        for path in ("a?token=receivers-own", "b"):
            address = f"https://hooks.example/{path}"
            webhooks.register(
                session, admin, wiring.sealer, wiring.allow, community, address, "a-secret-of-mine"
            )
    assert 'href="/history/settings"' in operator.get("/history").text
    page = operator.get("/history/settings").text
    assert "Too many false alarms" in page
    assert "Acts by itself (Tier 1): " in page
    assert "→ 0.97" in page
    assert "hooks.example/a" in page
    assert "receivers-own" not in page
    assert "Key created" not in page, "keys are an admin's"

    seen = [row["change"] for row in export(visit(cast.admin))]
    assert {"Thresholds saved", "Key created", "Webhook registered"} <= set(seen)
    minted = next(row for row in export(visit(cast.admin), "?area=keys") if row["change"] == "Key created")
    assert minted["about"] == "'=Forum"
    saved = export(operator, "?area=thresholds&actor=adm&q=FALSE+alarms")
    assert {row["setting"].partition(", ")[2]: row["after"] for row in saved} == {
        "severity": "7",
        "Acts by itself (Tier 1)": "0.97",
    }
    assert "No setting changes" in operator.get("/history/settings?q=nobody+wrote+this").text

    entry = re.search(r'href="(/history/settings/[0-9a-f-]{36})[^"]*"[^>]*>Thresholds saved', page)
    assert entry
    assert "Too many false alarms" in operator.get(entry[1]).text


def test_keys_and_people_are_not_an_operators_to_read(
    moderator: Visitor, operator: Visitor, admin: Visitor
) -> None:
    minted = re.search(
        r'href="(/history/settings/[0-9a-f-]{36})[^"]*"[^>]*>Role given',
        admin.get("/history/settings?area=people").text,
    )
    assert minted, "the cast's roles were given"
    assert operator.get(minted[1]).status_code == 403
    answer = operator.get("/history/settings?area=people")
    assert answer.status_code == 422
    assert "Not a valid choice" in answer.text
    assert "/history/settings" not in moderator.get("/history").text


@pytest.mark.both_databases
def test_pages_follow_one_another(admin: Visitor, wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.web.history.settings.PAGE_SIZE", 2)
    url, told = "/history/settings", []
    while url:
        page = admin.get(url).text
        told += re.findall(r"/history/settings/([0-9a-f-]{36})", page)
        found = re.search(r'rel="next" href="([^"]+)"', page)
        url = found[1].replace("&amp;", "&") if found else ""
    assert len(told) == len(set(told)) > 4
    assert {row["entry_id"] for row in export(admin)} == set(told)


def test_what_was_sent_again_is_a_link_away(operator: Visitor, cast: Cast, wiring: Wiring) -> None:
    hooks = Hooks(wiring, cast.community_id)
    one, *_ = hooks.tell(hooks.register(), count=3)
    hooks.attempt(MISSING)
    assert operator.post(f"/deliveries/{one}/replay").status_code == 303
    begun = operator.post("/deliveries/replay", which="dead").headers["Location"]
    page = operator.get("/history/settings?area=webhooks").text
    for address, words in ((f"/deliveries/{one}", "Open the delivery"), (begun, "Follow the replay")):
        assert f'href="{address}">{words}' in page
        assert operator.get(address).status_code == 200
    assert "webhook.test to https://forum.example.org/hook" in page
    assert "2 deliveries" in page
    assert "not-for-eyes" not in page
    for words, address in (("Delivery replayed", f"/deliveries/{one}"), ("Deliveries replayed", begun)):
        entry = re.search(rf'href="(/history/settings/[0-9a-f-]{{36}})[^"]*"[^>]*>{words}', page)
        assert entry
        assert f'href="{address}"' in operator.get(entry[1]).text


def export(visitor: Visitor, query: str = "") -> list[dict[str, str]]:
    answer = visitor.get(f"/history/settings.csv{query}")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"))))


def test_values_are_in_the_words_of_the_pages(wiring: Wiring, cast: Cast, visit: Visit) -> None:
    operator = cast.operator
    with wiring.database.writing() as session:
        actor = accounts.actor_for(accounts.get(session, operator.account_id), operator.profile_id)
        draft = ReasonDraft("Numbers", "Somebody else's number.", "pii")
        reason_templates.add(session, actor, cast.community_id, draft)
        history.record(
            session,
            actor,
            cast.community_id,
            "delivery.range_replayed",
            "replay",
            new_id(),
            after={"state": "dead", "deliveries": 3},
        )
    page = visit(operator).get("/history/settings").text
    assert "Category: Private details" in page
    assert "State: Failed" in page
    assert "pii" not in page.partition("<main")[2]
