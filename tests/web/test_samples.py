"""Samples on raters' pages: nothing tells them from items, until they have ended."""

import json
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core import clock
from app.core.classify import Context, Result
from app.core.learning import sampling
from app.core.models import Action, Learning, Note, SampleAnswer, SampledPost
from app.core.permissions import SYSTEM
from app.core.raters import impact
from app.core.requests import submitting
from app.core.vocabulary import ActionState
from app.wiring import Wiring
from tests import clocks
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_impact import rater as actor_of
from tests.web.conftest import HTMX, FixedClassifier, Visit, Visitor


class Unmarked(FixedClassifier):
    def score(self, texts: list[str], context: Context) -> list[Result]:
        return [Result(scores={self.category: self.score_given}) for _text in texts]


@pytest.fixture
def asked(wiring: Wiring, cast: Cast) -> tuple[uuid.UUID, uuid.UUID]:
    """An item and a sample with the same text, submitted at the same time. Another item waits beside them."""
    clocks.advance()
    with wiring.database.writing() as session:
        session.add(Learning(community_id=cast.community_id, sample_share=1.0, sample_key=sampling.new_key()))
    for number, score in enumerate((0.8, 0.3, 0.8)):
        wiring.classifiers = [Unmarked(score_given=score)]
        submission = submitting.Submission(
            f"post-{number}", "poster", "This is what somebody wrote.", platform_channel_id="general"
        )
        with wiring.database.writing() as session:
            submitting.submit(session, SYSTEM, cast.community_id, submission)
        wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.reading() as session:
        items = session.scalars(sa.select(Action.id).order_by(Action.id)).all()
        return items[0], session.scalars(sa.select(SampledPost.id)).one()


def same(reply: TestResponse, own: uuid.UUID) -> list[str]:
    """What a browser gets, without what differs between any two items."""
    text = f"{reply.status_code} {reply.headers.get('Location')} {reply.text}".replace(str(own), "ID")
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ANOTHER", text)
    text = re.sub(r'value="[\w.-]{60,}"|nonce="[^"]+"', "", text)
    # One reader answers one after the other, so the second finds one more answered and one less left.
    text = re.sub(r"\d+ today</a>, \d+ left", "N today</a>, N left", text)
    # So for the second the run ends.
    text = re.sub(r'<div id="run-end".*?(?=</template>)', "", text, flags=re.S)
    return re.sub(r"Post \d|post \d", "Post N", text).splitlines()


def _numbered(card: str) -> str:
    """A card without its number on the page."""
    return re.sub(r'ost \d|name="place" value="\d"', "N", card)


def test_a_sample_looks_and_answers_like_an_item(
    visit: Visit, cast: Cast, wiring: Wiring, asked: tuple[uuid.UUID, uuid.UUID]
) -> None:
    readers = [visit(cast.rater), visit(cast.rater)]
    page = readers[0].get("/help-needed").text
    cards = [re.search(rf'<article[^>]*id="card-{one}".*?</article>', page, re.S) for one in asked]
    assert cards[0] is not None
    assert cards[1] is not None
    item, sample = (
        re.sub(r'name="next" value="[^"]*"|value="[\w.-]{60,}"', "", card.group().replace(str(one), "ID"))
        for card, one in zip(cards, asked, strict=True)
        if card is not None
    )
    assert _numbered(item) == _numbered(sample)

    def both(request: Callable[[Visitor, uuid.UUID], TestResponse]) -> str:
        replies = [request(reader, one) for reader, one in zip(readers, asked, strict=True)]
        first, second = (same(reply, one) for reply, one in zip(replies, asked, strict=True))
        assert first == second
        assert replies[0].status_code < 400
        return replies[0].text

    def post(path: str, headers: dict[str, str] | None = None, **data: Any) -> str:
        return both(lambda reader, one: reader.post(path.format(one), headers, **data))

    def get(path: str, **headers: str) -> str:
        return both(lambda reader, one: reader.get(path.format(one), **headers))

    assert "No notes yet" in get("/review/{}")
    post("/help-needed/{}", HTMX, skip="1")
    assert "1 of 5 ratings. 4 more needed." in post("/help-needed/{}", HTMX, answer="yes", next="")
    post("/help-needed/{}", answer="no")
    assert "You said <strong>No</strong>" in get("/review/{}")
    assert "You said <strong>Yes</strong>" in post("/review/{}/answer", HTMX, answer="yes")
    post("/review/{}/answer", answer="unsure")
    assert "You said <strong>Not sure</strong>" in get("/review/{}", **HTMX)
    note: dict[str, Any] = {
        "summary": "It was said before.",
        "sources": "",
        "why_not_misleading": "fine_other",
    }
    assert "Preview" in post("/review/{}/notes", HTMX, **note, preview="1")
    post("/review/{}/notes", **note)
    assert "It was said before." in get("/review/{}")
    with wiring.database.reading() as session:
        for one in session.scalars(sa.select(Note).where(Note.rationale.is_(False))).all():
            assert "The post it is about" in readers[0].get(f"/notes/{one.id}").text
        assert session.scalars(sa.select(SampleAnswer)).one().profile_id == cast.rater.profile_id


@pytest.mark.both_databases
def test_once_it_has_ended_it_says_what_it_was_for(
    rater: Visitor, wiring: Wiring, asked: tuple[uuid.UUID, uuid.UUID]
) -> None:
    sample = asked[1]
    assert rater.post(f"/help-needed/{sample}", HTMX, answer="yes").status_code == 200
    with wiring.database.writing() as session:
        session.get_one(SampledPost, sample).ends_at = clock.now()
    page = rater.get(f"/review/{sample}").text
    assert "You said <strong>Yes</strong>" in page
    assert "It was asked to learn from the answers: nothing was decided about this post." in page
    assert "Change answer" not in page
    late = rater.post(f"/help-needed/{sample}", HTMX, answer="no")
    assert late.status_code == 409
    assert "decided in the meantime" in late.text


def test_nobody_else_sees_a_sample(
    visit: Visit, moderator: Visitor, cast: Cast, asked: tuple[uuid.UUID, uuid.UUID]
) -> None:
    sample = str(asked[1])
    for person in (cast.moderator, cast.operator, cast.outsider):
        reader = visit(person)
        assert sample not in reader.get("/help-needed").text
        assert reader.get(f"/review/{sample}").status_code == 404
        assert reader.post(f"/help-needed/{sample}", answer="yes").status_code == 404
    queue = moderator.get("/review").text
    assert sample not in queue


def test_an_operator_chooses_how_many_posts_are_sampled(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    assert "no post yet" not in operator.get("/classifiers").text
    assert operator.post("/classifiers/learning", is_on="y", samples="1").status_code == 422
    saved = operator.post("/classifiers/learning", is_on="y", samples="1", reason="What do we miss?")
    assert saved.status_code == 303
    page = operator.get("/classifiers").text
    assert "Of the posts below every threshold, raters are asked about 1 %. No post yet." in page
    assert '<option selected value="1">' in page
    with wiring.database.reading() as session:
        assert session.get_one(Learning, cast.community_id).sample_share == 0.01
    history = operator.get("/history/settings").text
    assert "Other posts that raters are asked about: none → 1 %" in re.sub(r"\s+", " ", history)
    refused = moderator.post("/classifiers/learning", is_on="y", samples="5", reason="More")
    assert refused.status_code in (403, 404)


def test_my_data_does_not_tell_a_sample_from_an_item_open_or_ended(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, asked: tuple[uuid.UUID, uuid.UUID]
) -> None:
    rater, skipper = visit(cast.rater), visit(cast.rater)
    for one in asked:
        rater.post(f"/help-needed/{one}", answer="yes")

    def kept() -> dict[str, Any]:
        skipper.post("/settings/my-data")
        jobs.run_all()
        return json.loads(skipper.get("/settings/my-data.json").text)  # type: ignore[no-any-return]

    open_ones = kept()
    assert len(open_ones["answers_about_posts"]) == 2
    first, second = open_ones["answers_about_posts"]
    assert list(first) == list(second)
    assert (first["level"], second["level"]) == ("HELPFUL", "HELPFUL")
    with wiring.database.writing() as session:
        action = session.get_one(Action, asked[0])
        sample = session.get_one(SampledPost, asked[1])
        sample.ended_at = clock.now()
        assert [first["request_id"], second["request_id"]] == [str(action.request_id), str(sample.request_id)]
        about_item, about_sample = {str(action.id), str(action.note_id)}, {str(sample.id)}
    ended = kept()
    assert ended["answers_about_posts"] == open_ones["answers_about_posts"]
    text = json.dumps(ended)
    assert not [one for one in about_item | about_sample if one in text]
    assert "sample" not in text
    assert "Answers about posts" in skipper.get("/settings/my-data").text


def test_my_data_lists_skips_of_samples_and_items_alike(
    rater: Visitor, jobs: InlineEngine, asked: tuple[uuid.UUID, uuid.UUID]
) -> None:
    for one in asked:
        rater.post(f"/help-needed/{one}", skip="y")
    rater.post("/settings/my-data")
    jobs.run_all()
    first, second = json.loads(rater.get("/settings/my-data.json").text)["skipped_posts"]
    assert list(first) == list(second) == ["request_id", "created_at"]


@pytest.mark.both_databases
def test_my_impact_does_not_tell_a_sample_from_an_item_open_or_closed(
    rater: Visitor, cast: Cast, wiring: Wiring, asked: tuple[uuid.UUID, uuid.UUID]
) -> None:
    """In no list is one without the other, and the rows say and offer the same."""
    day = clock.now().date().isoformat()
    lists = ("", "?show=waiting", f"?from={day}", f"?from={day}&about=toxicity")

    def look(path: str) -> str:
        page = rater.get(f"/me{path}").text
        found = re.findall(r"<tr data-row>.*?</tr>", page, re.S)
        assert len(found) == 2, path
        first, second = (
            next(row for row in found if str(one) in row).replace(str(one), "ID") for one in asked
        )
        assert first == second, path
        assert "2 rows" in page
        return first

    for answer in ("yes", "no"):  # at the same moment, given and then changed
        for one in asked:
            rater.post(f"/help-needed/{one}", answer=answer)
        for path in lists:
            assert "Change answer" in look(path)
            assert "No status yet" in look(path)
        clocks.advance(60)
    with wiring.database.reading() as session:
        assert impact.for_actor(session, actor_of(cast), cast.community_id).waiting == 2
    with wiring.database.writing() as session:
        session.get_one(SampledPost, asked[1]).ended_at = clock.now()
        session.get_one(Action, asked[0]).action_state = ActionState.DISMISSED
    for path in lists:
        assert "The question was closed" in look(path)
        assert "Change answer" not in look(path)
