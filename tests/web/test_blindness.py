"""Before the decision a rater learns no score, no tally, no status and nobody's answer: on no page, part or header."""

import re
import uuid
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core.history.reason import Reason
from app.core.models import Action, Note, Profile, Rating
from app.core.notes import verdicts
from app.core.permissions import SYSTEM
from app.core.vocabulary import HelpfulnessLevel, NoteStatus
from app.web.filters import STATES
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast
from tests.web.conftest import HTMX, Stage, Visitor

YES, NO = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
COUNT, SHOWN, INTERCEPT, FACTOR, RULE = 913, 77, 0.4242, -0.3939, "telltale-rule"
REASON, MEMBER = "telltale-reason", "Telltale member"
SCORES = (r"\.83\d*\b", r"\b83\d* ?%", r"8317", r"7777", r"4242", r"3939", rf"\b{SHOWN}\b", RULE)
OTHERS = (r"\d+ said (Yes|No)", r"\d+ (was|were) not sure", REASON, MEMBER)
STATUSES = tuple(re.escape(one) for status in NoteStatus for one in (status, STATES[status.lower()].word))
STATE = (r"under_review", r"Members are reviewing", r"Waiting for platform")
COUNTS = (rf"\b{COUNT}\b", r"of \d+ ratings")


class _Addresses(HTMLParser):
    """Every address that a page offers to be read: links, GET forms, what htmx fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        wanted = [given.get("hx-get"), given.get("href") if tag == "a" else None]
        if tag == "form" and (given.get("method") or "get").lower() == "get":
            wanted.append(given.get("action") or "")
        self.found |= {one for one in wanted if one}


def _crawl(visitor: Visitor, *starts: str) -> Iterator[tuple[str, TestResponse]]:
    """Every page within reach of these, as a page and as htmx asks for it."""
    waiting, seen = list(starts), set(starts)
    while waiting:
        path = waiting.pop()
        for headers in ({}, HTMX):
            reply = visitor.get(path, **headers)
            yield f"GET {path} {headers}", reply
            addresses = _Addresses()
            addresses.feed(reply.text)
            for address in {*addresses.found, reply.location or path}:
                parts = urlsplit(urljoin(path, address))
                target = parts.path + (f"?{parts.query}" if parts.query else "")
                if not parts.netloc and target not in seen and not target.startswith("/static"):
                    seen.add(target)
                    waiting.append(target)


def _leaks(replies: Iterator[tuple[str, TestResponse]], patterns: tuple[str, ...]) -> list[str]:
    """What of ``patterns`` stands anywhere in these answers: bodies with their attributes, and headers."""
    found = []
    for where, reply in replies:
        headers = "\n".join(f"{name}: {value}" for name, value in reply.headers if name != "Set-Cookie")
        said = f"{_bare(reply.text)}\n{_bare(headers)}"
        found += [f"{where}: {match.group()!r}" for one in patterns for match in re.finditer(one, said)]
    return found


def _bare(text: str) -> str:
    """Without ids, digests, tokens, moments and drawings, in which any two digits may stand."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", text)
    text = re.sub(r'value="[\w.-]{60,}"|\?v=[0-9a-f]+|since=[^"&]+|Content-Length: \d+', "", text)
    return re.sub(
        r"<svg.*?</svg>|<meta[^>]+>|<time.*?</time>|Content-Security-Policy.*", "", text, flags=re.DOTALL
    )


@pytest.fixture
def scene(stage: Stage, cast: Cast, wiring: Wiring) -> tuple[uuid.UUID, uuid.UUID]:
    """A post and a note on it that others have rated, all with values that no page says by chance: their ids."""
    action_id = stage.post()
    stage.rate(action_id, YES, YES, NO)
    note_id = stage.note(action_id)
    stage.rate_note(note_id, *[YES] * 5)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        for note in session.scalars(sa.select(Note).where(Note.id.in_((note_id, action.note_id)))):
            note.intercept, note.factor, note.helpfulness_score = INTERCEPT, FACTOR, SHOWN
            note.status_rule, note.ratings_count = RULE, COUNT
        # A note in the run that already has a status, which one more rating may change.
        session.get_one(Note, note_id).intercept = 0.40004242
        session.execute(sa.update(Rating).values(reasons=[REASON]))
        session.execute(sa.update(Profile).where(Profile.platform == PLATFORM).values(display_name=MEMBER))
    return action_id, note_id


def _parts(visitor: Visitor, action_id: uuid.UUID, note_id: uuid.UUID) -> Iterator[tuple[str, TestResponse]]:
    """What forms answer without an answer being given: mistakes and a preview, as pages and as parts."""
    note = {"classification": "NOT_MISLEADING", "why_not_misleading": ["opinion"], "summary": "An opinion."}
    for headers in ({}, HTMX):
        for path, fields in (
            (f"/help-needed/{action_id}", {}),
            (f"/review/{action_id}/answer", {}),
            (f"/review/{action_id}/notes", {}),
            (f"/review/{action_id}/notes", {"preview": "1", **note}),
            (f"/notes/{note_id}/rating", {f"note-{note_id}-on": "item"}),
            (f"/help-needed/notes/{note_id}", {}),
            (f"/help-needed/notes/{note_id}/undo", {}),
            (f"/help-needed?done={note_id}", {}),
            (f"/notes/{note_id}/rating", {f"note-{note_id}-on": "note"}),
        ):
            is_read = path.startswith("/help-needed?")
            reply = visitor.get(path, **headers) if is_read else visitor.post(path, headers, **fields)
            yield f"{path} {fields} {headers}", reply


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_nothing_within_a_raters_reach_gives_others_away_until_the_decision(
    rater: Visitor, stage: Stage, wiring: Wiring, scene: tuple[uuid.UUID, uuid.UUID]
) -> None:
    action_id, note_id = scene
    starts = ("/", "/help-needed", "/settings", f"/review/{action_id}", f"/notes/{note_id}")
    blind = SCORES + OTHERS + STATUSES + STATE

    assert f'id="card-{note_id}"' in rater.get("/help-needed").text
    seen = [*_crawl(rater, *starts), *_parts(rater, action_id, note_id)]
    assert len(seen) > 25
    assert _leaks(iter(seen), blind + COUNTS) == []

    # Skipping says no more; neither does an answer, but for how many ratings there are.
    skipped = rater.post(f"/help-needed/{stage.post()}", HTMX, skip="1")
    assert _leaks(iter([("skip", skipped)]), blind + COUNTS) == []
    answered = rater.post(f"/help-needed/{action_id}", HTMX, answer="yes")
    assert "ratings" in answered.text
    after = [("answer", answered), *_crawl(rater, *starts), *_parts(rater, action_id, note_id)]
    assert _leaks(iter(after), blind) == []

    # Nor does the run when a note is rated that has its status already, and this rating stands.
    rated = rater.post(
        f"/help-needed/notes/{note_id}",
        HTMX,
        **{f"note-{note_id}-level": "HELPFUL", f"note-{note_id}-good": "clear", "seen": str(note_id)},
    )
    assert "<strong>Helpful</strong>" in rated.text
    kept = rater.post(f"/help-needed/notes/{note_id}/undo", HTMX)
    assert "The note has its status now, so your rating stands." in kept.text
    assert _leaks(iter([("rated", rated), ("kept", kept)]), blind + COUNTS) == []

    # With the decision it is all told: the state, who said what and why; of the note once it is rated.
    with wiring.database.writing() as session:
        rationale = session.get_one(Note, session.get_one(Action, action_id).note_id)
        verdicts.force_publish(session, SYSTEM, rationale, reason=Reason("Clear"))
    page = rater.get(f"/review/{action_id}").text
    assert "3 said Yes, 1 said No, 0 were not sure." in page
    assert "Waiting for platform" in page
    assert "Why this status" in page
    fields = {
        f"note-{note_id}-level": "HELPFUL",
        f"note-{note_id}-good": ["clear"],
        f"note-{note_id}-on": "note",
    }
    assert "Currently rated helpful" in rater.post(f"/notes/{note_id}/rating", HTMX, **fields).text
