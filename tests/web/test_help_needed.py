"""Help needed: blind cards, answered one after the other."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Action, Community, Profile, RaterParameters, Rating, Request, ScoringState
from app.core.people import profiles
from app.core.raters import help_needed
from app.core.vocabulary import HelpfulnessLevel, NoteStatus, ReviewGroup
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast
from tests.web.conftest import HTMX, SCORE, Stage, Visit, Visitor
from tests.web.test_run import shown

YES, NO, UNSURE = (HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL, HelpfulnessLevel.SOMEWHAT_HELPFUL)


@pytest.mark.parametrize(("answer", "level"), [("yes", YES), ("no", NO), ("unsure", UNSURE)])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_an_answer_is_a_rating_of_the_rationale(
    rater: Visitor, cast: Cast, stage: Stage, answer: str, level: HelpfulnessLevel, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    reply = rater.post(f"/help-needed/{action_id}", headers, answer=answer)
    assert reply.status_code == (200 if headers else 303)
    assert stage.own_rating(action_id, cast.rater) is level


def test_the_reply_says_how_many_ratings_are_needed_still(visit: Visit, cast: Cast, stage: Stage) -> None:
    action_id = stage.post()
    stage.rate(action_id, YES)
    stage.post("Another post")
    assert "A majority is not enough" in visit(cast.rater).get("/help-needed").text
    reply = visit(cast.rater).post(f"/help-needed/{action_id}", HTMX, answer="no")
    assert "2 of 5 ratings. 3 more needed." in reply.text
    assert "<html" not in reply.text
    stage.rate(other := stage.post(), YES)
    visitor = visit(cast.rater)
    assert visitor.post(f"/help-needed/{other}", answer="no").status_code == 303
    assert "2 of 5 ratings. 3 more needed. A majority" in visitor.get("/help-needed").text, "without script"


def test_the_reply_is_a_line_and_counts_what_is_done_and_left(rater: Visitor, stage: Stage) -> None:
    first, second = stage.post(), stage.post()
    assert ">0 today</a>, 2 left" in rater.get("/help-needed").text
    reply = rater.post(f"/help-needed/{first}", HTMX, answer="no")
    assert f'id="card-{first}"' in reply.text
    assert "<strong>No</strong>" in reply.text
    assert ">1 today</a>, 1 left" in reply.text
    assert ">1 today</a>, 0 left" in rater.post(f"/help-needed/{second}", HTMX, skip="1").text


def test_the_rating_that_decides_says_so(rater: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    stage.rate(action_id, YES, YES, YES, YES)
    reply = rater.post(f"/help-needed/{action_id}", HTMX, answer="yes")
    assert "That decided it." in reply.text


def test_an_answer_that_comes_after_the_decision_is_told_so(rater: Visitor, cast: Cast, stage: Stage) -> None:
    action_id = stage.post()
    _lock(stage, action_id)
    reply = rater.post(f"/help-needed/{action_id}", HTMX, answer="yes")
    assert reply.status_code == 409
    assert "decided in the meantime" in reply.text
    assert stage.own_rating(action_id, cast.rater) is None


def test_a_skipped_post_is_not_offered_again(rater: Visitor, cast: Cast, stage: Stage) -> None:
    action_id = stage.post()
    assert rater.post(f"/help-needed/{action_id}", skip="1").status_code == 303
    assert "Open it anyway" in rater.get("/help-needed").text
    assert str(action_id) not in rater.get("/help-needed").text
    assert stage.own_rating(action_id, cast.rater) is None


@pytest.mark.parametrize("answer", ["", "maybe", "HELPFUL"])
def test_something_else_is_no_answer(rater: Visitor, cast: Cast, stage: Stage, answer: str) -> None:
    action_id = stage.post()
    assert rater.post(f"/help-needed/{action_id}", answer=answer).status_code == 422
    assert stage.own_rating(action_id, cast.rater) is None


@pytest.mark.both_databases
def test_posts_one_rating_from_enough_come_first(rater: Visitor, stage: Stage) -> None:
    few, many = stage.post("post with few ratings here"), stage.post("post with many ratings here")
    stage.rate(many, YES, NO, UNSURE)
    stage.rate(few, YES)
    text = rater.get("/help-needed").text
    assert text.index("many ratings here") < text.index("few ratings here")


@pytest.mark.both_databases
def test_of_many_posts_the_oldest_and_the_newest_are_ranked(
    rater: Visitor, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(help_needed, "LOOKED_AT", 3)
    monkeypatch.setattr(help_needed, "NEAREST", 1)
    monkeypatch.setattr(help_needed, "OLDEST", 1)
    oldest, _, between, newest = (stage.post(f"post {number}") for number in range(4))
    stage.rate(between, YES, NO, UNSURE)
    stage.rate(newest, YES, NO)
    assert shown(rater) == [str(newest), str(oldest)]
    rater.post(f"/help-needed/{oldest}", answer="yes")
    assert str(between) in shown(rater), "what was answered makes place for the next one"


@pytest.mark.both_databases
def test_a_rater_is_asked_first_where_their_viewpoint_is_missing(
    visit: Visit, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    agreeing, missing = stage.post("among their own"), stage.post("among the others")
    stage.rate(agreeing, YES, YES)
    stage.rate(missing, YES, YES)
    with wiring.database.writing() as session:
        # The fit in force: who rated the one stands where the reader stands, who rated the other does not.
        note = session.get_one(Action, missing).note_id
        for number, rating in enumerate(session.scalars(sa.select(Rating).where(Rating.note_id == note))):
            rating.rater_id = profiles.ensure(session, PLATFORM, f"other-{number}").id
        members = session.scalars(sa.select(Profile).where(Profile.platform == PLATFORM)).all()
        session.merge(ScoringState(community_id=cast.community_id, model_version=3))
        for one in (*members, session.get_one(Profile, cast.rater.profile_id)):
            factor = -0.4 if one.platform_user_id.startswith("other-") else 0.4
            parameters = {
                "intercept": 0.0,
                "factor": factor,
                "kept": True,
                "volume": False,
                "correlated": False,
            }
            session.add(
                RaterParameters(community_id=cast.community_id, version=3, profile_id=one.id, **parameters)
            )
    text = visit(cast.rater).get("/help-needed").text
    assert text.index("g the others") < text.index("g their own")
    with wiring.database.writing() as session:
        session.execute(
            sa.update(RaterParameters)
            .where(RaterParameters.profile_id == cast.rater.profile_id)
            .values(factor=-0.4)
        )
    text = visit(cast.rater).get("/help-needed").text
    assert text.index("g their own") < text.index("g the others")


@pytest.mark.both_databases
def test_nobody_is_asked_about_what_they_posted_or_submitted_themselves(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    own, submitted, others = (
        stage.post("I wrote this"),
        stage.post("I sent this in"),
        stage.post("They wrote it"),
    )
    with wiring.database.writing() as session:
        profiles.ensure(session, PLATFORM, "rita", account_id=cast.rater.account_id)
        for action_id, field in ((own, "platform_author_id"), (submitted, "requested_by")):
            request = session.get_one(Request, session.get_one(Action, action_id).request_id)
            setattr(request, field, "rita")
    text = rater.get("/help-needed").text
    assert str(others) in text
    assert str(own) not in text
    assert str(submitted) not in text


def test_nothing_to_do_is_said(rater: Visitor) -> None:
    assert "Nothing needs your help. Next check in 15 s." in rater.get("/help-needed").text


def test_staff_reviews_are_not_for_raters(
    moderator: Visitor, rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        session.get_one(Action, action_id).review_group = ReviewGroup.STAFF
    assert str(action_id) not in rater.get("/help-needed").text
    assert rater.get(f"/review/{action_id}").status_code == 404
    assert rater.post(f"/help-needed/{action_id}", answer="yes").status_code == 404
    assert moderator.get(f"/review/{action_id}").status_code == 200


def test_a_moderators_own_question_shows_no_tally_either(moderator: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    stage.rate(action_id, YES, YES, NO)
    assert "said Yes" not in moderator.get(f"/review/{action_id}").text
    cards = moderator.get("/help-needed").text
    for hidden in (str(SCORE), "0.83", "of 5 ratings", "said Yes", "Members are reviewing", *NoteStatus):
        assert hidden not in _without_ids(cards), hidden


def test_what_people_write_is_never_markup(rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring) -> None:
    attack = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>{{ 7*7 }}"
    action_id = stage.post(attack)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).policy_text = attack
        session.get_one(Community, cast.community_id).name = attack
    for path in ("/help-needed", f"/review/{action_id}"):
        text = rater.get(path).text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "49" not in _without_ids(text)
        assert "onerror=alert(1)" in text, "it is shown as it was written"


def test_a_long_post_is_cut_around_what_was_matched(rater: Visitor, stage: Stage) -> None:
    stage.post("word " * 400)
    stage.post("First line.\n" + "And one more.\n" * 30 + "Last line.")
    text = rater.get("/help-needed").text
    assert text.count("Read the whole post") == 2
    assert text.count("word") < 200
    assert "t line." in text, "its beginning is marked"
    assert "Last line." not in text


@pytest.mark.parametrize(
    ("post", "says"),
    [
        ("First line." + "\n" * 31 + "Last line.", "30 empty lines"),
        ("First line." + "\n \t" * 30 + "\nLast line.", "30 empty lines"),
        ("First line." + "\n" * 300 + "Last line.", "299 empty lines"),
        ("First line." + "\n" * 4 + "Last line.", None),
    ],
)
def test_many_empty_lines_are_one_that_says_so(
    visit: Visit, cast: Cast, stage: Stage, post: str, says: str | None
) -> None:
    action_id = stage.post(post)
    for path in ("/help-needed", f"/review/{action_id}"):
        text = visit(cast.rater).get(path).text
        assert "Last line." in text, "what follows them is shown"
        assert "Read the whole post" not in text
        assert re.findall(r">(\d+ empty lines)<", text) == ([says] if says else [])


def test_more_posts_cost_no_more_queries(rater: Visitor, stage: Stage, statements: Callable[[], Any]) -> None:
    stage.post()
    with statements() as for_one:
        rater.get("/help-needed")
    for _ in range(9):
        stage.post()
    with statements() as for_ten:
        rater.get("/help-needed")
    assert len(for_ten) == len(for_one)


@pytest.mark.both_databases
def test_new_posts_are_counted_once(rater: Visitor, stage: Stage) -> None:
    since = clock.iso(clock.now())
    poll = f"/help-needed/new-count?since={since}"
    assert rater.get(poll, **HTMX).status_code == 204
    stage.post()
    assert "1 new item – Show" in rater.get(poll, **HTMX).text
    stage.post()
    assert "2 new items – Show" in rater.get(f"{poll}&seen=1", **HTMX).text
    assert rater.get(f"{poll}&seen=2", **HTMX).status_code == 204


@pytest.mark.parametrize(
    "query",
    [
        "",
        "since=yesterday",
        "since=2026-01-01T00:00:00",
        "since=x&seen=y",
        "since=0001-01-01T00:00:00%2B14:00",
        "since=9999-12-31T23:59:59-14:00",
    ],
)
def test_a_silly_poll_is_refused(rater: Visitor, query: str) -> None:
    assert rater.get(f"/help-needed/new-count?{query}").status_code == 422


def test_too_many_ratings_are_refused(rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring) -> None:
    limited = wiring.settings.model_copy(
        update={"rate_limit_enabled": True, "rate_limit_ratings": "1 per hour"}
    )
    wiring.throttle = Throttle.from_settings(limited)
    first, second = stage.post(), stage.post()
    assert rater.post(f"/help-needed/{first}", answer="yes").status_code == 303
    refused = rater.post(f"/review/{second}/answer", answer="yes")
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1
    assert stage.own_rating(second, cast.rater) is None


def _lock(stage: Stage, action_id: Any) -> None:
    with stage.wiring.database.writing() as session:
        session.get_one(type(stage.rationale(action_id)), stage.rationale(action_id).id).locked = True


def _without_ids(text: str) -> str:
    """The page without ids, digests and tokens, in which any two digits may stand."""

    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "", text)
    text = re.sub(r'value="[\w.-]{60,}"', "", text)
    text = re.sub(r"\?v=[0-9a-f]+|since=[^\"&]+", "", text)
    return re.sub(r"<svg.*?</svg>|<meta[^>]+>|<time.*?</time>", "", text, flags=re.DOTALL)
