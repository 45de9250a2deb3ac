"""``score-texts``: scores texts from standard input, as the service would score posts."""

import json
import sys
import uuid
from collections.abc import Iterator, Sequence
from typing import IO, Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.classify import CATEGORIES, Classifier, Context
from app.core.classify.language import language_of
from app.core.communities import communities
from app.core.models import Community
from app.core.permissions import SYSTEM
from app.core.requests.scorings import combined, score_text


class BadLine(click.ClickException):
    """A line of the input is no text; the lines before it are scored."""

    exit_code = 2


@click.command("score-texts")
@click.option(
    "--community",
    metavar="ID_OR_NAME",
    help="Score with this community's classifiers instead of a new community's; needs the database.",
)
def score_texts(community: str | None) -> None:
    """Read JSON lines {"text": …} from standard input; write {category: score} for each, one line each, in order.

    A line may also have "language", such as "en" or "de"; otherwise it is detected. An "id", text or a whole
    number, is written with that line's scores, first. Without --community, the shipped
    classifiers score, and no database is needed. A category that nothing scored is absent. A line that is not such
    an object ends the command with status 2 and names the line; the lines before it are scored.
    """
    if community is None:
        from app.wiring import shipped_classifiers

        _score(shipped_classifiers(), sys.stdin.buffer)
        return
    from app.commands.opening import opened_wiring

    with opened_wiring() as wiring:
        with wiring.database.reading() as session:
            community_id = _community_id(session, community)
            classifiers = wiring.classifiers_for(session, community_id)
        _score(classifiers, sys.stdin.buffer, community_id)


def _community_id(session: Session, reference: str) -> uuid.UUID:
    """The community with this UUID, platform id, slug or name."""
    named = session.scalars(sa.select(Community.id).where(Community.name == reference).limit(2)).all()
    if len(named) == 1:
        return named[0]
    return communities.resolve_id(session, SYSTEM, reference)


def _score(
    classifiers: Sequence[Classifier], lines: IO[bytes], community_id: uuid.UUID | None = None
) -> None:
    for text, language, reference in _texts(lines):
        about = Context(community_id=community_id, language=language or language_of(text))
        scores = combined(score_text(classifiers, text, about))
        kept = {} if reference is None else {"id": reference}
        click.echo(json.dumps(kept | {name: scores[name].score for name in sorted(scores, key=_place)}))
        sys.stdout.flush()


def _place(category: str) -> tuple[int, str]:
    names = list(CATEGORIES)
    return (names.index(category) if category in names else len(names), category)


def _texts(lines: IO[bytes]) -> Iterator[tuple[str, str | None, str | int | None]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _text(number, line)


def _text(number: int, line: bytes) -> tuple[str, str | None, str | int | None]:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise BadLine(f"line {number} is not JSON: {error}") from error
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise BadLine(f'line {number} must be an object with "text", a string')
    language = row.get("language")
    if language is not None and not isinstance(language, str):
        raise BadLine(f'line {number}: "language" must be a string such as "en", or null')
    reference = row.get("id")
    if isinstance(reference, bool) or not isinstance(reference, str | int | None):
        raise BadLine(f'line {number}: "id" must be a string or a whole number')
    return row["text"], language or None, reference
