"""Reviews that an integration shows its members: the question, and why an answer does not count."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Action, Note, Profile
from app.core.notes import uncounted
from app.core.vocabulary import ActionState, ActionType, HelpfulnessLevel, ReviewGroup
from app.jobs import communities as panel_jobs
from app.web.item.views import ANSWERS
from app.wiring import Wiring
from tests import clocks
from tests.api.conftest import INSULT, Api
from tests.api.test_notes import made
from tests.api.test_ratings import change, rate
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.panels import register, seated, set_up, settle_in_on_platform

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def review(api: Api, jobs: InlineEngine) -> dict[str, Any]:
    """The attributes of an action under review, and its id."""
    api.submit("queued", INSULT, platform_author_id="author", requested_by="submitter")
    jobs.run_all()
    (row,) = api.get("/moderation-actions?filter[action_state]=under_review").json["data"]
    return row["attributes"] | {"id": row["id"]}


def verdict(answer: Any) -> tuple[int, bool | None, str | None]:
    attributes = answer.json["data"]["attributes"]
    return answer.status_code, attributes.get("counts"), attributes.get("why")


COUNTS = (201, None, None)


def _change(wiring: Wiring, action_id: str, **values: Any) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).where(Action.id == uuid.UUID(action_id)).values(**values))


@pytest.mark.parametrize(
    ("action_type", "verb", "question"),
    [
        (ActionType.HIDE, "hide", "Should this post be hidden?"),
        (ActionType.DELETE, "delete", "Should this post be deleted?"),
        (ActionType.WARN, "flag", "Should this post be flagged?"),
        (ActionType.WARN, "notify", "Should the author of this post get a notice?"),
        (ActionType.SILENCE, "silence", "Should the author of this post be silenced?"),
    ],
)
def test_a_review_has_the_question_of_the_dashboard_while_it_is_open(
    api: Api, wiring: Wiring, review: dict[str, Any], action_type: ActionType, verb: str, question: str
) -> None:
    _change(wiring, review["id"], action_type=action_type, decided_verb=verb)

    def asked() -> Any:
        return api.get(f"/moderation-actions/{review['id']}").json["data"]["attributes"]["question"]

    assert asked() == question
    for state, is_open in (
        ("proposed", False),
        ("applied", False),
        ("retro_review", True),
        ("confirmed", False),
    ):
        move = {"action_state": state, "reason": "Why"}
        assert api.patch(f"/moderation-actions/{review['id']}", json=move).status_code == 200
        assert asked() == (question if is_open else None), state


def test_helpful_means_yes_act_and_not_helpful_means_no_keep(
    api: Api, jobs: InlineEngine, wiring: Wiring
) -> None:
    assert (ANSWERS["yes"], ANSWERS["no"]) == (HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL)
    for level, state in (("HELPFUL", "proposed"), ("NOT_HELPFUL", "dismissed")):
        api.submit(f"asked-{level}", f"{INSULT} {level}")
        jobs.run_all()
        (row,) = api.get("/moderation-actions?filter[action_state]=under_review").json["data"]
        for number in range(5):
            answer = rate(api, row["attributes"]["note_id"], level, rater_id=f"{level}-{number}")
            assert verdict(answer) == COUNTS, "the answer that decides counts too"
        shown = api.get(f"/moderation-actions/{row['id']}").json["data"]["attributes"]
        assert shown["action_state"] == state


def test_each_exclusion_of_a_rater_is_201_with_its_sentence(
    api: Api, wiring: Wiring, cast: Cast, review: dict[str, Any]
) -> None:
    note = review["note_id"]

    def why(exclusion: Exclusion) -> tuple[int, bool, str]:
        return 201, False, eligibility.SENTENCES[exclusion]

    assert verdict(rate(api, note, rater_id="somebody")) == COUNTS
    assert verdict(rate(api, note, rater_id="submitter")) == why(Exclusion.SUBMITTER)
    assert verdict(rate(api, note, rater_id="author")) == why(Exclusion.CONTENT_AUTHOR)
    set_up(wiring, cast, min_age_days=7)
    assert verdict(rate(api, note, rater_id="young")) == why(Exclusion.AGE)
    set_up(wiring, cast, min_trust_level=2)
    assert verdict(rate(api, note, rater_id="untrusted")) == why(Exclusion.TRUST)
    set_up(wiring, cast)
    _change(wiring, review["id"], action_type=ActionType.DELETE)
    clocks.advance(hours=1)
    assert verdict(rate(api, note, rater_id="newcomer")) == why(Exclusion.NEWCOMER)
    again = rate(api, note, "NOT_HELPFUL", rater_id="newcomer")
    assert verdict(again) == (200, *why(Exclusion.NEWCOMER)[1:])
    changed = change(api, again.json["data"]["id"], "HELPFUL")
    assert verdict(changed) == (200, *why(Exclusion.NEWCOMER)[1:])


def test_whoever_is_the_author_of_a_note_cannot_rate_it_and_a_locked_one_is_closed_for_all(
    api: Api, review: dict[str, Any]
) -> None:
    own = made(api, author_id="writer")
    assert rate(api, own, rater_id="writer").status_code == 403
    move = {"action_state": "dismissed"}
    assert api.patch(f"/moderation-actions/{review['id']}", json=move).status_code == 200
    assert rate(api, review["note_id"], rater_id="late").status_code == 403


def test_an_answer_after_the_end_of_a_review_decides_nothing(
    api: Api, wiring: Wiring, review: dict[str, Any]
) -> None:
    """An applied action may still get a second look, so that answers about it count."""
    note = review["note_id"]
    for number in range(5):
        assert verdict(rate(api, note, "HELPFUL", rater_id=f"r-{number}")) == COUNTS
    assert verdict(rate(api, note, rater_id="late")) == (201, False, uncounted.CLOSED)
    move = {"action_state": "applied"}
    assert api.patch(f"/moderation-actions/{review['id']}", json=move).status_code == 200
    assert verdict(rate(api, note, rater_id="later")) == COUNTS
    for state in (
        ActionState.DISMISSED,
        ActionState.CONFIRMED,
        ActionState.OVERTURNED,
        ActionState.SCAN_EXEMPT,
    ):
        _change(wiring, review["id"], action_state=state)
        assert verdict(rate(api, note, rater_id=f"after-{state}")) == (201, False, uncounted.CLOSED), state


def test_the_first_answer_about_what_a_score_did_opens_a_second_look_and_counts(
    api: Api, decide: Callable[..., None]
) -> None:
    decide("spam")
    (row,) = api.get("/moderation-actions").json["data"]
    note = row["attributes"]["note_id"]
    assert verdict(rate(api, note, rater_id="early")) == COUNTS, "proposed, and not acted on yet"
    assert api.patch(f"/moderation-actions/{row['id']}", json={"action_state": "applied"}).status_code == 200
    assert verdict(rate(api, note, rater_id="first")) == COUNTS
    shown = api.get(f"/moderation-actions/{row['id']}").json["data"]["attributes"]
    assert shown["action_state"] == "retro_review"


def test_moderators_decide_a_review_that_went_to_them(
    api: Api, wiring: Wiring, review: dict[str, Any]
) -> None:
    _change(wiring, review["id"], review_group=ReviewGroup.STAFF)
    assert verdict(rate(api, review["note_id"], rater_id="somebody")) == (201, False, uncounted.STAFF)


def test_a_final_status_is_not_changed_by_an_answer(api: Api, wiring: Wiring) -> None:
    note = made(api, author_id="writer")
    for number in range(5):
        assert verdict(rate(api, note, rater_id=f"r-{number}")) == COUNTS
    with wiring.database.writing() as session:
        session.get_one(Note, uuid.UUID(note)).created_at = clock.now() - timedelta(days=60)
    assert verdict(rate(api, note, rater_id="late")) == (201, False, uncounted.FINAL)


def test_only_whoever_was_drawn_counts_where_a_panel_decides(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    names = settle_in_on_platform(wiring, cast, 20)
    register(wiring, cast, "http://127.0.0.1/drawn", ["panel.drawn"])
    set_up(wiring, cast, who_decides="panel")
    api.submit("queued", INSULT, requested_by="submitter")
    jobs.run_all()
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
    note_id = str(action.note_id)
    early = rate(api, note_id, rater_id="early")
    assert verdict(early) == (201, False, uncounted.NOT_DRAWN), "the panel opens with the first answer"
    panel_jobs.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        is_holder = Profile.id.in_(seated(wiring, action.id))
        holders = set(session.scalars(sa.select(Profile.platform_user_id).where(is_holder)))
    volunteer = next(name for name in names if name not in holders)
    assert verdict(rate(api, note_id, rater_id=volunteer)) == (201, False, uncounted.NOT_DRAWN)
    for name in sorted(holders)[:7]:
        assert verdict(rate(api, note_id, "NOT_HELPFUL", rater_id=name)) == COUNTS, "the last of them decides"
    assert verdict(rate(api, note_id, rater_id="late")) == (201, False, uncounted.CLOSED)
    for row in api.get(f"/notes/{note_id}/ratings").json["data"]:
        assert row["attributes"].keys().isdisjoint({"counts", "why"}), (
            "a list would tell who sits on the panel"
        )
    single = api.get(f"/ratings/{early.json['data']['id']}").json["data"]["attributes"]
    assert single.keys().isdisjoint({"counts", "why"})
