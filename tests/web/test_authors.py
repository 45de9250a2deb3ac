"""The page of an author: figures, timeline, strikes and notes, for moderators alone."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.ids import new_id
from app.core.models import Action, AuthorNote, Community, Profile, Report, Request, Strike
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.vocabulary import ActionState, ActionType, ReportOrigin, ReportState
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import PLATFORM, Cast
from tests.unit.test_strikes import AUTHOR, acted, give_points, overturn
from tests.web.conftest import Visit, Visitor


def page_of(visitor: Visitor, author: str = AUTHOR) -> str:
    """Open the author's page by their id, and return its path."""
    answer = visitor.get(f"/authors/of?author={author}")
    assert answer.status_code == 303, answer.status_code
    return str(answer.headers["Location"])


def submit(wiring: Wiring, cast: Cast, number: int, **more: Any) -> uuid.UUID:
    with wiring.database.writing() as session:
        given = {"platform_author_id": AUTHOR, **more}
        submission = submitting.Submission(f"p-{number}", "forum", f"Post number {number}", **given)
        return submitting.submit(session, SYSTEM, cast.community_id, submission).request.id


def test_the_page_is_found_by_id_and_makes_a_profile_where_there_is_none(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    give_points(wiring, cast, 2)
    first, second = acted(wiring, cast, 2)
    overturn(wiring, cast, second)
    path = page_of(moderator)
    page = moderator.get(path).text
    assert re.search(r"2 posts in 1 day\s*· 1 hidden · 0 open · 2 strike points", page)
    assert page_of(moderator) == path, "one profile"
    with wiring.database.reading() as session:
        (profile,) = session.scalars(sa.select(Profile).where(Profile.platform_user_id == AUTHOR))
    assert (profile.platform, profile.provider_scope) == (PLATFORM, "forum-1")
    assert f"/review/{first}" in page
    assert "Overturned" in page
    assert "/authors/of?author=gull" in moderator.get(f"/review/{first}").text
    assert moderator.get("/authors/of?author=unknown").status_code == 404


def test_facts_from_the_integration_are_shown(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    said = {"account_created_at": "2024-05-01T10:00:00Z", "posts_count": 1234, "trust_level": 2}
    submit(wiring, cast, 1, extra={"author": said})
    submit(wiring, cast, 2, extra={"author": "gull"})
    page = moderator.get(page_of(moderator)).text
    assert "2024" in page
    assert "1,234" in page
    assert re.search(r"Trust level</dt>\s*<dd>2</dd>", page)


def test_the_timeline_has_posts_reports_strikes_and_notes_in_order(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    post_id = submit(wiring, cast, 1)
    path = page_of(moderator)
    with wiring.database.writing() as session:
        author = session.scalars(sa.select(Profile).where(Profile.platform_user_id == AUTHOR)).one()
        other = profiles.ensure(session, PLATFORM, "heron", "forum-1")
        for reporter, about in ((other, post_id), (author, submit_other(session, cast))):
            session.add(
                Report(
                    id=new_id(),
                    community_id=cast.community_id,
                    report_id=f"r-{reporter.platform_user_id}",
                    request_id=about,
                    reporter_id=reporter.id,
                    reporter_ref=reporter.platform_user_id,
                    category="spam",
                    origin=ReportOrigin.PLATFORM,
                    state=ReportState.UPHELD if reporter is other else ReportState.OPEN,
                    reported_at=clock.now(),
                )
            )
    clocks.advance(minutes=1)
    added = moderator.post(path_of(path, "/strikes"), points="2", strike_reason="Insults by mail")
    assert added.status_code == 303, added.text
    clocks.advance(minutes=1)
    moderator.post(path_of(path, "/note"), about_author="Writes in the harbour")
    page = moderator.get(path).text
    timeline = page.partition("author-timeline")[2]
    kinds = re.findall(r'<p class="muted">(Post|Note|Strike, 2 points|Reported a post: Spam)', timeline)
    assert kinds == ["Note", "Strike, 2 points", "Reported a post: Spam", "Post"]
    assert "Reported once: Spam 1 (Acted on)" in timeline
    assert "Insults by mail" in page
    assert re.search(r"Reports of their posts</dt>\s*<dd>1</dd>", page)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(AuthorNote.text)).all() == ["Writes in the harbour"]


def submit_other(session: Any, cast: Cast) -> uuid.UUID:
    submission = submitting.Submission("other", "forum", "Another's post", platform_author_id="heron")
    return submitting.submit(session, SYSTEM, cast.community_id, submission).request.id


def path_of(url: str, more: str) -> str:
    path, _, query = url.partition("?")
    return f"{path}{more}?{query}"


def test_a_strike_is_added_and_lifted_with_reasons(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    submit(wiring, cast, 1)
    path = page_of(moderator)
    for typed, why in (
        ({"points": "2", "strike_reason": ""}, "Enter a reason for the strike."),
        ({"points": "11", "strike_reason": "Mail"}, "Points must be from 1 to 10."),
        ({"points": "2", "strike_reason": "Mail", "category": "nonsense"}, "must be one of"),
    ):
        refused = moderator.post(path_of(path, "/strikes"), **typed)
        assert refused.status_code == 422, typed
        assert why in refused.text
    moderator.post(path_of(path, "/strikes"), points="2", strike_reason="Mail", category="spam")
    with wiring.database.reading() as session:
        strike = session.scalars(sa.select(Strike)).one()
    assert (strike.points, strike.category, strike.reason) == (2, "spam", "Mail")
    lift = path_of(path, f"/strikes/{strike.id}/lift")
    refused = moderator.post(lift)
    assert refused.status_code == 422
    assert "Enter a reason to lift it." in refused.text
    assert moderator.post(lift, lift_reason="A mistake").status_code == 303
    assert "A mistake" in moderator.get(path).text
    assert "None that count now." in moderator.get(path).text
    again = moderator.post(lift, lift_reason="Twice")
    assert again.status_code in {303, 409}
    unknown = path_of(path, f"/strikes/{uuid.uuid4()}/lift")
    assert moderator.post(unknown, lift_reason="No").status_code == 404


def test_the_timeline_is_paged_and_takes_as_many_statements_for_many_rows(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    begin = clock.now()
    with wiring.database.writing() as session:
        for number in range(60):
            session.add(
                Request(
                    id=new_id(),
                    community_id=cast.community_id,
                    request_id=f"p-{number}",
                    requested_by="forum",
                    content=f"Post number {number}",
                    content_sha256="0" * 64,
                    platform_author_id=AUTHOR,
                    requested_at=begin - timedelta(minutes=number // 2),
                )
            )
    url: str | None = page_of(moderator)
    seen: list[str] = []
    pages = 0
    while url:
        page = moderator.get(url).text
        pages += 1
        seen += re.findall(r"Post number \d+", page)
        found = re.search(r'rel="next"\s+href="([^"]+)"', page)
        url = found[1].replace("&amp;", "&") if found else None
    assert pages == 3
    assert len(seen) == len(set(seen)) == 60


def test_an_authors_open_posts_are_decided_together(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    for number in range(2):
        factories.scored_action(wiring, cast, request_id=f"a-{number}", author=AUTHOR)
    factories.scored_action(wiring, cast, request_id="other", author="heron")
    page = moderator.get(page_of(moderator)).text
    link = re.search(r'href="(/review/matching[^"]+)"', page)
    assert link is not None
    assert "Decide all open" in page
    preview = moderator.get(link[1].replace("&amp;", "&")).text
    assert "2 posts" in preview or "all 2" in preview or "Dismiss 2" in preview


def test_search_is_by_the_beginning_of_an_id_and_by_name(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    submit(wiring, cast, 1)
    submit(wiring, cast, 2, platform_author_id="heron")
    with wiring.database.writing() as session:
        profiles.ensure(session, PLATFORM, "heron", "forum-1", display_name="Grey Heron")
        profiles.ensure(session, PLATFORM, "silent", "forum-1", display_name="Silent Heron")

    def found(text: str) -> set[str]:
        page = moderator.get(f"/authors?q={text}").text
        return set(re.findall(r"/authors/of\?author=(\w+)", page))

    assert found("gu") == {"gull"}
    assert found("her") == {"heron"}
    assert found("grey") == {"heron"}
    assert found("silent") == set(), "who wrote nothing is no author"
    assert found("100%25") == set()
    assert found("") == set()


def test_a_silence_is_shown_until_it_ends(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast, request_id="a", author=AUTHOR)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.action_type, action.action_state = ActionType.SILENCE, ActionState.APPLIED
        action.applied_at, action.until = clock.now(), clock.now() + timedelta(days=1)
    page = moderator.get(page_of(moderator)).text
    assert "Silenced until" in page
    with wiring.database.writing() as session:
        session.get_one(Action, action_id).ended_at = clock.now()
    assert "Silenced until" not in moderator.get(page_of(moderator)).text


def test_members_see_no_author_and_another_communitys_is_not_found(
    visit: Visit, moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    submit(wiring, cast, 1)
    path = page_of(moderator)
    assert visit(cast.rater).get(path).status_code == 403
    assert visit(cast.outsider).get(path.partition("?")[0]).status_code == 404
    with wiring.database.reading() as session:
        other = session.get_one(Community, cast.other_community_id).slug
    assert moderator.get(f"{path.partition('?')[0]}?community={other}").status_code == 404


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00", "2026-01-01", ""]
)
def test_a_page_of_the_timeline_that_no_database_can_name_is_the_first(
    moderator: Visitor, wiring: Wiring, cast: Cast, moment: str
) -> None:
    submit(wiring, cast, 1)
    path, _, query = page_of(moderator).partition("?")
    page = moderator.get(f"{path}?{query}&older={moment}~{uuid.uuid4()}")
    assert page.status_code == 200
    assert "author-timeline" in page.text
