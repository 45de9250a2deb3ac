"""API keys, as admins keep them: shown once, seen by their keepers alone, worth nothing once revoked."""

import re
import uuid
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy.orm import selectinload

from app.core.communities import communities
from app.core.models import Account, ApiKey, HistoryEntry, HistoryText
from app.core.people import accounts, keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate, Role
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import Visit

URL = "/keys?community=harbour-forum"


def text_in(page: str) -> str:
    """The key's text as the page shows it."""
    found = re.search(r'value="(bnk_[0-9a-f]{12}_[A-Za-z0-9_-]{43})"', page)
    assert found, "the key is shown"
    return found.group(1)


def works(client: FlaskClient, cast: Cast, key: str) -> int:
    path = f"/api/public/v1/community-servers/{cast.community_id}"
    return client.get(path, headers={"Authorization": f"Bearer {key}"}).status_code


def minted(wiring: Wiring, name: str) -> list[ApiKey]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(ApiKey).where(ApiKey.name == name)))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_only_admins_open_the_page_and_the_refusal_names_their_role(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    form = {"name": "Mine", "template": "adapter", "communities": str(cast.community_id), "reason": "Mine"}
    for who, status in (("rater", 403), ("moderator", 403), ("operator", 403), ("outsider", 404)):
        visitor = visit(getattr(cast, who))
        for answer in (visitor.get(URL), visitor.post(URL, **form)):
            assert answer.status_code == status, who
            assert ("role admin" in answer.text) is (status == 403), who
    assert minted(wiring, "Mine") == []


def test_a_key_for_scores_alone_is_minted_by_its_template(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient
) -> None:
    admin = visit(cast.admin)
    form = {
        "name": "Comments",
        "template": "scores",
        "may_assert_staff": "y",
        "reason": "Coral asks for scores",
    }
    answer = admin.post("/keys", communities=str(cast.community_id), **form)
    text = text_in(answer.text)
    assert works(client, cast, text) == 403
    asked = {"data": {"type": "scores", "attributes": {"texts": ["Good morning"]}}}
    scored = client.post("/api/public/v1/scores", json=asked, headers={"Authorization": f"Bearer {text}"})
    assert scored.status_code == 200
    (key,) = minted(wiring, "Comments")
    assert (key.scopes, key.may_assert_staff) == (["scores:read"], False)
    assert "Scores only" in admin.get(URL).text


def test_a_key_is_shown_once_and_sending_the_form_again_mints_nothing(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient
) -> None:
    admin = visit(cast.admin)
    once = re.search(r'name="once" type="hidden" value="([^"]+)"', admin.get(URL).text)
    assert once
    form = {
        "name": "Forum",
        "template": "adapter",
        "communities": str(cast.community_id),
        "days": "30",
        "may_open_communities": "y",
        "reason": "The forum moves to its own server",
        "once": once.group(1),
    }
    answer = admin.post("/keys", **form)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    text = text_in(answer.text)
    assert works(client, cast, text) == 200
    (key,) = minted(wiring, "Forum")
    assert not key.may_open_communities, "that is a service admin's to give"
    assert not key.may_assert_staff
    assert key.expires_at is not None
    again = admin.post("/keys", **form)
    assert (again.status_code, text in again.text) == (409, False)
    assert len(minted(wiring, "Forum")) == 1
    page = admin.get(URL).text
    assert text not in page
    for told in (page, admin.get("/history/settings?area=keys").text):
        assert "The forum moves to its own server" in told
    assert f"bnk_{key.public_part}_…" in page
    refusals = (
        ({"name": ""}, "Enter a name."),
        ({"reason": ""}, "Enter a reason."),
        ({"name": " "}, "Name must not be blank."),
        ({"communities": ""}, "Communities must name at least one."),
        ({"days": "366"}, "must be a whole number from 1 to 365."),
        ({"days": "soon"}, "must be a whole number from 1 to 365."),
        ({"template": "root"}, "Not a valid choice"),
    )
    for wrong, said in refusals:
        refused = admin.post("/keys", **(form | {"once": ""} | wrong))
        assert (refused.status_code, said in refused.text) == (422, True), wrong
    assert admin.post("/keys", **(form | {"once": "", "everywhere": "y"})).status_code == 403
    foreign = form | {"once": "", "communities": str(cast.other_community_id)}
    assert admin.post("/keys", **foreign).status_code == 404


def test_revoking_asks_first_counts_from_the_next_call_on_and_is_told_with_its_reason(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient
) -> None:
    admin = visit(cast.admin)
    (key,) = minted(wiring, "Forum adapter")
    address = f"/keys/{key.id}/revoke"
    assert "Revoke this key?" in admin.get(address).text
    assert visit(cast.operator).post(address, reason="No").status_code == 403
    assert admin.post(address, reason="").status_code == 422
    assert works(client, cast, cast.adapter_key) == 200
    for _ in range(2):
        assert admin.post(address, reason="It leaked").status_code == 303
    assert works(client, cast, cast.adapter_key) == 401
    with wiring.database.reading() as session:
        told = session.execute(
            sa.select(HistoryEntry.before, HistoryText.reason)
            .join(HistoryText)
            .where(HistoryEntry.what == "key.revoked", HistoryEntry.community_id == cast.community_id)
        ).all()
    assert [(row.before["name"], row.reason) for row in told] == [("Forum adapter", "It leaked")]
    page = admin.get(URL).text
    assert "Revoked" in page
    assert "It leaked" in page


def test_a_key_that_reaches_further_is_not_its_admins_to_see_or_revoke(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        both = [cast.community_id, cast.other_community_id]
        wide = keys.mint(session, SYSTEM, "Wide", KeyTemplate.ADAPTER, both).key.id
        every = keys.mint(session, SYSTEM, "Everywhere", KeyTemplate.ADAPTER, None).key.id
    admin = visit(cast.admin)
    page = admin.get(URL).text
    assert "Forum adapter" in page
    assert ">Wide<" not in page
    assert "2 more keys reach this community and others" in page
    assert "Other adapter" not in page
    (foreign,) = minted(wiring, "Other adapter")
    for key_id in (wide, every, foreign.id, uuid.uuid4()):
        assert admin.get(f"/keys/{key_id}/revoke").status_code == 404
        assert admin.post(f"/keys/{key_id}/revoke", reason="Mine").status_code == 404
    # An admin of both keeps the one that reaches both; a service admin keeps every one.
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.admin.account_id)
        accounts.give_role(session, SYSTEM, account, cast.other_community_id, Role.ADMIN)
    page = admin.get(URL).text
    assert ">Wide<" in page
    assert "1 more key reaches" in page
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    assert ">Everywhere<" in admin.get(URL).text
    assert admin.post(f"/keys/{every}/revoke", reason="Too wide").status_code == 303
    wide_open = {"everywhere": "y", "may_open_communities": "y", "reason": "A platform of many forums"}
    answer = admin.post("/keys", name="New", template="adapter", **wide_open)
    text_in(answer.text)
    (new,) = minted(wiring, "New")
    assert (new.everywhere, new.may_open_communities, new.may_assert_staff) == (True, True, False)


def test_an_empty_list_says_so_and_more_keys_cost_no_more_queries(
    visit: Visit, cast: Cast, wiring: Wiring, statements: Callable[[], object]
) -> None:
    admin = visit(cast.admin)
    with statements() as one:  # type: ignore[attr-defined]
        admin.get(URL)
    with wiring.database.writing() as session:
        for number in range(60):
            keys.mint(session, SYSTEM, f"Key {number}", KeyTemplate.METRICS, [cast.community_id])
    with statements() as many:  # type: ignore[attr-defined]
        page = admin.get(URL).text
    assert len(many) <= len(one) + 1
    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following
    assert "Forum adapter" in admin.get(following.group(1).replace("&amp;", "&")).text
    assert admin.get("/keys?after=nonsense").status_code == 422
    with wiring.database.writing() as session:
        session.execute(sa.text("DELETE FROM key_communities"))
    assert "No keys yet" in admin.get(URL).text


@pytest.mark.both_databases
def test_of_many_communities_a_page_is_offered_and_searching_keeps_what_was_typed_and_ticked(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    admin = visit(cast.admin)
    assert "Find a community" not in admin.get(URL).text
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
        for number in range(45):
            communities.open_community(
                session, SYSTEM, "discord", f"guild-{number}", name=f"Guild {number:02}"
            )
        elsewhere = communities.open_community(session, SYSTEM, "discord", "last", name="Zebra 100%")
        elsewhere_id = str(elsewhere.id)

    def offered(page: str) -> list[str]:
        return re.findall(r'<label for="communities-\d+">([^<]+)</label>', page)

    first = admin.get(URL).text
    assert offered(first) == ["Harbour forum", *(f"Guild {number:02}" for number in range(20))]
    after = re.search(r'name="after" value="([^"]+)"', first)
    assert after
    typed = {
        "name": "Many",
        "template": "metrics",
        "reason": "Figures",
        "communities": str(cast.community_id),
    }
    second = admin.post("/keys/communities", **typed, after=after.group(1)).text
    assert offered(second)[1:] == [f"Guild {number:02}" for number in range(20, 40)]
    found = admin.post("/keys/communities", **typed, search="100%")
    assert (found.status_code, offered(found.text)) == (200, ["Harbour forum", "Zebra 100%"])
    assert re.search(rf'checked[^>]*value="{cast.community_id}"', found.text)
    assert 'value="Many"' in found.text
    assert minted(wiring, "Many") == []
    both = typed | {"communities": [str(cast.community_id), elsewhere_id]}
    text_in(admin.post("/keys", **both, search="100%").text)
    with wiring.database.reading() as session:
        (key,) = session.scalars(
            sa.select(ApiKey).where(ApiKey.name == "Many").options(selectinload(ApiKey.communities))
        )
        assert {str(one.community_id) for one in key.communities} == {str(cast.community_id), elsewhere_id}
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = False
    mine = admin.post("/keys/communities", **both, search="Guild").text
    assert offered(mine) == ["Harbour forum"], "nothing is told of communities that are not theirs"
