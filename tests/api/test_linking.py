"""Linking a platform's profile to an account: afterwards both are one rater (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core import clock
from app.core.models import Account, HistoryEntry, LinkCode, Note, Profile, Rating
from app.core.notes import notes, ratings
from app.core.people import mailed_links, profiles
from app.core.people.mailed_links import ALPHABET
from app.core.permissions import Actor
from app.core.upkeep import linking
from app.core.vocabulary import Classification, HelpfulnessLevel, Role
from app.settings import Settings
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import Api, acting
from tests.api.test_notes import made
from tests.api.test_ratings import change, rate
from tests.cast import Cast, Person
from tests.racing import at_once

LINK = "/user-profiles/link"
ME = acting("7", Username="Ann")


def code_of(wiring: Wiring, person: Person) -> str:
    with wiring.database.writing() as session:
        return mailed_links.show_code(session, session.get_one(Account, person.account_id)).text


def link(api: Api, code: str, headers: dict[str, str] | None = None) -> TestResponse:
    return api.post(LINK, json={"code": code}, headers=headers or ME)


def rate_in_browser(
    wiring: Wiring,
    person: Person,
    cast: Cast,
    note_id: str,
    level: HelpfulnessLevel = HelpfulnessLevel.HELPFUL,
) -> uuid.UUID:
    with wiring.database.writing() as session:
        actor = Actor(
            kind="account",
            name="Rater",
            account_id=person.account_id,
            profile_id=person.profile_id,
            roles={cast.community_id: Role.RATER},
            communities=frozenset({cast.community_id}),
        )
        rater, note = session.get_one(Profile, person.profile_id), session.get_one(Note, uuid.UUID(note_id))
        return ratings.rate(session, actor, note, rater, level)[0].id


def ratings_of(wiring: Wiring, note_id: str) -> list[tuple[uuid.UUID, str]]:
    with wiring.database.reading() as session:
        rows = session.scalars(sa.select(Rating).where(Rating.note_id == uuid.UUID(note_id)))
        return [(row.rater_id, row.helpfulness_level.value) for row in rows]


def told(wiring: Wiring, what: str) -> list[HistoryEntry]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == what)))


def test_the_code_links_the_acting_users_profile_and_may_be_sent_again(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    code = code_of(wiring, cast.rater)
    wrapped = {"data": {"type": "user-profiles", "attributes": {"code": code}}}
    first = api.post(LINK, json=wrapped, headers=ME)
    assert first.status_code == 200, first.text
    shown = first.json["data"]["attributes"]
    assert (shown["platform_user_id"], shown["display_name"], shown["is_linked"]) == ("7", "Ann", True)
    assert link(api, code).json == first.json, "a lost answer is asked for again"
    assert link(api, code_of(wiring, cast.rater)).json == first.json, "linked already"
    (entry,) = told(wiring, "profile.linked")
    assert (entry.community_id, str(entry.object_id)) == (cast.community_id, first.json["data"]["id"])
    query = {"platform": "discourse", "platform_user_id": "8"}
    assert (
        api.get("/user-profiles/lookup", query_string=query).json["data"]["attributes"]["is_linked"] is False
    )


def test_only_a_hash_of_the_code_is_kept_and_typing_it_is_forgiving(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    code = code_of(wiring, cast.rater)
    assert len(code) == 9
    assert set(code.replace("-", "")) <= set(ALPHABET)
    with wiring.database.reading() as session:
        assert code.replace("-", "") not in session.scalars(sa.select(LinkCode)).one().code_hash
    assert link(api, f" {code.lower().replace('-', ' – ')} ").status_code == 200


def _wrong(_wiring: Wiring, _cast: Cast, code: str) -> str:
    return code[:-1] + ("2" if code[-1] != "2" else "3")


def _nonsense(_wiring: Wiring, _cast: Cast, _code: str) -> str:
    return "ÄÖÜ?"


def _expired(wiring: Wiring, _cast: Cast, code: str) -> str:
    with wiring.database.writing() as session:
        session.execute(sa.update(LinkCode).values(expires_at=clock.now() - timedelta(seconds=1)))
    return code


def _replaced(wiring: Wiring, cast: Cast, code: str) -> str:
    code_of(wiring, cast.rater)
    return code


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("spoil", [_wrong, _nonsense, _expired, _replaced])
def test_a_code_that_does_not_hold_is_422_always_in_the_same_words(
    api: Api, wiring: Wiring, cast: Cast, spoil: Callable[[Wiring, Cast, str], str]
) -> None:
    answer = link(api, spoil(wiring, cast, code_of(wiring, cast.rater)))
    assert answer.status_code == 422
    assert answer.json["detail"] == [
        {
            "type": "invalid_code",
            "loc": ["body", "code"],
            "msg": mailed_links.NOT_VALID,
            "input": "[hidden]",
        }
    ]


def test_a_used_code_is_as_good_as_a_wrong_one_to_anybody_else(api: Api, wiring: Wiring, cast: Cast) -> None:
    code = code_of(wiring, cast.rater)
    assert link(api, code).status_code == 200
    answer = link(api, code, acting("8"))
    assert (answer.status_code, answer.json["detail"][0]["type"]) == (422, "invalid_code")


def test_a_profile_of_another_account_is_409_and_the_code_stays_good(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    assert link(api, code_of(wiring, cast.rater)).status_code == 200
    code = code_of(wiring, cast.moderator)
    assert link(api, code).status_code == 409
    assert link(api, code, acting("8")).status_code == 200


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_call_that_names_no_profile_is_422_at_the_missing_header(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    code = code_of(wiring, cast.rater)
    table: list[tuple[dict[str, str], list[str]]] = [
        ({}, ["X-Adapter-Platform", "X-Adapter-User-Id"]),
        ({"X-Adapter-Platform": "discourse"}, ["X-Adapter-User-Id"]),
        ({"X-Adapter-User-Id": "7"}, ["X-Adapter-Platform"]),
    ]
    for headers, missing in table:
        answer = api.post(LINK, json={"code": code}, headers=headers)
        assert answer.status_code == 422
        assert [item["loc"] for item in answer.json["detail"]] == [["header", name] for name in missing]
    assert api.post(LINK, json={}, headers=ME).json["detail"][0]["loc"] == ["body", "code"]
    assert api.post(LINK, json={"code": code}, instead=cast.read_only_headers | ME).status_code == 403


def test_wrong_codes_are_counted_for_each_key_and_right_ones_are_not(
    api: Api, foreign_api: Api, wiring: Wiring, settings: Settings, cast: Cast
) -> None:
    limited = {"rate_limit_enabled": True, "rate_limit_link_codes": "2 per hour"}
    wiring.throttle = Throttle.from_settings(settings.model_copy(update=limited))
    code = code_of(wiring, cast.rater)
    assert [link(api, code).status_code for _ in range(4)] == [200] * 4
    assert [link(api, "WRNG-CDE2").status_code for _ in range(3)] == [422, 422, 429]
    refused = link(api, code)
    assert refused.status_code == 429, "not even a right one: it would tell"
    assert refused.headers["RateLimit-Policy"] == '"link_codes";q=2;w=3600'
    assert link(foreign_api, "WRNG-CDE2").status_code == 422


def test_once_linked_a_note_has_one_rating_from_browser_and_api(api: Api, wiring: Wiring, cast: Cast) -> None:
    note = made(api)
    assert link(api, code_of(wiring, cast.rater)).status_code == 200
    given = rate(api, note, "NOT_HELPFUL", headers=ME, rater_id="7")
    assert given.status_code == 201
    assert rate_in_browser(wiring, cast.rater, cast, note) == uuid.UUID(given.json["data"]["id"])
    assert ratings_of(wiring, note) == [(cast.rater.profile_id, "HELPFUL")]
    again = rate(api, note, "SOMEWHAT_HELPFUL", headers=ME)
    assert (again.status_code, again.json["data"]["attributes"]["rater_id"]) == (200, "7"), "as it was sent"
    assert change(api, again.json["data"]["id"], "NOT_HELPFUL", headers=ME).status_code == 200
    assert ratings_of(wiring, note) == [(cast.rater.profile_id, "NOT_HELPFUL")]
    for who in ("7", str(cast.rater.profile_id)):
        assert [row["id"] for row in api.get(f"/notes?filter[rater_id]={who}").json["data"]] == [note]
        assert api.get(f"/notes?filter[rater_id__not_in]={who}").json["data"] == []


@pytest.mark.parametrize("later", ["browser", "platform"])
def test_of_two_ratings_given_before_the_newer_stays_and_the_history_tells_of_the_other(
    api: Api, wiring: Wiring, cast: Cast, later: str
) -> None:
    both, only = made(api), made(api)
    assert rate(api, only, "HELPFUL", headers=ME).status_code == 201

    def platform() -> None:
        assert rate(api, both, "NOT_HELPFUL", headers=ME).status_code == 201

    def browser() -> None:
        rate_in_browser(wiring, cast.rater, cast, both, HelpfulnessLevel.HELPFUL)

    for give in (platform, browser) if later == "browser" else (browser, platform):
        give()
    assert api.get(f"/notes/{both}").json["data"]["attributes"]["ratings_count"] == 2
    assert link(api, code_of(wiring, cast.rater)).status_code == 200
    kept = "HELPFUL" if later == "browser" else "NOT_HELPFUL"
    assert ratings_of(wiring, both) == [(cast.rater.profile_id, kept)]
    assert ratings_of(wiring, only) == [(cast.rater.profile_id, "HELPFUL")]
    assert api.get(f"/notes/{both}").json["data"]["attributes"]["ratings_count"] == 1
    (entry,) = told(wiring, "rating.withdrawn")
    assert entry.before["note_id"] == both
    assert entry.before["helpfulness_level"] != kept


def test_one_persons_note_is_their_own_under_both_names(api: Api, wiring: Wiring, cast: Cast) -> None:
    written = made(api, headers=ME, author_id="7")
    assert rate_in_browser(wiring, cast.rater, cast, written)
    assert link(api, code_of(wiring, cast.rater)).status_code == 200
    assert ratings_of(wiring, written) == [], "a rating of one's own note is withdrawn"
    for headers in (ME, acting("8")):
        expected = 403 if headers is ME else 201
        assert rate(api, written, headers=headers).status_code == expected
    with wiring.database.writing() as session:
        author = profiles.find(session, "discourse", "7", "forum-1")
        assert author is not None
        actor = Actor(kind="key", name="A", communities=frozenset({cast.community_id}), profile_id=author.id)
        where, kind = cast.community_id, Classification.MISLEADING
        assert notes.write(session, actor, where, author, "Later", kind).author_id == cast.rater.profile_id
    later = api.get("/notes?filter[author_id]=7").json["data"]
    assert {row["id"] for row in later} >= {written}
    body = {"data": {"type": "notes", "id": written, "attributes": {"summary": "Better words"}}}
    assert api.patch(f"/notes/{written}", json=body, headers=ME).status_code == 200


def test_unlinked_the_profile_stands_for_itself_and_what_was_given_stays(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    note = made(api)
    profile_id = uuid.UUID(link(api, code := code_of(wiring, cast.rater)).json["data"]["id"])
    assert rate(api, note, headers=ME).status_code == 201
    stranger = Actor(kind="account", name="M", account_id=cast.moderator.account_id)
    owner = Actor(kind="account", name="R", account_id=cast.rater.account_id, communities=None)
    with wiring.database.writing() as session, pytest.raises(Exception, match="not found"):
        linking.unlink(session, stranger, profile_id)
    with wiring.database.writing() as session:
        linking.unlink(session, owner, profile_id)
    assert ratings_of(wiring, note) == [(cast.rater.profile_id, "HELPFUL")]
    assert link(api, code).status_code == 422, "the code was used"
    assert [entry.community_id for entry in told(wiring, "profile.unlinked")] == [cast.community_id]
    assert link(api, code_of(wiring, cast.moderator)).status_code == 200


@pytest.mark.both_databases
def test_ratings_sent_while_the_profile_is_linked_never_count_twice(
    api: Api, app: Flask, wiring: Wiring, cast: Cast
) -> None:
    written = [made(api) for _ in range(6)]
    code = code_of(wiring, cast.rater)

    def by_api(note: str) -> Callable[[], Any]:
        mine = Api(app.test_client(), api.headers)
        return lambda: rate(mine, note, headers=ME).status_code

    def by_browser(note: str) -> Callable[[], Any]:
        return lambda: 200 if rate_in_browser(wiring, cast.rater, cast, note) else 0

    mine = Api(app.test_client(), api.headers)
    jobs: list[Callable[[], Any]] = [lambda: link(mine, code).status_code]
    jobs += [make(note) for note in written for make in (by_api, by_browser)]
    assert set(at_once(*jobs)) <= {200, 201}
    for note in written:
        assert [who for who, _ in ratings_of(wiring, note)] == [cast.rater.profile_id]
