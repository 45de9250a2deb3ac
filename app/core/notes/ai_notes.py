"""AI notes: who may request one, what a draft must fulfil, how it is stored (docs/run/datasets.md).

A writer gets a ``Post``, and the fact-check that it matches if there is one, and returns a ``Draft``. It is called
outside of any transaction, because it may be a model on another machine. The draft becomes an ordinary note: unrated,
unpublished, with the service as its author.
"""

import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import exemptions
from app.core.actions.moves import begin
from app.core.classify import Classifier, Context, combine
from app.core.classify.language import UNKNOWN, detect
from app.core.classify.normalise import plain_text
from app.core.communities import cited_pages, communities
from app.core.communities import settings as community_settings
from app.core.communities.cited_pages import Page
from app.core.db import serialise
from app.core.errors import Forbidden, UpstreamFailed
from app.core.factcheck import items
from app.core.factcheck.items import Item
from app.core.history.why import Why
from app.core.ids import new_id
from app.core.models import AiDraft, FactCheckItem, Note, Request
from app.core.notes import contacts
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.policies import policies
from app.core.vocabulary import ClaimRating, Classification, NoteStatus

SUMMARY_MAX = 280
"""Most characters of an AI note, without its source URLs."""
COPY_AT = 0.8
"""Similarity to the post, 0.0 to 1.0, from which a draft counts as a copy of it."""
SCREENED = frozenset({"toxicity", "hate", "threat", "sexual"})
"""Categories in which a draft's score must not exceed the Tier 2 threshold."""


@dataclass(frozen=True)
class Post:
    """The data of a request that a writer gets. It holds no database row, so it needs no open session.

    ``searched`` is the number of fact-checks that were compared with the content, ``checked_on`` the day of that
    comparison; ``tier2`` are the community's thresholds by category, 0.0 to 1.0. ``language`` is that of the content
    (BCP 47), or ``UNKNOWN``. ``pages`` may be cited beside the fact-check.
    """

    community_id: uuid.UUID
    content: str
    searched: int
    checked_on: date
    tier2: Mapping[str, float]
    language: str = UNKNOWN
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True)
class Draft:
    """What a writer returns.

    ``summary`` is the whole note, with its source URLs; ``sources`` are those URLs. ``prompt_sha256`` and ``reply``
    are the model's prompt (its hash) and answer; ``fell_back`` is the reason why the builtin writer was used.
    ``language`` is that of the note, or ``UNKNOWN``; ``language_gap`` says why it is not that of the post.
    """

    summary: str
    classification: Classification
    sources: tuple[str, ...]
    provider: str
    model: str
    prompt_version: str
    prompt_sha256: str | None = None
    reply: str | None = None
    fell_back: str | None = None
    language: str = UNKNOWN
    language_gap: str | None = None


class NoteWriter(Protocol):
    """Drafts notes. Any thread may call it, but never inside a transaction."""

    def write(self, post: Post, item: Item | None) -> Draft:
        """Return a draft about ``post``; ``item`` is the fact-check that the post matches, if any.

        Raises:
            UpstreamTimeout: the provider did not answer before the deadline (504).
            UpstreamFailed: the provider failed, or its answer was unusable (502).
            Unavailable: the provider asked us to wait (503).
        """
        ...


def prepare(session: Session, actor: Actor, request: Request) -> tuple[Post, Item | None]:
    """The post and the fact-check (or None) to pass to the writer.

    Raises:
        Forbidden: AI notes are switched off for the community, or the actor may not write notes.
    """
    require(actor, Permission.WRITE_NOTE, request.community_id, "request")
    if not communities.get(session, actor, request.community_id).ai_notes_enabled:
        raise Forbidden("AI notes are switched off for this community")
    thresholds = policies.current(session, request.community_id)
    item = items.for_request(session, request)
    row = session.get(FactCheckItem, item.row_id) if item is not None and item.row_id is not None else None
    if row is not None and row.retired_at is not None:
        item = None
    post = Post(
        community_id=request.community_id,
        content=request.content,
        searched=_searched(session, request),
        checked_on=clock.now().date(),
        tier2={category.name: category.tier2 for category in thresholds.categories if category.enabled},
        language=request.language or detect(request.content),
        pages=pages_of(session, request.community_id),
    )
    return post, item


def pages_of(session: Session, community_id: uuid.UUID) -> tuple[Page, ...]:
    """The pages that a community's AI notes may cite."""
    return cited_pages.parse(community_settings.read(session, community_id).note_pages)


def _searched(session: Session, request: Request) -> int:
    """How many fact-checks posts of the request's community are compared with."""
    compared = (items.serving(request.community_id), FactCheckItem.retired_at.is_(None))
    return session.scalar(sa.select(sa.func.count(FactCheckItem.id)).where(*compared)) or 0


def keep(session: Session, actor: Actor, request: Request, draft: Draft, item: Item | None = None) -> Note:
    """Store a draft as the service's note on the request: unrated, published only by ratings or a moderator."""
    require(actor, Permission.WRITE_NOTE, request.community_id, "request")
    limits.text(draft.summary, "summary", limits.SUMMARY_MAX)
    require_fit(draft, item, pages_of(session, request.community_id))
    # Lock before creating the service's profile: code that creates it for a rationale holds this lock already.
    serialise(session, request.community_id)
    author = profiles.of_service(session)
    note = Note(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        author_id=author.id,
        author_ref=str(author.id),
        summary=draft.summary,
        classification=draft.classification,
        status=NoteStatus.NEEDS_MORE_RATINGS,
        ai_generated=True,
        ai_provider=draft.provider,
        ai_model=draft.model,
        sources=list(draft.sources),
        platform_message_id=request.platform_message_id,
        platform_channel_id=request.platform_channel_id,
    )
    begin(session, actor, note, why=Why(cause=f"drafted by {draft.provider} {draft.model}"))
    session.add(
        AiDraft(
            note_id=note.id,
            item_id=item.row_id if item is not None and item.url in draft.sources else None,
            provider=draft.provider,
            model=draft.model,
            prompt_version=draft.prompt_version,
            prompt_sha256=draft.prompt_sha256,
            reply=draft.reply,
            fell_back=draft.fell_back[:255] if draft.fell_back else None,
            language=draft.language,
            language_gap=draft.language_gap[:255] if draft.language_gap else None,
        )
    )
    session.flush()
    return note


def expected(item: Item | None) -> Classification | None:
    """The classification that follows from a fact-check's rating; None when there is none, or we do not know it.

    True claims do not mislead. With any other rating, also mixed or outdated, a post that makes the claim is at least
    *potentially* misleading.
    """
    if item is None or item.rating is None:
        return None
    fine = (ClaimRating.TRUE, ClaimRating.MOSTLY_TRUE)
    return Classification.NOT_MISLEADING if item.rating in fine else Classification.MISLEADING


def require_fit(draft: Draft, item: Item | None, pages: Sequence[Page] = ()) -> None:
    """The last check of every draft, by whichever writer: its addresses, its verdict, its form.

    Raises:
        UpstreamFailed: another address than the fact-check's and those of ``pages``, another verdict, or no plain short
            text.
    """
    own = [page.url for page in pages] + ([item.url] if item is not None else [])
    text = cited_pages.cut(draft.summary, draft.sources)
    is_fit = (
        set(draft.sources) <= set(own)
        and len(text.strip()) <= SUMMARY_MAX
        and not _has_link(text)
        and not any(_is_odd(character) for character in text)
        and (expected(item) in (None, draft.classification))
        and (draft.classification is Classification.NOT_MISLEADING or bool(draft.sources))
    )
    if not is_fit:
        raise UpstreamFailed("AI provider sent an unusable answer")


def quotable(text: str) -> str:
    """A text of others on one line, without what a note may not contain: addresses, invisible characters, emoji."""
    plain = "".join(" " if character.isspace() else character for character in text)
    plain = "".join(character for character in plain if not _is_odd(character))
    return " ".join("…" if _has_link(word) else word for word in plain.split())


def language_gap(language: str, post: Post) -> bool:
    """Whether a note in this language is surely not in the language of the post."""
    return UNKNOWN not in (language, post.language) and language != post.language


_MARKS = re.compile(r"(?<!\w)([#@])\w")
_HTML = re.compile(r"</?[a-z!]|&(?:[a-z]+|#\w+);|\]\(", re.IGNORECASE)
_PREFIX = re.compile(
    r"\W*(?:community |ai |ai[- ]generated )?(?:note|context|fact[- ]?check|summary|answer|readers added context)"
    r"\W*[:\-–—]",
    re.IGNORECASE,
)
_PLAIN_SYMBOLS = frozenset("°©®™№§¶")


def faults(text: str, content: str) -> list[str]:
    """Reasons why a model's text cannot be a note, one short sentence each; empty when it can.

    ``text`` comes without sources: we add their URLs, so any URL in ``text`` was invented by the model.
    """
    faulty = []
    if not text.strip():
        return ["it is empty"]
    if len(text) > SUMMARY_MAX:
        # The other checks are written for short texts: on a huge one they would take minutes.
        return [f"it is longer than {SUMMARY_MAX} characters"]
    faulty += contacts.found(text)
    if _MARKS.search(text):
        faulty.append("it contains a hashtag or a mention")
    if _HTML.search(text):
        faulty.append("it contains markup")
    if any(_is_odd(character) for character in text):
        faulty.append("it contains emoji or invisible characters")
    if _PREFIX.match(text):
        faulty.append("it begins with a label")
    if _is_copy(text, content):
        faulty.append("it only repeats the post")
    return faulty


def harsh(text: str, post: Post, classifiers: Sequence[Classifier]) -> list[str]:
    """The ``SCREENED`` categories whose Tier 2 threshold the draft exceeds, as sentences like those of ``faults``."""
    context = Context(community_id=post.community_id)
    # Only local classifiers: a draft does not justify calls to another service.
    results = [
        result
        for classifier in classifiers
        if classifier.local
        for result in classifier.score([text], context)
    ]
    scores = combine(results)
    return [
        f"it reads as {name.replace('_', ' ')}"
        for name in sorted(SCREENED & scores.keys())
        if scores[name] > post.tier2.get(name, 1.0)
    ]


def _has_link(text: str) -> bool:
    # Fact-checks may name a site ("Example.com reports"), so less is refused than in what a model writes.
    return contacts.LINK.search(plain_text(text)) is not None


def _is_odd(character: str) -> bool:
    return unicodedata.category(character) in {"So", "Cc", "Cf", "Cs", "Co", "Cn"} and (
        character not in _PLAIN_SYMBOLS
    )


def _is_copy(text: str, content: str) -> bool:
    drafted, posted = " ".join(text.split()).casefold(), " ".join(content.split()).casefold()
    is_quotation = len(drafted) > 40 and drafted in posted
    return drafted == posted or is_quotation or exemptions.similarity(drafted, posted) >= COPY_AT
