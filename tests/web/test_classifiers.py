"""Classifiers: a draft of rules, trying it out, putting it in force, and the way back."""

import io
import json
import re
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core.models import Action, Request
from app.core.permissions import SYSTEM
from app.core.rulesets import versions
from app.core.rulesets.versions import Standing
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.factories import scored_action, submit
from tests.web.conftest import Visitor

Visit = Callable[[Person | None], Visitor]
RULE = {
    "id": "spam.harbour",
    "category": "spam",
    "kind": "phrase",
    "pattern": "harbour tour",
    "weight": "0,8",
    "enabled": "y",
}
TOUR = "Come on a HARBOUR & tour with <b>us</b>"
POSTS = (
    "/classifiers/shipped",
    "/classifiers/import",
    "/classifiers/publish",
    "/classifiers/discard",
    "/classifiers/1/revert",
    "/classifiers/test",
    "/classifiers/hits",
    "/classifiers/new-rule",
    "/classifiers/rules/x",
    "/classifiers/rules/x/remove",
)


def standing(wiring: Wiring, cast: Cast) -> Standing:
    with wiring.database.reading() as session:
        return versions.standing(session, SYSTEM, cast.community_id)


def test_only_operators_and_above(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    for who, status in (("rater", 403), ("moderator", 403), ("outsider", 404)):
        visitor = visit(getattr(cast, who))
        for path in ("/classifiers", "/classifiers/new-rule", "/classifiers/export.json", "/datasets"):
            assert visitor.get(f"{path}?community=harbour-forum").status_code == status, path
        for path in (*POSTS, "/datasets"):
            answer = visitor.post(f"{path}?community=harbour-forum", **RULE, reason="x", text="x")
            assert answer.status_code == status, path
    assert standing(wiring, cast).etag == 0
    assert visit(cast.admin).get("/classifiers").status_code == 200


def test_a_rule_goes_from_draft_to_force_and_back(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    submit(wiring, cast, TOUR)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double

    refused = operator.post(
        "/classifiers/new-rule", **(RULE | {"kind": "regex", "pattern": "(", "note": "Kept"})
    )
    assert refused.status_code == 422
    assert "Pattern: " in refused.text
    assert "Kept" in refused.text
    assert operator.post("/classifiers/new-rule", **RULE).status_code == 303
    page = operator.get("/classifiers").text
    assert "spam.harbour added (Spam, weight 0.8)" in page

    late = operator.post("/classifiers/rules/spam.harbour", **(RULE | {"note": "Mine", "etag": "0"}))
    assert late.status_code == 409
    assert "Operator changed the draft in the meantime" in late.text
    assert "Mine" in late.text
    assert operator.get("/classifiers/rules/spam.harbour").status_code == 200
    assert operator.get("/classifiers/rules/unknown").status_code == 404

    for which, told in (
        ("in_force", "Nothing would happen."),
        ("draft", "People would be asked whether the post"),
    ):
        tested = operator.post("/classifiers/test", text=TOUR, which=which).text
        assert told in tested
        assert "with &lt;b&gt;us&lt;/b&gt;" in tested
    assert "<mark>HARBOUR &amp; tour</mark>" in tested
    assert "The whole text" not in tested
    long = operator.post("/classifiers/test", text="quay " * 1_000, which="draft").text
    assert 'class="long" role="region" aria-label="The whole text"' in long, "it scrolls in a frame"

    hits = operator.post("/classifiers/hits").text
    assert "All 1 texts of 30 days were read." in hits
    assert "Spam, Tier 2" in hits
    assert "<mark>HARBOUR &amp; tour</mark>" in hits
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Action)) == 0
        assert session.scalar(sa.select(sa.func.count()).select_from(Request)) == 1

    assert operator.post("/classifiers/publish", reason="").status_code == 422
    stale = operator.post("/classifiers/publish", reason="My reason", etag="9", version="0")
    assert stale.status_code == 409
    assert "My reason" in stale.text
    etag = re.search(r'id="publish-etag"[^>]* value="(\d+)"', stale.text)
    assert etag
    done = operator.post("/classifiers/publish", reason="Tours", etag=etag.group(1), version="0")
    assert done.status_code == 303
    page = operator.get("/classifiers").text
    assert "Version 1 is in force. It scores new posts only." in page
    assert "community.rules" in page
    exported = json.loads(operator.get("/classifiers/export.json").text)
    assert [rule["id"] for rule in exported["rules"]] == ["spam.harbour"]
    assert exported["rules"][0]["weight"] == 0.8

    refused = operator.post("/classifiers/1/revert", reason="")
    assert refused.status_code == 422
    assert '<a href="#revert-reason">Enter a reason to revert.</a>' in refused.text
    assert operator.post("/classifiers/9/revert", reason="x", version="1").status_code == 404
    assert operator.post("/classifiers/0/revert", reason="Enough tours", version="1").status_code == 303
    assert "spam.harbour removed" in operator.get("/classifiers").text
    assert standing(wiring, cast).version == 2
    assert standing(wiring, cast).in_force.rules == []


def test_packs_are_imported_shipped_rules_switched_and_drafts_discarded(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    rule = {"id": "spam.x", "category": "spam", "kind": "word", "pattern": "x", "weight": 3}
    bad = operator.post(
        "/classifiers/import", pack=json.dumps({"name": "p", "version": "1", "rules": [rule]})
    )
    assert bad.status_code == 422
    assert "Rule 1, weight: rule spam.x: must be a number from 0.0 to 1.0" in bad.text
    assert operator.post("/classifiers/import").status_code == 422
    file = json.dumps({"name": "p", "version": "1", "rules": [rule | {"weight": 0.3}]}).encode()
    sent = operator.post("/classifiers/import", file=(io.BytesIO(file), "rules.json"))
    assert sent.status_code == 303
    assert operator.post("/classifiers/shipped", off="spam.buy-followers", etag="1").status_code == 303
    page = operator.get("/classifiers").text
    assert "spam.buy-followers: switched off" in page
    assert re.search(
        r'href="/classifiers/shipped/spam">Spam</a>\s*<span class="muted">\d+ rules, 1 off<', page
    )
    page = operator.get("/classifiers/shipped/spam").text
    assert 'aria-label="Switch on spam.buy-followers"' in page
    assert page.count('aria-label="Switch off spam.') > 50
    assert operator.post("/classifiers/shipped", off="spam.buy-followers", etag="1").status_code == 409
    assert operator.post("/classifiers/shipped", on="spam.buy-followers", etag="2").status_code == 303
    assert operator.post("/classifiers/rules/spam.x/remove", etag="3").status_code == 303
    assert standing(wiring, cast).working.rules == []
    assert operator.post("/classifiers/discard", etag="4").status_code == 303
    assert standing(wiring, cast).draft is None


def test_rules_that_are_too_slow_are_named_in_the_preview_in_a_test_and_once_in_force(
    visit: Visit, cast: Cast, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = visit(cast.operator)
    assert operator.post("/classifiers/new-rule", **RULE).status_code == 303
    monkeypatch.setattr(versions, "TEXT_SECONDS", 0.0)
    hits = operator.post("/classifiers/hits").text
    assert (
        "The draft is too slow for the longest texts that can be submitted. spam.harbour took the most"
        in hits
    )
    tested = operator.post("/classifiers/test", text=TOUR, which="draft").text
    assert "could not finish with this text in time. spam.harbour took the most time." in tested
    assert "Moderators would be asked about the post." in tested
    assert operator.post("/classifiers/publish", reason="Tours").status_code == 303
    assert "took too long" not in operator.get("/classifiers").text
    action_id = scored_action(wiring, cast, TOUR)
    page = operator.get("/classifiers").text
    assert "Rules that took too long" in page
    assert '<a href="/classifiers/rules/spam.harbour">spam.harbour</a>' in page
    item = visit(cast.moderator).get(f"/review/{action_id}").text
    assert "A classifier could not finish with this post, so people look at it." in item
    assert "May be classifier" not in item
    assert "community.rules: out of time: rule spam.harbour" in item
    assert "<dt>Score</dt>" not in item, "no category was named"
    assert "None are set for this category" not in item
    assert "<dt>Ratings</dt><dd>Staff only</dd>" in item
    # Another version has not been slow yet.
    edited = RULE | {"weight": "0.7"}
    assert operator.post("/classifiers/rules/spam.harbour", **edited).status_code == 303
    assert operator.post("/classifiers/publish", reason="Quicker").status_code == 303
    assert "took too long" not in operator.get("/classifiers").text
