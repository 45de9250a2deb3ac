"""Pictures are scored once they are fetched, by services that take them, and can only raise what the text led to."""

import uuid
from io import BytesIO
from typing import Any

import pytest

from app.adapters.media.obtaining import checked
from app.core.attachments.adding import NewAttachment
from app.core.attachments.fetching import Obtained
from app.core.models import Action, Note, PostScores, Score
from app.core.permissions import SYSTEM
from app.core.requests import image_scoring, submitting
from app.core.services import services
from app.core.services.calls import ATTEMPTS
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.thresholds import post_scores
from app.core.vocabulary import ActionTier, AttachmentKind, RequestStatus, ServiceMode
from app.jobs import attachments
from tests import factories
from tests.clocks import advance
from tests.stub_services import WORD, answering, status
from tests.unit.attachments import pictures
from tests.unit.services.conftest import Stage

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
HARMLESS = "The harbour is quiet this morning"


class Gallery:
    """Fake of the network: every address gives the same picture."""

    def obtain(self, url: str, kind: AttachmentKind) -> Obtained:
        content = pictures.png()
        return checked(BytesIO(content), len(content), "", kind)


@pytest.fixture
def moderation(stage: Stage) -> Stage:
    stage.wiring.obtainer = Gallery()
    registry = Registry(stage.wiring.services.kinds, stage.wiring.sealer, stage.wiring.services.allow)
    settings = ServiceSettings(
        url=stage.stub.url("/v1"),
        model="model-1",
        categories={"harassment": "toxicity", "sexual": "sexual"},
        deadline=1.0,
    )
    with stage.wiring.database.writing() as session:
        service = services.add(
            session,
            SYSTEM,
            stage.cast.community_id,
            registry,
            "openai_moderation",
            "eyes",
            settings,
            "Try it",
            key="sk-1",
            consent=True,
        )
        services.set_mode(session, SYSTEM, service.id, ServiceMode.IN_FORCE, "It agrees")
    return stage


def _submit(stage: Stage, text: str = HARMLESS, images: int = 2) -> uuid.UUID:
    sent = [NewAttachment(f"https://a.example/{n}", AttachmentKind.IMAGE) for n in range(images)]
    with stage.wiring.database.writing() as session:
        submission = submitting.Submission("post-1", "poster", text, attachments=sent)
        return submitting.submit(
            session, factories.integration(stage.cast), stage.cast.community_id, submission
        ).request.id


def _sent_images(stage: Stage) -> list[Any]:
    asked = [seen.body["input"] for seen in stage.stub.seen]
    return [parts for parts in asked if isinstance(parts[0], dict)]


def test_a_picture_opens_a_review_for_a_text_that_led_to_nothing(moderation: Stage) -> None:
    request_id = _submit(moderation)
    moderation.jobs.run_all()
    first, second = _sent_images(moderation)
    assert first[0] == {"type": "text", "text": HARMLESS}
    assert second[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    (action,) = moderation.rows(Action)
    assert (action.category, action.score, action.action_tier) == ("sexual", 0.88, ActionTier.CONSENSUS)
    assert action.evidence["details"]["classifiers"][0]["name"] == "service.eyes+images"
    assert moderation.status(request_id) is RequestStatus.IN_PROGRESS
    assert [note.rationale for note in moderation.rows(Note)] == [True]
    highest = {row.category: row.score for row in moderation.rows(Score) if row.is_highest}
    assert highest["sexual"] == 0.88
    (row,) = moderation.rows(PostScores)
    assert post_scores.unpacked(row)["sexual"].score == 0.88
    attachments.score_images(moderation.wiring, request_id, 0)
    assert len(moderation.rows(Action)) == 1
    assert len([row for row in moderation.rows(Score) if row.category == "sexual" and row.is_highest]) == 1


def test_pictures_never_lower_or_double_what_the_text_led_to(moderation: Stage) -> None:
    _submit(moderation, f"A post about a {WORD}")
    moderation.jobs.run_all()
    (action,) = moderation.rows(Action)
    assert (action.category, action.score) == ("toxicity", 0.93)
    assert {row.category for row in moderation.rows(Score) if row.classifier == "service.eyes+images"} >= {
        "sexual"
    }
    (row,) = moderation.rows(PostScores)
    assert {name: scored.score for name, scored in post_scores.unpacked(row).items()} == {
        row.category: row.score for row in moderation.rows(Score) if row.is_highest and row.score
    }


def test_pictures_wait_for_the_text_and_a_service_that_fails_on_one_changes_nothing(
    moderation: Stage,
) -> None:
    def fails_on_images(handler: Any) -> None:
        seen = moderation.stub.seen[-1]
        if isinstance(seen.body["input"][0], dict):
            status(500)(handler)
        else:
            answering(moderation.stub.answer(seen))(handler)

    moderation.stub.fail(fails_on_images)
    request_id = _submit(moderation, images=1)
    (fetch,) = [job for job in moderation.jobs.jobs() if job.name == "fetch_attachment"]
    attachments.fetch(moderation.wiring, uuid.UUID(fetch.args["attachment_id"]))
    attachments.score_images(moderation.wiring, request_id, len(image_scoring.WAITS))
    assert moderation.stub.seen == []
    moderation.jobs.run_all()
    advance(seconds=5)
    moderation.jobs.run_all()
    assert len(_sent_images(moderation)) == ATTEMPTS
    assert moderation.rows(Action) == []
    assert moderation.status(request_id) is RequestStatus.COMPLETED
