"""``match-claims``: matches texts from standard input with claims of a file, as the service would match posts."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from app.commands import files
from app.core.classify.language import language_of
from app.core.factcheck.matching.index import MemoryIndex
from app.core.factcheck.matching.matcher import match
from app.core.factcheck.matching.weights import shipped


class BadLine(click.ClickException):
    """A line cannot be read; the lines of the input before it are matched."""

    exit_code = 2


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
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
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
