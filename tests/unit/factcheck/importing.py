"""What tests of imports and feeds share: files, a network that answers as it is told, and what is stored."""

import json
from typing import Any

import sqlalchemy as sa

from app.core.factcheck import feeds, imports
from app.core.factcheck.feed_fetches import Fetched
from app.core.factcheck.feeds import FeedDraft
from app.core.factcheck.imports import Upload
from app.core.models import DatasetFeed, DatasetImport, DatasetImportPiece, DatasetImportRow, FactCheckItem
from app.core.permissions import Actor
from app.wiring import Wiring
from tests.cast import Cast

CLAIM = "Drinking seawater every morning cures diabetes within two weeks, says visitor {}"
URL = "https://feeds.example.org/all.jsonl"


def line(number: int, **more: Any) -> bytes:
    row = {
        "claim": CLAIM.format(number),
        "rating": "False",
        "url": f"https://checks.example.org/{number}",
        "publisher": "Example Checks",
        "dataset_name": "example",
        "item_id": f"item-{number}",
    }
    return json.dumps(row | more).encode() + b"\n"


def lines(*numbers: int) -> bytes:
    return b"".join(line(number) for number in numbers)


def begin(
    wiring: Wiring, actor: Actor, cast: Cast, content: bytes, name: str = "items.jsonl", **more: Any
) -> DatasetImport:
    with wiring.database.writing() as session:
        return imports.begin(session, actor, cast.community_id, Upload(name, content, **more))


def reread(wiring: Wiring, found: DatasetImport) -> DatasetImport:
    with wiring.database.reading() as session:
        return session.get_one(DatasetImport, found.id)


def served(wiring: Wiring) -> set[str]:
    with wiring.database.reading() as session:
        return set(
            session.scalars(sa.select(FactCheckItem.item_id).where(FactCheckItem.retired_at.is_(None)))
        )


def rows_left(wiring: Wiring) -> tuple[int, int]:
    with wiring.database.reading() as session:
        pieces, rows = (
            session.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for table in (DatasetImportPiece, DatasetImportRow)
        )
        return pieces, rows


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it."""


class Fetcher:
    """Stands in for the network: answers as told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer = Fetched()
        self.asked: list[tuple[str, str | None, str | None]] = []

    def fetch(self, url: str, etag: str | None, last_modified: str | None) -> Fetched:
        self.asked.append((url, etag, last_modified))
        return self.answer


def add_feed(wiring: Wiring, actor: Actor, cast: Cast, draft: FeedDraft) -> DatasetFeed:
    with wiring.database.writing() as session:
        return feeds.add(session, actor, wiring.allow, cast.community_id, draft)
