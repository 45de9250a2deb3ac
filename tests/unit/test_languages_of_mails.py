"""Mails are in the language of their recipient, and what a platform's people read in that of their community."""

import json
from typing import cast as typed

import pytest
import sqlalchemy as sa
from apiflask import APIFlask
from flask import Flask

from app.api.documents import openapi
from app.core import mail, texts
from app.core.actions import author_texts
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.mail import Kind, Message
from app.core.models import Account, Community, HistoryEntry
from app.core.permissions import SYSTEM
from app.core.raters import digests
from app.core.texts import lazy_gettext
from app.core.upkeep import attention, fixed_mails
from app.core.vocabulary import AttentionReason, Digest
from app.wiring import Wiring
from tests.cast import Cast
from tests.factories import scored_action
from tests.inline_engine import InlineEngine
from tests.pseudo import TAG, PseudoLanguage, pseudo

URL = "https://bridgenote.example"


class Postbox:
    def __init__(self) -> None:
        self.sent: list[Message] = []

    def send(self, message: Message, deadline: float) -> None:
        self.sent.append(message)


@pytest.fixture
def postbox(wiring: Wiring) -> Postbox:
    wiring.mailer = Postbox()
    wiring.languages = {**wiring.languages, TAG: PseudoLanguage()}
    return wiring.mailer


@pytest.fixture
def strange_german(monkeypatch: pytest.MonkeyPatch) -> None:
    """A German that stands out."""
    monkeypatch.setitem(texts._known, "de", PseudoLanguage())


@pytest.mark.parametrize(
    ("asks_in", "chosen", "written_in"),
    [(None, None, "en"), (TAG, None, TAG), (None, TAG, TAG), (TAG, "en", "en")],
)
def test_a_mail_is_in_the_language_of_its_recipient_else_of_the_person_who_asked(
    wiring: Wiring,
    cast: Cast,
    jobs: InlineEngine,
    postbox: Postbox,
    asks_in: str | None,
    chosen: str | None,
    written_in: str,
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).language = chosen
    with texts.chosen(wiring.languages.get(asks_in or "en")), wiring.database.writing() as session:
        mail.ask(session, Kind.PASSWORD_CHANGED, account_id=cast.rater.account_id)
    jobs.run_all()
    (sent,) = postbox.sent
    english = "Your password was changed"
    assert sent.subject == (english if written_in == "en" else pseudo(english))


def test_a_digest_that_nobody_asked_for_is_in_the_language_of_the_community(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, postbox: Postbox, strange_german: None
) -> None:
    wiring.languages = {**wiring.languages, "de": PseudoLanguage(), TAG: PseudoLanguage()}
    scored_action(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"language": "de"}
        session.get_one(Account, cast.rater.account_id).digest = Digest.DAILY
    with wiring.database.writing() as session:
        assert digests.send(session, cast.rater.account_id)
    jobs.run_all()
    assert [sent.subject for sent in postbox.sent] == [pseudo("1 post needs your help")]


@pytest.mark.parametrize("kind", fixed_mails._TEXTS)
def test_each_paragraph_is_translated_and_links_stay(kind: Kind) -> None:
    english = fixed_mails.paragraphs(kind, URL, "token")
    with texts.chosen(PseudoLanguage()):
        strange = fixed_mails.paragraphs(kind, URL, "token")
    for before, after in zip(english, strange, strict=True):
        assert after.startswith("[") or before.startswith(URL), before
        assert [word for word in before.split() if URL in word] == [
            word.strip("[]·") for word in after.split() if URL in word
        ]


@pytest.mark.parametrize("reason", AttentionReason)
@pytest.mark.parametrize("count", [1, 3, attention.MOST_LATE])
def test_what_needs_an_operator_is_a_whole_sentence(reason: AttentionReason, count: int) -> None:
    after = {
        "attention": reason.value,
        "count": count,
        "limit": 2,
        "since": "2026-03-09T07:05:00Z",
        "url": "https://example.org/hook",
    }
    with texts.chosen(PseudoLanguage()):
        said = attention.sentence(after, attention.UTC)
    assert said.startswith("[")
    assert said.endswith("·]")


def test_shipped_texts_are_in_the_language_of_the_community(strange_german: None) -> None:
    defaults = CommunitySettings()
    german = community_settings.parse_stored({"language": "de"}, defaults)
    assert german.report_acted_text == pseudo(defaults.report_acted_text)
    assert german.support_text == pseudo(defaults.support_text)
    assert author_texts.shipped(german, "spam") == pseudo(author_texts.shipped(defaults, "spam") or "")
    own = community_settings.parse_stored({"language": "de", "report_kept_text": "Bleibt."}, defaults)
    assert own.report_kept_text == "Bleibt."
    with texts.chosen(PseudoLanguage()):
        english = community_settings.parse_stored({}, defaults)
        assert (
            f"{english.report_acted_text}" == "Thank you for your report. Something was done about the post."
        )
        assert not f"{author_texts.shipped(english, 'spam')}".startswith("[")


def test_what_is_stored_is_english_whatever_the_reader_chose(wiring: Wiring, cast: Cast) -> None:
    with texts.chosen(PseudoLanguage()), wiring.database.writing() as session:
        history.record(
            session,
            SYSTEM,
            cast.community_id,
            "community.tried",
            "community",
            cast.community_id,
            after={"why": lazy_gettext("left")},
            reason=Reason(cause=lazy_gettext("its time is over")),
        )
        session.get_one(Community, cast.community_id).description = lazy_gettext("An own place")
    with wiring.database.reading() as session:
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "community.tried")).one()
        assert [entry.cause, entry.after["why"]] == ["its time is over", "left"]
        assert session.get_one(Community, cast.community_id).description == "An own place"


def test_the_document_of_the_api_is_english_whoever_asks_first(app: Flask) -> None:
    kept = app.extensions.pop("bridgenote_openapi", None)
    try:
        with app.test_request_context("/api"), texts.chosen(PseudoLanguage()):
            document = openapi.generated_document(typed(APIFlask, app))
        assert "·]" not in json.dumps(document, ensure_ascii=False)
    finally:
        app.extensions["bridgenote_openapi"] = kept or document
