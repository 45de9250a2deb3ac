"""The database's full-text search over fact-checks, and matching posts with it (docs/moderate/fact-checks.md).

``search_fact_checks`` holds the claim and title of every fact-check that is not retired: FTS5 on SQLite, ``tsvector``
on PostgreSQL, each with its own English stemmer. ``add`` and ``remove`` write it. An item gets a new number, above all
others, whenever its text changes.
"""

import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core.classify.language import UNKNOWN, detect, named
from app.core.db import serialise
from app.core.factcheck.matching import terms
from app.core.factcheck.matching.features import Background, Candidate
from app.core.factcheck.matching.matcher import Found, match
from app.core.factcheck.matching.terms import Terms
from app.core.factcheck.matching.weights import shipped, weight
from app.core.factcheck.nearest import Nearest
from app.core.listed import is_one_of
from app.core.models import FactCheckItem

INDEX_LOCK = uuid.UUID(int=0x6661_6374_6368_6563)
"""Used as the lock's id, in place of a community's: imports wait only for each other."""
KEPT = 1_500
"""Items whose words a process keeps, the most recently used ones."""
HITS = 5_000
"""How many times the words of a post may occur in all fact-checks: the most common ones are not searched beyond it.

With 10,000 fact-checks every word is searched, with 200,000 those that are in less than about one of fifty.
"""
SQLITE_TABLE = "CREATE VIRTUAL TABLE search_fact_checks USING fts5(words, tokenize='porter unicode61')"

# As a join, PostgreSQL would read all items: 80 ms of 100,000.
_FOUND_MOST = """
SELECT found FROM ({hits}) AS hits WHERE (
    SELECT community_id IS NULL OR community_id = :community FROM fact_check_items WHERE number = found LIMIT 1
) ORDER BY weight DESC, found LIMIT :most
"""
_BEST = {
    "sqlite": _FOUND_MOST.format(
        hits="SELECT search_fact_checks.rowid AS found, sum(asked.value) AS weight FROM json_each(:asked) AS asked "
        "CROSS JOIN search_fact_checks ON search_fact_checks MATCH asked.key GROUP BY search_fact_checks.rowid"
    ),
    "postgresql": _FOUND_MOST.format(
        hits="SELECT item AS found, sum(CAST(asked.value AS float)) AS weight "
        "FROM json_each_text(CAST(:asked AS json)) AS asked "
        "JOIN search_fact_checks ON words @@ phraseto_tsquery('english', asked.key) GROUP BY item"
    ),
}
_COUNTS = {
    # Words that are in more than ``most`` items are not searched, so they are not counted on either: with 200,000
    # fact-checks that takes the search from 31 to 8 ms of processor time.
    "sqlite": "SELECT asked.value, (SELECT count(*) FROM (SELECT 1 FROM search_fact_checks "
    "WHERE search_fact_checks MATCH asked.value LIMIT :most)) FROM json_each(:asked) AS asked",
    # PostgreSQL knows the thousand most common words for its plans.
    "postgresql": "SELECT asked.value, CAST(max(usual.share) * :items AS integer) "
    "FROM (SELECT value, unnest(tsvector_to_array(to_tsvector('english', value))) AS lexeme "
    "FROM json_array_elements_text(CAST(:asked AS json))) AS asked JOIN ("
    "SELECT unnest(CAST(CAST(most_common_elems AS text) AS text[])) AS lexeme, "
    "unnest(most_common_elem_freqs) AS share FROM pg_stats WHERE schemaname = current_schema() "
    "AND tablename = 'search_fact_checks' AND attname = 'words') AS usual USING (lexeme) GROUP BY asked.value",
}
_ADD = {
    "sqlite": "INSERT INTO search_fact_checks (rowid, words) VALUES (:number, :text)",
    "postgresql": "INSERT INTO search_fact_checks (item, words) VALUES (:number, to_tsvector('english', "
    "regexp_replace(:text, '\\W+|_+', ' ', 'g')))",
}
_REMOVE = {
    "sqlite": "DELETE FROM search_fact_checks WHERE rowid = :number",
    "postgresql": "DELETE FROM search_fact_checks WHERE item = :number",
}


@dataclass(frozen=True)
class Match:
    """The fact-check that a post makes the claim of. ``probability`` is that of the pair, 0.0 to 1.0."""

    item_id: uuid.UUID
    probability: float


def find(
    session: Session,
    content: str,
    community_id: uuid.UUID | None,
    language: str | None = None,
    near: Nearest | None = None,
) -> Match | None:
    """The fact-check whose claim a post makes, among those that the community uses; None if none is sure enough.

    ``language`` is the post's, None where it is unknown: fact-checks in another language are left out. ``near``: how
    near the items are to the post by their meaning, if that is known; the nearest are candidates too.
    """
    index = DatabaseIndex(session, community_id)
    numbered = None if near is None else _Near(index, near, index.numbers_of(near.ids))
    shown = match(content, index, shipped(), language, near=numbered).shown
    return None if shown is None else Match(index.ids[shown.number], shown.score)


class DatabaseIndex:
    """The items that a community uses, its own and the shared ones, by their numbers."""

    def __init__(self, session: Session, community_id: uuid.UUID | None) -> None:
        self._session, self._community_id = session, community_id
        self._dialect = session.get_bind().dialect.name
        self._count = last_number(session) + 1
        self.ids: dict[int, uuid.UUID] = {}

    def best(self, post: Terms, background: NDArray[np.uint8], most: int) -> list[int]:
        """The numbers of the items that share the most and rarest words with a post, best first."""
        forms = {stem: form.replace(".", " ") for stem, form in post.forms.items()}
        if self._dialect == "sqlite":
            forms = {stem: f'"{form}"' for stem, form in forms.items()}
        counts = self._counts(list(forms.values()))
        searched: dict[str, float] = {}
        hits = 0
        for stem, form in sorted(forms.items(), key=lambda pair: (counts.get(pair[1], 0), pair)):
            hits += counts.get(form, 0)
            if hits > HITS and searched:
                break
            searched[form] = weight(stem, counts.get(form, 0), self._count, background)
        if not searched:
            return []
        if self._dialect == "postgresql":
            # It expects far more hits than there are, and compiling the search takes 8 of 28 ms among 100,000 items.
            self._session.execute(sa.text("SET LOCAL jit = off"))
        community = sa.bindparam("community", self._community_id, sa.Uuid())
        asked = {"asked": json.dumps(searched, ensure_ascii=False), "most": most}
        return list(self._session.scalars(sa.text(_BEST[self._dialect]).bindparams(community), asked))

    def _counts(self, forms: Sequence[str]) -> Mapping[str, int]:
        """How many items have each word, ``HITS`` + 1 at most; PostgreSQL estimates, and only of common words."""
        bound = {"most": HITS + 1} if self._dialect == "sqlite" else {"items": self._count}
        asked = {"asked": json.dumps(forms, ensure_ascii=False), **bound}
        return {form: count for form, count in self._session.execute(sa.text(_COUNTS[self._dialect]), asked)}

    def numbers_of(self, ids: Sequence[uuid.UUID]) -> list[int]:
        """The numbers of these items, in their order; items that are gone are left out."""
        if not ids:
            return []
        rows = self._session.execute(
            sa.select(FactCheckItem.id, FactCheckItem.number).where(
                is_one_of(self._session, FactCheckItem.id, ids),
                FactCheckItem.retired_at.is_(None),
                sa.or_(
                    FactCheckItem.community_id.is_(None), FactCheckItem.community_id == self._community_id
                ),
            )
        )
        numbers = {item_id: number for item_id, number in rows if number is not None}
        return [numbers[item_id] for item_id in ids if item_id in numbers]

    def items(self, numbers: Sequence[int]) -> Sequence[Found]:
        """The items with these numbers, in any order; numbers of items that are gone are left out."""
        rows = self._session.execute(
            sa.select(
                FactCheckItem.id,
                FactCheckItem.number,
                FactCheckItem.claim,
                FactCheckItem.title,
                FactCheckItem.search_language,
            ).where(is_one_of(self._session, FactCheckItem.number, numbers))
        )
        found = []
        for item_id, number, claim, title, language in rows:
            assert number is not None  # noqa: S101 - one of ``numbers``; narrows the type
            self.ids[number] = item_id
            read = partial(_candidate, claim, title)
            found.append(Found(number, read, named(language)))
        return found


class MemoryIndex(DatabaseIndex):
    """An index of (claim, title) pairs in a SQLite database in memory; an item's number is its place.

    ``language_of`` names an item's language from its text; without it, none is known.
    """

    def __init__(
        self, texts: Sequence[tuple[str, str]], language_of: Callable[[str], str | None] | None = None
    ) -> None:
        engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
        session = Session(engine)
        session.execute(sa.text("CREATE TABLE fact_check_items (number INTEGER PRIMARY KEY, community_id)"))
        session.execute(sa.text(SQLITE_TABLE))
        if texts:
            numbers = [{"number": number} for number in range(len(texts))]
            session.execute(sa.text("INSERT INTO fact_check_items (number) VALUES (:number)"), numbers)
            index(session, [(number, "\n".join(text)) for number, text in enumerate(texts)])
        super().__init__(session, None)
        self.size = len(texts)
        self._items = [Candidate(terms.read(claim), terms.read(title)) for claim, title in texts]
        self._language = lru_cache(None)(lambda number: language_of and language_of("\n".join(texts[number])))

    def items(self, numbers: Sequence[int]) -> Sequence[Found]:
        return [
            Found(number, partial(self._items.__getitem__, number), self._language(number))
            for number in numbers
        ]


@dataclass(frozen=True)
class _Near:
    """What is known of the items' vectors, by the numbers that the items have in an index."""

    index: DatabaseIndex
    nearest: Nearest
    numbers: Sequence[int]

    @property
    def background(self) -> Background | None:
        return self.nearest.background

    def cosines(self, numbers: Collection[int]) -> Mapping[int, float]:
        number_of = {self.index.ids[number]: number for number in numbers}
        found = self.nearest.cosines(number_of)
        return {number_of[item_id]: cosine for item_id, cosine in found.items()}


@lru_cache(KEPT)
def _candidate(claim: str, title: str | None) -> Candidate:
    return Candidate(terms.read(claim), terms.read(title or ""))


def add(session: Session, rows: Sequence[FactCheckItem]) -> None:
    """Let posts match these items. Call it after every change of a claim, title or owner."""
    serialise(session, INDEX_LOCK)
    rows = list(dict.fromkeys(rows))
    remove(session, rows)
    for number, row in enumerate(rows, last_number(session) + 1):
        row.number, row.search_language = number, _language(row)
    session.flush()
    index(session, [(row.number or 0, _text(row.claim, row.title)) for row in rows])


def index(session: Session, texts: Sequence[tuple[int, str]]) -> None:
    """Write the texts of items, given with their numbers, to the full-text index."""
    rows = [{"number": number, "text": text} for number, text in texts]
    session.execute(sa.text(_ADD[session.get_bind().dialect.name]), rows)


def index_all(session: Session) -> None:
    """Fill an empty index from the items: they were copied from another kind of database, their index was not."""
    rows = session.execute(
        sa.select(FactCheckItem.number, FactCheckItem.claim, FactCheckItem.title).where(
            FactCheckItem.retired_at.is_(None), FactCheckItem.number.is_not(None)
        ),
        execution_options={"yield_per": 1_000},
    )
    for part in rows.partitions():
        index(session, [(number or 0, _text(claim, title)) for number, claim, title in part])


def remove(session: Session, rows: Sequence[FactCheckItem]) -> None:
    """Let no post match these items any more. ``add`` brings them back."""
    numbers = [{"number": row.number} for row in rows if row.number is not None]
    if numbers:
        session.execute(sa.text(_REMOVE[session.get_bind().dialect.name]), numbers)


def last_number(session: Session) -> int:
    """The highest number of an item, -1 without items; it rises with every change of a text."""
    found = session.scalar(sa.select(sa.func.max(FactCheckItem.number)))
    return -1 if found is None else found


def _language(row: FactCheckItem) -> str:
    if row.language:
        return row.language.lower().replace("_", "-").split("-")[0][:8]
    return detect(_text(row.claim, row.title)) or UNKNOWN


def _text(claim: str, title: str | None) -> str:
    return f"{claim}\n{title or ''}"
