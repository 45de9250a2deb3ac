"""``score-texts`` and ``match-claims``: lines of JSON in, lines of JSON out, as the service would do it with posts."""

import json
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.commands import files
from app.core.classify import CATEGORIES, Classifier, Context
from app.core.classify.language import language_of
from app.core.communities import communities
from app.core.factcheck.matching.matcher import match
from app.core.factcheck.matching.weights import shipped
from app.core.factcheck.search import MemoryIndex
from app.core.models import Community
from app.core.permissions import SYSTEM
from app.core.requests.scorings import combined, score_text


class BadLine(click.ClickException):
    """A line cannot be read; the lines of the input before it are answered."""

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
    for number, line in _lines(lines):
        text, language, reference = _post(number, line)
        about = Context(community_id=community_id, language=language or language_of(text))
        scores = combined(score_text(classifiers, text, about))
        kept = {} if reference is None else {"id": reference}
        click.echo(json.dumps(kept | {name: scores[name].score for name in sorted(scores, key=_place)}))
        sys.stdout.flush()


def _place(category: str) -> tuple[int, str]:
    names = list(CATEGORIES)
    return (names.index(category) if category in names else len(names), category)


def _post(number: int, line: bytes) -> tuple[str, str | None, str | int | None]:
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


def _lines(lines: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


@click.command("match-claims")
@click.option(
    "--claims",
    "path",
    required=True,
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help='JSON lines {"id", "claim", "title"}, gzipped or not; the title may be left out.',
)
def match_claims(path: Path) -> None:
    """Read JSON lines {"text": …} from standard input; write the claims of --claims that each makes, in order.

    An answer is {"ranked": [{"id", "score"}, …], "shown": id}: at most ten claims, best first, each with its
    probability, and the one that the service would show beside the post, or null. A text may also have "language",
    such as "en"; otherwise it is detected, and claims in another language are left out. Needs no database. A line
    that is not such an object ends the command with status 2 and names the line; the lines before it are answered.
    """
    ids, texts = _claims(path)
    index, weights = MemoryIndex(texts, language_of), shipped()
    for number, line in _lines(sys.stdin.buffer):
        row = _object(line, f"line {number}")
        text, language = _text(row, "text", f"line {number}"), _optional(row, "language", f"line {number}")
        outcome = match(text, index, weights, language.lower().split("-")[0] or language_of(text))
        answer = {
            "ranked": [{"id": ids[ranked.number], "score": ranked.score} for ranked in outcome.ranked],
            "shown": None if outcome.shown is None else ids[outcome.shown.number],
        }
        click.echo(json.dumps(answer, ensure_ascii=False))
        sys.stdout.flush()


def _claims(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    ids: dict[str, int] = {}
    texts = []
    for number, line in files.lines(path):
        where = f"{path.name}, line {number}"
        row = _object(line, where)
        claim_id = _text(row, "id", where)
        if claim_id in ids:
            raise BadLine(f"{where}: the id {claim_id[:50]!r} is that of line {ids[claim_id]} too")
        ids[claim_id] = number
        texts.append((_text(row, "claim", where), _optional(row, "title", where)))
    if not texts:
        raise BadLine(f"{path.name} holds no claims")
    return list(ids), texts


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        row: Any = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadLine(f"{where} is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadLine(f"{where} must be a JSON object")
    return row


def _text(row: dict[str, Any], member: str, where: str) -> str:
    if not isinstance(row.get(member), str):
        raise BadLine(f'{where} must have "{member}", a string')
    return str(row[member])


def _optional(row: dict[str, Any], member: str, where: str) -> str:
    if row.get(member) is None:
        return ""
    return _text(row, member, where)
